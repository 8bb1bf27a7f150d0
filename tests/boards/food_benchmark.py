"""A benchmark of three tracks: Ben's system and Cat's answer all, another of Cat's one only."""

from __future__ import annotations

from leaderboard.models import (
    Benchmark,
    BenchmarkTeam,
    BenchmarkTrack,
    Run,
    System,
    SystemVersion,
    User,
)
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
    benchmark = Benchmark.objects.create(slug="food", name="Food", owner=ada)
    ours, theirs = (BenchmarkTeam.objects.create(benchmark=benchmark) for _ in range(2))
    systems = {
        name: System.objects.create(benchmark=benchmark, team=team, name=name)
        for name, team in (("bm25", ours), ("dense", theirs), ("worst", theirs))
    }
    versions = {
        name: SystemVersion.objects.create(system=system, label="1", created_by=ada)
        for name, system in systems.items()
    }
    texts = {"bm25": [RUN, OTHER_RUN, RUN], "dense": [OTHER_RUN, RUN, WORST_RUN]}
    for place, slug in enumerate(["bread", "cheese", "wine"]):
        track = make_track(make_collection(ada, slug), slug)
        put_into(versions["bm25"], make_run(track, ben, texts["bm25"][place]))
        put_into(versions["dense"], make_run(track, cat, texts["dense"][place]))
        track.teams.filter(memberships__user=ben).update(benchmark_team=ours)
        track.teams.filter(memberships__user=cat).update(benchmark_team=theirs)
        group = "solid" if place < 2 else "liquid"
        BenchmarkTrack.objects.create(track=track, benchmark=benchmark, position=place, group=group)
    put_into(versions["worst"], make_run(benchmark.tracks()[0], cat, WORST_RUN))
    return benchmark
