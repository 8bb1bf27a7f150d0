"""Models of retrieval, each in a few lines of numpy.

A model takes the index and the word counts of a topic and gives one score for each document; -inf
means that the document is not retrieved. In the formulas f(w,d) is how often word w occurs in
document d, |d| the number of words of d, D the number of documents, n(w) the number of documents
with w, f(w,t) how often w occurs in the topic, |t| the number of words of the topic, and p(w|C)
the share of w in the whole collection.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np

from leaderboard.management.sample.index import FloatArray, SampleIndex, damped, unit

Model = Callable[[SampleIndex, FloatArray], FloatArray]

NOT_RETRIEVED = -np.inf
# Scores are compared rounded, so that no processor's last bit decides the order of a tie.
DIGITS = 6


def bm25(index: SampleIndex, topic: FloatArray, k1: float = 1.2, b: float = 0.75) -> FloatArray:
    """Sum of f(w,t) idf(w) f(w,d) (k1+1) / (f(w,d) + k1 (1 - b + b |d| / mean |d|)).

    idf(w) = ln(1 + (D - n(w) + 0.5) / (n(w) + 0.5)).
    """
    asked = np.flatnonzero(topic)
    counts, spread = index.counts[:, asked], index.spread[asked]
    rarity = np.log1p((len(index.docnos) - spread + 0.5) / (spread + 0.5))
    norms = k1 * (1 - b + b * index.lengths / index.lengths.mean())
    weights = counts * (k1 + 1) / (counts + norms[:, None])
    return _where_positive(weights @ (topic[asked] * rarity))


def tf_idf(index: SampleIndex, topic: FloatArray) -> FloatArray:
    """Cosine of the vectors (1 + ln f(w,d)) and (1 + ln f(w,t)) ln(D / n(w))."""
    return _where_positive(unit(index.damped) @ unit(damped(topic) * index.rarity))


def coordination(index: SampleIndex, topic: FloatArray) -> FloatArray:
    """How many different words of the topic occur in the document: whole numbers with many ties."""
    asked = np.flatnonzero(topic)
    return _where_positive((index.counts[:, asked] > 0).sum(axis=1).astype(np.float64))


def dirichlet(index: SampleIndex, topic: FloatArray, mu: float = 150) -> FloatArray:
    """Sum of f(w,t) ln p(w|d), p(w|d) = (f(w,d) + mu p(w|C)) / (|d| + mu)."""
    asked = np.flatnonzero(topic)
    smooth = (index.counts[:, asked] + mu * index.shares[asked]) / (index.lengths[:, None] + mu)
    return _where_shared(index, topic, np.log(smooth) @ topic[asked])


def jelinek_mercer(index: SampleIndex, topic: FloatArray, trust: float = 0.6) -> FloatArray:
    """Sum of f(w,t) ln p(w|d), p(w|d) = trust f(w,d) / |d| + (1 - trust) p(w|C)."""
    asked = np.flatnonzero(topic)
    seen = index.counts[:, asked] / index.lengths[:, None]
    smooth = trust * seen + (1 - trust) * index.shares[asked]
    return _where_shared(index, topic, np.log(smooth) @ topic[asked])


def latent(index: SampleIndex, topic: FloatArray, dimensions: int = 60) -> FloatArray:
    """Cosine of document and topic in the space of the largest singular values.

    The matrix is (1 + ln f(w,d)) ln(D / n(w)), rows of length one: documents that share no word
    with the topic can be found through words that occur in the same contexts.
    """
    directions = index.directions[:dimensions].T
    documents = unit(index.weighted @ directions)
    return _where_positive(documents @ unit((damped(topic) * index.rarity) @ directions))


def feedback(
    index: SampleIndex,
    topic: FloatArray,
    documents: int = 5,
    added: int = 20,
    original: float = 0.6,
) -> FloatArray:
    """BM25 again, with the topic widened by words of the documents that BM25 found first (RM3).

    p(w|R) = sum over those documents of their share of the score times f(w,d) / |d|. Of it the
    `added` strongest words are kept, with those equal to the last of them, and scaled to sum to
    one; the new topic is original f(w,t) / |t| + (1 - original) p(w|R).
    """
    scores = bm25(index, topic)
    first = ordered(index, scores)[:documents]
    if not first:
        return scores
    shares = index.counts[first] / index.lengths[first, None]
    model = np.round(scores[first] / scores[first].sum() @ shares, 2 * DIGITS)
    model = np.where(model >= np.sort(model)[-added], model, 0)
    return bm25(index, original * topic / topic.sum() + (1 - original) * model / model.sum())


def fused(
    index: SampleIndex, topic: FloatArray, models: tuple[Model, ...], k: float = 60
) -> FloatArray:
    """Reciprocal rank fusion: sum over the models of 1 / (k + rank of the document)."""
    total = np.zeros(len(index.docnos))
    for model in models:
        rows = ordered(index, model(index, topic))
        total[rows] += 1 / (k + np.arange(1, len(rows) + 1))
    return _where_positive(total)


def chance(index: SampleIndex, topic: FloatArray) -> FloatArray:
    """A number between 0 and 1 drawn from a hash of the topic's words and the docno."""
    seed = " ".join(word for word, column in index.columns.items() if topic[column])
    digests = [hashlib.sha256(f"{seed}/{docno}".encode()).digest() for docno in index.docnos]
    return np.array([int.from_bytes(digest[:6]) / 2**48 for digest in digests])


def ordered(index: SampleIndex, scores: FloatArray) -> list[int]:
    """Rows of the retrieved documents: highest score first, of equal scores the later docno."""
    kept = [row for row in range(len(scores)) if np.isfinite(scores[row])]
    rounded = np.round(scores, DIGITS)
    return sorted(kept, key=lambda row: (rounded[row], index.docnos[row]), reverse=True)


def _where_positive(scores: FloatArray) -> FloatArray:
    return np.where(scores > 0, scores, NOT_RETRIEVED)


def _where_shared(index: SampleIndex, topic: FloatArray, scores: FloatArray) -> FloatArray:
    return np.where(index.counts @ topic > 0, scores, NOT_RETRIEVED)
