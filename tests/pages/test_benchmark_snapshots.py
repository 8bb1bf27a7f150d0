"""Frozen boards of a benchmark: what they hold stays, and a hidden track hides them."""

from __future__ import annotations

import pytest

from leaderboard.actions import benchmark_setup, runs
from leaderboard.jobs.erasure import erase_track
from leaderboard.models import Benchmark, BenchmarkSnapshot, Run, Track, User
from leaderboard.scoring import contest_tests
from tests.boards.food_benchmark import make_food_benchmark
from tests.builders import signed_in, work


def make_scene(ada: User, ben: User, cat: User) -> None:
    make_food_benchmark(ada, ben, cat)


@pytest.fixture
def benchmark(scene) -> Benchmark:
    return Benchmark.objects.get(slug="food")


def freeze(client, name="As published", **fields) -> BenchmarkSnapshot | None:
    client.post("/benchmarks/food/manage/freeze/", {"name": name, **fields})
    return BenchmarkSnapshot.objects.first()


def table_of(client) -> str:
    page = client.get("/benchmarks/food/snapshots/as-published/").content.decode()
    return page.split("<tbody>")[1].split("</tbody>")[0]


def test_a_snapshot_of_a_benchmark_holds_every_ranked_system(benchmark, as_ada, as_cat):
    freeze(as_ada)
    table = table_of(as_cat)
    assert table.count("<tr>") == 2
    assert "bm25 1</bdi>" in table and "<bdi>.6389</bdi>" in table


def test_a_run_withdrawn_later_changes_the_board_and_no_snapshot(benchmark, ben, as_ada, as_cat):
    frozen = freeze(as_ada)
    for run in Run.objects.filter(version__system__name="bm25"):
        runs.withdraw_run(run, ben)
    assert "bm25 1</bdi>" in table_of(as_cat) and "withdrawn" in table_of(as_cat)
    answer = as_cat.get("/benchmarks/food/snapshots/as-published/?format=csv")
    assert answer.content.decode() == frozen.files["csv"]
    assert answer["Content-Disposition"] == 'attachment; filename="food-as-published.csv"'


def test_a_paper_cites_the_snapshot_of_a_benchmark(benchmark, as_ada, as_cat):
    freeze(as_ada)
    entry = as_cat.get("/benchmarks/food/snapshots/as-published/?format=bib").text
    assert entry.startswith("@misc{food-as-published,\n")
    assert "\\url{http://testserver/benchmarks/food/snapshots/as-published/}" in entry


def test_two_snapshots_of_a_benchmark_never_share_an_address(benchmark, as_ada):
    freeze(as_ada)
    page = as_ada.post("/benchmarks/food/manage/freeze/", {"name": "as published"}, follow=True)
    assert "Snapshot as-published already exists." in page.text
    assert BenchmarkSnapshot.objects.count() == 1


@pytest.mark.parametrize("hides", [{"disclosure": "blind"}, {"is_draft": True}])
def test_a_track_that_hides_its_scores_never_goes_in(benchmark, as_ada, hides):
    Track.objects.filter(slug="wine").update(**hides)
    name = Track.objects.get(slug="wine").name
    assert f"It leaves out <bdi>{name}</bdi>" in as_ada.get("/benchmarks/food/snapshots/").text
    frozen = freeze(as_ada)
    printed = str(frozen.files) + str(frozen.heads) + frozen.caption
    assert "wine" not in printed and name not in printed


def test_names_that_a_track_hides_never_go_in(benchmark, as_ada):
    Track.objects.filter(slug="wine").update(pseudonyms=True)
    assert "wine" not in str(freeze(as_ada).files)


@pytest.mark.parametrize(
    "hides", [{"disclosure": "blind"}, {"is_draft": True}, {"pseudonyms": True}]
)
def test_a_snapshot_is_hidden_as_soon_as_one_of_its_tracks_is(benchmark, as_ada, as_cat, hides):
    freeze(as_ada)
    Track.objects.filter(slug="wine").update(**hides)
    assert as_cat.get("/benchmarks/food/snapshots/as-published/").status_code == 404
    assert "As published" not in as_cat.get("/benchmarks/food/snapshots/").text
    assert as_ada.get("/benchmarks/food/snapshots/as-published/").status_code == 200


def test_a_track_that_left_the_benchmark_still_hides_what_was_frozen(
    benchmark, ada, as_ada, as_cat
):
    freeze(as_ada)
    benchmark_setup.remove_track(benchmark, ada, Track.objects.get(slug="wine"))
    assert as_cat.get("/benchmarks/food/snapshots/as-published/").status_code == 200
    Track.objects.filter(slug="wine").update(disclosure="blind")
    assert as_cat.get("/benchmarks/food/snapshots/as-published/").status_code == 404


def test_the_erasure_of_a_track_erases_what_was_frozen_of_it(benchmark, as_ada):
    freeze(as_ada)
    erase_track(Track.objects.get(slug="wine"))
    assert not BenchmarkSnapshot.objects.exists()


def test_no_board_of_a_benchmark_is_frozen_before_its_tests_are_made(
    benchmark, as_ada, monkeypatch
):
    monkeypatch.setattr(contest_tests, "IMMEDIATE_BENCHMARK_SCORES", 0)
    assert freeze(as_ada) is None
    assert "tests of systems are running" in as_ada.get("/benchmarks/food/snapshots/").text
    work()
    assert freeze(as_ada) is not None


def test_one_phase_is_frozen_at_a_time(benchmark, as_ada):
    Track.objects.filter(slug="bread").update(phase="training")
    assert "training" in as_ada.get("/benchmarks/food/snapshots/").text
    frozen = freeze(as_ada, phase="training")
    assert frozen.editions.count() == 1 and "phase training" in frozen.caption


def test_teams_cannot_freeze_a_board_of_a_benchmark(benchmark, ben):
    page = signed_in(ben).get("/benchmarks/food/snapshots/")
    assert "Freeze board" not in page.text
    assert freeze(signed_in(ben)) is None


def test_the_board_of_a_benchmark_leads_to_its_snapshots(benchmark, as_cat):
    assert (
        '<a href="/benchmarks/food/snapshots/">Snapshots</a>'
        in as_cat.get("/benchmarks/food/board/").text
    )


def test_the_way_to_a_snapshot_of_a_benchmark_begins_at_the_benchmarks(benchmark, as_ada):
    freeze(as_ada)
    page = as_ada.get("/benchmarks/food/snapshots/as-published/").text
    assert '<li><a href="/benchmarks/"><bdi>Benchmarks</bdi></a></li>' in page
