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

from functools import lru_cache

import numpy as np
from numpy.polynomial.chebyshev import Chebyshev
from scipy.special import ndtr  # type: ignore[import-untyped]

from evaluation.ragged import FloatArray

BLOCK = 2000
NODES = 160
NEGLIGIBLE = 1e-14


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
    """The q with P(Q <= q) = level; kept, for a board asks for the same one again."""
    return _quantile(1.0 - level, runs, degrees)


@lru_cache(maxsize=256)
def _quantile(tail: float, runs: int, degrees: float) -> float:
    low, high = 0.0, 8.0
    while _tail(np.array([high]), runs, degrees)[0] > tail:
        low, high = high, high * 2
    for _ in range(14):
        # Seventeen points at once shrink the bracket sixteenfold.
        grid = np.linspace(low, high, 17)
        above = int(np.count_nonzero(_tail(grid, runs, degrees) > tail))
        low, high = grid[max(above - 1, 0)], grid[min(above, 16)]
    return float((low + high) / 2)


def _tail(q: FloatArray, runs: int, degrees: float) -> FloatArray:
    nodes, weights = root_chi(degrees)
    widths = np.multiply.outer(q, nodes)
    above = _range_tail(widths.reshape(-1), runs).reshape(widths.shape)
    tail: FloatArray = above @ weights
    return np.clip(tail, 0.0, 1.0)


def root_chi(degrees: float, coarsest: float = 0.12) -> tuple[FloatArray, FloatArray]:
    """Nodes s and weights, sum w g(s) = mean of g(s) for s a chi variable over root degrees.

    The nodes are even in u = log s. Scaling the weights to sum to 1 spares the constant of the
    density, which loses digits where there are many degrees. What is averaged must be smooth
    over steps of u of `coarsest`.

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
    """P(range of `runs` standard normals > w), a block of widths at a time."""
    step = 0.1
    z = np.arange(-9.0, 9.0 + step, step)
    below = ndtr(z)
    density = runs * step / np.sqrt(2 * np.pi) * np.exp(-z * z / 2)
    parts = [np.empty(0)]
    for start in range(0, len(widths), BLOCK):
        inside = below - ndtr(z - widths[start : start + BLOCK, np.newaxis])
        parts.append(1.0 - np.power(inside, runs - 1) @ density)
    return np.concatenate(parts)
