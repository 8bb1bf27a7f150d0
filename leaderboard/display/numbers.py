"""Numbers and dates as text, as plain functions and as template filters.

Scores have no leading zero, differences always a sign, a missing value is a dash and never zero.

    >>> score(0.358), score(1), score(None), score(float("nan"))
    ('.3580', '1.0000', '–', '–')
    >>> signed(-0.0251), signed(0.042), p_value(0.0004), count(1400)
    ('−.025', '+.042', '< .001', '1,400')
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from datetime import date as Day
from math import isnan
from typing import TYPE_CHECKING

import numpy as np
from django import template
from django.template import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from leaderboard.display.page_gaps import leave_gap

if TYPE_CHECKING:
    from evaluation.significance import Difference

register = template.Library()

MISSING = "–"
MINUS = "−"
ANYWHERE_ON_EARTH = timezone(timedelta(hours=-12), "AoE")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DAY = 86_400
UNITS = (("day", DAY), ("hour", 3_600), ("minute", 60), ("second", 1))
WORDS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


@register.filter
def score(value: float | None, digits: int = 4) -> str:
    """Return a score as tables show it: ".3582", "1.0000"; boards use 3 digits."""
    if value is None or isnan(value):
        return MISSING
    # With "z" what rounds to zero has no sign.
    text = f"{value:z.{digits}f}"
    if text.startswith("-"):
        return MINUS + text[1:].removeprefix("0")
    return text[1:] if text.startswith("0.") else text


@register.filter
def percent(value: float | None) -> str:
    """Return a share in whole percent.

    >>> percent(0.534), percent(None)
    ('53 %', '–')
    """
    return MISSING if value is None or isnan(value) else f"{100 * value:z.0f} %"


def scores(values: Sequence[float | None], digits: int = 4) -> list[str]:
    """Return `score` of each value, all formatted in one step if none is missing.

    >>> scores([0.358, 1, 0.99999, -0.5, -0.00001]), scores([-0.5, None])
    (['.3580', '1.0000', '1.0000', '−.5000', '.0000'], ['−.5000', '–'])
    """
    known = np.array(values, dtype=np.float64)
    if not np.isfinite(known).all():
        return [score(value, digits) for value in values]
    # What rounds to zero has no sign.
    known[np.abs(known) < 0.5 * 10.0**-digits] = 0.0
    printed = f"\n%.{digits}f" * known.size % tuple(known.tolist())
    return (
        printed.replace("\n0.", "\n.")
        .replace("\n-0.", f"\n{MINUS}.")
        .replace("\n-", f"\n{MINUS}")
        .split("\n")[1:]
    )


@register.filter
def exact(value: float | None) -> str:
    """Return all digits of a number, for titles and explanations."""
    return MISSING if value is None or isnan(value) else repr(float(value))


@register.filter
def signed(value: float | None, digits: int = 3) -> str:
    """Return a difference with its sign: "+.042", "−.025"; ".000" if it rounds to zero."""
    text = score(value, digits)
    is_zero = text == MISSING or not text.strip(".0")
    return text if is_zero or text.startswith(MINUS) else f"+{text}"


@register.filter
def p_value(value: float | None) -> str:
    """Return p with three decimals; a smaller p is "< .001", never zero."""
    if value is not None and value < 0.001:
        return "< .001"
    return score(value, 3)


@register.filter
def p_in_words(value: float | None) -> str:
    """Return p with its relation, on one line.

    >>> p_in_words(0.837), p_in_words(0.0001)
    ('p\\xa0=\\xa0.837', 'p\\xa0<\\xa0.001')
    """
    printed = p_value(value)
    return keep_on_one_line(f"p {printed}" if printed.startswith("<") else f"p = {printed}")


def keep_on_one_line(words: str) -> str:
    """Return text that a browser does not break into lines."""
    return words.replace(" ", "\N{NO-BREAK SPACE}")


@register.filter
def count(value: float | None) -> str:
    """Return a count with separated thousands; a mean of counts has one decimal."""
    if value is None or isnan(value):
        return MISSING
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


@register.filter
def counted(value: int, noun: str) -> str:
    """Return a count with its noun: "1 run", "2 documents"; other plurals as "entry,entries"."""
    one, _, many = noun.partition(",")
    return f"{count(value)} {one if value == 1 else many or one + 's'}"


@register.filter
def differs_on(against: Difference) -> str:
    """Return on how many topics two runs differ: "differs on 3 of 50 topics"."""
    return f"differs on {count(against.changed)} of {counted(against.topics, 'topic')}"


@register.filter
def span(low: int, high: int) -> str:
    """Return a range of ranks: "2–5", or "1" if both ends are equal."""
    return str(low) if low == high else f"{low}–{high}"


@register.simple_tag
def difference_text(value: float | None, unit: str = "mean", digits: int = 3) -> str:
    """Return a difference in its unit: of means, of totals, or a ratio of geometric means.

    >>> difference_text(0.042), difference_text(13.3, "total"), difference_text(2.924, "ratio")
    ('+.042', '+13.3', '×2.92')
    """
    if value is None:
        return MISSING
    if unit == "ratio":
        return f"×{value:.{max(digits - 1, 0)}f}"
    return signed(value, 1 if unit == "total" else digits)


def interval(low: float, high: float, digits: int = 3, unit: str = "mean") -> str:
    """Return the ends of an interval in words: "−.020 to +.024"."""
    return f"{difference_text(low, unit, digits)} to {difference_text(high, unit, digits)}"


@register.filter
def nth(place: int) -> str:
    """Return an ordinal number, in words up to nine: "second", then "12th"."""
    if 0 < place < len(WORDS):
        return WORDS[place]
    suffix = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10)
    return f"{place:,}{suffix or 'th'}"


@register.filter
def size(num_bytes: int) -> str:
    """Return the size of a file: "640 bytes", "38 kB", "2.2 MB"."""
    if num_bytes < 1000:
        return counted(num_bytes, "byte")
    amount, unit = float(num_bytes), ""
    for larger in ("kB", "MB", "GB", "TB"):
        if amount < 999.5:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.1f} {unit}" if amount < 9.95 and unit != "kB" else f"{amount:.0f} {unit}"


@register.filter
def mebibytes(num_bytes: int) -> str:
    """Return a limit: "512 MiB", or "64 KiB" of less than one."""
    whole = num_bytes // 1024**2
    return f"{whole:,} MiB" if whole else f"{num_bytes // 1024} KiB"


def date(when: datetime | Day) -> str:
    return f"{when.day} {MONTHS[when.month - 1]} {when.year}"


@register.filter
def day(when: datetime, now: datetime | None = None) -> str:
    """Return a day for a narrow column: "18 Nov", with its year if it is not this year.

    >>> day(datetime(2026, 11, 18, tzinfo=UTC), now=datetime(2027, 1, 1, tzinfo=UTC))
    '18 Nov 2026'
    """
    when = when.astimezone(UTC)
    if when.year != (now or datetime.now(UTC)).year:
        return date(when)
    return f"{when.day} {MONTHS[when.month - 1]}"


def instant(when: datetime) -> str:
    """Return a date and time with its zone: "18 Nov 2026, 14:02 UTC"."""
    when = when.astimezone(UTC)
    return f"{date(when)}, {when.hour:02}:{when.minute:02} UTC"


def anywhere_on_earth(when: datetime) -> str:
    """Return a deadline anywhere on earth: "30 Nov 2026, 23:59 AoE"."""
    when = when.astimezone(ANYWHERE_ON_EARTH)
    return f"{date(when)}, {when:%H:%M} AoE"


def from_now(seconds: int) -> str:
    """Return the time until or since a moment in its largest unit, or two units within a day.

    `fromNow` in the script gives the same text.

    >>> from_now(800_000), from_now(18_750), from_now(-18_750), from_now(0)
    ('in 9 days', 'in 5 hours 12 minutes', '5 hours ago', 'now')
    """
    left, parts = abs(seconds), []
    for unit, length in UNITS:
        many, left = divmod(left, length)
        if many or parts:
            parts.append((many, unit))
    if not parts:
        return "now"
    most = 2 if 0 < seconds < DAY else 1
    distance = " ".join(counted(many, unit) for many, unit in parts[:most] if many)
    return f"in {distance}" if seconds > 0 else f"{distance} ago"


def describe_duration(seconds: float) -> str:
    """Return a duration in hours and minutes, at least one minute.

    >>> describe_duration(4800), describe_duration(7200), describe_duration(20)
    ('1 h 20 min', '2 h', '1 min')
    """
    hours, minutes = divmod(max(1, round(seconds / 60)), 60)
    parts = [f"{hours} h"] * (hours > 0) + [f"{minutes} min"] * (minutes > 0)
    return " ".join(parts)


def time_element(when: datetime, text: str, due: bool = False) -> SafeString:
    """Return a time element; the script shows it in the reader's zone, at once if `due`."""
    stamp = when.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    kind = mark_safe(' class="due"') if due else ""
    return format_html('<time datetime="{}"{}>{}</time>', stamp, kind, text)


