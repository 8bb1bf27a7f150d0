"""What a chart shows is read back from its markup and compared with the numbers."""

import re
import xml.etree.ElementTree as ET
from collections import namedtuple
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from evaluation.agreement.calibration import ConfidenceBin
from leaderboard.display import charts
from leaderboard.display.charts import (
    UNIT,
    Axis,
    AxisColumn,
    Bar,
    ChartMark,
    Point,
    RankPair,
    RecallCurves,
    Slope,
)
from leaderboard.display.charts.boxes import box_plot
from leaderboard.display.charts.costs import cost_chart
from leaderboard.display.charts.duels import DuelLine, duel_chart
from leaderboard.display.charts.heat import difficulty_chart, heat_map
from leaderboard.display.charts.labels import NamedDot, Stroke, place_labels
from leaderboard.display.charts.lines import LinePoint, SeriesLine, line_chart
from leaderboard.display.charts.reliability import reliability_chart
from leaderboard.display.charts.slopes import rank_chart
from leaderboard.display.charts.steps import step_chart

# What charts draw of the rows of analyses.
PricedRun = namedtuple("PricedRun", "name cost cost_text mean low high on_front is_measured")
PricedRun.is_named, PricedRun.kind = False, "other"
# A cost is one value; a measure across has an interval.
PricedRun.left = PricedRun.right = property(lambda run: run.cost)
DatedRun = namedtuple("DatedRun", "at mean best label kind", defaults=["other"])
JudgmentChange = namedtuple("JudgmentChange", "at version")
DrawnTopic = namedtuple("DrawnTopic", "number relevant median spread is_inverted", defaults=[(), 0])
DrawnRun = namedtuple("DrawnRun", "name is_own places kind", defaults=[(), ""])
Gains = namedtuple("Gains", "own reordered ideal")

NAN = float("nan")
MEANS = np.array([0.358, 0.318, 0.316, 0.307, 0.291, 0.244, 0.162, 0.008])
TENTHS = Axis(0.0, 1.0, (0.0, 0.5, 1.0))


def drawn(markup, tag, classes=""):
    """The elements of a chart with this tag and all of these classes, in order."""
    wanted = set(classes.split())
    found = ET.fromstring(markup).iter(tag)
    return [one for one in found if wanted <= set(one.get("class", "").split())]


def number(element, name):
    return float(element.get(name).rstrip("%"))


def words(markup):
    return ["".join(one.itertext()) for one in ET.fromstring(markup).iter("text")]


def bars_of(*differences):
    return [Bar(str(i + 1), d, "wings") for i, d in enumerate(differences)]


def topic_link(bar):
    return f"/topic/?number={bar.number}"


# Axes


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (-0.32, 0.75, (-0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8)),
        (0.0, 1.0, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        (0.0, 0.004, (0.0, 0.001, 0.002, 0.003, 0.004)),
        (0.0, 31.0, (0.0, 10.0, 20.0, 30.0, 40.0)),
    ],
)
def test_an_axis_around_values_ends_on_round_numbers(low, high, ticks):
    assert Axis.around(low, high).ticks == ticks


def test_a_value_stands_in_proportion_on_its_axis():
    axis = Axis.around(-0.4, 0.8)
    assert axis.at(0.2) == pytest.approx(50)
    assert axis.down(0.2, 210) == pytest.approx(105)


# Cells of a table column


def test_a_board_axis_leaves_out_only_what_is_far_below():
    axis = charts.board_column(MEANS).axis
    assert 0.008 < axis.low < min(mean for mean in MEANS if mean > 0.1)
    assert axis.high > 0.358


def test_a_board_of_four_runs_shows_all_of_them():
    assert charts.board_column(np.array([0.4, 0.39, 0.38, 0.01])).axis.low < 0.01


def test_a_board_axis_has_no_tick_below_zero():
    assert min(charts.board_column(np.array([0.0, 0.2])).axis.ticks) == 0.0


@pytest.mark.parametrize("means", [[], [NAN], [0.3], [0.3, 0.3]])
def test_a_board_of_hardly_any_run_still_has_an_axis(means):
    axis = charts.board_column(np.array(means)).axis
    assert axis.low < axis.high


def mean_cell(column, mean, kind="other"):
    (cell,) = charts.mean_cells(column, [mean], [kind])
    return cell


def test_the_dot_stands_at_the_mean():
    column = charts.board_column(MEANS, baseline=0.316)
    (dot,) = drawn(mean_cell(column, 0.318, "own"), "circle", "dot own")
    assert number(dot, "cx") == pytest.approx(column.axis.at(0.318), abs=0.01)


