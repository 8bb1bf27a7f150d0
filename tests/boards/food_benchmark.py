"""A benchmark of three tracks: Ben's system and Cat's answer all, another of Cat's one only."""

from __future__ import annotations

from leaderboard.models import (
    Benchmark,
    Run,
    System,
    SystemVersion,
    User,
)
from tests.benchmark_scene import join_tracks
from tests.builders import OTHER_RUN, RUN, make_collection, make_run, make_track
from tests.recording import recorded

# Two of three topics are answered, each with its relevant documents last.
WORST_RUN = """1 Q0 d3 1 9.0 worst
1 Q0 d9 2 8.0 worst
1 Q0 d11 3 7.0 worst
1 Q0 d1 4 6.0 worst
2 Q0 d5 1 9.0 worst
2 Q0 d10 2 8.0 worst
2 Q0 d4 3 7.0 worst
"""


def put_into(version: SystemVersion, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(version=version)


@recorded
def make_food_benchmark(ada: User, ben: User, cat: User) -> Benchmark:
    made = [make_track(make_collection(ada, slug), slug) for slug in ("bread", "cheese", "wine")]
    benchmark = join_tracks(made, slug="food", name="Food")
    tracks = list(benchmark.tracks.in_order())
    texts = {"bm25": [RUN, OTHER_RUN, RUN], "dense": [OTHER_RUN, RUN, WORST_RUN]}
    runs = {
        name: [make_run(track, user, text) for track, text in zip(tracks, sent, strict=True)]
        for (name, sent), user in zip(texts.items(), (ben, cat), strict=True)
    }
    benchmark.tracks.update(group="solid")
    benchmark.tracks.filter(slug="wine").update(group="liquid")
    systems = {
        name: System.objects.create(benchmark=benchmark, team=benchmark.team_of(user), name=name)
        for name, user in (("bm25", ben), ("dense", cat), ("worst", cat))
    }
    versions = {
        name: SystemVersion.objects.create(system=system, label="1", created_by=ada)
        for name, system in systems.items()
    }
    for name, sent in runs.items():
        for run in sent:
            put_into(versions[name], run)
    put_into(versions["worst"], make_run(benchmark.tracks.in_order()[0], cat, WORST_RUN))
    return benchmark
