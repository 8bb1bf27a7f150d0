"""How fast the agreement of assessors is shown: 200 runs, 50 topics, eight assessors.

    python -m benchmarks.agreement

Three of them judge each document.  The page is asked for inside one process, through every
middleware, as an organiser finds it; the boards by judge with 1,000 mixtures are a job's work.
The database is SQLite.
"""

from __future__ import annotations

import os
import statistics
import time
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import tables
from benchmarks.homes import own_home
from benchmarks.tables import seconds

if TYPE_CHECKING:
    from leaderboard.models import Assessment, Track

RUNS, TOPICS, DEPTH, ASSESSORS, OPINIONS = 200, 50, 100, 8, 3
# A topic has so many documents to find, and assessors differ on so large a share of them.
FOUND, UNSURE = 400, 0.3
# The pool has the first documents of each run.
POOLED = 10
VIEWS = 7


def main() -> None:
    with own_home() as variables:
        os.environ |= variables
        print(tables.machine(), flush=True)
        measure()


def measure() -> None:
    import django
    from django.core.management import call_command
    from django.test import Client
    from django.urls import reverse

    django.setup()

    # As web starts, with its garbage collector.
    import leaderboard.wsgi  # noqa: F401

    call_command("migrate", run_syncdb=True, verbosity=0)
    assessment = make_assessment()
    client = Client(HTTP_HOST="localhost", HTTP_ACCEPT_ENCODING="gzip")
    client.force_login(assessment.created_by)
    address = reverse("assessment_agreement", args=["judges", assessment.name])

    def view() -> float:
        began = time.perf_counter()
        answer = client.get(address)
        assert answer.status_code == 200, answer.status_code
        return time.perf_counter() - began

    # The first page of a process also imports, which a site has done before its readers come.
    client.get("/")
    first = view()
    job = compute_boards()
    marks = sum(assessor.marks.count() for assessor in assessment.assessors.all())
    tables.heading(f"Agreement of {ASSESSORS} assessors, {marks:,} marks, {RUNS} runs")
    tables.table(
        ("what", "took", "goal"),
        [
            ("first view, before the boards", seconds(first), "300 ms"),
            ("boards by judge and 1,000 mixtures, a job", seconds(job), "30 s"),
            ("first view with the boards", seconds(view()), "300 ms"),
            ("later", seconds(statistics.median(view() for _ in range(VIEWS))), "300 ms"),
        ],
    )


def compute_boards() -> float:
    """Do the job that the first view has asked for, and return how long it took."""
    from leaderboard.models import Calculation
    from leaderboard.scoring.judge_boards import compute_judge_boards

    began = time.perf_counter()
    compute_judge_boards(Calculation.objects.get(kind="judges"), lambda done, of: None)()
    return time.perf_counter() - began


def make_assessment() -> Assessment:
    """A pool of all runs, judged to its end."""
    from benchmarks.scenes import Scene, make_track
    from leaderboard.actions import assessments, pools
    from leaderboard.collections.pools import gather_pool
    from leaderboard.models import Assessment, Pool, User
    from leaderboard.models.assessments import GradeText

    track = make_track(Scene("judges", RUNS, TOPICS, measures=1))
    store_rankings(track)
    ada = track.benchmark.owner
    pool = pools.create_pool(track, ada, list(track.runs.all()), Pool.Method.DEPTH, POOLED)
    gather_pool(str(pool.pk), lambda done, of: None)()
    pool.refresh_from_db()
    pools.approve_pool(pool, ada)
    pool.refresh_from_db()
    assessment = Assessment(pool=pool, overlap="all", overlap_size=OPINIONS, topics_per_assessor=50)
    scale = [GradeText(grade, f"Grade {grade}") for grade in (3, 2, 1, 0)]
    assessments.plan_assessment(assessment, ada, "Judge what is written.", scale)
    for number in range(ASSESSORS):
        assessments.add_assessor(assessment, User.objects.create_user(f"judge{number}"))
    assessments.open_assessment(assessment, ada)
    judge_everything(assessment)
    return assessment


def store_rankings(track: Track) -> None:
    """Give every run a ranking of its own on every topic: the better run finds better ones."""
    from django.core.files.base import ContentFile
    from django.core.files.storage import default_storage

    from evaluation import Problems, Ranking, Run
    from leaderboard.runs.rankings import write_ranking_file

    random = np.random.default_rng(11)
    documents = [b"d%d" % number for number in range(FOUND)]
    for place, run in enumerate(track.runs.order_by("tag")):
        rankings = {}
        for topic in range(1, TOPICS + 1):
            worth = -np.arange(FOUND) / 40 + random.normal(0, 1 + place / RUNS, FOUND)
            found = [documents[number] for number in np.argsort(-worth)[:DEPTH]]
            rankings[b"%d" % topic] = Ranking(found, np.arange(DEPTH, 0, -1.0))
        file = BytesIO()
        write_ranking_file(Run(run.tag, rankings, 0, Problems()), file)
        run.ranking_file.name = default_storage.save("runs/judged", ContentFile(file.getvalue()))
        run.save(update_fields=["ranking_file"])


def judge_everything(assessment: Assessment) -> None:
    """Let every assessor judge all documents; some grades are one's own."""
    from leaderboard.assessments.drawing import draw_documents
    from leaderboard.models import AssignedDocument, Assignment, Mark

    random = np.random.default_rng(12)
    for assignment in Assignment.objects.filter(assessor__assessment=assessment):
        draw_documents(assignment)
        documents = list(assignment.documents.all())
        marks = [
            Mark(
                document=document,
                assessor=assignment.assessor,
                key=f"{assignment.pk}-{document.place}",
                grade=grade_of(document.docno, random),
                seconds=float(random.gamma(4, 10)),
                guideline=assessment.guideline,
            )
            for document in documents
        ]
        Mark.objects.bulk_create(marks)
        for document, mark in zip(documents, marks, strict=True):
            document.state, document.mark = AssignedDocument.State.JUDGED, mark
        AssignedDocument.objects.bulk_update(documents, ["state", "mark"], batch_size=200)


def grade_of(docno: str, random: np.random.Generator) -> int:
    """Return the grade that most would give, or by chance another one."""
    if random.random() < UNSURE:
        return int(random.integers(4))
    return max(0, 3 - int(docno[1:]) // 10)


if __name__ == "__main__":
    main()
