"""How far systems are ahead on open collections of where they are on private ones.

Of open collections anybody has the judgments, so that a system may have been trained or chosen on
them; of private ones nobody has. The units are collections, and systems and collections are both
samples.

>>> means = np.array([[0.6, 0.7, 0.6, 0.7, 0.6, 0.7, 0.3, 0.4, 0.3, 0.4],
...                   [0.5, 0.5, 0.6, 0.5, 0.6, 0.5, 0.5, 0.6, 0.5, 0.6]])
>>> private = np.arange(10) > 5
>>> [(round(gap.difference, 2), gap.p is not None and gap.p < 0.05)
...  for gap in compare_gaps(means, private)]
[(0.3, True), (-0.02, False)]
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import ceil, comb

import numpy as np

from evaluation.ragged import BoolArray, FloatArray, IntArray
from evaluation.significance.differences import EQUAL

# A variance takes two collections of each kind.
FEWEST_OF_A_KIND = 2
# So many divisions of the collections are tried; if there are fewer, each of them is.
DIVISIONS = 4_999
# Statistics that differ by a smaller share are equal, so that machines agree.
TIE = 1e-9
SEED = 46


@dataclass(frozen=True)
class Gap:
    """The mean of a system on open collections less that on private ones.

    p and the interval hold for all systems at once; they are None where there are too few
    collections for a verdict, or where the values of a system do not vary.
    """

    difference: float
    low: float | None = None
    high: float | None = None
    p: float | None = None


def compare_gaps(means: FloatArray, private: BoolArray, level: float = 0.95) -> list[Gap]:
    """Test the gap of each system of float64[R, K]; bool[K] tells which collections are private.

    If it made no difference which collections are private, each division of the collections into
    as many open and private ones would be as likely. So the t of Welch is compared with the
    largest of all systems under other divisions; studentised, this holds for unlike variances too
    (Chung and Romano, Annals of Statistics 2013; Westfall and Young 1993). The interval is all
    gaps that this test does not reject.
    """
    differences = means[:, ~private].mean(axis=1) - means[:, private].mean(axis=1)
    if min(private.sum(), (~private).sum()) < FEWEST_OF_A_KIND:
        return [Gap(float(difference)) for difference in differences]
    centred = means - means.mean(axis=1, keepdims=True)
    divisions = _divide(private)
    gaps, errors = _gaps(centred, divisions)
    t = np.divide(np.abs(gaps), errors, out=np.zeros_like(gaps), where=errors > EQUAL)
    maxima, own = t.max(axis=0), t[:, 0]
    critical = _critical(maxima, level)
    ranked = np.sort(maxima)
    above = len(ranked) - np.searchsorted(ranked, own * (1 - TIE), side="left")
    found = []
    for row, difference in enumerate(differences.tolist()):
        if critical is None or errors[row, 0] <= EQUAL:
            found.append(Gap(difference))
            continue
        margin = critical * float(errors[row, 0])
        p = float(above[row] / len(ranked))
        found.append(Gap(difference, difference - margin, difference + margin, p))
    return found


def beyond_others(means: FloatArray) -> FloatArray:
    """Return each system less the mean of the others on each collection, float64[R, K].

    Whether private collections are harder for all systems then makes no difference.

    >>> beyond_others(np.array([[0.5, 0.25], [0.25, 0.25], [0.0, 0.25]])).tolist()
    [[0.375, 0.0], [0.0, 0.0], [-0.375, 0.0]]
    """
    others = (means.sum(axis=0) - means) / (len(means) - 1)
    difference: FloatArray = means - others
    return difference


def _critical(maxima: FloatArray, level: float) -> float | None:
    """Return what a t must exceed; None if even the largest cannot be rare enough."""
    allowed = len(maxima) - ceil(len(maxima) * level - EQUAL)
    if allowed < 1:
        return None
    return float(np.sort(maxima)[len(maxima) - allowed - 1])


def _divide(private: BoolArray) -> BoolArray:
    """Return bool[divisions, K], the given one first."""
    size, chosen = len(private), int(private.sum())
    if comb(size, chosen) <= DIVISIONS:
        places: IntArray = np.array(list(combinations(range(size), chosen)))
    else:
        draws = np.random.Generator(np.random.PCG64(SEED)).random((DIVISIONS, size))
        places = draws.argsort(axis=1, kind="stable")[:, :chosen]
    found = np.zeros((len(places), size), dtype=bool)
    np.put_along_axis(found, places, values=True, axis=1)
    # Where all divisions are listed, the given one is among them.
    others = found[(found != private).any(axis=1)]
    divisions: BoolArray = np.vstack([private, others])
    return divisions


def _gaps(values: FloatArray, private: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return the gaps and their errors by Welch, float64[R, divisions]."""
    of_private = private.T.astype(np.float64)
    squares = values**2
    gaps, variance = np.zeros((2, len(values), len(private)))
    for sign, members in ((1, 1 - of_private), (-1, of_private)):
        number = float(members[:, 0].sum())
        mean = values @ members / number
        spread = np.maximum(squares @ members - number * mean**2, 0.0)
        gaps += sign * mean
        variance += spread / ((number - 1) * number)
    return gaps, np.sqrt(variance)
