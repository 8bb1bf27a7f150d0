"""The studentized range: the spread of m equal normal means, measured in their standard error.

P(Q > q) = integral f(s) (1 - W(q s)) ds, where s is a chi variable over the root of its degrees
and W the distribution of the range of m standard normals, W(w) = m integral phi(z) (Phi(z) -
Phi(z - w))^(m - 1) dz (Tukey 1953; Copenhaver and Holland 1988). Both integrands vanish at both
ends, where the trapezoid rule converges exponentially (Trefethen and Weideman 2014): absolute
errors stay below 1e-11.

    >>> f"{studentized_range_quantile(0.95, runs=3, degrees=38):.6f}"
    '3.449021'
    >>> f"{studentized_range_tail(np.array([3.449021]), runs=3, degrees=38)[0]:.6f}"
    '0.050000'
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import sqrt

import numpy as np
import scipy  # type: ignore[import-untyped]
from numpy.polynomial.chebyshev import Chebyshev

from evaluation.ragged import FloatArray

BLOCK = 2000
NODES = 160
NEGLIGIBLE = 1e-14
# The search stops when the relative distance of the ends is below this.
CLOSE = 1e-12


def studentized_range_tail(q: FloatArray, runs: int, degrees: float) -> FloatArray:
    """P(Q > q) for float64[k]; `runs` >= 2, `degrees` >= 1.

    Many values are read off a Chebyshev interpolant of the tail.
    """
    if len(q) <= NODES:
        return _tail(q, runs, degrees)
    highest = _quantile(NEGLIGIBLE, runs, degrees)
    interpolant = Chebyshev.interpolate(
        lambda nodes: _tail(nodes, runs, degrees), NODES - 1, domain=[0.0, highest]
    )
    between: FloatArray = interpolant(np.minimum(q, highest))
    return np.clip(between, 0.0, 1.0)


def studentized_range_quantile(level: float, runs: int, degrees: float) -> float:
    """The q with P(Q <= q) = level; cached, since boards need the same values repeatedly."""
    return _quantile(1.0 - level, runs, degrees)


@lru_cache(maxsize=256)
def _quantile(tail: float, runs: int, degrees: float) -> float:
    def excess(q: float) -> float:
        return float(_tail(np.array([q]), runs, degrees)[0]) - tail

    low, high = 0.0, 8.0
    while excess(high) > 0:
        low, high = high, high * 2
    return find_root(excess, low, high)


def find_root(falling: Callable[[float], float], low: float, high: float) -> float:
    """The root of a decreasing function between two points around it (Ridders 1979).

    >>> f"{find_root(lambda x: 2.0 - x * x, 0.0, 4.0):.9f}"
    '1.414213562'
    """
    above, below = falling(low), falling(high)
    while high - low > CLOSE * high and below < 0:
        middle = (low + high) / 2
        between = falling(middle)
        bend = sqrt(between * between - above * below)
        guess = middle + (middle - low) * between / bend
        for point, value in ((middle, between), (guess, falling(guess))):
            if value > 0:
                low, above = max((low, above), (point, value))
            else:
                high, below = min((high, below), (point, value))
    return high


def _tail(q: FloatArray, runs: int, degrees: float) -> FloatArray:
    nodes, weights = root_chi(degrees)
    widths = np.multiply.outer(q, nodes)
    above = _range_tail(widths.reshape(-1), runs).reshape(widths.shape)
    tail: FloatArray = above @ weights
    return np.clip(tail, 0.0, 1.0)


def root_chi(degrees: float, coarsest: float = 0.12) -> tuple[FloatArray, FloatArray]:
    """Nodes s and weights, sum w g(s) = mean of g(s) for s a chi variable over root degrees.

    The nodes are evenly spaced in u = log s. The weights are scaled to sum to 1, since the
    constant of the density is inaccurate for many degrees. g must be smooth over steps of
    `coarsest` in u.

    >>> nodes, weights = root_chi(5)
    >>> round(float(nodes**2 @ weights), 12)
    1.0
    """
    reach = 45.0 / degrees
    step = min(coarsest, 0.6 / np.sqrt(2.0 * degrees))
    u = np.arange(-(reach + np.sqrt(reach)), np.sqrt(reach) + step, step)
    weights = np.exp(degrees * (u - np.expm1(2 * u) / 2))
    return np.exp(u), weights / weights.sum()


def _range_tail(widths: FloatArray, runs: int) -> FloatArray:
    """P(range of `runs` standard normals > w), in blocks of widths."""
    step = 0.1
    z = np.arange(-9.0, 9.0 + step, step)
    below = scipy.special.ndtr(z)
    density = runs * step / np.sqrt(2 * np.pi) * np.exp(-z * z / 2)
    parts = [np.empty(0)]
    for start in range(0, len(widths), BLOCK):
        inside = below - scipy.special.ndtr(z - widths[start : start + BLOCK, np.newaxis])
        parts.append(1.0 - np.power(inside, runs - 1) @ density)
    return np.concatenate(parts)
