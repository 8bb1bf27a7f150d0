"""Matching of runs with judgments: the compact record from which every measure is computed.

Only the judged documents that a run retrieved decide its scores. A `JudgedRun` has one row
(topic, rank, grade) for each of them, and the number of documents retrieved per topic.

    >>> from io import BytesIO
    >>> from evaluation.reading.judging.qrels import read_qrels_leniently
    >>> from evaluation.reading.runs.reader import read_run_leniently
    >>> qrels = read_qrels_leniently(BytesIO(b"7 0 d1 2\\n7 0 d2 0\\n8 0 d1 1\\n"))
    >>> run = read_run_leniently(BytesIO(b"7 Q0 d1 1 9.5 demo\\n7 Q0 d9 2 9 demo\\n"))
    >>> judged = judge(run, prepare(qrels))
    >>> judged.rank.tolist(), judged.grade.tolist(), judged.retrieved.tolist()
    ([1], [2], [2, 0])
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, compress, count
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.conventions import CONVENTIONS, HOUSE, POOLED, Convention
from evaluation.problems import Problems, refuse
from evaluation.ragged import BoolArray, FloatArray, IntArray, Ragged
from evaluation.reading.columns import LONGEST_IN_BLOCKS
from evaluation.reading.docnos import SPREAD, DocnosOfWidth, hash_all_words, words_of
from evaluation.reading.judging.qrels import Qrels
from evaluation.reading.runs.rankings import Block, Ranking, StoredRankings, blocks_of
from evaluation.reading.runs.reader import Run

Int32Array = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]

DEPTH = 1000
"""The depth of rankings where none is given; only `MR` uses it."""

SIEVE, LARGEST_SIEVE = 64, 1 << 22
"""Bits per judgment, so that few unjudged documents pass, and the most bits that fit a cache."""
ENOUGH = 1 << 14


@dataclass(frozen=True, eq=False)
class Judgments:
    """Judgments prepared for scoring, the same for all runs: T topics, m judgments.

    topics: the evaluated topics, in the order of every per-topic array.
    grades: for each topic the grade of each judged document.
    top_grade: the highest grade of the scale.
    topic, grade: int32[m], the judgments of grade 0 and above, by topic, highest grade first.
    strata: for each topic of a stratified sample the stratum of each document; else empty.
    subtopics: for each topic the grades of each document by subtopic; else empty.
    probabilities: for each topic the probability of each subtopic; else empty.
    left_out: judged topics that are not evaluated.
    """

    topics: tuple[bytes, ...]
    grades: list[dict[bytes, int]] = field(repr=False)
    top_grade: int
    topic: Int32Array = field(repr=False)
    grade: Int32Array = field(repr=False)
    strata: Sequence[Mapping[bytes, bytes]] = field(default=(), repr=False)
    subtopics: Sequence[Mapping[bytes, Mapping[bytes, int]]] = field(default=(), repr=False)
    probabilities: Sequence[Mapping[bytes, float]] = field(default=(), repr=False)
    left_out: Set[bytes] = field(default=frozenset(), repr=False)
    _known: dict[Hashable, FloatArray] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def rows(self) -> Ragged:
        return Ragged(self.topic, len(self.topics))

    @cached_property
    def index(self) -> Index:
        return Index.of(self.topics, self.labels)

    @cached_property
    def documents(self) -> Documents:
        """Every document of the judgments with its stratum."""
        return Documents.of(self.grades, self.strata)

    @cached_property
    def intents(self) -> Intents:
        """The grades of every document by subtopic."""
        return Intents.of(self)

    @property
    def qrels(self) -> Qrels:
        """The judgments of the evaluated topics, as they are read from a file."""
        strata, subtopics, probabilities = (
            dict(zip(self.topics, values, strict=True)) if values else {}
            for values in (self.strata, self.subtopics, self.probabilities)
        )
        return Qrels(
            dict(zip(self.topics, self.grades, strict=True)),
            Problems(),
            strata=strata,  # type: ignore[arg-type]
            subtopics=subtopics,  # type: ignore[arg-type]
            probabilities=probabilities,  # type: ignore[arg-type]
        )

    @cached_property
    def labels(self) -> list[dict[bytes, int]]:
        """What a run is matched with: grades, or the numbers of documents in a sample."""
        if not (self.strata or self.subtopics):
            return self.grades
        number = count()
        return [{docno: next(number) for docno in judged} for judged in self.grades]

    def of(self, topics: Sequence[bytes]) -> Judgments:
        """Return the judgments of some of the topics, on the same scale."""
        places = [self.index.numbers[topic] - 1 for topic in topics]
        grades = [self.grades[place] for place in places]
        strata = [self.strata[place] for place in places] if self.strata else ()
        subtopics = [self.subtopics[place] for place in places] if self.subtopics else ()
        likely = [self.probabilities[place] for place in places] if self.probabilities else ()
        return _prepared(tuple(topics), grades, self.top_grade, strata, subtopics, likely)

    def num_relevant(self, rel: int) -> IntArray:
        """R: how many documents of each topic are judged `rel` or higher."""
        return self.rows.count(self.grade >= rel)

    def num_nonrelevant(self, rel: int) -> IntArray:
        """N: how many documents of each topic are judged 0 or higher, but below `rel`."""
        return self.rows.count(self.grade < rel)

    def known(self, key: Hashable, compute: Callable[[], FloatArray]) -> FloatArray:
        """Return an array that depends on the judgments only, computed once per key."""
        if key not in self._known:
            self._known[key] = compute()
            self._known[key].setflags(write=False)
        return self._known[key]


@dataclass(frozen=True, eq=False)
class Documents:
    """The documents of judgments, numbered from 0 in the order of topics: D documents.

    topic, grade, stratum: int32[D]; strata of a topic count from 0. Without a sample all
    documents of a topic are in one stratum.
    """

    topic: Int32Array
    grade: Int32Array
    stratum: Int32Array

    @classmethod
    def of(
        cls, grades: Sequence[dict[bytes, int]], strata: Sequence[Mapping[bytes, bytes]]
    ) -> Documents:
        sizes = list(map(len, grades))
        topic = np.repeat(np.arange(len(grades), dtype=np.int32), sizes)
        grade = np.fromiter(all_grades(grades), np.int32, sum(sizes))
        places: list[int] = []
        for judged, named in zip(grades, strata, strict=bool(strata)):
            numbers = {name: place for place, name in enumerate(sorted(set(named.values())))}
            places += [numbers[named[docno]] for docno in judged]
        stratum = np.array(places, np.int32) if strata else np.zeros(len(topic), np.int32)
        return cls(topic, grade, stratum)

    @property
    def strata(self) -> int:
        """The highest number of strata of a topic."""
        return int(self.stratum.max(initial=0)) + 1

    def by_stratum(self, chosen: BoolArray, topics: int) -> IntArray:
        """How many chosen documents each stratum of each topic has: int64[topics, strata]."""
        cell = self.topic[chosen].astype(np.int64) * self.strata + self.stratum[chosen]
        counted = np.bincount(cell, minlength=topics * self.strata)
        return counted.reshape(topics, self.strata).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Intents:
    """The grades of judged documents for each intent (subtopic): E grades.

    document: int64[E], ascending; intent: int64[E], counted over all topics; grade: int32[E].
    topic: int64, the topic of each document, whose numbers are those of `document`.
    place: int64, the place of each document by its docno, the highest of a topic first.
    topic_of: int64, the topic of each intent; names: the subtopic of each intent.
    weight: float64, the probability of each intent, 1 where all of its topic are equal.
    """

    document: IntArray
    intent: IntArray
    grade: Int32Array
    topic: IntArray
    place: IntArray
    topic_of: IntArray
    names: tuple[bytes, ...]
    weight: FloatArray

    @classmethod
    def of(cls, judgments: Judgments) -> Intents:
        """Return the grades by subtopic; without subtopics each topic is one intent."""
        if not judgments.subtopics:
            topic, topics = judgments.topic.astype(np.int64), np.arange(len(judgments.topics))
            document, equal = np.arange(len(topic)), np.ones(len(topics))
            # Of one intent all relevant documents gain the same, so their order is no matter.
            by_topic = (topic, document, topics)
            return cls(document, topic, judgments.grade, *by_topic, judgments.topics, equal)
        subtopics = [
            sorted(
                {subtopic for grades in judged.values() for subtopic in grades},
                key=lambda name: (len(name), name),
            )
            for judged in judgments.subtopics
        ]
        named = [(topic, name) for topic, names in enumerate(subtopics) for name in names]
        numbers = {pair: number for number, pair in enumerate(named)}
        # Sorted, because the order of lines in the file must not change the last digit of a sum.
        rows = [
            (document, numbers[topic, subtopic], grade)
            for topic, judged in enumerate(judgments.subtopics)
            for docno, document in judgments.labels[topic].items()
            for subtopic, grade in sorted(judged[docno].items())
        ]
        document, intent, grade = np.array(rows, np.int64).reshape(-1, 3).T
        likely = judgments.probabilities or [{}] * len(judgments.topics)
        return cls(
            document,
            intent,
            grade.astype(np.int32),
            judgments.documents.topic.astype(np.int64),
            _places_by_docno(judgments.labels),
            np.array([topic for topic, _ in named], np.int64),
            tuple(name for _, name in named),
            np.array([likely[topic].get(name, 1.0) for topic, name in named], np.float64),
        )


def _places_by_docno(labels: Sequence[Mapping[bytes, int]]) -> IntArray:
    """Return the place of each numbered document in its topic, the highest docno first."""
    places = np.zeros(sum(map(len, labels)), np.int64)
    for numbered in labels:
        for place, docno in enumerate(sorted(numbered, reverse=True)):
            places[numbered[docno]] = place
    return places


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """The compact record of one run: n rows, sorted by topic and rank.

    topic: int32[n], an index into `judgments.topics`.
    rank: int32[n], from 1.
    grade: int32[n], the judged grade, negative ones too.
    retrieved: int64[T], the number of documents retrieved for each topic, cut at `depth`.
    judged_only: whether the unjudged documents have been removed.
    document: int32[n], the number of each row in `judgments.documents`, where the judgments have
    strata or subtopics.
    """

    topic: Int32Array
    rank: Int32Array
    grade: Int32Array
    retrieved: IntArray
    judgments: Judgments
    depth: int | None = None
    convention: Convention = HOUSE
    judged_only: bool = False
    document: Int32Array | None = field(default=None, repr=False)

    @cached_property
    def rows(self) -> Ragged:
        return Ragged(self.topic, len(self.judgments.topics))

    def relevant(self, rel: int) -> BoolArray:
        """Return which rows are relevant documents."""
        return self.grade >= rel

    @property
    def judged(self) -> BoolArray:
        """Which rows are judged documents, junk included."""
        judged: BoolArray = self.grade != POOLED
        return judged

    def within(self, cutoff: int | None) -> BoolArray:
        """Return which rows are in the first `cutoff` ranks; all rows without a cutoff."""
        return np.ones(len(self.rank), bool) if cutoff is None else self.rank <= cutoff

    def only(self, place: int) -> JudgedRun:
        """Return the run with the documents of one topic; the others stay, without documents."""
        keep = self.topic == place
        return replace(
            self,
            topic=self.topic[keep],
            rank=self.rank[keep],
            grade=self.grade[keep],
            document=None if self.document is None else self.document[keep],
        )

    def condensed(self) -> JudgedRun:
        """Return the run without its unjudged and negative documents, with the ranks closed up.

        trec_eval: -J.  Source: Sakai, Alternatives to Bpref, SIGIR 2007.
        """
        keep = self.grade >= 0
        rows = Ragged(self.topic[keep], len(self.judgments.topics))
        return replace(
            self,
            topic=self.topic[keep],
            rank=rows.position.astype(np.int32),
            grade=self.grade[keep],
            retrieved=rows.lengths,
            judged_only=True,
            document=None if self.document is None else self.document[keep],
        )

    def filled(self, grade: int) -> JudgedRun:
        """Return the run as if every unjudged document it retrieved had this grade."""
        retrieved = Ragged(
            np.repeat(np.arange(len(self.retrieved)), self.retrieved), self.rows.topics
        )
        grades = np.full(len(retrieved.topic), grade, np.int32)
        keep = self.judged
        grades[retrieved.starts[self.topic[keep]] + self.rank[keep] - 1] = self.grade[keep]
        holes = self.retrieved - self.rows.count(keep)
        return replace(
            self,
            topic=retrieved.topic.astype(np.int32),
            rank=retrieved.position.astype(np.int32),
            grade=grades,
            judgments=_with_more(self.judgments, holes, grade),
            document=None,
        )

    def pack(self) -> bytes:
        """Return the record as bytes, a few kB; `unpack` restores it with the same judgments."""
        sizes = [self.depth, self.convention.name, len(self.retrieved), len(self.rank)]
        arrays: list[npt.NDArray[Any]] = [self.retrieved, self.rows.lengths, self.rank, self.grade]
        if self.document is not None:
            arrays.append(self.document)
        head = json.dumps(sizes)
        # Group bytes by significance: the high bytes are nearly all 0 and compress well.
        columns = (array.astype("<i4").view(np.uint8).reshape(-1, 4).T for array in arrays)
        body = b"".join(column.tobytes() for column in columns)
        return zlib.compress(head.encode() + b"\n" + body)

    @classmethod
    def unpack(cls, packed: bytes, judgments: Judgments) -> JudgedRun:
        """Restore a record that `pack` wrote. Raises ValueError if the judgments differ."""
        head, _, body = zlib.decompress(packed).partition(b"\n")
        depth, convention, topics, rows = json.loads(head)
        if topics != len(judgments.topics):
            raise ValueError(f"a record of {topics} topics, judgments of {len(judgments.topics)}")
        # A record with strata or subtopics ends with the numbers of the documents.
        ends = np.cumsum([topics, topics, rows, rows]) * 4
        columns = np.split(np.frombuffer(body, np.uint8), ends)
        retrieved, lengths, rank, grade, numbers = (
            column.reshape(4, -1).T.copy().view("<i4").ravel().astype(np.int32)
            for column in columns
        )
        document = None if judgments.labels is judgments.grades else numbers
        topic = np.repeat(np.arange(topics, dtype=np.int32), lengths)
        counts = retrieved.astype(np.int64)
        judged = cls(topic, rank, grade, counts, judgments, depth, CONVENTIONS[convention])
        return replace(judged, document=document)


def prepare(
    qrels: Qrels, topics: Sequence[bytes] | None = None, top_grade: int | None = None
) -> Judgments:
    """Prepare judgments for scoring: all judged topics in byte order, or those named.

    `top_grade` is the highest grade of the scale, by default the highest in the qrels. Raises
    `Refused` with E_TOP_GRADE where a grade is above it, ValueError for a topic not judged.
    """
    if top_grade is None:
        top_grade = qrels.top_grade
    elif qrels.top_grade > top_grade:
        raise refuse(
            "E_TOP_GRADE",
            f"a grade is above {top_grade}, the highest of the scale",
            str(qrels.top_grade),
        )
    chosen = tuple(sorted(qrels.grades)) if topics is None else tuple(topics)
    if unjudged := [topic for topic in chosen if topic not in qrels.grades]:
        raise ValueError(f"no judgments for topic {unjudged[0]!r}")
    strata = [qrels.strata.get(topic, {}) for topic in chosen] if qrels.strata else ()
    subtopics = [qrels.subtopics.get(topic, {}) for topic in chosen] if qrels.subtopics else ()
    likely = [qrels.probabilities.get(topic, {}) for topic in chosen] if qrels.probabilities else ()
    grades = [qrels.grades[topic] for topic in chosen]
    left_out = qrels.grades.keys() - chosen
    prepared = _prepared(chosen, grades, top_grade, strata, subtopics, likely)
    return replace(prepared, left_out=left_out) if left_out else prepared


def _prepared(
    topics: tuple[bytes, ...],
    grades: list[dict[bytes, int]],
    top_grade: int,
    strata: Sequence[Mapping[bytes, bytes]] = (),
    subtopics: Sequence[Mapping[bytes, Mapping[bytes, int]]] = (),
    probabilities: Sequence[Mapping[bytes, float]] = (),
) -> Judgments:
    sizes = [len(judged) for judged in grades]
    topic = np.repeat(np.arange(len(topics), dtype=np.int32), sizes)
    grade = np.fromiter(all_grades(grades), np.int32, sum(sizes))
    ideal = _highest_first(topic, grade)
    return Judgments(topics, grades, top_grade, *ideal, strata, subtopics, probabilities)


def all_grades(grades: Sequence[dict[bytes, int]]) -> Iterator[int]:
    """Return the grades of all topics in one sequence."""
    return chain.from_iterable(map(dict.values, grades))


def _highest_first(topic: Int32Array, grade: Int32Array) -> tuple[Int32Array, Int32Array]:
    topic, grade = topic[grade >= 0], grade[grade >= 0]
    order = np.lexsort((-grade, topic))
    return topic[order], grade[order]


def _with_more(judgments: Judgments, more: IntArray, grade: int) -> Judgments:
    """Return the judgments with `more` additional documents of this grade per topic."""
    topic = np.repeat(np.arange(len(more), dtype=np.int32), more)
    ideal = _highest_first(
        np.concatenate((judgments.topic, topic)),
        np.concatenate((judgments.grade, np.full(len(topic), grade, np.int32))),
    )
    return Judgments(judgments.topics, judgments.grades, judgments.top_grade, *ideal)


def judge(
    run: Run, judgments: Judgments, depth: int | None = None, convention: Convention = HOUSE
) -> JudgedRun:
    """Match the first `depth` documents of every ranking with their judgments.

    A judged topic that the run does not answer is an empty ranking; a topic of the run without
    judgments is ignored. trec_eval: -c, and -M for `depth`.
    """
    join = _join_blocks if isinstance(run.rankings, StoredRankings) else join_plainly
    topic, rank, label, retrieved = join(run, judgments, depth, convention)
    if judgments.labels is judgments.grades:
        return JudgedRun(topic, rank, label, retrieved, judgments, depth, convention)
    documents = judgments.documents
    judged = JudgedRun(topic, rank, documents.grade[label], retrieved, judgments, depth, convention)
    return replace(judged, document=label)


Rows = tuple[Int32Array, Int32Array, Int32Array, IntArray]


def join_plainly(run: Run, judgments: Judgments, depth: int | None, convention: Convention) -> Rows:
    """Return topic, rank, grade and retrieved of a judged run, one document at a time."""
    rankings = [_first_documents(run.rankings.get(t), depth, convention) for t in judgments.topics]
    ranks: list[int] = []
    grades: list[int] = []
    sizes: list[int] = []
    for docnos, judged in zip(rankings, judgments.labels, strict=True):
        before = len(ranks)
        for rank, docno in enumerate(docnos, 1):
            if docno in judged:
                ranks.append(rank)
                grades.append(judged[docno])
        sizes.append(len(ranks) - before)
    return (
        np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
        np.array(ranks, np.int32),
        np.array(grades, np.int32),
        np.array([len(docnos) for docnos in rankings], np.int64),
    )


def _first_documents(
    ranking: Ranking | None, depth: int | None, convention: Convention
) -> Sequence[bytes]:
    if ranking is None:
        return ()
    if convention.float32_scores:
        with np.errstate(over="ignore", under="ignore"):
            rounded = ranking.scores.astype(np.float32).astype(np.float64)
        ranking = Ranking.in_scoring_order(ranking.docnos, rounded)
    return ranking.docnos if depth is None else ranking.docnos[:depth]


def _join_blocks(run: Run, judgments: Judgments, depth: int | None, convention: Convention) -> Rows:
    """Return the same arrays, thousands of documents of many topics at a time."""
    rankings = run.rankings
    if isinstance(rankings, Judging) and rankings.serves(judgments, convention):
        matches = rankings.matches
    else:
        matches = Matches(judgments, convention)
        for block in blocks_of(rankings):
            matches.add(block)
    return matches.rows(depth)


class Matches:
    """The judged documents of a run, gathered block by block.

    Documents that pass the sieve wait until there are enough of them, since a call of numpy for
    a few hundred documents costs more than its work.
    """

    def __init__(self, judgments: Judgments, convention: Convention = HOUSE) -> None:
        self.judgments = judgments
        self.convention = convention
        self.retrieved = np.zeros(len(judgments.topics), np.int64)
        self.found = [np.zeros((3, 0), np.int32)]
        self.waiting: list[Judgeable] = []
        self.count = 0

    def add(self, block: Block) -> None:
        index = self.judgments.index
        ordered = block.in_float32() if self.convention.float32_scores else block
        numbers = np.array([index.numbers.get(topic, 0) for topic in block.topics])
        judged = numbers > 0
        self.retrieved[numbers[judged] - 1] = np.diff(block.starts)[judged]
        self.waiting.append(index.candidates(ordered, numbers))
        self.count += len(self.waiting[-1].rank)
        if self.count > ENOUGH:
            self.settle()

    def settle(self) -> None:
        """Find the judged documents among those that wait."""
        self.found += map(self.judgments.index.judged_among, joined(self.waiting))
        self.waiting, self.count = [], 0

    def rows(self, depth: int | None) -> Rows:
        self.settle()
        topic, rank, grade = np.concatenate(self.found, axis=1)
        retrieved = self.retrieved
        if depth is not None:
            topic, rank, grade = topic[rank <= depth], rank[rank <= depth], grade[rank <= depth]
            retrieved = np.minimum(retrieved, depth)
        order = np.lexsort((rank, topic))
        return topic[order], rank[order], grade[order], retrieved

    def __getstate__(self) -> dict[str, object]:
        """Leave out the judgments, which the receiving process has."""
        self.settle()
        return {"retrieved": self.retrieved, "found": self.found}


class Judging(StoredRankings):
    """Rankings that are judged while they are read, and stored only if `keep` is set."""

    def __init__(
        self, judgments: Judgments, convention: Convention = HOUSE, *, keep: bool = True
    ) -> None:
        super().__init__()
        self.matches = Matches(judgments, convention)
        self.keep = keep

    def serves(self, judgments: Judgments, convention: Convention) -> bool:
        mine = self.matches
        return mine.judgments is judgments and mine.convention == convention

    def add(self, block: Block) -> None:
        if self.keep:
            block = block.with_ties_by_docno()
            super().add(block)
        else:
            self.note(block)
        self.matches.add(block)

    @property
    def can_be_handed_over(self) -> bool:
        return not self.keep

    def take_over(self, others: StoredRankings) -> None:
        assert isinstance(others, Judging)
        self.known |= others.known
        self.count += others.count
        self.matches.retrieved += others.matches.retrieved
        self.matches.found += others.matches.found

    def __getstate__(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in ("known", "count", "keep", "matches")}


@dataclass(frozen=True, slots=True)
class Judgeable:
    """Documents that may be judged: number of the topic, from 1, docno in words, rank."""

    number: IntArray
    docnos: Words
    rank: IntArray


def joined(parts: Sequence[Judgeable]) -> Iterator[Judgeable]:
    """Join all candidates whose docnos have the same width."""
    for width in {part.docnos.shape[1] for part in parts}:
        alike = [part for part in parts if part.docnos.shape[1] == width]
        yield Judgeable(
            np.concatenate([part.number for part in alike]),
            np.concatenate([part.docnos for part in alike]),
            np.concatenate([part.rank for part in alike]),
        )


@dataclass(frozen=True, eq=False)
class Index:
    """Lookup of judged documents: a sieve that few unjudged documents pass, then a table.

    numbers: the position of each topic among the judged ones, from 1.
    table: the rows (number of the topic, words of the docno); grades: one per row of the table.
    sieve: one flag per value of the first bits of a key, set where a judgment has that value.
    """

    numbers: dict[bytes, int]
    table: DocnosOfWidth
    grades: Int32Array
    sieve: BoolArray

    @classmethod
    def of(cls, topics: Sequence[bytes], grades: Sequence[dict[bytes, int]]) -> Index:
        names = list(chain.from_iterable(grades))
        # The block reader accepts no longer docno.
        short = np.fromiter(map(len, names), np.intp, len(names)) <= LONGEST_IN_BLOCKS
        docnos = words_of(np.array(list(compress(names, short.tolist())), dtype="S"))
        sizes = list(map(len, grades))
        number = np.repeat(np.arange(1, len(grades) + 1, dtype=np.uint64), sizes)[short]
        grade = np.fromiter(all_grades(grades), np.int32, len(names))[short]
        pairs = np.column_stack((number, docnos))
        table = DocnosOfWidth.of(pairs, room=2)
        by_row = np.zeros(len(table.words), np.int32)
        by_row[table.rows_of(pairs)] = grade
        switches = min(SIEVE * len(number), LARGEST_SIEVE - 1)
        sieve = np.zeros(1 << (switches | 1).bit_length(), bool)
        sieve[_first_bits(hash_all_words(docnos) + number * SPREAD, sieve)] = True
        return cls({topic: n for n, topic in enumerate(topics, 1)}, table, by_row, sieve)

    def candidates(self, block: Block, numbers: IntArray) -> Judgeable:
        """Return the documents of a block that pass the sieve; `numbers` are its topics."""
        rows = np.flatnonzero(self.sieve.take(_first_bits(block.keys(numbers), self.sieve)))
        topic = block.topics_of(rows)
        if block.has_open_ties:
            # The place of a tied document takes longer to find than its judgment.
            is_judged = self._places(numbers[topic], block.docnos[rows]) >= 0
            rows, topic = rows[is_judged], topic[is_judged]
        rank = block.places_by_docno(rows) - block.starts[topic] + 1
        return Judgeable(numbers[topic], block.docnos[rows], rank)

    def judged_among(self, candidates: Judgeable) -> Int32Array:
        """Return topic (from 0), rank and grade of the judged candidates: int32[3, n]."""
        place = self._places(candidates.number, candidates.docnos)
        hit = place >= 0
        found = (candidates.number[hit] - 1, candidates.rank[hit], self.grades[place[hit]])
        return np.stack(found).astype(np.int32)

    def _places(self, number: IntArray, docnos: Words) -> IntArray:
        """Return the row of the table of each document, -1 if it is not judged."""
        pairs = np.zeros((len(number), self.table.words.shape[1]), np.uint64)
        width = min(docnos.shape[1], pairs.shape[1] - 1)
        pairs[:, 0], pairs[:, 1 : width + 1] = number, docnos[:, :width]
        place = self.table.rows_of(pairs)
        place[(number == 0) | docnos[:, width:].any(axis=1)] = -1
        return place


def _first_bits(keys: Words, sieve: BoolArray) -> IntArray:
    return (keys >> 65 - len(sieve).bit_length()).view(np.int64)
