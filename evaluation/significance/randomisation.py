"""Fisher's paired randomisation test, by flipping the signs of differences.

Under the null hypothesis each topic's difference has either sign with equal probability. p is
the share of all 2^n sign patterns whose mean is at least as far from 0 as the observed one
(Fisher 1935; for retrieval Smucker, Allan and Carterette, CIKM 2007).

    >>> maize = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48.0])
    >>> result = sign_flip(maize)
    >>> result.p * result.draws, result.draws, result.exact
    (1726.0, 32768, True)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.random import PCG64

from evaluation.ragged import FloatArray, IntArray
from evaluation.significance.differences import TestResult, summaries, whole

# The signs are the same for every run, measure and day: the raw stream of PCG64 from this seed.
SEED = 20_070_611
DRAWS = 100_000
# Up to this number of differences all sign patterns are counted.
EXACT_UP_TO = 30
# Up to this number of runs, tables of partial sums are faster than a matrix product.
FEW = 3
CHUNK = 1024
# With many topics a block has fewer draws, so that its signs stay in a cache; but not too few,
# since the scores are read again for each block.
SIGNS_AT_ONCE, FEWEST_AT_ONCE = 1 << 20, 128
STRETCH = 256
FLOAT64 = np.dtype(np.float64)

ByteArray = npt.NDArray[np.uint8]
Float32Array = npt.NDArray[np.float32]


def sign_flip(differences: FloatArray, draws: int = DRAWS) -> TestResult:
    """Paired two-sided sign-flip test of one run on the mean difference.

    `differences` is float64[T], topics in the order of their numbers; NaN is excluded, a
    difference below 1e-12 is 0 and does not change p. With up to 30 non-zero differences all
    sign patterns are counted; above, p = (c + 1) / (draws + 1), where c drawn
    patterns reach the observed mean. p is 1 if all differences are 0.

    >>> sign_flip(np.array([0.1, 0.2, 0.3])).p
    0.25
    >>> sign_flip(np.zeros(50)).p
    1.0
    """
    return sign_flip_results(differences[np.newaxis], draws)[0]


def sign_flips(differences: FloatArray, draws: int = DRAWS) -> FloatArray:
    """p of every row of float64[R, T], with the same bits as `sign_flip` of that row.

    >>> sign_flips(np.array([[0.1, 0.2, 0.3], [0.1, -0.1, 0.0]])).tolist()
    [0.25, 1.0]
    """
    return np.array([result.p for result in sign_flip_results(differences, draws)])


def sign_flip_results(differences: FloatArray, draws: int = DRAWS) -> list[TestResult]:
    """`sign_flip` of every row of float64[R, T]; all rows share the drawn signs."""
    rows = whole(np.asarray(differences, dtype=np.float64))
    changed = np.count_nonzero(rows, axis=1)
    needed = _needed(rows)
    p = np.ones(len(rows))
    exact = changed <= EXACT_UP_TO
    for run in np.flatnonzero(exact & (needed > 0)):
        p[run] = _exact_p(rows[run], needed[run])
    drawn = np.flatnonzero(~exact & (needed > 0))
    if len(drawn):
        p[drawn] = (_reached(rows[drawn], needed[drawn], draws) + 1) / (draws + 1)
    cases = np.where(exact, 2.0 ** np.minimum(changed, EXACT_UP_TO), draws)
    means = [summary.mean if summary.topics else 0.0 for summary in summaries(differences)]
    columns = zip(p.tolist(), exact.tolist(), cases.astype(int).tolist(), means, strict=True)
    return [TestResult(*column) for column in columns]


def _needed(rows: FloatArray) -> FloatArray:
    """The total a flipped row must reach to count.

    Rounding changes a difference by up to half a unit, so totals that are equal in exact
    arithmetic may differ by one unit per non-zero difference.
    """
    needed: FloatArray = np.abs(rows.sum(axis=1)) - np.count_nonzero(rows, axis=1)
    return needed


def _exact_p(row: FloatArray, needed: float) -> float:
    """Count all sign patterns from the sums of two halves: 2 times 2^15 sums instead of 2^30."""
    changed = row[row != 0]
    half = len(changed) // 2
    left, right = _all_sums(changed[:half]), _all_sums(changed[half:])
    short = np.searchsorted(left, needed - right[::-1], side="left").sum()
    return 2.0 * float(len(left) * len(right) - short) / 2.0 ** len(changed)


def _all_sums(values: FloatArray) -> FloatArray:
    """The totals under all 2^n sign patterns, ascending."""
    sums = np.zeros(1)
    for value in values:
        # A stable sort merges the two ascending halves.
        sums = np.sort(np.concatenate((sums - value, sums + value)), kind="stable")
    return sums


def _reached(rows: FloatArray, needed: FloatArray, draws: int) -> IntArray:
    """Count the drawn sign patterns for which each row's total is at least `needed`."""
    if len(rows) > FEW:
        return _reached_by_product(rows, needed, draws)
    packed = sign_bytes(rows.shape[1], draws)
    pairs = zip(rows, needed.tolist(), strict=True)
    return np.array([_reached_by_table(row, least, packed) for row, least in pairs])