@register.filter
def moment(when: datetime | None) -> str:
    return time_element(when, instant(when)) if when else MISSING


@register.filter
def moment_exactly(when: datetime | None) -> str:
    """Return a time with seconds, for receipts: "18 Nov 2026, 14:02:10 UTC"."""
    if when is None:
        return MISSING
    utc = when.astimezone(UTC)
    return time_element(when, f"{date(utc)}, {utc:%H:%M:%S} UTC")


@register.filter
def deadline(when: datetime | None) -> str:
    """Return a deadline anywhere on earth: "30 Nov 2026, 23:59 AoE"."""
    return time_element(when, anywhere_on_earth(when)) if when else MISSING


@register.filter
def due(when: datetime | None) -> str:
    """Return a date of a track; the script adds the reader's own time."""
    return time_element(when, instant(when), due=True) if when else MISSING


@register.filter
def due_anywhere(when: datetime | None) -> str:
    return time_element(when, anywhere_on_earth(when), due=True) if when else MISSING


@register.filter
def day_or_days(first: Day, last: Day | None) -> str:
    """Return one day, or the days from first to last: "22–23 Mar 2027", "2 Dec 2026 – 18 Jan 2027".

    >>> day_or_days(Day(2027, 3, 22), Day(2027, 3, 23)), day_or_days(Day(2026, 9, 1), None)
    ('22–23 Mar 2027', '1 Sep 2026')
    """
    if last is None:
        return date(first)
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{date(last)}"
    return f"{date(first)} – {date(last)}"


@register.filter
def distance(when: datetime | None, now: datetime | None = None) -> str:
    """Return the time until a moment: "in 9 days"; the script keeps it current.

    The script counts from the time of the server, because a reader's clock may be wrong.
    """
    if when is None:
        return MISSING
    left = leave_gap("distance", when.isoformat()) if now is None else None
    if left is not None:
        return left
    seconds = int((when - (now or datetime.now(UTC))).total_seconds())
    return format_html('<span class="distance" data-in="{}">{}</span>', seconds, from_now(seconds))


@register.simple_tag(takes_context=True)
def answered_in(context: Context) -> str:
    """Return how long the server has worked on this page: "answered in 38 ms"."""
    return leave_gap("answered") or describe_time_taken(context.get("request"))


def describe_time_taken(request: object) -> str:
    started = getattr(request, "started", None)
    if started is None:
        return ""
    return f"answered in {(time.perf_counter() - started) * 1000:.0f} ms"
