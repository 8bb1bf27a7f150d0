"""The cells of the board of battles: the chance of being preferred, with its interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from django.utils.safestring import SafeString

from leaderboard.analysis.battles import BattleStanding
from leaderboard.display import charts
from leaderboard.display.charts import AxisColumn

# The chance of an average run.
EVEN = 0.5


def draw_preferences(rows: Sequence[BattleStanding]) -> tuple[AxisColumn, list[SafeString]]:
    """Return the axis and a cell for each run: a dot, and a line for its interval."""
    ends = [end for row in rows if row.interval for end in (row.interval.low, row.interval.high)]
    values = np.array([EVEN, *ends, *(row.preferred for row in rows)])
    column = AxisColumn(charts.Axis.around(values.min(), values.max()), digits=2, dashed=EVEN)
    cells = [
        charts.bounds_cell(column, row.interval.low, row.preferred, row.interval.high, row.kind)
        if row.interval
        else charts.mean_cells(column, [row.preferred], [row.kind])[0]
        for row in rows
    ]
    return column, cells
