"""The cells of the boards of battles and of judges: a value with its interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from django.utils.safestring import SafeString

from leaderboard.analysis.battles import BattleStanding
from leaderboard.analysis.entrants import JudgeRow
from leaderboard.analysis.ranked_systems import RankingRow
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


def draw_estimates(rows: Sequence[JudgeRow | RankingRow]) -> tuple[AxisColumn, list[SafeString]]:
    """Return the axis and a cell for each judge: a dot, and a line for its interval."""
    known = [row.value for row in rows if row.value.value is not None]
    ends = [end for each in known for end in (each.value, each.low, each.high) if end is not None]
    values = np.array(ends or [0.0, 1.0])
    column = AxisColumn(charts.Axis.around(values.min(), values.max()), digits=2)
    return column, [_draw_estimate(column, row) for row in rows]


def _draw_estimate(column: AxisColumn, row: JudgeRow | RankingRow) -> SafeString:
    each = row.value
    if each.value is None or each.low is None or each.high is None:
        return charts.mean_cells(column, [each.value], [row.kind])[0]
    return charts.bounds_cell(column, each.low, each.value, each.high, row.kind)


def draw_calibrations(rows: Sequence[JudgeRow]) -> list[tuple[JudgeRow, SafeString]]:
    """Return each judge with the chart of how sure and how right it is."""
    return [
        (row, charts.reliability_chart(row.calibration.bins if row.calibration else ()))
        for row in rows
    ]