def _reached_by_product(rows: FloatArray, needed: FloatArray, draws: int) -> IntArray:
    """The counts of many runs at once, from matrix products of 32-bit floats.

    For many measures (P@10) the differences reduce to small whole numbers, whose totals are
    exact. Other totals have a rounding error of 2**-24 per addition, in total less than `doubt`
    (Higham, Accuracy and Stability of Numerical Algorithms, 4.2). The few totals that close to
    `needed` are added again in 64 bits, where sums of whole numbers are exact.
    """
    steps = np.gcd.reduce(rows.astype(np.int64), axis=1)
    rows, needed = rows / steps[:, np.newaxis], np.ceil(needed / steps)
    sizes = np.abs(rows).sum(axis=1)
    additions = STRETCH + rows.shape[1] / STRETCH
    doubt = np.where(sizes < 2**24, 0.0, additions * 2**-23 * sizes)
    low, high = (needed - doubt).astype(np.float32), (needed + doubt).astype(np.float32)
    factors = rows.T.astype(np.float32)
    reached = np.zeros(len(rows), dtype=np.int64)
    for signs in sign_blocks(rows.shape[1], draws, np.dtype(np.float32)):
        totals = _product(signs, factors)
        np.abs(totals, out=totals)
        beyond, perhaps = totals >= high, totals >= low
        reached += np.count_nonzero(beyond, axis=0)
        draw, run = np.divmod(np.flatnonzero(beyond != perhaps), len(rows))
        again = np.abs(np.einsum("ij,ij->i", signs[draw], rows[run]))
        reached += np.bincount(run[again >= needed[run]], minlength=len(rows))
    return reached


def _product(signs: Float32Array, factors: Float32Array) -> Float32Array:
    """signs @ factors, added in stretches of topics, since short sums have smaller errors."""
    starts = range(0, len(factors), STRETCH)
    parts = (signs[:, at : at + STRETCH] @ factors[at : at + STRETCH] for at in starts)
    return reduce(np.add, parts)


def _reached_by_table(row: FloatArray, needed: float, signs: ByteArray) -> int:
    """The same count for one run: eight topics at a time from a table of their 256 sums."""
    padded = np.zeros(8 * len(signs))
    padded[: len(row)] = row
    tables = padded.reshape(-1, 8) @ _patterns().T
    totals = np.zeros(signs.shape[1])
    for table, byte in zip(tables, signs, strict=True):
        totals += table[byte]
    return int(np.count_nonzero(np.abs(totals) >= needed))


@cache
def _patterns() -> FloatArray:
    """float64[256, 8]: the eight signs of every byte."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1, bitorder="little")
    return np.where(bits == 1, 1.0, -1.0)


def topic_order(numbers: Sequence[Any]) -> IntArray:
    """The order in which draws follow the topics: by their numbers as text.

    So the order of a file decides nothing, and page, API and command print the same p.

    >>> topic_order(["2", "10", "1"]).tolist()
    [2, 1, 0]
    """
    return np.array(sorted(range(len(numbers)), key=numbers.__getitem__), dtype=np.int64)


def sign_bytes(topics: int, draws: int) -> ByteArray:
    """uint8[ceil(topics / 8), draws]: the signs of eight topics in each byte.

    Numpy guarantees only the raw stream of a bit generator across versions. The signs of a
    topic do not depend on the number of topics after it.
    """
    rows, words = -(-topics // 8), -(-draws // 8)
    stream = PCG64(SEED).random_raw(rows * words)
    return np.asarray(stream).astype("<u8").view(np.uint8).reshape(rows, 8 * words)[:, :draws]


def sign_blocks(
    topics: int, draws: int, kind: np.dtype[Any] = FLOAT64
) -> Iterator[npt.NDArray[Any]]:
    """The drawn signs as floats of one type, [block, topics], in blocks of draws."""
    signs, patterns = sign_bytes(topics, draws), _patterns().astype(kind)
    size = min(CHUNK, max(FEWEST_AT_ONCE, SIGNS_AT_ONCE // max(topics, 1)))
    for start in range(0, draws, size):
        block = np.ascontiguousarray(signs[:, start : start + size].T)
        yield patterns.take(block, axis=0).reshape(len(block), -1)[:, :topics]
