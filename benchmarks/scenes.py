"""Large boards, written straight into the tables: random scores, the same from every seed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import cycle

import numpy as np
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection, transaction
from django.utils import timezone

from benchmarks.naive import models as naive
from evaluation import CONVENTIONS, Problems, Ranking, judge
from evaluation import Run as ReadRun
from evaluation.ragged import FloatArray
from leaderboard.models import (
    Benchmark,
    Collection,
    Edition,
    Judgment,
    JudgmentSet,
    Run,
    Score,
    ScoreSet,
    Team,
    Topic,
    Track,
    User,
)
from leaderboard.runs.rankings import write_ranking_file
from leaderboard.scoring import editions
from leaderboard.scoring.judgments import load_judgments

MEASURES = (
    *("nDCG@10", "AP", "P@10", "RR", "R@100", "Rprec", "Bpref", "nDCG@100", "Success@10"),
    "RBP(p=0.8)",
)
SIZES = ("small", "base", "large")
JUDGED = 10
ANSWERED = 1000
# So many runs rank differently; packing thousands of topics for each would take minutes.
DIFFERENT = 20


@dataclass(frozen=True)
class Scene:
    """A board of so many runs on so many topics, under so many measures."""

    slug: str
    runs: int
    topics: int
    measures: int
    # Another number makes other scores.
    seed: int = 0
    # How many parameters each run states.
    parameters: int = 0
    # How many documents of a topic are judged, and how many runs rank differently.
    judged: int = JUDGED
    different: int = DIFFERENT

    @property
    def texts(self) -> list[str]:
        return list(MEASURES[: self.measures])

    def scores(self) -> FloatArray:
        """float64[runs, measures, topics]: a run has its level, a topic its own."""
        random = np.random.default_rng([self.runs, self.topics, *filter(None, [self.seed])])
        run = random.normal(0, 0.5, (self.runs, 1, 1))
        topic = random.normal(0, 1.0, (1, 1, self.topics))
        noise = random.normal(0, 0.7, (self.runs, self.measures, self.topics))
        values: FloatArray = 1 / (1 + np.exp(-(run + topic + noise)))
        return values.round(4)


def make_track(scene: Scene) -> Track:
    """The track with its topics, judgments, runs and rankings, and an edition without scores."""
    owner, _ = User.objects.get_or_create(username="ada", defaults={"can_organise": True})
    judgments = _collection(scene, owner)
    track = Track.objects.create(
        slug=scene.slug,
        name=scene.slug.title(),
        benchmark=Benchmark.objects.create(slug=scene.slug, name=scene.slug, owner=owner),
        collection=judgments.collection,
        judgment_set=judgments,
        measures=scene.texts,
        primary_measure=scene.texts[0],
        disclosure="open",
    )
    track.benchmark.renew_addresses()
    track.refresh_from_db(fields=["address"])
    edition = editions.start_edition(track)
    assert edition is not None
    track.edition, track.baseline = edition, _runs(scene, track)[-1]
    track.save()
    Edition.objects.filter(pk=edition.pk).update(state="ready", ready_at=timezone.now())
    return track


def _collection(scene: Scene, owner: User) -> JudgmentSet:
    collection = Collection.objects.create(
        slug=scene.slug, name=scene.slug, owner=owner, state="ready", num_topics=scene.topics
    )
    topics = Topic.objects.bulk_create(
        Topic(collection=collection, position=n, number=str(n + 1), title=f"topic {n + 1}")
        for n in range(scene.topics)
    )
    judgments = JudgmentSet.objects.create(
        collection=collection,
        version="v1",
        state="ready",
        created_by=owner,
        top_grade=3,
        num_topics=scene.topics,
        grade_counts=dict.fromkeys(("0", "1"), scene.topics * scene.judged // 2),
    )
    Judgment.objects.bulk_create(
        Judgment(judgment_set=judgments, topic=topic, docno=f"d{n}", grade=n % 2)
        for topic in topics
        for n in range(scene.judged)
    )
    return judgments


def _runs(scene: Scene, track: Track) -> list[Run]:
    team = Team.objects.create(benchmark=track.benchmark, name="Bench")
    rankings = _ranking_files(scene)
    return Run.objects.bulk_create(
        Run(
            track=track,
            team=team,
            submitted_by=track.benchmark.owner,
            tag=f"run-{n}",
            state="scored",
            sha256=hashlib.sha256(str(n).encode()).hexdigest(),
            ranking_file=rankings[n],
            num_answered=scene.topics,
            scored_at=timezone.now(),
            facts=_facts(scene, n),
        )
        for n in range(scene.runs)
    )


def _facts(scene: Scene, run: int) -> dict[str, object]:
    """Numbers that are all different, words and numbers of few values, and numbers as text."""
    kinds = (run, SIZES[run % len(SIZES)], 2 ** (run % 6), f"{1 + run % 9}e-5")
    return {f"p{n}": kinds[n % len(kinds)] for n in range(scene.parameters)}


def _different_runs(scene: Scene) -> Iterator[ReadRun]:
    """Yield the runs that differ; only the first topic's ranking is as deep as a page needs it."""
    random = np.random.default_rng(7)
    short = Ranking([b"d1"], np.ones(1))
    for n in range(min(scene.runs, scene.different)):
        docnos = [b"d%d" % docno for docno in random.permutation(2 * ANSWERED)[:ANSWERED]]
        rankings = {b"%d" % (topic + 1): short for topic in range(scene.topics)}
        rankings[b"1"] = Ranking(docnos, np.arange(ANSWERED, 0, -1.0))
        yield ReadRun(f"run-{n}", rankings, 0, Problems())


