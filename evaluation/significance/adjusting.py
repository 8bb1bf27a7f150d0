"""Adjusting p-values for the number of tests in a family."""

from __future__ import annotations

import numpy as np

from evaluation.ragged import FloatArray


def holm(p: FloatArray) -> FloatArray:
    """Holm's step-down adjustment, which controls the family-wise error rate.

    p float64[k] gives float64[k] in the same order: the i-th smallest becomes the largest of
    (k - j + 1) p_j over all j <= i, at most 1 (Holm, Scandinavian Journal of Statistics 1979).

    >>> holm(np.array([0.01, 0.04, 0.03, 0.005])).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    order = np.argsort(p, kind="stable")
    factors = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * p[order]))
    return adjusted


def benjamini_hochberg(p: FloatArray) -> FloatArray:
    """Benjamini and Hochberg's adjustment, which controls the false discovery rate.

    p float64[k] gives float64[k] in the same order: the i-th smallest becomes the smallest of
    k p_j / j over all j >= i (Journal of the Royal Statistical Society B 1995).

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03, 0.005])).tolist()
    [0.02, 0.04, 0.04, 0.02]
    """
    order = np.argsort(p, kind="stable")[::-1]
    shares = len(p) * p[order] / np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(shares))
    return adjusted