def test_a_strip_goes_from_the_highest_to_the_lowest_rank():
    column = charts.rank_column(12)
    cell = charts.rank_strip(column, 3, 1, 8, "own")
    (dot,), (strip,) = drawn(cell, "circle", "dot own"), drawn(cell, "line", "strip own")
    assert number(dot, "cx") == pytest.approx(column.axis.at(3), abs=0.01)
    assert number(strip, "x1") == pytest.approx(column.axis.at(1), abs=0.01)
    assert number(strip, "x2") == pytest.approx(column.axis.at(8), abs=0.01)
    assert "rank 3, possible ranks 1 to 8" in cell


def test_ranks_have_whole_ticks_from_one():
    assert charts.rank_column(2).axis.ticks == (1.0, 2.0)
    assert charts.rank_column(12).axis.ticks[0] == 1.0


def test_a_run_left_of_the_axis_is_an_arrow_and_says_its_score():
    cell = mean_cell(charts.board_column(MEANS), 0.008)
    assert drawn(cell, "path", "off") and not drawn(cell, "circle")
    assert ".008, left of this axis" in cell


def test_a_run_without_a_score_is_an_empty_cell():
    assert not drawn(mean_cell(AxisColumn(UNIT), NAN), "circle")


def test_what_runs_through_all_rows_is_drawn_once_in_the_head():
    column = charts.board_column(MEANS, baseline=0.316)
    head = charts.column_head(column)
    (dashed,) = drawn(head, "line", "dashed")
    assert number(dashed, "x1") == pytest.approx(column.axis.at(0.316), abs=0.01)
    assert f'href="#{column.grid}"' in mean_cell(column, 0.3)


@pytest.mark.parametrize(
    ("ticks", "kept"),
    [
        ((0.5, 0.6, 0.7), [".6"]),
        ((0.3, 0.5, 0.7), [".3", ".7"]),
        ((0.0, 0.25, 0.5, 0.75, 1.0), ["0", "1"]),
        ((0.1, 0.9), [".1", ".9"]),
        ((0.4,), [".4"]),
        ((), []),
    ],
)
def test_a_phone_names_two_values_or_one(ticks, kept):
    labels = drawn(charts.column_head(AxisColumn(Axis(0.0, 1.0, ticks))), "text", "tick")
    assert [label.text for label in labels if "opt" not in label.get("class")] == kept


def test_own_dots_lie_over_the_others():
    marks = [
        ChartMark(0.3, "mine", "own"),
        ChartMark(0.2),
        ChartMark(0.1, "base", "baseline"),
        ChartMark(NAN),
    ]
    dots = drawn(charts.dots_cell(AxisColumn(UNIT), marks), "circle")
    assert [number(dot, "cx") for dot in dots] == [20, 10, 30]


def test_a_range_goes_from_worst_to_best_with_the_median_between():
    cell = charts.range_cell(AxisColumn(TENTHS), 0.1, 0.25, 0.9, own=0.4)
    (line,) = drawn(cell, "line", "range")
    assert (number(line, "x1"), number(line, "x2")) == (10, 90)
    assert [number(inner, "x") for inner in ET.fromstring(cell).iter("svg") if inner.get("x")] == [
        25
    ]
    assert number(drawn(cell, "circle", "own")[0], "cx") == 40


# Difference bars


def test_bars_are_as_long_as_their_differences_on_their_side_of_zero():
    chart = charts.difference_bars(bars_of(0.4, 0.2, -0.2), "x")
    (better, half), (worse,) = drawn(chart, "rect", "bar better"), drawn(chart, "rect", "bar worse")
    zero = number(drawn(chart, "line", "zero")[0], "y1")
    assert number(better, "height") == pytest.approx(2 * number(half, "height"), abs=0.02)
    assert number(better, "y") + number(better, "height") == pytest.approx(zero, abs=0.02)
    assert number(worse, "y") == pytest.approx(zero, abs=0.02)


def test_every_bar_links_to_its_topic_and_says_its_value():
    chart = charts.difference_bars(bars_of(0.4, -0.25), "x", link=topic_link)
    links = drawn(chart, "a")
    assert [link.get("href") for link in links] == ["/topic/?number=1", "/topic/?number=2"]
    assert links[1].findtext("title") == "topic 2: −.250 wings"
    assert ET.fromstring(chart).find("svg").get("role") == "group"


def test_both_sides_are_counted():
    told = words(charts.difference_bars(bars_of(0.4, 0.1, 0.0, -0.2), "x", above="mine better"))
    assert "▲ mine better on 2" in told
    assert "▼ below on 1, equal on 1" in told


@pytest.mark.parametrize("values", [(0.6, 0.1, -0.2), (-0.4, -0.5), (0.3, 0.0), (-0.2, 0.4, 0.1)])
def test_each_count_stands_on_its_side_of_zero_and_over_its_bars(values):
    chart = charts.difference_bars(bars_of(*values), "x")
    zero = number(drawn(chart, "line", "zero")[0], "y1")
    for count in drawn(chart, "text", "side"):
        is_above = count.text.startswith("▲")
        assert (number(count, "y") < zero) == is_above
        assert (number(count, "x") < 50) == is_above


