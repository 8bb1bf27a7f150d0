"""Numbers and dates as pages print them."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.template import Context, Template

from leaderboard.boards.columns import format_decimals
from leaderboard.display import numbers
from leaderboard.display.charts.axes import tick_label
from leaderboard.display.numbers import (
    counted,
    exact,
    from_now,
    interval,
    nth,
    p_value,
    score,
    signed,
    size,
    span,
)
from rankfield.commands.numbers import signed_text

ROOT = Path(__file__).parents[2]
NAN = float("nan")
CLOSES = datetime(2026, 12, 1, 11, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "digits", "printed"),
    [
        (0.35794, 3, ".358"),
        (0.35794, 4, ".3579"),
        (0.0, 3, ".000"),
        (1.0, 3, "1.000"),
        (0.99996, 3, "1.000"),
        (-0.25, 3, "−.250"),
        (-0.00001, 3, ".000"),
        (-12.5, 1, "−12.5"),
        (10.04, 1, "10.0"),
        (None, 3, "–"),
        (NAN, 3, "–"),
    ],
)
def test_a_score_has_no_leading_zero_and_a_missing_one_is_a_dash(value, digits, printed):
    assert score(value, digits) == printed


@pytest.mark.parametrize("digits", [3, 4])
@pytest.mark.parametrize(
    "column",
    [[0.0, 0.358, 0.99996, 1.0], [0.5, None], [float("nan"), 0.5], [-0.0, -0.25], [1.5, 12.0], []],
)
def test_a_column_reads_as_each_of_its_scores(column, digits):
    assert numbers.scores(column, digits) == [numbers.score(each, digits) for each in column]


@pytest.mark.parametrize(
    ("difference", "printed"),
    [
        (0.0421, "+.042"),
        (-0.0251, "−.025"),
        (0.0001, ".000"),
        (-0.0001, ".000"),
        (-0.0005001, "−.001"),
        (0.0, ".000"),
        (-1.25, "−1.250"),
        (NAN, "–"),
    ],
)
def test_a_difference_has_its_sign_unless_it_rounds_to_zero(difference, printed):
    assert signed(difference) == printed


@pytest.mark.parametrize(
    ("p", "printed"),
    [
        (0.837, ".837"),
        (0.001, ".001"),
        (0.00099, "< .001"),
        (0.0, "< .001"),
        (1.0, "1.000"),
        (None, "–"),
    ],
)
def test_p_is_never_printed_as_zero(p, printed):
    assert p_value(p) == printed


def test_the_exact_value_reads_back_as_the_same_float():
    assert float(exact(0.1 + 0.2)) == 0.1 + 0.2


def test_counts_have_their_thousands_apart():
    assert numbers.count(225000) == "225,000"
    assert numbers.count(6.93) == "6.9"


def test_a_count_agrees_with_its_noun():
    assert counted(1, "run") == "1 run"
    assert counted(0, "run") == "0 runs"
    assert counted(1400, "entry,entries") == "1,400 entries"


def test_a_range_of_one_rank_is_that_rank():
    assert span(2, 5) == "2–5"
    assert span(6, 6) == "6"


def test_an_interval_is_said_in_words():
    assert interval(-0.0204, 0.0241) == "−.020 to +.024"


@pytest.mark.parametrize(
    ("place", "said"), [(2, "second"), (9, "ninth"), (11, "11th"), (23, "23rd"), (112, "112th")]
)
def test_small_places_are_words(place, said):
    assert nth(place) == said


@pytest.mark.parametrize(
    ("num_bytes", "printed"),
    [
        (1, "1 byte"),
        (38_120, "38 kB"),
        (2_214_871, "2.2 MB"),
        (999_600, "1.0 MB"),
        (536_870_912, "537 MB"),
        (0, "0 bytes"),
    ],
)
def test_sizes_are_decimal(num_bytes, printed):
    assert size(num_bytes) == printed


def test_a_deadline_is_told_where_the_day_ends_last():
    assert numbers.anywhere_on_earth(CLOSES) == "30 Nov 2026, 23:59 AoE"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (9 * 86_400 + 7_000, "in 9 days"),
        (86_400, "in 1 day"),
        (86_399, "in 23 hours 59 minutes"),
        (3_661, "in 1 hour 1 minute"),
        (3_600, "in 1 hour"),
        (3_659, "in 1 hour"),
        (61, "in 1 minute 1 second"),
        (1, "in 1 second"),
        (0, "now"),
        (-10_900, "3 hours ago"),
        (-90_000, "1 day ago"),
    ],
)
def test_a_distance_in_time_has_one_unit_or_two_within_a_day(seconds, said):
    assert from_now(seconds) == said


def test_a_distance_carries_its_seconds_for_the_script():
    said = numbers.distance(CLOSES, CLOSES - timedelta(seconds=75))
    assert said == '<span class="distance" data-in="75">in 1 minute 15 seconds</span>'


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("{{ value|score:3 }}", ".317"),
        ("{{ value|signed }}", "+.317"),
        (
            "{{ when|moment }}",
            '<time datetime="2026-12-01T11:59:00Z">1 Dec 2026, 11:59 UTC</time>',
        ),
        (
            "{{ when|deadline }}",
            '<time datetime="2026-12-01T11:59:00Z">30 Nov 2026, 23:59 AoE</time>',
        ),
        (
            "{{ when|moment_exactly }}",
            '<time datetime="2026-12-01T11:59:00Z">1 Dec 2026, 11:59:00 UTC</time>',
        ),
        ("{{ when|day }}", "1 Dec"),
        ("{{ never|moment }}", "–"),
    ],
)
def test_templates_have_the_same_words_as_filters(written, printed):
    context = Context({"value": 0.3168, "when": CLOSES, "never": None})
    assert Template(written).render(context) == printed


def test_no_place_prints_a_sign_before_what_rounds_to_zero():
    sources = [*ROOT.glob("leaderboard/**/*.py"), *ROOT.glob("evaluation/**/*.py")]
    sources += ROOT.glob("rankfield/**/*.py")
    signed_formats = [
        (path.name, found)
        for path in sources
        for found in re.findall(r"[^\s]*:\+[.\d][^\s]*", path.read_text())
    ]
    assert signed_formats == [] and tick_label(-0.004, 2) == ".00"
    assert signed_text(-0.00001) == "+0.0000" and format_decimals(-0.00001, 4) == "0.0000"
