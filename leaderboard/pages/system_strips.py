"""The profile of a system as a table: a strip for every track, and a chart of its versions."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import cached_property

from django.utils.safestring import SafeString

from leaderboard.analysis.system_profiles import SystemProfile, TrackPlace
from leaderboard.display.charts import Axis, ChartMark
from leaderboard.display.charts.axes import AxisColumn
from leaderboard.display.charts.cells import column_head, dots_cell, range_cell
from leaderboard.display.charts.steps import step_chart
from leaderboard.display.charts.strips import dot_line

# Up to this many dots are drawn on all strips together; beyond, each has its range.
MOST_DOTS = 5_000


@dataclass(frozen=True)
class SystemStrips:
    """The strips of a system, on one axis where the measures have one range."""

    profile: SystemProfile

    @property
    def head(self) -> SafeString | str:
        """The axis of all strips; "" where every strip has its own."""
        return column_head(self._column) if self._is_one_axis else ""

    @property
    def _is_one_axis(self) -> bool:
        return self.profile.shares_axis and bool(self.profile.places)

    @cached_property
    def _column(self) -> AxisColumn:
        values = [value for place in self.profile.places for value in place.values]
        return AxisColumn(Axis.around(min(0.0, *values), max(values) or 1.0), grid="systems")

    @cached_property
    def shows_dots(self) -> bool:
        return sum(len(place.others) for place in self.profile.places) <= MOST_DOTS

    @property
    def rows(self) -> list[tuple[TrackPlace, SafeString]]:
        """The place of the system on each track, and all systems there on a line."""
        return [(place, self._draw(place)) for place in self.profile.places]

    def _draw(self, place: TrackPlace) -> SafeString:
        if not self._is_one_axis:
            return dot_line(self._marks(place), place.column.name)
        if self.shows_dots:
            return dots_cell(self._column, self._marks(place))
        ordered = sorted(place.values, key=lambda value: value * place.column.direction)
        median = statistics.median(ordered)
        return range_cell(self._column, ordered[0], median, ordered[-1], place.value)

    def _marks(self, place: TrackPlace) -> list[ChartMark]:
        return [
            ChartMark(
                value,
                row.name,
                "own" if row is self.profile.row else ("baseline" if row.is_baseline else "other"),
            )
            for row, value in zip(place.others, place.values, strict=True)
        ]

    @property
    def chart(self) -> SafeString | str:
        """The mean of every complete version over time; "" below two of them."""
        steps = self.profile.averaged
        if len(steps) < 2:
            return ""
        return step_chart(steps, [], "The mean of each version", noun="version")