def test_the_three_largest_bars_of_each_side_are_named():
    falling = bars_of(0.6, 0.5, 0.4, 0.3, 0.0, -0.1, -0.2, -0.3, -0.4)
    named = [
        told.split()[0] for told in words(charts.difference_bars(falling, "x")) if "wings" in told
    ]
    assert named == ["1", "2", "3", "9", "8", "7"]


def test_a_name_stands_beside_the_bars_that_are_as_tall_as_its_line():
    chart = charts.difference_bars(bars_of(0.6, 0.59, 0.58, 0.1, 0.0), "x")
    labels = drawn(chart, "text", "label")
    assert number(labels[0], "x") == 60
    heights = [number(label, "y") for label in labels]
    assert np.diff(heights).min() >= 14


@pytest.mark.parametrize("sign", [1, -1])
def test_no_name_crosses_the_zero_line(sign):
    falling = sorted([sign * d for d in (-0.01, -0.02, -0.03, *np.linspace(0.1, 0.6, 9))])[::-1]
    chart = charts.difference_bars(bars_of(*falling), "x")
    zero = number(drawn(chart, "line", "zero")[0], "y1")
    above = [number(label, "y") < zero for label in drawn(chart, "text", "label")]
    told = [label.find("tspan").get("class") for label in drawn(chart, "text", "label")]
    assert above == [side == "better" for side in told] and above.count(sign > 0) == 3


def test_bars_in_another_order_are_named_at_their_tips():
    labels = drawn(charts.difference_bars(bars_of(-0.2, 0.4, 0.1), "x"), "text", "label")
    assert {label.text for label in labels} == {"1", "2", "3"}


def test_topics_without_a_difference_have_no_bar():
    chart = charts.difference_bars(bars_of(0.4, NAN), "x")
    assert len(drawn(chart, "rect", "bar")) == 1
    assert "1 topic: above on 1" in chart
    assert "No topic has a difference" in charts.difference_bars([], "x")


def test_thousands_of_bars_become_an_outline_of_their_extremes():
    differences = np.sin(np.arange(3000.0)) / 2
    chart = charts.difference_bars(bars_of(*differences), "x")
    heights = re.findall(r"V([\d.]+)h1", drawn(chart, "path", "better")[0].get("d"))
    axis = Axis.around(differences.min(), differences.max())
    assert not drawn(chart, "a")
    assert len(heights) == 300
    assert float(heights[7]) == pytest.approx(axis.down(differences[70:80].max(), 210), abs=0.01)


# Histogram and curves


def test_a_histogram_counts_topics_in_steps_of_five_hundredths():
    scores = np.array([0.01, 0.02, 0.07, 0.5, 1.0, NAN])
    chart = charts.histogram(scores, "mine", "x", np.array([0.02] * 4), "base")
    bars = drawn(chart, "rect", "bar")
    heights = [round(number(bar, "height") / 30) for bar in bars]
    assert heights == [2, 1, *[0] * 8, 1, *[0] * 8, 1]
    assert bars[1].findtext("title") == ".05 to .10: 1 topic"
    assert drawn(chart, "path", "outline")[0].get("d").startswith("M0 0V0h1V120h1")


def test_a_recall_curve_passes_through_its_precisions():
    own, runs = np.linspace(1.0, 0.0, 11), np.array([np.full(11, 0.2), np.full(11, 0.6)])
    chart = charts.recall_curves(RecallCurves("mine", own, runs, "top", own), "x")
    (curve,), (band,) = drawn(chart, "path", "own"), drawn(chart, "path", "band-1")
    points = [point.split() for point in curve.get("d")[1:].split("L")]
    assert points[0] == ["0", "0"] and points[5] == ["50", "50"] and points[10] == ["100", "100"]
    assert band.get("d").startswith("M0 40L10 40") and band.get("d").endswith("L0 80z")


FALLING = np.linspace(1.0, 0.0, 11)


def spread_chart():
    """Five runs that are shares of a falling line, in none of their orders."""
    spread = np.outer([0.9, 0.1, 0.4, 0.2, 0.6], FALLING)
    return charts.recall_curves(RecallCurves("mine", FALLING, spread, "top", FALLING**2), "x")


def points_of(path):
    """The corners of a path of straight strokes: across, and up from the ground."""
    corners = re.findall(r"[ML]([\d.]+) ([\d.]+)", path.get("d"))
    return [(float(x), 100 - float(y)) for x, y in corners]


