"""Grades in violet: darker is more relevant; hollow is grade 0, dashed is unjudged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.utils.safestring import SafeString, mark_safe

from leaderboard.display.charts.drawing import coord
from leaderboard.display.numbers import count

RAMP = 4
SQUARE, PITCH, TALL, FOLD = 16, 19, 13, 5
BAR_HEIGHT = 10


def grade_class(grade: int | None, top: int = RAMP) -> str:
    """Return the colour class of a grade; other scales are divided evenly.

    >>> [grade_class(grade, top=3) for grade in (None, -1, 0, 1, 2, 3)]
    ['unjudged', 'g0', 'g0', 'g1', 'g3', 'g4']
    """
    if grade is None:
        return "unjudged"
    if grade <= 0:
        return "g0"
    return f"g{max(1, min(RAMP, round(RAMP * grade / max(top, 1))))}"


def grade_squares(grades: Sequence[int | None], top: int = RAMP) -> SafeString:
    """Return the first documents of a ranking as squares in the order of ranks.

    On a phone those beyond the first five are below them.
    """
    words = ", ".join("unjudged" if grade is None else str(grade) for grade in grades)
    drawn = [
        f'<rect class="square {grade_class(grade, top)}" x="{index * PITCH + 0.5}" y=".5"'
        f' width="{SQUARE}" height="{TALL}" rx="3"/>'
        for index, grade in enumerate(grades)
    ]
    beyond = f'<g class="beyond">{"".join(drawn[FOLD:])}</g>' if drawn[FOLD:] else ""
    squares = "".join(drawn[:FOLD]) + beyond
    width = max(len(grades) * PITCH, 1)
    return mark_safe(
        f'<svg class="squares" role="img" width="{width}" height="{TALL + 1}">'
        f"<title>grades by rank: {words or 'none'}</title>{squares}</svg>"
    )


def grade_stack(counts: Mapping[int, int], most: int, top: int = RAMP) -> SafeString:
    """Return a stacked bar of the documents by grade, the most relevant first."""
    shapes, left = "", 0
    for grade in sorted(counts, reverse=True):
        x, width = (
            coord(100 * left / max(most, 1)),
            coord(100 * counts[grade] / max(most, 1)),
        )
        shapes += (
            f'<rect class="square {grade_class(grade, top)}" x="{x}%" y="9" width="{width}%"'
            f' height="{BAR_HEIGHT}"/>'
        )
        left += counts[grade]
    words = ", ".join(f"{count(counts[grade])} of grade {grade}" for grade in sorted(counts)[::-1])
    return mark_safe(
        f'<svg class="cell" role="img"><title>{words or "nothing judged"}</title>{shapes}</svg>'
    )


def grade_bar(number: int, most: int, grade: int | None, top: int = RAMP) -> SafeString:
    """Return the number of documents with a grade as a bar."""
    width = coord(100 * number / max(most, 1))
    shape = (
        f'<rect class="square {grade_class(grade, top)}" x="0" y=".5" width="{width}%"'
        f' height="{BAR_HEIGHT}" rx="1.5"/>'
        if number
        else ""
    )
    words = f'<text class="count" x="{width}%" y="10" dx="8">{count(number)}</text>'
    return mark_safe(
        f'<div class="plot grade-bar"><svg class="chart" role="img" width="100%"'
        f' height="{BAR_HEIGHT + 1}"><title>{count(number)}</title>{shape}{words}</svg></div>'
    )
