"""An assessment of the demo, half done, so that a visitor can judge at once."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from evaluation.pooling.pools import chance_of
from leaderboard.actions import assessments, pools
from leaderboard.assessments.drawing import draw_documents
from leaderboard.assessments.kinds import read_items
from leaderboard.assessments.marking import SentMark, record_mark
from leaderboard.assessments.texts import ReadableText
from leaderboard.management.waiting import wait_until
from leaderboard.models import Assessment, Assignment, Mark, Pool, Run, Track, User
from leaderboard.models.assessments import GradeText

# The judgments of the sample go down to rank 10, so deeper documents are left to judge.
DEPTH = 15
WAIT_SECONDS = 120
GUIDELINE = """\
Imagine the person who asked. Would this text, on its own, help them?

- Judge what is written, not what you know.
- A single sentence can be enough.
- Unsure between two grades? Take the lower one and say why.
"""
SCALE = [
    GradeText(3, "Answers in full", "Nothing is left to look up", "… blocked the harbour in 1917"),
    GradeText(2, "Answers in part", "The answer is there, with gaps", "… ships had to wait"),
    GradeText(1, "Touches it", "About the subject in general", "Why harbours silt up"),
    GradeText(0, "Not relevant", "About something else", "A recipe for fish soup"),
]


def begin_judging(track: Track, organiser: User, assessors: list[User]) -> None:
    """Pool what is unjudged, share it out, and give about half of the documents a grade."""
    wait_for_runs(track)
    pool = pools.create_pool(
        track, organiser, list(track.runs.on_the_board()), Pool.Method.DEPTH, DEPTH
    )
    wait_for_pool(pool)
    pools.approve_pool(pool, organiser)
    pool.refresh_from_db()
    assessment = Assessment(pool=pool, overlap_size=20, topics_per_assessor=40)
    assessment.due_on = timezone.now().date() + timedelta(days=14)
    assessments.plan_assessment(assessment, organiser, GUIDELINE, SCALE)
    for user in assessors:
        assessments.add_assessor(assessment, user)
    assessments.open_assessment(assessment, organiser)
    for place, assignment in enumerate(Assignment.objects.filter(assessor__assessment=assessment)):
        # The first of each visitor's topics is still whole.
        if place % 3:
            judge_beginning(assignment)


def wait_for_runs(track: Track) -> None:
    unfinished = Run.objects.filter(track=track).unfinished()
    if not wait_until(lambda: not unfinished.exists(), WAIT_SECONDS):
        raise RuntimeError("no worker has scored the sample runs")


def wait_for_pool(pool: Pool) -> None:
    def is_gathered() -> bool:
        pool.refresh_from_db()
        return pool.state in (Pool.State.PROPOSED, Pool.State.FAILED)

    if not wait_until(is_gathered, WAIT_SECONDS) or pool.state == Pool.State.FAILED:
        raise RuntimeError("no worker has gathered the sample pool")


def judge_beginning(assignment: Assignment) -> None:
    """Grade the first documents of a topic by how many of its words they have."""
    draw_documents(assignment)
    assessments.begin_topic(assignment)
    documents = list(assignment.documents.all())
    first = documents[: len(documents) * 2 // 3]
    items = read_items(assignment, first)
    for document in first:
        key = chance_of(assignment.pk, document.docno.encode(), b"")
        answer = SentMark(
            document.pk,
            grade=guess_grade(items[document.pk].text, key[0]),
            seconds=15 + key[1] / 8,
            by=Mark.By.KEY,
        )
        record_mark(assignment, answer)


def guess_grade(text: ReadableText, chance: int) -> int:
    """Return a grade by the number of topic words; one in eight is a grade off."""
    grade = min(3, text.hits // 3)
    return min(3, grade + 1) if chance < 32 else grade