def _ranking_files(scene: Scene) -> list[str]:
    """Store a file for each run."""
    files = []
    for run in _different_runs(scene):
        file = BytesIO()
        write_ranking_file(run, file)
        files.append(file.getvalue())
    return [
        default_storage.save(f"runs/{scene.slug}-{n}", ContentFile(files[n % len(files)]))
        for n in range(scene.runs)
    ]


def store_scores(scene: Scene, track: Track) -> None:
    """As the product keeps them: a record for every run, an array for every run and measure."""
    judgments, convention = load_judgments(track.edition_id), CONVENTIONS[track.edition.convention]
    records = [
        judge(run, judgments, track.depth, convention).pack() for run in _different_runs(scene)
    ]
    sets = ScoreSet.objects.bulk_create(
        ScoreSet(run=run, edition=track.edition, record=record, judged_at_10=0.5)
        for run, record in zip(track.runs.order_by("tag"), cycle(records), strict=False)
    )
    Score.objects.bulk_create(
        Score(
            score_set=score_set,
            measure=text,
            resolved=text,
            mean=float(values.mean()),
            by_topic=values.astype("<f8").tobytes(),
        )
        for score_set, rows in zip(sets, scene.scores(), strict=True)
        for text, values in zip(scene.texts, rows, strict=True)
    )


@transaction.atomic
def store_rows(scene: Scene) -> None:
    """The same scores as the naive models keep them."""
    runs = naive.Run.objects.bulk_create(
        naive.Run(board=scene.slug, tag=f"run-{n}", team="Bench") for n in range(scene.runs)
    )
    half = 1.96 / scene.topics**0.5
    for run, rows in zip(runs, scene.scores(), strict=True):
        pairs = list(zip(scene.texts, rows, strict=True))
        naive.Mean.objects.bulk_create(
            naive.Mean(
                run=run,
                measure=text,
                value=values.mean(),
                low=values.mean() - half * values.std(),
                high=values.mean() + half * values.std(),
            )
            for text, values in pairs
        )
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO naive_score (run_id, measure, topic, value) VALUES (%s, %s, %s, %s)",
                [
                    (run.pk, text, topic, value)
                    for text, values in pairs
                    for topic, value in enumerate(values.tolist())
                ],
            )
