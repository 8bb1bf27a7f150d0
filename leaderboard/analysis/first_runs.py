"""The first runs of a board, for lists that are too short for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from leaderboard.display.charts.drawing import Kind


class MarkedRun(Protocol):
    """A line about a run that a chart marks as the baseline, the reader's own or another."""

    @property
    def kind(self) -> Kind: ...


Line = TypeVar("Line", bound=MarkedRun)


def keep_first_runs(lines: Sequence[Line], most: int) -> list[Line]:
    """Return the first `most` lines in their order, always with the baseline and own runs."""
    places = range(len(lines))
    marked = [place for place in places if lines[place].kind != "other"]
    others = [place for place in places if lines[place].kind == "other"]
    kept = sorted([*marked, *others][:most])
    return [lines[place] for place in kept]
