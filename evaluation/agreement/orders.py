"""Agreement between two orders of runs, of measures or of documents.

Boards are compared by the means of their runs, float64[R], higher is better; rankings by their
documents. Two values closer than 1e-12 are tied, and so are two that are equally infinite; NaN
ties with every value. None means that a number is undefined.

    >>> reference, other = np.array([5.0, 4, 3, 2, 1]), np.array([4.0, 5, 3, 2, 1])
    >>> kendall_tau(other, reference), tau_ap(other, reference)
    (0.8, 0.5)
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.ragged import BoolArray, FloatArray, IntArray

EQUAL = 1e-12


def ranks(means: FloatArray, direction: int = 1) -> IntArray:
    """Ranks from 1, shared by equal means: int64[R]. `direction` -1 ranks low means first.

    >>> ranks(np.array([0.3, 0.5, 0.3, 0.1])).tolist()
    [2, 1, 2, 4]
    """
    ahead: IntArray = (_order(direction * means) < 0).sum(axis=1)
    return ahead + 1


def _order(scores: FloatArray) -> NDArray[np.int8]:
    """int8[n, n]: 1 where the row's score is higher than the column's, -1 where it is lower."""
    # The difference of two infinite values is NaN, which counts as no difference.
    with np.errstate(invalid="ignore"):
        away = scores[:, np.newaxis] - scores
    return (away > EQUAL).astype(np.int8) - (away < -EQUAL).astype(np.int8)


def kendall_tau(one: FloatArray, other: FloatArray) -> float | None:
    """Kendall's tau_a: (C - D) / (n (n - 1) / 2) over n items.

    C counts pairs in the same order, D pairs in opposite orders; tied pairs count in neither.
    In [-1, 1]; None where all items of one side are tied, or below two items (Kendall,
    Biometrika 1938).

    >>> kendall_tau(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 1.0]))
    0.6666666666666666
    """
    first, second = _order(one), _order(other)
    if not first.any() or not second.any():
        return None
    return float((first * second).sum() / (len(one) * (len(one) - 1)))


def kendall_tau_b(one: FloatArray, other: FloatArray) -> float | None:
    """Kendall's tau_b: (C - D) / sqrt(pairs untied in one x pairs untied in the other).

    Equal to tau_a without ties; None where all items of one side are tied (Kendall 1945).

    >>> round(kendall_tau_b(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 1.0])), 6)
    0.816497
    """
    first, second = _order(one), _order(other)
    untied = float(np.count_nonzero(first)) * float(np.count_nonzero(second))
    return float((first * second).sum()) / untied**0.5 if untied else None


def top_tau_b(board: FloatArray, reference: FloatArray, first: int = 10) -> float | None:
    """tau_b over the `first` runs of the reference, with those tied at the last of these ranks.

    >>> top_tau_b(np.array([3.0, 4.0, 1.0]), np.array([3.0, 2.0, 1.0]), first=2)
    -1.0
    """
    top = ranks(reference) <= first
    return kendall_tau_b(board[top], reference[top])


def tau_matrix(boards: FloatArray) -> FloatArray:
    """tau_b of every two rows of float64[M, R], such as measures: float64[M, M], NaN for None.

    Negate rows for which lower values are better.

    >>> tau_matrix(np.array([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    return tau_b_between(boards, boards)


def tau_a_between(boards: FloatArray, references: FloatArray) -> FloatArray:
    """tau_a of every row of float64[M, R] with every row of float64[N, R]: float64[M, N].

    Element [i, j] is `kendall_tau(boards[i], references[j])`, NaN for None.

    >>> tau_a_between(np.array([[3.0, 2.0, 1.0]]), np.array([[3.0, 1.0, 1.0]])).round(3).tolist()
    [[0.667]]
    """
    first, second = _orders_of(boards), _orders_of(references)
    items = boards.shape[1]
    has_order = np.logical_and.outer(first.any(axis=1), second.any(axis=1))
    taus: FloatArray = np.full(has_order.shape, np.nan)
    np.divide(first @ second.T, items * (items - 1), out=taus, where=has_order)
    return taus


def tau_b_between(boards: FloatArray, references: FloatArray) -> FloatArray:
    """tau_b of every row of float64[M, R] with every row of float64[N, R], NaN for None.

    >>> tau_b_between(np.array([[3.0, 2.0, 1.0]]), np.array([[3.0, 1.0, 1.0]])).round(6).tolist()
    [[0.816497]]
    """
    first, second = _orders_of(boards), _orders_of(references)
    untied = (np.square(each).sum(axis=1) for each in (first, second))
    products = np.sqrt(np.multiply.outer(*untied))
    taus: FloatArray = np.full(products.shape, np.nan)
    np.divide(first @ second.T, products, out=taus, where=products > 0)
    return taus


def top_tau_b_between(boards: FloatArray, references: FloatArray, first: int = 10) -> FloatArray:
    """`top_tau_b` of every row of float64[M, R] with every row of float64[N, R], NaN for None.

    >>> board, reference = np.array([[3.0, 4.0, 1.0]]), np.array([[3.0, 2.0, 1.0]])
    >>> top_tau_b_between(board, reference, first=2).tolist()
    [[-1.0]]
    """
    tops = np.array([ranks(row) <= first for row in references]).reshape(references.shape)
    taus: FloatArray = np.full((len(boards), len(references)), np.nan)
    # Most references of a resampling have one of a few tops.
    for top in np.unique(tops, axis=0):
        alike = np.flatnonzero((tops == top).all(axis=1))
        taus[:, alike] = tau_b_between(boards[:, top], references[np.ix_(alike, top)])
    return taus


def _orders_of(boards: FloatArray) -> FloatArray:
    """float64[M, R * R]: the order of every two items in each row of float64[M, R]."""
    orders = np.array([_order(row).reshape(-1) for row in boards], dtype=np.float64)
    return orders.reshape(len(boards), -1)


def tau_ap(scores: FloatArray, reference: FloatArray) -> float | None:
    """tau_AP of an order against a reference, which weights disagreement near the top more.

    2 / (n - 1) sum over positions i >= 2 of C(i) / (i - 1), minus 1, where C(i) counts the items
    above position i that the reference also ranks above the item at i. In [-1, 1]; None where
    all items of one side are tied, or below two items (Yilmaz, Aslam and Robertson, SIGIR 2008).
    With ties it is the mean over all ways to break them, in `scores` and in `reference`; but two
    items that are tied in both are in the same order, so every order agrees with itself.

    >>> tied = np.array([2.0, 2.0, 1.0])
    >>> tau_ap(tied, np.array([3.0, 2.0, 1.0])), tau_ap(tied, tied)
    (0.5, 1.0)
    """
    found = tau_ap_matrix(np.array([scores, reference]))[0, 1]
    return None if np.isnan(found) else float(found)


def tau_ap_matrix(boards: FloatArray) -> FloatArray:
    """tau_AP of every row of float64[M, R] against every row as the reference: float64[M, M].

    Element [i, j] is `tau_ap(boards[i], boards[j])`, NaN for None.

    >>> tau_ap_matrix(np.array([[2.0, 2.0, 1.0], [3.0, 2.0, 1.0]])).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    return tau_ap_between(boards, boards)


def tau_ap_between(boards: FloatArray, references: FloatArray) -> FloatArray:
    """tau_AP of every row of float64[M, R] against every row of float64[N, R]: float64[M, N].

    >>> tau_ap_between(np.array([[2.0, 2.0, 1.0]]), np.array([[3.0, 2.0, 1.0]])).tolist()
    [[0.5]]
    """
    items = boards.shape[1]
    if items < 2:
        return np.full((len(boards), len(references)), np.nan)
    orders, right_orders = (
        np.array([_order(row) for row in rows]).swapaxes(0, 1) for rows in (boards, references)
    )
    above, tied = orders < 0, orders == 0
    tied_right = right_orders == 0
    # For each item: the probability that a reference ranks each other item above it.
    right = (1 - right_orders.swapaxes(1, 2)) * 0.5
    alike = right + tied_right.swapaxes(1, 2) * 0.5
    shares = _expected_shares(
        above.sum(axis=2, keepdims=True),
        tied.sum(axis=2, keepdims=True),
        above.astype(np.float64) @ right,
        # An item ties with itself in both, which would add 1: subtract it.
        tied.astype(np.float64) @ alike - 1,
    )
    taus: FloatArray = 2 * shares.sum(axis=0) / (items - 1) - 1
    taus[tied.all(axis=(0, 2))] = np.nan
    taus[:, tied_right.all(axis=(0, 2))] = np.nan
    return taus


def _expected_shares(
    num_above: IntArray, num_tied: IntArray, right_above: FloatArray, right_tied: FloatArray
) -> FloatArray:
    """Return the mean of C(i) / (i - 1) over the positions that a tied item may take.

    `num_tied` counts the item itself. Each of the others is equally likely to be above it, so
    C(i) grows by the same step from position to position, and the sum of 1 / (i - 1) is a
    difference of harmonic numbers. At position 1 no item is above: C(1) is 0.
    """
    step = right_tied / np.maximum(num_tied - 1, 1)
    first, last = np.maximum(num_above, 1), num_above + num_tied - 1
    harmonic = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, last.max() + 1))))
    # Without ties, use the single term itself: the difference would add rounding errors.
    inverses = np.where(num_tied == 1, 1 / first, harmonic[last] - harmonic[first - 1])
    sums = (right_above - num_above * step) * inverses + step * (last - first + 1)
    shares: FloatArray = sums / num_tied
    return shares


def rbo(one: Sequence[Hashable], other: Sequence[Hashable], p: float = 0.9) -> float:
    """Rank-biased overlap of two rankings, extrapolated beyond their ends: RBO_ext.

    With X_d the size of the overlap of the first d of each, s <= l the two lengths:
    (1 - p) / p (sum over d <= l of X_d p^d / d + sum over s < d <= l of X_s (d - s) p^d / (s d))
    + ((X_l - X_s) / l + X_s / s) p^l. In [0, 1]; 0 < p < 1; a higher p gives deep
    ranks more weight. Two empty rankings agree (1), an empty and a non-empty ranking do not (0).
    ValueError for a document listed twice (Webber, Moffat and Zobel, TOIS 2010, equation 32).

    >>> round(rbo("ABCDE", "BACDE"), 6), round(rbo("ABCDE", "EDCBA"), 6), rbo("ABC", "XYZ")
    (0.9, 0.737775, 0.0)
    """
    if not 0 < p < 1:
        raise ValueError(f"p must be between 0 and 1: {p}")
    short, long = sorted((one, other), key=len)
    if len(set(short)) < len(short) or len(set(long)) < len(long):
        raise ValueError("a ranking lists a document twice")
    if not short:
        return float(not long)
    depth = np.arange(1, len(long) + 1)
    overlap = _overlaps(short, long)
    at_short, at_long = overlap[len(short) - 1], overlap[-1]
    beyond = np.maximum(depth - len(short), 0) * at_short / len(short)
    listed = (1 - p) / p * ((overlap + beyond) / depth * p**depth).sum()
    rest = (at_long - at_short) / len(long) + at_short / len(short)
    return float(listed + rest * p ** len(long))


def _overlaps(short: Sequence[Hashable], long: Sequence[Hashable]) -> IntArray:
    """int64[len(long)]: the number of documents shared by the first d of both, for d from 1."""
    place = {document: depth for depth, document in enumerate(short)}
    shared = [
        max(place[document], depth) for depth, document in enumerate(long) if document in place
    ]
    return np.cumsum(np.bincount(np.array(shared, dtype=np.int64), minlength=len(long)))


@dataclass(frozen=True)
class BoardAgreement:
    """The agreement of two boards of the same R runs; the old board is the reference.

    `moves` is int64[R], old rank minus new rank: positive for a run that rose.
    """

    tau: float | None
    tau_b: float | None
    tau_ap: float | None
    first_changed: bool
    moves: IntArray


def compare_boards(old: FloatArray, new: FloatArray, direction: int = 1) -> BoardAgreement:
    """Compare the means of the same runs, float64[R], on an old and a new board.

    >>> agreement = compare_boards(np.array([0.5, 0.4, 0.3]), np.array([0.5, 0.2, 0.3]))
    >>> agreement.moves.tolist(), agreement.first_changed
    ([0, -1, 1], False)
    """
    before, after = ranks(old, direction), ranks(new, direction)
    return BoardAgreement(
        tau=kendall_tau(new, old),
        tau_b=kendall_tau_b(new, old),
        tau_ap=tau_ap(direction * new, direction * old),
        first_changed=bool(np.any((before == 1) != (after == 1))),
        moves=before - after,
    )


@dataclass(frozen=True, slots=True)
class VerdictChanges:
    """Numbers of pairs of runs whose verdict differs between two boards.

    `lost` are significant on the old board only, `gained` on the new board only, `reversed` on
    both, but with the other run ahead.
    """

    lost: int
    gained: int
    reversed: int


def verdict_changes(
    old: FloatArray, old_significant: BoolArray, new: FloatArray, new_significant: BoolArray
) -> VerdictChanges:
    """Compare the verdicts on all pairs: differences and whether they are significant, [R, R].

    >>> ahead, behind = np.array([[0.0, 0.2], [-0.2, 0.0]]), np.array([[0.0, -0.2], [0.2, 0.0]])
    >>> significant = ~np.eye(2, dtype=bool)
    >>> verdict_changes(ahead, significant, behind, significant)
    VerdictChanges(lost=0, gained=0, reversed=1)
    """
    pair = np.triu(np.ones(old.shape, dtype=bool), 1)
    turned = (np.sign(old) != np.sign(new)) & old_significant & new_significant
    return VerdictChanges(
        lost=int(np.count_nonzero(pair & old_significant & ~new_significant)),
        gained=int(np.count_nonzero(pair & new_significant & ~old_significant)),
        reversed=int(np.count_nonzero(pair & turned)),
    )
