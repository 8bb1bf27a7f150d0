"""The counts of words that every model starts from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evaluation.reading.documents import Document
from leaderboard.management.sample.words import words

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SampleIndex:
    """How often each word occurs in each document: D documents by W words, words sorted."""

    docnos: list[str]
    columns: dict[str, int]
    counts: FloatArray
    stemming: bool

    @cached_property
    def lengths(self) -> FloatArray:
        """Words in each document, D numbers."""
        return self.counts.sum(axis=1)

    @cached_property
    def spread(self) -> FloatArray:
        """How many documents contain each word, W numbers."""
        return (self.counts > 0).sum(axis=0).astype(np.float64)

    @cached_property
    def rarity(self) -> FloatArray:
        """The inverse document frequency ln(D / n(w)), W numbers."""
        return np.log(len(self.docnos) / self.spread)

    @cached_property
    def damped(self) -> FloatArray:
        """The counts with every further occurrence counting less, D by W numbers."""
        return damped(self.counts)

    @cached_property
    def weighted(self) -> FloatArray:
        """The damped counts times the rarity, rows of length one, D by W numbers."""
        return unit(self.damped * self.rarity)

    @cached_property
    def directions(self) -> FloatArray:
        """The right singular vectors of `weighted`, the strongest first, D by W numbers."""
        return np.linalg.svd(self.weighted, full_matrices=False)[2]

    @cached_property
    def shares(self) -> FloatArray:
        """The share of each word in the text of the whole collection, p(w|C), W numbers."""
        return self.counts.sum(axis=0) / self.counts.sum()

    def count(self, text: str) -> FloatArray:
        """How often each word of the collection occurs in `text`, W numbers."""
        return _counted(words(text, self.stemming), self.columns)


def build_index(documents: Iterable[Document], stemming: bool) -> SampleIndex:
    """Count the words of every document, title and text together."""
    texts = {
        document.docno: words(f"{document.title} {document.text}", stemming)
        for document in documents
    }
    vocabulary = sorted({word for text in texts.values() for word in text})
    columns = {word: column for column, word in enumerate(vocabulary)}
    counts = np.stack([_counted(text, columns) for text in texts.values()])
    return SampleIndex(list(texts), columns, counts, stemming)


def damped(counts: FloatArray) -> FloatArray:
    """1 + ln f where a word occurs, 0 elsewhere.

    >>> damped(np.array([0.0, 1.0, 2.0])).round(3).tolist()
    [0.0, 1.0, 1.693]
    """
    return np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)


def unit(vectors: FloatArray) -> FloatArray:
    """Every row scaled to length one; a row of zeros does not change."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def _counted(text: list[str], columns: dict[str, int]) -> FloatArray:
    counts = np.zeros(len(columns))
    for word, count in Counter(text).items():
        if word in columns:
            counts[columns[word]] = count
    return counts
