"""Rankings of one topic as lines of docnos; many docnos are searched at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.reading.docnos import WORD, DocnosOfWidth, Places, Words, hash_all_words, words_of
from evaluation.reading.words import Text

END_OF_LINE = ord("\n")
# How many first bits of a hash select a flag; a few hundred documents set few of these flags.
SIEVE = 16


@dataclass(frozen=True, eq=False)
class Found:
    """Ranks of documents: `docno[i]` of those wanted is in `listing[i]` at `rank[i]`, from 1.

    All are int[n], in the order of the listings and of their ranks.
    """

    listing: Places
    rank: Places
    docno: Places


def find_among(listings: Sequence[bytes], wanted: Sequence[bytes]) -> Found:
    """Find the wanted documents in listings, whose last lines may have no line feed.

    A page of a hundred runs looks for fifty documents among a hundred thousand. Comparing words
    takes half the time of looking up each line. `wanted` has no document twice.

    >>> found = find_among([b"FT1\\nFT22\\nLA9", b"", b"LA9"], [b"LA9", b"FT22"])
    >>> found.listing.tolist(), found.rank.tolist(), found.docno.tolist()
    ([0, 0, 2], [2, 3, 1], [1, 0, 0])
    """
    sizes = np.array([listing.count(b"\n") + 1 if listing else 0 for listing in listings], int)
    text = Text(b"\n".join(filter(None, listings)))
    ends = np.append(np.flatnonzero(text.bytes == END_OF_LINE), len(text))[: sizes.sum()]
    starts = np.concatenate(([0], ends[:-1] + 1))[: len(ends)]
    row, docno = _found(text.tokens(starts, ends - starts), words_of(np.array(wanted, "S")))
    listing = np.repeat(np.arange(len(sizes)), sizes)[row]
    return Found(listing, row - (np.cumsum(sizes) - sizes)[listing] + 1, docno)


def _found(docnos: Words, wanted: Words) -> tuple[Places, Places]:
    """Return the rows with a wanted docno, and which docno it is.

    Most rows have none, and the first bits of their hash exclude nearly all of these.
    """
    width = max(docnos.shape[1], wanted.shape[1])
    docnos, wanted = _widened(docnos, width), _widened(wanted, width)
    hashes, sieve = hash_all_words(docnos), np.zeros(1 << SIEVE, bool)
    sieve[_first_bits(hash_all_words(wanted))] = True
    rows = np.flatnonzero(sieve.take(_first_bits(hashes)))
    table = DocnosOfWidth.of(wanted, room=2)
    which = np.empty(len(wanted), np.intp)
    which[table.rows_of(wanted)] = np.arange(len(wanted))
    places = table.rows_of(docnos[rows], hashes[rows])
    return rows[places >= 0], which[places[places >= 0]]


def _widened(words: Words, width: int) -> Words:
    return np.pad(words, ((0, 0), (0, width - words.shape[1])))


def _first_bits(hashes: Words) -> Places:
    return (hashes >> WORD * WORD - SIEVE).view(np.intp)
