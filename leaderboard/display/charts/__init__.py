"""Charts as SVG, drawn by the server from arrays.

Horizontal positions are per cent of the width, vertical ones pixels of a fixed height.  So one
drawing fits every screen and its text never scales.  Styles are classes of `rankfield.css`.
"""

from leaderboard.display.charts.axes import UNIT, Axis, AxisColumn
from leaderboard.display.charts.bars import Bar, difference_bars, histogram
from leaderboard.display.charts.cells import (
    board_column,
    bounds_cell,
    column_head,
    count_bar,
    dots_cell,
    judged_bar,
    mean_cells,
    mixed_ranks,
    moved_rank_cell,
    range_cell,
    rank_column,
    rank_strip,
)
from leaderboard.display.charts.curves import Curve, RecallCurves, recall_curves
from leaderboard.display.charts.drawing import ChartMark, cut_name
from leaderboard.display.charts.gains import gain_chart
from leaderboard.display.charts.grades import grade_bar, grade_class, grade_squares, grade_stack
from leaderboard.display.charts.pairs import (
    Point,
    RankPair,
    difference_interval,
    rank_lines,
    scatter,
)
from leaderboard.display.charts.planning import DetectableCurve, PlannedDot, detectable_chart
from leaderboard.display.charts.reliability import reliability_chart
from leaderboard.display.charts.slopes import Slope, slope_chart
from leaderboard.display.charts.strips import dot_line, strip_chart

__all__ = [
    "UNIT",
    "Axis",
    "AxisColumn",
    "Bar",
    "ChartMark",
    "Curve",
    "DetectableCurve",
    "PlannedDot",
    "Point",
    "RankPair",
    "RecallCurves",
    "Slope",
    "board_column",
    "bounds_cell",
    "column_head",
    "count_bar",
    "cut_name",
    "detectable_chart",
    "difference_bars",
    "difference_interval",
    "dot_line",
    "dots_cell",
    "gain_chart",
    "grade_bar",
    "grade_class",
    "grade_squares",
    "grade_stack",
    "histogram",
    "judged_bar",
    "mean_cells",
    "mixed_ranks",
    "moved_rank_cell",
    "range_cell",
    "rank_column",
    "rank_lines",
    "rank_strip",
    "recall_curves",
    "reliability_chart",
    "scatter",
    "slope_chart",
    "strip_chart",
]
