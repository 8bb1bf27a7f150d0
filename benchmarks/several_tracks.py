"""How fast the board of a benchmark answers: 100 systems on 20 tracks, and 500 systems on 100.

    python -m benchmarks.several_tracks
    python -m benchmarks.several_tracks sparse

Pages are asked for inside one process, through every middleware and packed as browsers take them,
on SQLite. The goals for 100 systems on 20 tracks of 50 topics: 400 ms at first, 150 ms later, and
30 seconds for the tests in a job.  `sparse` has 700 systems on 1,500 tracks with nine of ten runs
missing, which no other call makes.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks import tables
from benchmarks.homes import own_home
from benchmarks.inputs import ROOT
from benchmarks.reported import make_scene
from benchmarks.tables import seconds

MEASURE = "nDCG@10"
GROUPS = 4


@dataclass(frozen=True)
class BenchmarkScene:
    """A benchmark of so many systems, each answered by a run on every track."""

    slug: str
    systems: int
    tracks: int
    topics: int
    # Whether most systems lack most tracks, as in `benchmarks.reported`.
    is_sparse: bool = False


SCENES = (BenchmarkScene("usual", 100, 20, 50), BenchmarkScene("wide", 500, 100, 50))
SPARSE = BenchmarkScene("sparse", 700, 1500, 5, is_sparse=True)


def main() -> None:
    """In a process of its own, with a folder that is thrown away."""
    print(tables.machine(), flush=True)
    with own_home() as variables:
        words = [sys.executable, "-m", "benchmarks.several_tracks", "measure", *sys.argv[1:]]
        subprocess.run(words, cwd=ROOT, env={**os.environ, **variables}, check=True)


def measure(chosen: list[str]) -> None:
    from django.core.management import call_command

    # As web starts, with its garbage collector.
    import leaderboard.wsgi  # noqa: F401
    from benchmarks.boards import VIEWED

    call_command("migrate", run_syncdb=True, verbosity=0)
    scenes = [scene for scene in (*SCENES, SPARSE) if scene.slug in chosen] or SCENES
    for scene in scenes:
        make_benchmark(scene)
    tables.heading("Boards of benchmarks")
    tables.table(VIEWED, (row for scene in scenes for row in _pages(scene)))
    tables.heading("Tests of systems in a job")
    tables.table(("benchmark", "took", "processor"), map(_tests, scenes))
    tables.heading("Boards of benchmarks with their tests")
    tables.table(VIEWED, (row for scene in scenes for row in _pages(scene, tested=True)))


def _pages(scene: BenchmarkScene, tested: bool = False) -> Iterator[tuple[str, ...]]:
    from benchmarks.boards import _views

    name, address = (
        f"{scene.systems} systems x {scene.tracks} tracks",
        f"/benchmarks/{scene.slug}/board/",
    )
    yield name, *_views(address)[0]
    yield f"{name}, all columns", *_views(f"{address}?column=all")[0]
    if tested:
        yield f"{name}, all pairs", *_views(f"{address}?family=all")[0]


def _tests(scene: BenchmarkScene) -> tuple[str, ...]:
    """Make the tests as a job does, and store them."""
    from leaderboard.models import Calculation
    from leaderboard.scoring.contest_tests import make_contest_tests

    clock, processor = time.perf_counter(), time.process_time()
    for wanted in Calculation.objects.filter(benchmark__slug=scene.slug).waiting():
        make_contest_tests(wanted, lambda done, total: None)()
    took = time.perf_counter() - clock
    return scene.slug, seconds(took), seconds(time.process_time() - processor)


def make_benchmark(scene: BenchmarkScene) -> None:
    """Write the benchmark straight into the tables; the first system is the baseline."""
    from benchmarks.scenes import Scene
    from leaderboard.models import Benchmark, System, SystemVersion, Team, User

    owner, _ = User.objects.get_or_create(username="ada", defaults={"can_organise": True})
    benchmark = Benchmark.objects.create(slug=scene.slug, name=scene.slug.title(), owner=owner)
    team = Team.objects.create(benchmark=benchmark, name="Bench")
    systems = System.objects.bulk_create(
        System(benchmark=benchmark, team=team, name=f"system-{n}") for n in range(scene.systems)
    )
    versions = SystemVersion.objects.bulk_create(
        SystemVersion(system=system, label="1", created_by=owner) for system in systems
    )
    Benchmark.objects.filter(pk=benchmark.pk).update(baseline=systems[0])
    known = np.ones((scene.systems, scene.tracks), dtype=bool)
    if scene.is_sparse:
        known = ~np.isnan(make_scene(scene.systems, scene.tracks).scores)
    for place in range(scene.tracks):
        answers = [versions[system] for system in np.flatnonzero(known[:, place])]
        board = Scene(f"{scene.slug}-{place}", len(answers), scene.topics, 1, seed=place + 1)
        _add_track(benchmark, team, board, place, answers)
    benchmark.renew_addresses()


def _add_track(benchmark: object, team: object, scene: object, place: int, versions: list) -> None:
    """Add a track with a scored run of every version."""
    from django.utils import timezone

    from benchmarks.scenes import Scene, _collection
    from leaderboard.models import (
        Benchmark,
        Edition,
        Run,
        Score,
        ScoreSet,
        Team,
        Track,
    )
    from leaderboard.scoring import editions

    assert isinstance(benchmark, Benchmark) and isinstance(team, Team) and isinstance(scene, Scene)
    judgments = _collection(scene, benchmark.owner)
    track = Track.objects.create(
        slug=scene.slug,
        name=f"Collection {place + 1}",
        benchmark=benchmark,
        position=place,
        group=f"Group {place % GROUPS + 1}",
        collection=judgments.collection,
        judgment_set=judgments,
        measures=scene.texts,
        primary_measure=MEASURE,
        disclosure="open",
    )
    edition = editions.start_edition(track)
    Track.objects.filter(pk=track.pk).update(edition=edition)
    Edition.objects.filter(pk=edition.pk).update(state="ready", ready_at=timezone.now())
    runs = Run.objects.bulk_create(
        Run(
            track=track,
            team=team,
            version=version,
            submitted_by=benchmark.owner,
            tag=f"run-{number}",
            state="scored",
            sha256=hashlib.sha256(str(number).encode()).hexdigest(),
            num_answered=scene.topics,
            scored_at=timezone.now(),
        )
        for number, version in enumerate(versions)
    )
    sets = ScoreSet.objects.bulk_create(
        ScoreSet(run=run, edition=edition, record=b"", judged_at_10=0.5) for run in runs
    )
    Score.objects.bulk_create(
        Score(
            score_set=score_set,
            measure=MEASURE,
            resolved=MEASURE,
            mean=float(values.mean()),
            by_topic=values.astype("<f8").tobytes(),
        )
        for score_set, [values] in zip(sets, scene.scores(), strict=True)
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(sys.argv[2:])
    else:
        main()