def across(values):
    """These values up, per cent of the height, with as much room between one and the next."""
    return pytest.approx(np.transpose([np.linspace(0, 100, len(values)), 100 * values]), abs=0.01)


@pytest.mark.parametrize(("band", "low", "high"), [("band-1", 0.1, 0.9), ("band-2", 0.2, 0.6)])
def test_a_band_goes_along_its_upper_end_and_back_along_its_lower(band, low, high):
    (path,) = drawn(spread_chart(), "path", band)
    corners = np.array(points_of(path))
    assert corners[:11] == across(high * FALLING)
    assert corners[:10:-1] == across(low * FALLING)


@pytest.mark.parametrize(
    ("line", "values"), [("median", 0.4 * FALLING), ("named", FALLING**2), ("own", FALLING)]
)
def test_a_line_goes_through_the_values_of_its_name(line, values):
    (path,) = drawn(spread_chart(), "path", f"curve {line}")
    assert np.array(points_of(path)) == across(values)


def test_a_line_is_named_where_it_ends():
    own, best, runs = np.full(11, 0.8), np.full(11, 1.0), np.full((5, 11), [[0.4]])
    runs[0] = 0.2
    chart = charts.recall_curves(RecallCurves("mine", own, runs, "top", best), "x")
    ends = [one for one in drawn(chart, "text") if one.get("dx") == "8"]
    heights = {one.text: 1 - (number(one, "y") - 4) / 272 for one in ends}
    wanted = {"mine": 0.8, "top, best": 1.0, "median": 0.4, "all 5 runs": 0.2}
    assert heights == pytest.approx(wanted, abs=0.01)


def test_words_lie_over_the_bands():
    eleven = np.full(11, 0.5)
    chart = charts.recall_curves(RecallCurves("mine", eleven, np.array([eleven])), "x")
    assert chart.index("band-2") < chart.index("precision ↑") < chart.index("recall →")


def test_between_the_gains_lies_what_was_lost():
    own, reordered, ideal = (np.array(values) for values in ([0, 1], [1, 1], [2, 4]))
    chart = charts.gain_chart(Gains(own, reordered, ideal), "mine", "x")
    (retrieval,), (ranking,) = drawn(chart, "path", "band-1"), drawn(chart, "path", "band-2")
    assert retrieval.get("d") == "M0 50L100 0L100 75L0 75z"
    assert ranking.get("d") == "M0 75L100 75L100 75L0 100z"


def test_lines_are_named_at_their_ends_without_touching():
    same = np.full(11, 0.5)
    chart = charts.recall_curves(RecallCurves("mine", same, np.array([same]), "top", same), "x")
    ends = [one for one in drawn(chart, "text") if one.get("x") == "100%" and one.get("dx") == "8"]
    heights = sorted(number(one, "y") for one in ends)
    assert [one.text for one in ends if "strong" in one.get("class")] == ["mine"]
    assert np.diff(heights).min() >= 14


# Strips


def test_every_run_of_a_topic_stands_at_its_score():
    marks = [ChartMark(0.25, "a"), ChartMark(0.5, "b", "own", "/runs/b/"), ChartMark(NAN, "c")]
    chart = charts.strip_chart(marks, "All runs on topic 1")
    assert sorted(number(dot, "cx") for dot in drawn(chart, "circle")) == [50, 100]
    assert number(drawn(chart, "line", "median")[0], "x1") == 75
    assert drawn(chart, "a")[0].get("href") == "/runs/b/"


def test_names_on_a_strip_never_overlap_and_own_ones_come_first():
    marks = [
        ChartMark(i / 60, f"a-long-run-name-{i}", "own" if i == 30 else "other") for i in range(60)
    ]
    labels = drawn(charts.strip_chart(marks, "x"), "text", "label")
    places = sorted(number(label, "x") for label in labels)
    assert labels[0].text == "a-long-run-name-30"
    assert 5 < len(labels) < 10
    assert np.diff(places).min() > 10


def test_a_strip_without_a_run_says_so():
    assert "No run has a score" in charts.strip_chart([], "x")


def test_the_small_line_of_a_track_starts_at_zero():
    chart = charts.dot_line([ChartMark(0.2), ChartMark(0.4, "mine", "own")], "x")
    assert [number(dot, "cx") for dot in drawn(chart, "circle")] == [50, 100]
    assert words(chart) == ["0", ".4"]


# Grades


@pytest.mark.parametrize(
    ("top", "classes"),
    [
        (1, ["g0", "g4"]),
        (2, ["g0", "g2", "g4"]),
        (3, ["g0", "g1", "g3", "g4"]),
        (4, ["g0", "g1", "g2", "g3", "g4"]),
        (8, ["g0", "g1", "g1", "g2", "g2", "g2", "g3", "g4", "g4"]),
    ],
)
def test_a_scale_of_grades_is_cut_evenly_into_the_ramp(top, classes):
    assert [charts.grade_class(grade, top) for grade in range(top + 1)] == classes


