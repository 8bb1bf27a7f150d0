"""Cells of square tables: pairs of runs or of measures, coloured by verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from numpy.typing import NDArray

from leaderboard.display.numbers import exact, p_in_words, p_value, score, signed

Square = NDArray[np.float64]
DIAGONAL = '<td class="diagonal"></td>'


class Pairs(Protocol):
    """All pairs of runs, best first: row minus column, and p adjusted for all pairs.

    `direction` is -1 if the lower mean wins.
    """

    names: Sequence[str]
    differences: Square
    p: Square
    direction: int
    level: float


def pair_cells(pairs: Pairs, row: int, link: Callable[[int], str]) -> SafeString:
    """Return a row: differences above the diagonal, p below; verdicts are coloured.

    `link` has the address of the comparison with the run of a column.
    """
    cells = [_pair_cell(pairs, row, column, link) for column in range(len(pairs.names))]
    return mark_safe("".join(cells))


def _pair_cell(pairs: Pairs, row: int, column: int, link: Callable[[int], str]) -> str:
    if row == column:
        return DIAGONAL
    difference, p = float(pairs.differences[row, column]), float(pairs.p[row, column])
    verdict = "better" if pairs.direction * difference > 0 else "worse"
    told_apart = p < pairs.level
    wash = f" wash-{verdict}" if told_apart else ""
    number = escape(signed(difference) if column > row else p_value(p))
    shown = f'<span class="{verdict}">{number}</span>' if told_apart else number
    if column < row:
        return f'<td class="num{wash}">{shown}</td>'
    difference_text = f"{pairs.names[row]} minus {pairs.names[column]}: {signed(difference, 4)}"
    title, href = escape(f"{difference_text}, {p_in_words(p)}"), escape(link(column))
    return f'<td class="num{wash}"><a class="number" href="{href}" title="{title}">{shown}</a></td>'


def agreement_cells(above: Square, below: Square, row: int) -> SafeString:
    """Return a row of two correlations, one above and one below the diagonal."""
    cells = [
        DIAGONAL if column == row else _number_cell(float(square[row, column]))
        for column in range(len(above))
        for square in [above if column > row else below]
    ]
    return mark_safe("".join(cells))


def number_cells(values: Sequence[float]) -> SafeString:
    """Return a row of values with all digits in the title."""
    return mark_safe("".join(map(_number_cell, values)))


def _number_cell(value: float) -> str:
    return f'<td class="num" title="{exact(value)}">{score(value, 3)}</td>'


def value_cells(values: Sequence[float], hrefs: Sequence[str], digits: int = 3) -> SafeString:
    """Return a row of values with all digits in the title, linked to their explanation.

    The addresses are escaped already.
    """
    return mark_safe(
        "".join(
            f'<td class="num"><a class="number" href="{href}" title="{exact(value)}">'
            f"{score(value, digits)}</a></td>"
            for value, href in zip(values, hrefs, strict=True)
        )
    )
