"""The board of a benchmark: means, points and ranks, and whose columns a viewer sees."""

from __future__ import annotations

from statistics import fmean

import pytest

from leaderboard.actions.tracks import release_track
from leaderboard.boards.benchmark_boards import BenchmarkChoice, count_points, find_benchmark_board
from leaderboard.boards.disclosure import benchmark_sight_of
from leaderboard.models import Benchmark, System, SystemVersion, Track, User
from tests.boards.food_benchmark import make_food_benchmark, put_into
from tests.builders import RUN, make_run


def make_scene(ada: User, ben: User, cat: User) -> None:
    make_food_benchmark(ada, ben, cat)


@pytest.fixture
def benchmark(scene) -> Benchmark:
    return Benchmark.objects.get(slug="food")


def board_for(benchmark, viewer, **choice):
    return find_benchmark_board(benchmark_sight_of(benchmark, viewer), BenchmarkChoice(**choice))


def column(board, slug):
    return next(each for each in board.columns if each.sight.track.slug == slug)


FIRST, OTHER, WORST = fmean([1, 1 / 2, 7 / 12]), fmean([5 / 12, 1, 1 / 6]), fmean([1 / 8, 1 / 3, 0])


def test_a_mean_counts_every_track_the_same(benchmark, cat):
    board = board_for(benchmark, cat)
    assert [row.name for row in board.rows] == ["bm25", "dense"]
    assert board.rows[0].mean == pytest.approx(fmean([FIRST, OTHER, FIRST]), abs=1e-12)
    assert board.rows[1].mean == pytest.approx(fmean([OTHER, FIRST, WORST]), abs=1e-12)


def test_a_group_has_a_mean_of_its_own(benchmark, cat):
    board = board_for(benchmark, cat)
    assert board.groups == ["solid", "liquid"]
    assert board.rows[0].group_means == pytest.approx([fmean([FIRST, OTHER]), FIRST], abs=1e-12)


def test_a_system_that_lacks_a_track_has_no_mean_and_stands_apart(benchmark, cat):
    board = board_for(benchmark, cat)
    assert [row.name for row in board.incomplete] == ["worst"]
    assert board.incomplete[0].mean is None and board.incomplete[0].answered == 1


def test_systems_are_compared_on_the_tracks_that_they_share(benchmark, cat):
    board = board_for(benchmark, cat, tracks=("bread",))
    assert [row.name for row in board.rows] == ["bm25", "dense", "worst"]


def test_a_point_is_given_for_every_system_that_is_beaten_on_a_track(benchmark, cat):
    board = board_for(benchmark, cat)
    assert [row.borda for row in board.rows] == [2.0, 1.0]
    assert [row.borda_rank for row in board.rows] == [1, 2]


def test_equal_values_share_the_points_of_their_ranks(benchmark, cat):
    board = board_for(benchmark, cat)
    same = [board.rows[0], board.rows[0], board.rows[1]]
    # On two tracks the twins share ranks 1 and 2, on one they share 2 and 3.
    assert count_points(board.columns, same) == [1.5 + 0.5 + 1.5, 1.5 + 0.5 + 1.5, 0 + 2 + 0]


def test_phases_are_never_averaged(benchmark, cat):
    Track.objects.filter(slug="wine").update(phase="test")
    board = board_for(benchmark, cat, phase="all")
    assert len(board.columns) == 3 and board.no_mean == "phases"
    assert {(row.mean, row.borda, row.rank) for row in board.rows} == {(None, None, None)}


def test_the_last_phase_that_shows_something_stands_first(benchmark, cat):
    Track.objects.filter(slug="wine").update(phase="test")
    assert board_for(benchmark, cat).phase == "test"
    benchmark.tracks.in_order().filter(slug="wine").update(disclosure="blind")
    assert board_for(benchmark, cat).phase == ""


def test_measures_of_different_ranges_have_no_mean(benchmark, cat):
    benchmark.tracks.in_order().filter(slug="wine").update(
        measures=["NumRelRet"], primary_measure="NumRelRet"
    )
    assert board_for(benchmark, cat).no_mean == "sums"


def test_a_blind_track_hides_its_column_and_what_it_would_count(benchmark, ada, cat):
    benchmark.tracks.in_order().filter(slug="cheese").update(disclosure="blind")
    board = board_for(benchmark, cat)
    assert [hidden.track.slug for hidden in board.hidden] == ["cheese"]
    assert board.rows[0].mean == pytest.approx(FIRST, abs=1e-12)
    assert len(board_for(benchmark, ada).columns) == 3


def test_its_release_shows_it(benchmark, ada, cat):
    track = benchmark.tracks.in_order().get(slug="cheese")
    type(track).objects.filter(pk=track.pk).update(disclosure="blind")
    track.refresh_from_db()
    release_track(track, ada)
    assert len(board_for(benchmark, cat).columns) == 3


def test_a_track_with_pseudonyms_stands_apart_until_its_release(benchmark, ada, cat):
    benchmark.tracks.in_order().filter(slug="cheese").update(pseudonyms=True)
    assert [hidden.track.slug for hidden in board_for(benchmark, cat).hidden] == ["cheese"]
    assert not board_for(benchmark, ada).hidden


def test_rounded_means_have_no_tests(benchmark, cat):
    benchmark.tracks.in_order().filter(slug="cheese").update(disclosure="leaderboard")
    board = board_for(benchmark, cat)
    assert board.contest is None and column(board, "cheese").decimals == 2
    assert board.rows[0].values[1] == round(OTHER, 2)


def test_the_newest_version_stands_for_its_system_once_it_is_complete(benchmark, ben, cat):
    system = System.objects.get(name="bm25")
    newer = SystemVersion.objects.create(system=system, label="2", created_by=ben)
    for track in benchmark.tracks.in_order():
        assert board_for(benchmark, cat).rows[0].version.label == "1"
        put_into(
            newer, make_run(track, ben, RUN.replace("ben-bm25", "newer") + "3 Q0 d1 4 1 newer\n")
        )
    assert board_for(benchmark, cat).rows[0].version.label == "2"
    assert len(board_for(benchmark, cat, versions="all").rows) == 3