def test_squares_follow_the_ranks():
    chart = charts.grade_squares([4, None, 0, -1])
    squares = drawn(chart, "rect", "square")
    assert [square.get("class").split()[1] for square in squares] == ["g4", "unjudged", "g0", "g0"]
    assert [number(square, "x") for square in squares] == [0.5, 19.5, 38.5, 57.5]
    assert "grades by rank: 4, unjudged, 0, -1" in chart


def test_the_second_five_squares_stand_together_to_be_moved_on_a_phone():
    (beyond,) = drawn(charts.grade_squares([1] * 7), "g", "beyond")
    assert [square.get("x") for square in beyond] == ["95.5", "114.5"]
    assert not drawn(charts.grade_squares([1] * 5), "g", "beyond")


def test_a_grade_bar_is_as_long_as_its_share_of_the_largest():
    chart = charts.grade_bar(387, 774, 3)
    assert number(drawn(chart, "rect", "g3")[0], "width") == 50
    assert words(chart) == ["387"]
    assert not drawn(charts.grade_bar(0, 774, 3), "rect")


def test_a_stack_lays_the_shares_of_its_grades_end_to_end_from_the_highest():
    parts = drawn(charts.grade_stack({0: 50, 3: 20, 1: 30}, most=200, top=3), "rect")
    assert [part.get("class").split()[1] for part in parts] == ["g4", "g1", "g0"]
    assert [number(part, "x") for part in parts] == [0, 10, 25]
    assert [number(part, "width") for part in parts] == [10, 15, 25]


# Pairs


def test_an_interval_is_drawn_around_its_difference():
    chart = charts.difference_interval(0.002, -0.02, 0.024, "x", negligible=0.01)
    (bar,), (dot,) = drawn(chart, "line", "strip"), drawn(chart, "circle", "mean")
    assert (number(bar, "x1"), number(bar, "x2"), number(dot, "cx")) == (25, 80, 52.5)
    assert "+.002, 95 % interval −.020 to +.024." in chart


def test_points_stand_up_one_score_and_across_the_other():
    chart = charts.scatter([Point("7", a=0.75, b=0.25), Point("8", 0.5, 0.5)], "x", "a", "b", "7")
    (point,), (ring,) = drawn(chart, "circle", "better"), drawn(chart, "circle", "ring")
    assert (number(point, "cx"), number(point, "cy")) == (25, 95)
    assert number(ring, "cx") == 25
    assert len(drawn(chart, "circle", "same")) == 1


def test_of_very_many_points_some_are_drawn_and_the_current_one():
    points = [Point(str(number), number / 5000, 0.5) for number in range(5000)]
    chart = charts.scatter(points, "x", "a", "b", "7")
    assert len(drawn(chart, "circle")) == 2000 + 1 and drawn(chart, "circle", "ring")
    assert "2,000 of 5,000 topics drawn" in words(chart)


def proportional(places, values):
    """Whether places on a drawing are values on an axis, whatever its ends and its direction."""
    slope, ground = np.polyfit(values, places, 1)
    return np.allclose(slope * np.asarray(values) + ground, places, atol=0.06)


def test_a_run_stands_at_its_day_and_at_its_score():
    days = [datetime(2026, 3, day, tzinfo=UTC) for day in (1, 3, 4, 9)]
    scores, bests = [0.21, 0.18, 0.32, 0.25], [0.21, 0.21, 0.32, 0.32]
    runs = [DatedRun(*each, "bm25") for each in zip(days, scores, bests, strict=True)]
    chart = step_chart(runs, [JudgmentChange(days[1], "v2")], "x")
    dots = drawn(chart, "circle", "dot")
    assert proportional([number(dot, "cx") for dot in dots], [day.day for day in days])
    assert proportional([number(dot, "cy") for dot in dots], scores)
    assert number(drawn(chart, "line", "dashed")[0], "x1") == number(dots[1], "cx")


def test_what_turned_after_the_last_run_stands_at_its_day_too():
    days = [datetime(2026, 3, day, tzinfo=UTC) for day in (1, 5, 9)]
    runs = [DatedRun(day, 0.2, 0.2, "bm25") for day in days[:2]]
    chart = step_chart(runs, [JudgmentChange(days[2], "v2")], "x")
    dots, (dashed,) = drawn(chart, "circle", "dot"), drawn(chart, "line", "dashed")
    places = [*(number(dot, "cx") for dot in dots), number(dashed, "x1")]
    assert proportional(places, [day.day for day in days])
    assert drawn(chart, "text", "label")[-1].get("text-anchor") == "end"


