"""GET /api/v1/benchmarks/{slug}/board"""

from __future__ import annotations

import pytest
from pytest import approx

from leaderboard.models import Benchmark, Run, System, SystemVersion, User
from tests.boards.food_benchmark import make_food_benchmark

PATH = "/api/v1/benchmarks/food/board"


def make_scene(ada: User, ben: User, cat: User) -> None:
    make_food_benchmark(ada, ben, cat)


@pytest.fixture
def benchmark(scene) -> Benchmark:
    return Benchmark.objects.get(slug="food")


def test_a_board_has_its_columns_and_its_systems_in_order(benchmark, anybody_api):
    board = anybody_api.get(PATH).json()
    assert [column["track"] for column in board["columns"]] == ["bread", "cheese", "wine"]
    assert [row["name"] for row in board["standings"]] == ["bm25", "dense"]
    assert board["standings"][0]["mean"] == approx((25 / 36 * 2 + 19 / 36) / 3)
    assert board["groups"] == ["solid", "liquid"] and board["no_mean"] is None


def test_a_system_has_its_run_on_every_track(benchmark, anybody_api):
    [row] = anybody_api.get(PATH).json()["incomplete"]
    run = Run.objects.get(version__system__name="worst")
    assert row["runs"] == {"bread": run.pk} and row["mean"] is None
    assert row["scores"]["cheese"] is None


def test_tracks_that_count_are_chosen_by_name(benchmark, anybody_api):
    board = anybody_api.get(f"{PATH}?track=bread&track=wine").json()
    assert len(board["columns"]) == 2
    wrong = anybody_api.get(f"{PATH}?track=tea")
    assert (wrong.status_code, wrong.json()["problems"][0]["found"]) == (422, "tea")


def test_systems_are_compared_with_a_version(benchmark, anybody_api):
    version = SystemVersion.objects.get(system__name="dense")
    board = anybody_api.get(f"{PATH}?baseline={version.pk}").json()
    assert (board["family"], board["test"], board["baseline"]) == (
        "baseline",
        "max_t",
        version.pk,
    )
    first = board["standings"][0]
    assert first["difference"] == approx(first["mean"] - board["standings"][1]["mean"])
    assert first["verdict"] == "not significant"


def test_a_baseline_that_is_not_complete_is_no_baseline(benchmark, anybody_api):
    version = SystemVersion.objects.get(system__name="worst")
    assert anybody_api.get(f"{PATH}?baseline={version.pk}").status_code == 422


def test_a_table_names_what_is_averaged(benchmark, anybody_api):
    answer = anybody_api.get(f"{PATH}?format=tex")
    assert answer["Content-Disposition"] == 'attachment; filename="food-board.tex"'
    assert r"\caption{Food: 2 systems on 3 tracks; by AP" in answer.text


def test_a_hidden_track_is_named_and_nothing_of_it_shown(benchmark, anybody_api, ada_api):
    benchmark.tracks.in_order().filter(slug="cheese").update(disclosure="blind")
    board = anybody_api.get(PATH).json()
    assert board["hidden"] == ["cheese"]
    assert all("cheese" not in row["scores"] for row in board["standings"])
    assert ada_api.get(PATH).json()["hidden"] == []


def test_a_benchmark_that_one_may_not_know_does_not_exist(benchmark, anybody_api):
    benchmark.tracks.in_order().update(visibility="members")
    assert anybody_api.get(PATH).status_code == 404


def test_a_system_of_nobody_is_on_no_board(benchmark, anybody_api):
    System.objects.create(benchmark=benchmark, team=benchmark.teams.first(), name="silent")
    names = [row["name"] for row in anybody_api.get(PATH).json()["incomplete"]]
    assert names == ["worst"]
