"""The verdict of a test: better, worse or not significant."""

from __future__ import annotations

from evaluation.significance import Difference
from evaluation.significance.pairwise import FEWEST_TOPICS

LEVEL = 0.05


def verdict_of(against: Difference | None, units: int, direction: int = 1) -> str:
    """Return the verdict of a test: `better`, `worse` or `not significant`, empty if untested.

    `units` are the topics, or groups of topics, that it flips.
    """
    if against is None or against.difference is None:
        return ""
    if units < FEWEST_TOPICS:
        return "not significant"
    if against.p_adjusted is None:
        return ""
    if against.p_adjusted > LEVEL:
        return "not significant"
    return "better" if direction * (against.gain or 0.0) > 0 else "worse"