def test_the_line_of_the_best_rises_where_a_run_raised_it():
    days = [datetime(2026, 3, day, tzinfo=UTC) for day in (1, 3, 4)]
    runs = [
        DatedRun(day, 0.2, best, "bm25") for day, best in zip(days, (0.2, 0.3, 0.3), strict=True)
    ]
    chart = step_chart(runs, [], "x")
    path, dots = drawn(chart, "path", "curve")[0].get("d"), drawn(chart, "circle", "dot")
    ends = [float(each) for each in re.findall(r"[MH]([\d.]+)", path)]
    assert ends == [*(number(dot, "cx") for dot in dots), 100]
    heights = [float(each) for each in re.findall(r"[V ]([\d.]+)", path)]
    assert heights[1] < heights[0] and heights[1] == heights[2]


def test_a_topic_stands_across_its_relevant_documents_up_its_median():
    topics = [
        DrawnTopic("1", 4, 0.25),
        DrawnTopic("2", 10, 0.5),
        DrawnTopic("3", 7, NAN),
    ]
    first, second = drawn(difficulty_chart(topics, "AP"), "circle", "point")
    assert [number(first, "cx"), number(second, "cx")] == [40, 100]
    assert [number(first, "cy"), number(second, "cy")] == [195, 130]


# By cost, and in none of the orders of a drawing; the second is worse than the cheaper first.
SPENT, WORTH = [10.0, 1.0, 2.0, 0.1], [0.35, 0.3, 0.25, 0.2]


def priced_chart(is_measured=True):
    """Runs whose intervals reach twice as far up as down."""
    priced = [
        PricedRun(f"run {cost}", cost, f"{cost} s", mean, mean - 0.04, mean + 0.08, cost != 2, each)
        for cost, mean, each in zip(SPENT, WORTH, [True, True, True, is_measured], strict=True)
    ]
    return cost_chart(priced, "Time, s", "AP", "x")


def dots_by_cost(chart):
    dots = drawn(chart, "circle", "dot")
    return sorted((number(dot, "cx"), number(dot, "cy")) for dot in dots)


def test_a_run_stands_across_the_logarithm_of_its_cost_up_its_mean():
    x, y = zip(*dots_by_cost(priced_chart()), strict=True)
    assert proportional(x, np.log10(sorted(SPENT)))
    assert proportional(y, [0.2, 0.3, 0.25, 0.35])


def test_a_whisker_goes_through_its_dot_from_the_high_end_to_the_low():
    chart = priced_chart()
    whiskers = drawn(chart, "line", "whisker")
    ends = sorted([number(each, name) for name in ("x1", "y1", "y2")] for each in whiskers)
    x, high, low = zip(*ends, strict=True)
    at, middle = zip(*dots_by_cost(chart), strict=True)
    means = np.array([0.2, 0.3, 0.25, 0.35])
    assert x == at
    assert proportional([*middle, *high, *low], [*means, *(means + 0.08), *(means - 0.04)])


def test_the_steps_join_the_runs_that_no_cheaper_one_beats():
    chart = priced_chart()
    path = drawn(chart, "path", "front")[0].get("d")
    steps = re.findall(r"[ML]([\d.]+) ([\d.]+)H([\d.]+)", path)
    cheap, good, _, best = dots_by_cost(chart)
    wanted = [(*cheap, good[0]), (*good, best[0]), (*best, 100)]
    assert [tuple(map(float, each)) for each in steps] == wanted


def test_the_square_of_a_stated_cost_has_its_middle_where_the_dot_would_be():
    chart = priced_chart(is_measured=False)
    (square,) = drawn(chart, "svg", "stated")
    (shape,) = square.iter("rect")
    half = number(shape, "width") / 2
    assert (number(square, "x"), number(square, "y")) == dots_by_cost(priced_chart())[0]
    assert len(dots_by_cost(chart)) == 3
    assert (number(shape, "x"), number(shape, "y"), number(shape, "height")) == (
        -half,
        -half,
        2 * half,
    )


def named(spots, strokes=()):
    return f"<svg>{place_labels(spots, strokes, 340)}</svg>"


@pytest.mark.parametrize("other_screen", ["opt", "phone"])
def test_every_dot_of_a_crowd_has_its_name_on_either_screen(other_screen):
    crowd = [NamedDot(10 + 4 * place, 60 + 8 * place, f"run {place}") for place in range(9)]
    texts = drawn(named(crowd), "text", "label")
    shown = [each.text for each in texts if other_screen not in each.get("class").split()]
    assert shown == [each.name for each in crowd]


def test_a_name_makes_way_for_a_stroke():
    (name,) = drawn(named([NamedDot(50, 100, "bm25")], [Stroke(50, 100, 90, 90)]), "text")
    assert (number(name, "y"), name.get("text-anchor")) == (93, "end")
    level = [Stroke(0, 100, 90, 90)]
    (name,) = drawn(named([NamedDot(50, 100, "bm25")], level), "text")
    assert number(name, "y") == 116


