"""Documents with nearly the same text, so that they are judged one after the other."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

# From this share of common word triples on, two texts are nearly the same.
ALIKE = 0.8
# How much of a text is compared.
CHARACTERS_READ = 20_000
WORD = re.compile(r"\w+")


def group_lookalikes(texts: Mapping[str, str]) -> dict[str, int]:
    """Return a number for each docno whose text is nearly that of another; others are left out.

    Two texts are alike if they share 80 % of their triples of words (Jaccard).

    >>> group_lookalikes({"a": "one two three four", "b": "One, two, three, four.", "c": "x y z"})
    {'a': 0, 'b': 0}
    """
    docnos = list(texts)
    table = _count_triples([texts[docno] for docno in docnos])
    common = (table @ table.T).tocoo()
    sizes = np.asarray(table.sum(axis=1)).ravel()
    union = sizes[common.row] + sizes[common.col] - common.data
    alike = (common.data >= ALIKE * union) & (common.row != common.col)
    shape = (len(docnos), len(docnos))
    pairs = scipy.sparse.csr_matrix((alike[alike], (common.row[alike], common.col[alike])), shape)
    _, groups = scipy.sparse.csgraph.connected_components(pairs, directed=False)
    members = np.bincount(groups, minlength=1)
    shared = {int(group): number for number, group in enumerate(np.flatnonzero(members > 1))}
    return {
        docno: shared[int(group)]
        for docno, group in zip(docnos, groups, strict=True)
        if int(group) in shared
    }


def _count_triples(texts: Sequence[str]) -> scipy.sparse.csr_matrix:
    """Return a matrix of texts and triples of words with 1 where the text has the triple."""
    numbers: dict[str, int] = {}
    rows = [_hash_triples(text, numbers) for text in texts]
    found = np.concatenate([np.empty(0, np.uint64), *rows])
    known, places = np.unique(found, return_inverse=True)
    starts = np.cumsum([0, *map(len, rows)])
    ones = np.ones(len(places), np.int32)
    return scipy.sparse.csr_matrix((ones, places, starts), shape=(len(texts), len(known)))


def _hash_triples(text: str, numbers: dict[str, int]) -> NDArray[np.uint64]:
    """Return a different number for each different triple, and one for a text of fewer words.

    Of a collection of two million different words, 21 bits each, no two triples are confused.
    """
    words = WORD.findall(text[:CHARACTERS_READ].casefold())
    word = np.array([numbers.setdefault(word, len(numbers) + 1) for word in words], np.uint64)
    if len(word) < 3:
        word = np.pad(word, (0, 3 - len(word))) if len(word) else np.empty(0, np.uint64)
    bits = np.uint64(21)
    return np.unique((word[:-2] << bits << bits) | (word[1:-1] << bits) | word[2:])
