"""How long the means of a machine's board take to correct, and how fast their page answers.

    python -m benchmarks.corrected

500 runs on 200 topics, 5,000 documents drawn with known probabilities and judged by people. The
job reads the runs, corrects means and differences, tests who gains, and plans further labels.
"""

from __future__ import annotations

import os
import time
from io import BytesIO

from benchmarks import tables
from benchmarks.homes import own_home

RUNS, TOPICS, LABELS = 500, 200, 5000
# Documents that the machine graded for a topic, and those that a run returns.
GRADED, RANKED = 150, 20
PAGES = {
    "means": "/benchmarks/corrected/corrected-means/?machine=m1&measure=P@10",
    "means as CSV": "/benchmarks/corrected/corrected-means/?machine=m1&measure=P@10&format=csv",
}


def main() -> None:
    with own_home() as variables:
        os.environ |= variables
        measure()


def measure() -> None:
    from django.core.management import call_command

    import leaderboard.wsgi  # noqa: F401
    from benchmarks.boards import VIEWED, _views
    from leaderboard.models import Calculation, Job, User
    from leaderboard.scoring.corrected_means import compute_corrected_means

    call_command("migrate", run_syncdb=True, verbosity=0)
    print(tables.machine(), flush=True)
    fill_site()
    # The page asks for the job, which is measured here without a queue.
    ada = User.objects.get(username="ada")
    _views(PAGES["means"], ada)
    asked = Calculation.objects.get(kind=Calculation.Kind.CORRECTED)
    Job.objects.all().delete()
    clock, processor = time.perf_counter(), time.process_time()
    compute_corrected_means(asked, lambda done, total: None)()
    took = [time.perf_counter() - clock, time.process_time() - processor]
    asked.refresh_from_db()
    judged = asked.results["judged"]
    tables.heading(f"{RUNS} runs, {TOPICS} topics, {judged:,} labels by people, on SQLite")
    tables.table(("job", "time", "processor"), [("correct means", *map(tables.seconds, took))])
    tables.table(VIEWED, ((name, *_views(address, ada)[0]) for name, address in PAGES.items()))


def fill_site() -> None:
    """A track by a machine, a sample of its frame, and people who judged it."""
    import numpy as np
    from django.core.files.base import ContentFile
    from django.core.files.storage import default_storage
    from django.utils import timezone

    from benchmarks.scenes import Scene, make_track, store_scores
    from evaluation import Problems, Ranking
    from evaluation import Run as ReadRun
    from leaderboard.actions import assessments, pools
    from leaderboard.models import Judgment, JudgmentSet, MachineCard, User
    from leaderboard.runs.rankings import write_ranking_file
    from tests.assessments.marks import judge_everything
    from tests.builders import make_assessment, make_user

    random = np.random.default_rng(44)
    scene = Scene("corrected", runs=RUNS, topics=TOPICS, measures=1)
    track = make_track(scene)
    store_scores(scene, track)
    ada = User.objects.get(username="ada")
    machine = JudgmentSet.objects.create(
        collection=track.collection,
        version="m1",
        state="ready",
        created_by=ada,
        made_by=JudgmentSet.MadeBy.MACHINE,
        top_grade=2,
        num_topics=TOPICS,
        grade_counts={},
    )
    MachineCard.objects.create(judgment_set=machine, model="m", prompt="Grade this.")
    grades = random.integers(0, 3, (TOPICS, GRADED))
    Judgment.objects.bulk_create(
        Judgment(judgment_set=machine, topic=topic, docno=f"d{n}", grade=int(grades[place, n]))
        for place, topic in enumerate(track.collection.topics.order_by("position"))
        for n in range(GRADED)
    )
    machine.refresh_from_db()
    for run in track.runs.all():
        rankings = {
            b"%d" % (topic + 1): Ranking(
                [b"d%d" % n for n in np.argsort(random.gumbel(grades[topic] / 3))[::-1][:RANKED]],
                np.arange(RANKED, 0, -1.0),
            )
            for topic in range(TOPICS)
        }
        file = BytesIO()
        write_ranking_file(ReadRun(run.tag, rankings, 0, Problems()), file)
        name = default_storage.save(f"runs/corrected-{run.tag}", ContentFile(file.getvalue()))
        track.runs.filter(pk=run.pk).update(ranking_file=name, received_at=timezone.now())
    sample = pools.draw_sample(machine, track, ada, LABELS)
    judged = make_assessment(sample, ada, make_user("dan"), topics_per_assessor=TOPICS)

    def grade(document: object) -> int:
        return int(random.integers(0, 3))

    judge_everything(judged, grade)
    assessments.close_assessment(judged, ada, "by-people", is_early=True)


if __name__ == "__main__":
    main()
