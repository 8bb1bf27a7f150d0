"""Calibration: whether a judge that is sure of a share of its grades is right about that share.

A grade is right where it is that of people. Documents are put into ten bins of equal width by the
confidence in their grade. Intervals come from a bootstrap over topics, since the documents of a
topic are judged alike.

>>> sure, right = np.array([0.95, 0.95, 0.65, 0.65]), np.array([True, True, True, False])
>>> found = calibrate(sure, right, np.array([0, 1, 0, 1]), topics=2)
>>> round(found.brier.value, 4), round(found.error.value, 4), round(found.excess, 4)
(0.1375, 0.1, 0.05)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.agreement.jackknife import FEWEST_TOPICS, Estimate
from evaluation.ragged import BoolArray, FloatArray, IntArray
from evaluation.significance.bootstrap import draw_topics
from evaluation.significance.differences import EQUAL

BINS = 10
RESAMPLES = 2_000
# A judge is shown to be badly calibrated where chance alone explains its error less often.
LEVEL = 0.05
# The signs of topics are the same for every judge: the raw stream of PCG64 from this seed.
SEED = 20_170_806
TAILS = (2.5, 97.5)
# The columns of what is summed over the documents of a bin.
DOCUMENTS, SURE, RIGHT, SQUARES = range(4)


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """The documents of a bin: the mean confidence, and the share of grades that are right."""

    low: float
    high: float
    documents: int
    confidence: float
    right: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """How far the confidences of a judge can be believed, on `documents` that people graded too.

    `brier` is the mean of (confidence - right)^2. `error` is the expected calibration error, the
    mean distance of confidence and share right over bins, weighted by documents. `excess` is the
    mean confidence less the share right: positive where the judge is too sure of itself.
    """

    documents: int
    brier: Estimate
    error: Estimate
    excess: float
    bins: tuple[ConfidenceBin, ...]


def calibrate(
    confidence: FloatArray,
    right: BoolArray,
    topic: IntArray,
    topics: int,
    resamples: int = RESAMPLES,
) -> Calibration | None:
    """Return the calibration of grades of these confidences; None without any.

    Rows are documents, of topics from 0 to `topics` - 1; a confidence that is NaN is none.
    The score of Brier: Monthly Weather Review, 1950. The calibration error by bins of equal width:
    Guo, Pleiss, Sun and Weinberger, On Calibration of Modern Neural Networks, ICML 2017. Chance
    makes it too large, and more so in a resample: its interval has the ends of both the percentile
    and the basic bootstrap (Davison and Hinkley 1997), and begins at 0 unless a test excludes 0:
    gaps of whole topics are flipped, which changes nothing where confidence is right on average.
    """
    known = ~np.isnan(confidence)
    if not known.any():
        return None
    sums = _sum_by_bin(confidence[known], right[known], topic[known], topics)
    total = sums.sum(axis=0)
    documents = total[:, DOCUMENTS].sum()
    drawn = _resample(sums, resamples)
    return Calibration(
        documents=int(documents),
        brier=_estimate_mean(float(_brier(total)), _brier(drawn)),
        error=_estimate_distance(float(_error(total)), _error(drawn), _may_be_zero(sums)),
        excess=float((total[:, SURE] - total[:, RIGHT]).sum() / documents),
        bins=tuple(_describe_bin(place, row) for place, row in enumerate(total) if row[DOCUMENTS]),
    )


def _sum_by_bin(
    confidence: FloatArray, right: BoolArray, topic: IntArray, topics: int
) -> FloatArray:
    """float64[topics, bins, 4], of the topics with documents: what `DOCUMENTS` and others say."""
    bins = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    cell, size = topic * BINS + bins, topics * BINS
    rows = (None, confidence, right, np.square(confidence - right))
    sums = np.stack([np.bincount(cell, weights, size) for weights in rows], axis=1)
    by_topic = sums.astype(np.float64).reshape(topics, BINS, len(rows))
    kept: FloatArray = by_topic[by_topic[:, :, DOCUMENTS].any(axis=1)]
    return kept


def _resample(sums: FloatArray, resamples: int) -> FloatArray:
    """float64[resamples, bins, 4]: the sums over topics drawn with replacement; none of few."""
    topics, *shape = sums.shape
    if topics < FEWEST_TOPICS:
        return np.empty((0, *shape))
    flat = sums.reshape(topics, -1)
    drawn = np.concatenate([counts @ flat for counts in draw_topics(topics, resamples)])
    return drawn.reshape(-1, *shape)


def _brier(sums: FloatArray) -> FloatArray:
    value: FloatArray = sums[..., SQUARES].sum(axis=-1) / sums[..., DOCUMENTS].sum(axis=-1)
    return value


def _error(sums: FloatArray) -> FloatArray:
    apart = np.abs(sums[..., SURE] - sums[..., RIGHT]).sum(axis=-1)
    value: FloatArray = apart / sums[..., DOCUMENTS].sum(axis=-1)
    return value


def _estimate_mean(value: float, drawn: FloatArray) -> Estimate:
    return Estimate(value, *np.percentile(drawn, TAILS).tolist()) if drawn.size else Estimate(value)


def _may_be_zero(sums: FloatArray) -> bool:
    """Whether chance alone explains the error, by flips of the gaps of topics [topics, bins]."""
    gaps = sums[..., SURE] - sums[..., RIGHT]
    random = np.random.Generator(np.random.PCG64(SEED))
    signs = random.integers(0, 2, (RESAMPLES, len(gaps))) * 2.0 - 1.0
    flipped = np.abs(signs @ gaps).sum(axis=1)
    reached = int((flipped >= np.abs(gaps.sum(axis=0)).sum() - EQUAL).sum())
    return (reached + 1) / (RESAMPLES + 1) > LEVEL


def _estimate_distance(value: float, drawn: FloatArray, may_be_zero: bool) -> Estimate:
    """The interval of a distance, which chance can only make larger."""
    if not drawn.size:
        return Estimate(value)
    low, high = np.percentile(drawn, TAILS).tolist()
    lowest = 0.0 if may_be_zero else max(0.0, min(low, 2 * value - high))
    return Estimate(value, lowest, max(high, 2 * value - low))


def _describe_bin(place: int, row: FloatArray) -> ConfidenceBin:
    documents = row[DOCUMENTS]
    return ConfidenceBin(
        low=place / BINS,
        high=(place + 1) / BINS,
        documents=int(documents),
        confidence=float(row[SURE] / documents),
        right=float(row[RIGHT] / documents),
    )