def test_bounds_go_from_the_lowest_to_the_highest_score_around_the_score():
    cell = charts.bounds_cell(AxisColumn(UNIT, "x"), 0.3, 0.45, 0.8)
    (way,), (dot,) = drawn(cell, "line", "range"), drawn(cell, "circle", "dot")
    assert (number(way, "x1"), number(dot, "cx"), number(way, "x2")) == (30, 45, 80)
    assert "<title>.4500, from .3000 to .8000</title>" in cell


def test_a_document_is_joined_with_its_twin_or_ends_in_a_stub():
    chart = charts.rank_lines([RankPair(1, 3, True), RankPair(2, None, False)], depth=3)
    stub, _, curve, _ = drawn(chart, "path")
    assert curve.get("d") == "M0 4.56C50 4.56 50 24.56 100 24.56"
    assert curve.get("class") == "join relevant"
    assert stub.get("d") == "M0 14.56h12"


# All of them

WILD = "<b>&\"'"
# What drawings are made of, and cells of words.
NO_CHARTS = {"drawing", "matrix"}


def cells():
    """Small ones: their column says the rest."""
    column = AxisColumn(UNIT)
    return {
        "dots_cell": charts.dots_cell(column, [ChartMark(0.3, WILD, "own", f"/?q={WILD}")]),
        "mean_cells": mean_cell(column, 0.3),
        "rank_strip": charts.rank_strip(charts.rank_column(9), 3, 1, 8, "own"),
        "range_cell": charts.range_cell(column, 0.1, 0.2, 0.3),
        "bounds_cell": charts.bounds_cell(column, 0.1, 0.2, 0.3),
        "grade_squares": charts.grade_squares([1]),
        "grade_stack": charts.grade_stack({0: 1, 2: 1}, 2),
        "grade_bar": charts.grade_bar(1, 2, 1),
        "moved_rank_cell": charts.moved_rank_cell(charts.rank_column(9), 1, 2),
        "mixed_ranks": charts.mixed_ranks(charts.rank_column(9), 3, 1, 8, "own"),
        "judged_bar": charts.judged_bar(3, 5, turn=2),
        "reliability_chart": reliability_chart([ConfidenceBin(0.5, 0.6, 90, 0.55, 0.5)]),
    }


def wild(row):
    """The address of any row."""
    return WILD


def whole_charts():
    marks = [ChartMark(0.3, WILD, "own", f"/?q={WILD}"), ChartMark(0.4, "فريق")]
    eleven = np.linspace(0.9, 0.1, 11)
    day = datetime(2026, 3, 1, tzinfo=UTC)
    priced = PricedRun(WILD, 2.0, WILD, 0.3, 0.2, 0.4, True, False)
    run = DrawnRun(WILD, True, [1, 1], "own")
    curve = charts.DetectableCurve(np.array([25.0, 50.0]), np.array([0.1, 0.05]))
    planned = [charts.PlannedDot(30, 0.08, WILD, is_plan=True, href=WILD)]
    topic = DrawnTopic(WILD, 3, 0.2, [0.1, 0.2, 0.3, 0.4, 0.5], True)
    dated = [SeriesLine(WILD, "own", [LinePoint(0, 0.3, 0.2, 0.4), LinePoint(1, 0.2, 0.1, 0.3)])]
    return {
        "line_chart": line_chart([WILD, "2026"], dated, WILD),
        "strip_chart": charts.strip_chart(marks, WILD),
        "dot_line": charts.dot_line(marks, WILD),
        "difference_bars": charts.difference_bars([Bar(WILD, 0.2, WILD)], WILD, WILD, WILD, wild),
        "histogram": charts.histogram(eleven, WILD, WILD, eleven, WILD),
        "recall_curves": charts.recall_curves(
            RecallCurves(WILD, eleven, np.array([eleven]), WILD, eleven), WILD
        ),
        "gain_chart": charts.gain_chart(Gains(*[eleven.cumsum()] * 3), WILD, WILD),
        "box_plot": box_plot([topic], WILD, WILD, wild),
        "difference_interval": charts.difference_interval(0.1, 0.0, 0.2, WILD),
        "scatter": charts.scatter([Point(WILD, 0.1, 0.2)], WILD, WILD, WILD, WILD, wild),
        "heat_map": heat_map([run], [topic], np.array([[0.2]]), WILD, wild, marks=True),
        "difficulty_chart": difficulty_chart([topic], WILD, wild),
        "rank_chart": rank_chart([WILD, "AP"], [run], WILD, wild),
        "slope_chart": charts.slope_chart([Slope(WILD, 1, 4, "worse")], WILD),
        "duel_chart": duel_chart([DuelLine(WILD, 0.1, 0.2, "better", WILD)], WILD, WILD, WILD),
        "detectable_chart": charts.detectable_chart(curve, planned, WILD),
        "cost_chart": cost_chart([priced], "Time, s", WILD, WILD, wild),
        "step_chart": step_chart(
            [DatedRun(day, 0.2, 0.2, WILD)], [JudgmentChange(day, WILD)], WILD, wild
        ),
    }


