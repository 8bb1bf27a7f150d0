"""Reliability of a judge: the share of its grades that are right, by how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from django.utils.safestring import SafeString, mark_safe

from leaderboard.display.charts.axes import UNIT
from leaderboard.display.charts.drawing import coord, render_line
from leaderboard.display.numbers import count, score

HEIGHT = 72
# The radii of the dots of a bin with few of the documents and with all of them.
LEAST, MOST = 1.5, 6.0


class Bin(Protocol):
    """What is drawn of a bin."""

    @property
    def documents(self) -> int: ...
    @property
    def confidence(self) -> float: ...
    @property
    def right(self) -> float: ...


def reliability_chart(bins: Sequence[Bin]) -> SafeString:
    """Return a dot per bin: to the right the judge is surer, further up it is right more often.

    On the diagonal it is as sure as it is right, below it is too sure. The area of a dot is the
    share of documents in its bin.
    """
    most = max((each.documents for each in bins), default=0)
    words = ", ".join(
        f"{score(each.right, 2)} right of {count(each.documents)} at {score(each.confidence, 2)}"
        for each in bins
    )
    frame = "".join(render_line(x, x, 0, HEIGHT, "grid") for x in (0, 50, 100))
    frame += "".join(render_line(0, 100, y, y, "grid") for y in (0, HEIGHT / 2, HEIGHT))
    # The class of a line that is not along an axis, so that it is drawn smoothly.
    frame += f'<line class="diagonal" x1="0%" x2="100%" y1="{HEIGHT}" y2="0"/>'
    dots = "".join(_dot(each, most) for each in bins)
    return mark_safe(
        f'<svg class="reliability" role="img" width="{HEIGHT}" height="{HEIGHT}">'
        f"<title>{words or 'no confidence'}</title>{frame}{dots}</svg>"
    )


def _dot(each: Bin, most: int) -> str:
    radius = max(LEAST, MOST * (each.documents / most) ** 0.5)
    x, y = UNIT.at(each.confidence), UNIT.down(each.right, HEIGHT)
    return f'<circle class="point" cx="{coord(x)}%" cy="{coord(y)}" r="{coord(radius)}"/>'
