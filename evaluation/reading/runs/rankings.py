"""Rankings: the documents of every topic of a run, in scoring order.

The order is score descending, ties by docno descending in byte order, as in trec_eval. Many
rankings form a `Block` of flat arrays, in which all topics are processed at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, repeat
from tempfile import SpooledTemporaryFile

import numpy as np
import numpy.typing as npt

from evaluation.reading.docnos import SPREAD, WORD, docnos_of, hash_all_words, words_of
from evaluation.reading.words import EACH, HIGH_BITS

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Words = npt.NDArray[np.uint64]

IN_MEMORY = 16 * 1024 * 1024
TOPICS_AT_ONCE = 64
# How many bits of a word are for the first characters of docnos, and the others for their group.
PACKED_BITS = 48
SIXTY_FOURS, LOW_BITS = 0x40 * EACH, 0x7F * EACH
# Eight bytes of six bits become four numbers of twelve, two of twenty-four, one of forty-eight.
PACKING = ((0x00FF00FF00FF00FF, 2), (0x0000FFFF0000FFFF, 4), (0x00000000FFFFFFFF, 8))
# With this many slots per key few keys collide, and all slots still fit in a cache.
SLOTS = 8


@dataclass(frozen=True, slots=True)
class Ranking:
    """The documents of one topic in scoring order, `docnos[i]` with `scores[i]`."""

    docnos: list[bytes]
    scores: FloatArray

    @classmethod
    def in_scoring_order(cls, docnos: list[bytes], scores: FloatArray) -> Ranking:
        """Sort by score descending, then docno descending by bytes; NaN is below every number.

        >>> Ranking.in_scoring_order([b"a", b"b", b"c"], np.array([1.0, 1.0, 2.0])).docnos
        [b'c', b'b', b'a']
        """
        order = np.lexsort((np.array(docnos, dtype="S"), scores, ~np.isnan(scores)))[::-1]
        return cls([docnos[i] for i in order.tolist()], scores[order])

    def cut(self, depth: int) -> Ranking:
        return Ranking(self.docnos[:depth], self.scores[:depth])


@dataclass(frozen=True, eq=False)
class Block:
    """Rankings of T topics, n rows in total.

    starts: int[T + 1], the first row of every topic, and n at the end.
    docnos: uint64[n, width], the bytes of each docno, padded with zeros, see `docnos.words_of`.
    known_hashes: uint64[n], those of `hash_all_words`, where somebody has computed them.
    is_settled: whether rows of equal score are known to be sorted by docno.
    """

    topics: Sequence[bytes]
    starts: Places
    docnos: Words
    scores: FloatArray
    known_hashes: Words | None = None
    is_settled: bool = False

    @classmethod
    def of(cls, rankings: Mapping[bytes, Ranking]) -> Block:
        docnos = [docno for ranking in rankings.values() for docno in ranking.docnos]
        scores = [ranking.scores for ranking in rankings.values()]
        return cls(
            list(rankings),
            np.cumsum([0, *map(len, scores)]),
            words_of(np.array(docnos, dtype="S")),
            np.concatenate(scores),
        )

    @cached_property
    def topic(self) -> Places:
        """Return the topic of every row, an index into `topics`."""
        return np.repeat(np.arange(len(self.topics)), np.diff(self.starts))

    @cached_property
    def hashes(self) -> Words:
        """Return a hash of every docno; callers compare bytes if hashes are equal."""
        return hash_all_words(self.docnos) if self.known_hashes is None else self.known_hashes

    def keys(self, numbers: Places) -> Words:
        """Return a hash of every (topic, docno), with these numbers of the topics: uint64[n].

        Equal pairs have equal keys in every block; other pairs almost never.
        """
        spread = numbers.astype(np.uint64) * SPREAD
        keys: Words = np.repeat(spread, np.diff(self.starts))
        keys += self.hashes
        return keys

    @cached_property
    def _level(self) -> tuple[Places, Places]:
        """Return the rows after which the score stays equal, and those after which it rises.

        In most runs the score nearly always falls, so only these few rows need to be sorted.
        """
        falls = self.scores[1:] < self.scores[:-1]
        falls[self.starts[1:-1] - 1] = True
        rows = np.flatnonzero(~falls)
        same = self.scores[rows] == self.scores[rows + 1]
        return rows[same], rows[~same]

    @property
    def ties(self) -> Places:
        """Return the rows that have the score of the next row of their topic."""
        return self._level[0]

    @property
    def has_open_ties(self) -> bool:
        """Return whether there are ties that may not be sorted by docno."""
        return not self.is_settled and len(self.ties) > 0

    @property
    def rises(self) -> Places:
        """Return the rows after which the score of their topic rises."""
        return self._level[1]

    def topics_of(self, rows: Places) -> Places:
        """Return the topics of these rows, each an index into `topics`."""
        return np.searchsorted(self.starts, rows, "right") - 1

    def may_repeat(self) -> bool:
        """Return whether a document may be repeated in a topic; False is certain."""
        return has_equal(self.keys(np.arange(len(self.topics))))

    def in_scoring_order(self) -> Block:
        """Return the rankings in scoring order, which most runs have, except for ties."""
        return self.taken(self.by_score()).with_ties_by_docno()

    def by_score(self) -> Places | None:
        """Return an order in which no score rises; None if the rows already have one."""
        if not len(self.rises):
            return None
        order = np.arange(len(self.scores))
        for topic in np.unique(self.topics_of(self.rises)).tolist():
            start, end = self.starts[topic : topic + 2].tolist()
            order[start:end] = start + np.argsort(-self.scores[start:end])
        return order

    def taken(self, order: Places | None) -> Block:
        """Return the same topics with their rows in another order; ties may be in any."""
        if order is None:
            return self
        hashes = None if self.known_hashes is None else self.known_hashes.take(order)
        docnos, scores = take_rows(self.docnos, order), self.scores.take(order)
        return Block(self.topics, self.starts, docnos, scores, hashes)

    def with_ties_by_docno(self) -> Block:
        """Return the same, with successive rows of equal score sorted by docno, descending."""
        if not self.has_open_ties:
            return self
        return replace(self.taken(self._by_docno()), is_settled=True)

    def places_by_docno(self, rows: Places) -> Places:
        """Return where these rows would be with ties sorted by docno.

        A row is only compared with those of its tie, which for few rows is much less than a sort.
        """
        if not self.has_open_ties:
            return rows
        firsts = np.flatnonzero(~self._as_above)
        tie = np.searchsorted(firsts, rows, "right") - 1
        first, sizes = firsts[tie], np.diff(firsts, append=len(self.scores))[tie]
        if sizes.sum() > len(self.scores):
            return np.argsort(self._by_docno()).take(rows)
        ends = np.cumsum(sizes)
        row = np.repeat(np.arange(len(rows)), sizes)
        others = np.arange(len(row)) + np.repeat(first - ends + sizes, sizes)
        docnos = take_rows(self.docnos, rows)
        above = are_greater(take_rows(self.docnos, others), take_rows(docnos, row))
        return first + np.bincount(row[above], minlength=len(rows))

    def _by_docno(self) -> Places:
        """Return an order of all rows that sorts ties by docno."""
        tied, as_above = self.in_ties, self._as_above
        if len(tied) > len(as_above) // 2:
            # Gathering these rows would take longer than sorting the others too.
            return order_in_groups(self.docnos, np.cumsum(~as_above))
        order = np.arange(len(as_above))
        order[tied] = tied[order_in_groups(self.docnos[tied], np.cumsum(~as_above[tied]))]
        return order

    @cached_property
    def _as_above(self) -> BoolArray:
        """Return which rows have the score of the row above in their topic."""
        as_above = np.zeros(len(self.scores), bool)
        as_above[self.ties + 1] = True
        return as_above

    @cached_property
    def in_ties(self) -> Places:
        """Return the rows that share their score with a neighbour of their topic."""
        tied = np.zeros(len(self.scores), bool)
        tied[self.ties] = tied[self.ties + 1] = True
        return np.flatnonzero(tied)

    def in_float32(self) -> Block:
        """Return the rankings with scores compared as 32-bit floats."""
        with np.errstate(over="ignore", under="ignore"):
            scores = self.scores.astype(np.float32).astype(np.float64)
        return replace(self, scores=scores, is_settled=False).in_scoring_order()

    def ranking(self, place: int) -> Ranking:
        rows = slice(*self.starts[place : place + 2].tolist())
        return Ranking(docnos_of(self.docnos[rows]).tolist(), self.scores[rows])


def take_rows(docnos: Words, rows: Places) -> Words:
    """Return these rows, each copied as a whole, which takes half the time of word by word."""
    width = docnos.shape[1]
    whole = np.ascontiguousarray(docnos).view(f"V{WORD * width}")
    taken: Words = whole.take(rows).view(np.uint64).reshape(-1, width)
    return taken


def are_greater(docnos: Words, others: Words) -> BoolArray:
    """Return which docnos are greater than the others beside them, compared byte by byte.

    >>> one, other = (words_of(np.array([name], "S9")) for name in (b"FT911-3", b"FT911-21"))
    >>> are_greater(one, other).tolist()
    [True]
    """
    greater, same = np.zeros(len(docnos), bool), np.ones(len(docnos), bool)
    # As big-endian numbers, words sort like bytes.
    for one, other in zip(docnos.byteswap().T, others.byteswap().T, strict=True):
        greater |= same & (one > other)
        same &= one == other
    return greater


def order_in_groups(docnos: Words, group: Places, beginning: int | None = None) -> Places:
    """Return an order of rows by group, and in each group by docno, descending.

    Groups are numbered in the order of the rows, and the docnos of a group have as many bytes of
    their `beginning` in common; by default, those that all docnos have. The next characters fit
    into a word with the number of the group, so one sort of words orders most rows. Those that are
    equal there are sorted by the characters behind.

    >>> docnos = words_of(np.array([b"d1", b"d2", b"d0", b"d9"], dtype="S"))
    >>> order_in_groups(docnos, np.array([1, 1, 2, 2])).tolist()
    [1, 0, 3, 2]
    """
    order: Places
    if group[-1] >= 1 << 64 - PACKED_BITS:
        # As big-endian numbers, words sort like bytes; their complements sort in reverse.
        order = np.lexsort([*(~docnos).byteswap().T[::-1], group])
        return order
    if beginning is None:
        beginning = length_of_beginning(docnos)
    keys, length = pack_bytes(docnos, beginning)
    keys ^= (1 << PACKED_BITS) - 1
    keys |= group.view(np.uint64) << PACKED_BITS
    order = np.argsort(keys)
    keys = keys.take(order)
    same = keys[1:] == keys[:-1]
    beginning += length
    if beginning < WORD * docnos.shape[1] and same.any():
        as_above = np.concatenate(([False], same))
        rows = np.flatnonzero(as_above | np.concatenate((same, [False])))
        left = order.take(rows)
        behind = order_in_groups(
            take_rows(docnos, left), np.cumsum(~as_above.take(rows)), beginning
        )
        order[rows] = left.take(behind)
    return order


def pack_bytes(docnos: Words, beginning: int) -> tuple[Words, int]:
    """Return the bytes from `beginning` on as numbers that sort like them, and how many they are.

    Eight bytes if all are ASCII without small letters, and so have six bits each; else six.

    >>> packed, length = pack_bytes(words_of(np.array([b"FT911-3", b"FT911", b"FT94"], "S")), 2)
    >>> np.argsort(packed).tolist(), length
    ([1, 0, 2], 8)
    """
    word, byte = divmod(beginning, WORD)
    packed: Words = docnos[:, word] >> np.uint64(8 * byte)
    if byte and word + 1 < docnos.shape[1]:
        packed |= docnos[:, word + 1] << np.uint64(8 * (WORD - byte))
    bits = int(np.bitwise_or.reduce(packed | (packed & (packed << 1) & SIXTY_FOURS) << 1))
    packed = packed.byteswap()
    if bits & HIGH_BITS:
        packed >>= 64 - PACKED_BITS
        return packed, PACKED_BITS // 8
    # Padding stays 0, and other bytes become 1 and more, since no docno has a blank.
    packed -= ((packed + LOW_BITS) & HIGH_BITS) >> 2
    for mask, shift in PACKING:
        low = packed & mask
        packed ^= low
        packed >>= shift
        packed |= low
    return packed, WORD


def length_of_beginning(docnos: Words) -> int:
    """Return how many bytes all docnos have in common at their beginning."""
    for word in range(docnos.shape[1]):
        differ: int = np.bitwise_or.reduce(docnos[:, word] ^ docnos[0, word]).item()
        if differ:
            same_bits: int = (differ & -differ).bit_length() - 1
            return int(WORD * word + same_bits // 8)
    return int(WORD * (docnos.shape[1] - 1))


def has_equal(keys: Words) -> bool:
    """Return whether two of many hashes are equal, almost without sorting.

    Each hash takes the slot of its first bits and replaces the one there. Equal hashes share a
    slot, so at most one of them keeps it. The others lost it, and are compared with the one that
    kept it. If a third hash kept it, both lost it: the few losers are sorted, and neighbours
    compared.
    """
    number = np.uint16 if len(keys) <= 1 << 16 else np.int32
    taken = np.empty(1 << (SLOTS * len(keys)).bit_length(), number)
    slots = (keys >> (65 - len(taken).bit_length())).view(np.intp)
    rows = np.arange(len(keys), dtype=number)
    taken[slots] = rows
    left = taken.take(slots)
    lost = np.flatnonzero(left != rows)
    losers = keys[lost]
    if (losers == keys[left[lost]]).any():
        return True
    losers.sort()
    return bool((losers[1:] == losers[:-1]).any())


def blocks_of(rankings: Mapping[bytes, Ranking]) -> Iterator[Block]:
    """Yield all rankings of a run in blocks of some topics each."""
    if isinstance(rankings, StoredRankings):
        yield from rankings.blocks()
        return
    topics = list(rankings)
    for start in range(0, len(topics), TOPICS_AT_ONCE):
        yield Block.of({t: rankings[t] for t in topics[start : start + TOPICS_AT_ONCE]})


@dataclass(frozen=True, slots=True)
class BlockPlace:
    """The place of a block in the file of `StoredRankings`."""

    start: int
    width: int
    topics: Sequence[bytes]
    starts: Places

    @property
    def rows(self) -> int:
        return int(self.starts[-1])


class StoredRankings(Mapping[bytes, Ranking]):
    """The rankings of a run in blocks, in a temporary file or, if small, in memory.

    So ten million lines take little memory: they are judged and stored block by block.
    """

    def __init__(self) -> None:
        self.file = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115
        self.places: list[BlockPlace] = []
        self.known: dict[bytes, tuple[int, int]] = {}
        self.count = 0
        """How many documents are retrieved in total."""

    def add(self, block: Block) -> None:
        """Add a block of new topics, in which no score rises."""
        block = block.with_ties_by_docno()
        start = self.file.seek(0, 2)
        self.file.write(np.ascontiguousarray(block.docnos).data)
        self.file.write(block.scores.data)
        self.note(block)
        self.places.append(BlockPlace(start, block.docnos.shape[1], block.topics, block.starts))

    def note(self, block: Block) -> None:
        """Record the topics of a block and its number of rows."""
        number = len(self.places)
        self.known.update(zip(block.topics, zip(repeat(number), count()), strict=False))
        self.count += len(block.scores)

    @property
    def can_be_handed_over(self) -> bool:
        """Return whether other processes can read parts: not if the rankings are in a file."""
        return False

    def take_over(self, others: StoredRankings) -> None:
        """Add the rankings that another process has read."""
        raise NotImplementedError

    def blocks(self) -> Iterator[Block]:
        for place in self.places:
            docnos, scores = self._rows(place, 0, place.rows)
            yield Block(place.topics, place.starts, docnos, scores, is_settled=True)

    def _rows(self, place: BlockPlace, start: int, end: int) -> tuple[Words, FloatArray]:
        self.file.seek(place.start + WORD * place.width * start)
        docnos = np.frombuffer(self.file.read(WORD * place.width * (end - start)), np.uint64)
        self.file.seek(place.start + WORD * (place.width * place.rows + start))
        scores = np.frombuffer(self.file.read(WORD * (end - start)), np.float64)
        return docnos.reshape(-1, place.width), scores

    def __getitem__(self, topic: bytes) -> Ranking:
        number, topic_number = self.known[topic]
        place = self.places[number]
        docnos, scores = self._rows(place, *place.starts[topic_number : topic_number + 2].tolist())
        return Ranking(docnos_of(docnos).tolist(), scores)

    def __contains__(self, topic: object) -> bool:
        return topic in self.known

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)
