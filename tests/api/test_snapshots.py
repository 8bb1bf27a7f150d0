"""GET /api/v1/benchmarks/{slug}/snapshots and /api/v1/tracks/{slug}/snapshots"""

from __future__ import annotations

import pytest

from leaderboard.models import Benchmark, BenchmarkSnapshot, Snapshot, Track, User
from tests.boards.food_benchmark import make_food_benchmark

PATH = "/api/v1/benchmarks/food/snapshots"


def make_scene(ada: User, ben: User, cat: User) -> None:
    make_food_benchmark(ada, ben, cat)


@pytest.fixture
def frozen(scene, as_ada) -> BenchmarkSnapshot:
    assert Benchmark.objects.get(slug="food")
    as_ada.post("/benchmarks/food/manage/freeze/", {"name": "Final"})
    return BenchmarkSnapshot.objects.get()


def test_snapshots_of_a_benchmark_are_listed_with_their_formats(frozen, anybody_api):
    [listed] = anybody_api.get(PATH).json()["items"]
    assert listed["slug"] == "final" and listed["systems"] == 2
    assert listed["formats"] == ["csv", "tsv", "json", "md", "tex"]


def test_a_snapshot_is_the_board_of_its_day(frozen, anybody_api):
    assert anybody_api.get(f"{PATH}/final").content.decode() == frozen.files["json"]
    assert anybody_api.get(f"{PATH}/final?format=md").content.decode() == frozen.files["md"]


def test_a_snapshot_with_a_hidden_track_is_not_listed(frozen, anybody_api):
    Track.objects.filter(slug="wine").update(disclosure="blind")
    assert anybody_api.get(PATH).json()["items"] == []
    assert anybody_api.get(f"{PATH}/final").status_code == 404


def test_snapshots_of_a_track_are_listed_and_sent_as_they_were_frozen(frozen, as_ada, anybody_api):
    as_ada.post("/benchmarks/food/tracks/bread/manage/freeze/", {"name": "Final"})
    [listed] = anybody_api.get("/api/v1/tracks/bread/snapshots").json()["items"]
    assert (listed["slug"], listed["runs"], listed["judgments"]) == ("final", 3, "v1")
    sent = anybody_api.get("/api/v1/tracks/bread/snapshots/final?format=csv").content.decode()
    assert sent == Snapshot.objects.get().files["csv"]
