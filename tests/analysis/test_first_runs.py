"""The baseline and a reader's own runs are on every short list of runs."""

from __future__ import annotations

from types import SimpleNamespace

from leaderboard.analysis.topics import keep_first_runs


def kept(kinds: str, most: int) -> list[int]:
    """Return the places that are kept; b is the baseline, m mine, and . another run."""
    names = {"b": "baseline", "m": "own", ".": "other"}
    lines = [SimpleNamespace(place=place, kind=names[kind]) for place, kind in enumerate(kinds)]
    return [line.place for line in keep_first_runs(lines, most)]


def test_the_first_runs_are_kept():
    assert kept("....", 2) == [0, 1]


def test_a_late_baseline_and_own_run_take_the_place_of_others():
    assert kept("....b.m", 3) == [0, 4, 6]


def test_own_runs_keep_the_order_of_the_board():
    assert kept("m.m.m", 2) == [0, 2]
