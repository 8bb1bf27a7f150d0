"""A baseline ranking by BM25, in one pass over the documents.

Only the words of the topics are counted, so memory grows with the topics and not with the
vocabulary of the collection.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evaluation.reading.documents import Document

K1, B = 0.9, 0.4
# Chinese and Japanese are written without blanks, so two neighbouring characters are a word.
UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(rf"([{UNSPACED}]+)|([^\W_{UNSPACED}]+)")


@dataclass(frozen=True)
class Query:
    """A topic as a ranker sees it."""

    number: str
    text: str


@dataclass(frozen=True)
class Hit:
    docno: str
    score: float


@dataclass
class Postings:
    """Where a word is: places of documents, and how often it is there."""

    places: array[int] = field(default_factory=lambda: array("I"))
    counts: array[int] = field(default_factory=lambda: array("I"))


def split_words(text: str) -> Iterator[str]:
    """Yield the words of a text in lower case, without stemming.

    >>> list(split_words("Ship-to-shore (1872), 東京湾"))
    ['ship', 'to', 'shore', '1872', '東京', '京湾']
    """
    for unspaced, word in WORD.findall(text.lower()):
        if len(unspaced) > 2:
            yield from map("".join, pairwise(unspaced))
        else:
            yield unspaced or word


def rank_queries(
    documents: Iterable[Document], queries: Sequence[Query], depth: int
) -> Iterator[tuple[Query, list[Hit]]]:
    """Yield the best documents of each query by BM25 with k1 = .9 and b = .4, the best first.

    Robertson et al., Okapi at TREC-3, 1994, with Lucene's inverse document frequency
    ln(1 + (D - n + .5) / (n + .5)), which is never negative.  A query without any match gets the
    first document with score 0, so that every topic has an answer.

    >>> loaf, roll = Document("d1", "Rye loaf", "Sour dough."), Document("d2", "Roll", "Wheat.")
    >>> [(_, hits)] = rank_queries([loaf, roll], [Query("1", "rye bread")], 10)
    >>> [hit.docno for hit in hits]
    ['d1']
    """
    words = [Counter(split_words(query.text)) for query in queries]
    postings = {word: Postings() for counted in words for word in counted}
    docnos, lengths = _count_words(documents, postings)
    norms = K1 * (1 - B + B * lengths / max(lengths.mean(), 1)) if len(lengths) else lengths
    weights = {word: _weigh(found, norms, len(docnos)) for word, found in postings.items()}
    scores = np.zeros(len(docnos))
    for query, counted in zip(queries, words, strict=True):
        scores[:] = 0
        for word, times in counted.items():
            scores[np.asarray(postings[word].places, np.uint32)] += times * weights[word]
        yield query, _best(scores, docnos, depth)


def _count_words(
    documents: Iterable[Document], postings: dict[str, Postings]
) -> tuple[list[str], NDArray[np.float64]]:
    """Fill the postings; return the docnos and the number of words of each document."""
    docnos, lengths = [], array("I")
    for place, document in enumerate(documents):
        counted = Counter(split_words(f"{document.title} {document.text}"))
        docnos.append(document.docno)
        lengths.append(counted.total())
        for word in counted.keys() & postings.keys():
            postings[word].places.append(place)
            postings[word].counts.append(counted[word])
    return docnos, np.asarray(lengths, np.uint32).astype(np.float64)


def _weigh(found: Postings, norms: NDArray[np.float64], total: int) -> NDArray[np.float64]:
    """Return the part of the score that a word adds to each of its documents."""
    counts = np.asarray(found.counts, np.uint32).astype(np.float64)
    rarity = np.log1p((total - len(counts) + 0.5) / (len(counts) + 0.5))
    places = np.asarray(found.places, np.uint32)
    weights: NDArray[np.float64] = rarity * counts / (counts + norms[places])
    return weights


def _best(scores: NDArray[np.float64], docnos: Sequence[str], depth: int) -> list[Hit]:
    """Return the documents with the highest scores above 0; equal ones by docno, descending."""
    matched = np.flatnonzero(scores)
    if len(matched) == 0:
        return [Hit(docno, 0.0) for docno in docnos[:1]]
    if len(matched) > depth:
        least = np.partition(scores[matched], len(matched) - depth)[len(matched) - depth]
        matched = matched[scores[matched] >= least]
    hits = [Hit(docnos[place], round(float(scores[place]), 6)) for place in matched]
    return sorted(hits, key=lambda hit: (hit.score, hit.docno), reverse=True)[:depth]
