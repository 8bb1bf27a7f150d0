"""What changes between two boards of the same runs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from leaderboard.analysis.shifts import Means, Move, Shift, find_shift, place_runs
from leaderboard.models import Run

RUNS = [Run(pk=name) for name in "abc"]


def shift_from(before: Means, after: Means) -> Shift:
    boards = (place_runs(means, 1) for means in (before, after))
    return find_shift("AP", RUNS, *boards)


def names(moves: Sequence[Move]) -> str:
    return "".join(move.run.pk for move in moves)


def test_a_run_that_rises_gains_the_ranks_that_others_lose():
    shift = shift_from([0.5, 0.4, 0.3], [0.2, 0.4, 0.6])
    assert [move.gained for move in shift.moves] == [-2, 0, 2]
    assert [move.side for move in shift.moves] == ["worse", "", "better"]
    assert shift.agreement.tau_b == -1 and shift.num_moved == 2


def test_the_largest_move_is_first_and_each_board_has_its_own_order():
    shift = shift_from([0.5, 0.4, 0.3], [0.5, 0.3, 0.6])
    assert names(shift.by_size) == "cab"
    assert names(shift.by_rank_before) == "abc" and names(shift.by_rank_after) == "cab"
    assert shift.leader.run.pk == "c"


def test_equal_runs_are_in_one_order_on_both_boards():
    shift = shift_from([0.5, 0.5, 0.5], [0.1, 0.1, 0.1])
    assert names(shift.by_rank_before) == names(shift.by_rank_after) == "abc"
    assert shift.agreement.tau_b is None and shift.num_moved == 0


def test_a_run_without_a_mean_is_last_and_does_not_change():
    shift = shift_from([0.5, None, 0.3], [0.5, 0.4, None])
    assert [(move.before.rank, move.after.rank) for move in shift.moves] == [(1, 1), (3, 2), (2, 3)]
    assert [move.change for move in shift.moves] == [0, None, None]
    assert shift.mean_change == 0


def test_the_first_ten_before_are_compared_alone():
    shift = shift_from([0.5, 0.4, 0.3], [0.5, 0.3, 0.4])
    assert shift.top == shift.agreement.tau_b == pytest.approx(1 / 3)


def test_a_verdict_turns_where_it_is_another_one():
    before = place_runs([0.5, 0.4, 0.3], 1, ["better", "", "worse"])
    after = place_runs([0.5, 0.4, 0.3], 1, ["not significant", "", "worse"])
    assert names(find_shift("AP", RUNS, before, after).turned) == "a"