def every_chart():
    return cells() | whole_charts()


@pytest.mark.parametrize("chart", every_chart().values(), ids=every_chart().keys())
def test_every_chart_is_titled_well_formed_and_without_styles(chart):
    root = ET.fromstring(chart)
    svg = root if root.tag == "svg" else root.find("svg")
    assert svg.findtext("title")
    assert svg.get("role") == ("group" if list(svg.iter("a")) else "img")
    assert not [one for one in root.iter() if "style" in one.attrib or one.tag == "b"]
    assert "nan" not in chart.lower()


@pytest.mark.parametrize("chart", whole_charts().values(), ids=whole_charts().keys())
def test_a_whole_chart_says_what_it_is_about_and_what_it_shows(chart):
    svg = ET.fromstring(chart).find("svg")
    assert WILD in svg.findtext("title")
    assert re.search(r"\d", svg.findtext("desc"))


def test_no_chart_is_left_out():
    folder = Path(charts.__file__).parent
    sources = [each.read_text() for each in folder.glob("*.py") if each.stem not in NO_CHARTS]
    made = re.findall(
        r"^def ([a-z]\w+)\([^)]*\) -> (?:list\[)?SafeString\]?:", "".join(sources), re.MULTILINE
    )
    assert set(made) - {"badge", "column_head", "count_bar", "rank_lines"} == set(every_chart())


def test_a_foreign_name_keeps_its_direction_to_itself():
    assert "\u2068فريق\u2069" in charts.strip_chart([ChartMark(0.4, "فريق")], "x")


def test_equal_runs_draw_no_bar_and_no_fault():
    told = words(charts.difference_bars(bars_of(0.0, 0.0), "x"))
    assert "▼ below on 0, equal on 2" in told


# Slopes


def test_a_slope_joins_the_rows_of_a_run():
    chart = charts.slope_chart([Slope("a", 1, 3, "worse"), Slope("b", 2, 1)], "Ranks")
    paths = {one.get("d") for one in drawn(chart, "path", "slope")}
    assert paths == {"M0 16L100 80", "M0 48L100 16"}
    assert [number(one, "cy") for one in drawn(chart, "circle", "slope-end worse")] == [16, 80]


def test_coloured_slopes_are_drawn_last():
    chart = charts.slope_chart([Slope("a", 1, 2, "better"), Slope("b", 2, 1)], "Ranks")
    assert drawn(chart, "path", "slope")[-1].get("class") == "slope better"


# Two systems of a benchmark


def test_both_systems_stand_at_their_scores_on_every_track():
    lines = [DuelLine("bread", 0.2, 0.5, "better", "/b/"), DuelLine("wine", 0.6, 0.1, "worse")]
    chart = duel_chart(lines, "old", "new", "x")
    rings, dots = drawn(chart, "circle", "moved"), drawn(chart, "circle", "point")
    assert [number(ring, "cx") for ring in rings] == [20, 60]
    assert [number(dot, "cx") for dot in dots] == [50, 10]
    assert [dot.get("class") for dot in dots] == ["point better", "point worse"]


def test_a_track_says_both_scores_and_leads_to_its_board():
    chart = duel_chart([DuelLine("bread", 0.2, 0.5, "better", "/b/")], "old", "new", "x")
    (link,) = drawn(chart, "a")
    assert link.get("href") == "/b/"
    assert link.findtext("title") == "bread: old .2000, new .5000"
    assert "1 track: new ahead on 1, old on 0." in chart


# Reliability


def test_a_bin_is_a_dot_by_how_sure_and_how_right_a_judge_is():
    bins = [ConfidenceBin(0.5, 0.6, 90, 0.55, 0.5), ConfidenceBin(0.9, 1.0, 10, 0.95, 0.0)]
    chart = reliability_chart(bins)
    many, few = drawn(chart, "circle", "point")
    assert (many.get("cx"), number(many, "cy"), many.get("r")) == ("55%", 36, "6")
    assert (few.get("cx"), number(few, "cy"), few.get("r")) == ("95%", 72, "2")
    (diagonal,) = drawn(chart, "line", "diagonal")
    assert (diagonal.get("x1"), diagonal.get("y1"), diagonal.get("y2")) == ("0%", "72", "0")
    assert ".50 right of 90 at .55" in chart
