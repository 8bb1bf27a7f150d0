"""Closing an assessment makes an ordinary version of the judgments."""

from __future__ import annotations

import pytest

from leaderboard.actions.assessments import (
    close_assessment,
    make_trial_version,
    settle_document,
    write_guideline,
)
from leaderboard.actions.refusals import ActionError
from leaderboard.assessments.drawing import draw_documents
from leaderboard.assessments.judgments import find_outcome
from leaderboard.assessments.marking import SentMark, record_mark
from leaderboard.models import Assignment, Judgment, JudgmentSet
from leaderboard.models.assessments import GradeText
from tests.builders import OTHER_RUN, SCALE, make_assessment, make_pool, make_run, work

GRADES = {"d1": 2, "d2": 1, "d4": 1, "d6": 2}


def judge(assessment, user, grades: dict[str, int]) -> None:
    """The user grades everything assigned; documents that are not named get 0."""
    own = Assignment.objects.filter(assessor__user=user, assessor__assessment=assessment)
    for assignment in own.select_related("assessor__assessment__track", "topic"):
        draw_documents(assignment)
        for document in assignment.documents.all():
            answer = SentMark(document.pk, grade=grades.get(document.docno, 0))
            record_mark(assignment, answer)


def grades_of(version: JudgmentSet) -> dict[str, int]:
    return dict(Judgment.objects.filter(judgment_set=version).values_list("docno", "grade"))


def test_what_was_judged_becomes_a_version(assessment, ada, dan):
    judge(assessment, dan, GRADES)
    made = close_assessment(assessment, ada, "v1")
    work()
    made.refresh_from_db()
    assert (made.state, made.made_by, made.assessment) == ("ready", "people", assessment)
    relevant = {docno: grade for docno, grade in grades_of(made).items() if grade}
    assert relevant == GRADES
    assert made.pooled_runs.count() == 2 and made.pool_depth == 3


def test_an_early_end_is_confirmed_and_leaves_documents_unjudged(assessment, ada):
    assignment = Assignment.objects.get(topic__number="1")
    draw_documents(assignment)
    record_mark(assignment, SentMark(assignment.documents.first().pk, grade=1))
    with pytest.raises(ActionError, match="early"):
        close_assessment(assessment, ada, "v1")
    made = close_assessment(assessment, ada, "v1", is_early=True)
    work()
    assert len(grades_of(made)) == 1
    assert not made.pooled_runs.exists()


def test_earlier_judgments_are_part_of_the_version(track, ada, ben, cat, dan):
    runs = [make_run(track, ben), make_run(track, cat, OTHER_RUN)]
    assessment = make_assessment(make_pool(track, ada, runs), ada, dan)
    judge(assessment, dan, {"d9": 2})
    made = close_assessment(assessment, ada, "v2")
    work()
    assert len(grades_of(made)) == 11
    assert grades_of(made)["d9"] == 2


@pytest.mark.parametrize(("rule", "grade"), [("first", 2), ("median", 0), ("single", None)])
def test_two_opinions_are_settled_by_the_rule(pool, ada, dan, eve, rule, grade):
    assessment = make_assessment(pool, ada, dan, eve, overlap="all", overlap_size=2, rule=rule)
    first = Assignment.objects.get(topic__number="1", turn=1).assessor.user
    judge(assessment, dan, {"d1": 2 if first == dan else 0})
    judge(assessment, eve, {"d1": 2 if first == eve else 0})
    outcome = find_outcome(assessment)
    assert [found.docno for found in outcome.open_disagreements] == ["d1"]
    assert next(found.grade for found in outcome.settled if found.docno == "d1") == grade


def test_an_organiser_settles_a_disagreement(pool, ada, dan, eve):
    assessment = make_assessment(pool, ada, dan, eve, overlap="all", overlap_size=2)
    judge(assessment, dan, {"d1": 2})
    judge(assessment, eve, {"d1": 0})
    topic = assessment.track.collection.topics.get(number="1")
    settle_document(assessment, ada, topic, "d1", 1, "It names the starter")
    outcome = find_outcome(assessment)
    assert outcome.open_disagreements == []
    assert next(found.grade for found in outcome.settled if found.docno == "d1") == 1


def test_a_trial_version_changes_nothing(assessment, ada, dan):
    judge(assessment, dan, GRADES)
    made = make_trial_version(assessment, ada, "so-far")
    work()
    assessment.refresh_from_db()
    assert assessment.state == "open" and made.note.startswith("As judged so far.")


def test_used_grades_stay_and_their_words_change(assessment, ada, dan):
    judge(assessment, dan, GRADES)
    with pytest.raises(ActionError, match="only their words"):
        write_guideline(assessment, ada, "", [*SCALE, GradeText(3, "Best")])
    assert write_guideline(assessment, ada, "Other words", SCALE).number == 2
