"""Pools: the documents to judge, with the runs and ranks they came from.

Ranks are those of scoring, not those of the rank column. A pool does not depend on the order of
its topics and is immutable.

    >>> from io import BytesIO
    >>> from evaluation.reading.runs.reader import read_run_leniently
    >>> ada = read_run_leniently(BytesIO(b"7 Q0 d1 1 9 ada\\n7 Q0 d2 2 8 ada\\n7 Q0 d3 3 7 ada\\n"))
    >>> ben = read_run_leniently(BytesIO(b"7 Q0 d4 1 5 ben\\n7 Q0 d1 2 4 ben\\n7 Q0 d2 3 3 ben\\n"))
    >>> pool = depth_pool([ada, ben], 2)
    >>> [document.docno for document in pool.topics[b"7"]]
    [b'd1', b'd2', b'd4']
    >>> pool.topics[b"7"][0].places
    (Place(run=0, rank=1), Place(run=1, rank=2))
    >>> depth_table([ada, ben], (1, 2, 3))
    {1: 2, 2: 3, 3: 4}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from statistics import median
from typing import Any, Literal, TypeAlias

from evaluation.conventions import POOLED
from evaluation.frames import build_frame
from evaluation.phrases import counted
from evaluation.reading.columns import TO_JUDGE
from evaluation.reading.runs.reader import Run
from evaluation.tables import text_of

Grades: TypeAlias = Mapping[bytes, Mapping[bytes, int]]
NOT_DRAWN = b"-1"
"""The grade in the file of a sample of a document that is not in the sample."""

Judging: TypeAlias = Literal["docno", "random", "priority"]


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a document in a run: `run` counts the pooled runs from 0, `rank` from 1."""

    run: int
    rank: int


@dataclass(frozen=True, slots=True)
class Pooled:
    """One document of a pool, with its places in the order of the runs.

    `inclusion` is the probability of its selection, 1 unless it was drawn from its `stratum`;
    strata count from 1.
    """

    docno: bytes
    places: tuple[Place, ...]
    stratum: int = 1
    inclusion: float = 1.0

    @property
    def best_rank(self) -> int:
        return min(place.rank for place in self.places)


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """A pool in numbers: `judged` of its documents have a grade, `new` have none yet.

    `smallest`, `middle` (the median) and `largest` are sizes of topics. For every run `brought`
    counts its documents and `alone` those that no other run has. `shared` counts the documents
    of exactly one run, of two runs, and so on.
    """

    documents: int
    smallest: int
    middle: float
    largest: int
    judged: int
    new: int
    brought: tuple[int, ...]
    alone: tuple[int, ...]
    shared: tuple[int, ...]


@dataclass(frozen=True)
class Pool:
    """Documents to judge: `topics[topic]` in docno order, `runs` the tags of the pooled runs.

    `method` names the selection, such as `depth@100`. `undrawn` has the other documents of the
    strata where the pool is a sample.
    """

    method: str
    runs: tuple[str, ...]
    topics: dict[bytes, tuple[Pooled, ...]] = field(repr=False)
    undrawn: dict[bytes, tuple[Pooled, ...]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return sum(len(documents) for documents in self.topics.values())

    def __iter__(self) -> Iterator[tuple[bytes, Pooled]]:
        return (
            (topic, document) for topic, documents in self.topics.items() for document in documents
        )

    def describe(self, grades: Grades | None = None) -> str:
        """Return what the pool holds, in a line; with grades, how much of it is judged."""
        numbers = self.summary(grades)
        sizes = f"{numbers.smallest:,} to {numbers.largest:,} per topic, median {numbers.middle:g}"
        judged = f"; {numbers.judged:,} judged, {numbers.new:,} to judge"
        return (
            f"{self.method}: {counted(numbers.documents, 'document')}"
            f" of {counted(len(self.topics), 'topic')} ({sizes}){'' if grades is None else judged}"
        )

    def __str__(self) -> str:
        return self.describe()

    def frame(self) -> Any:
        """Return a pandas DataFrame: a row per document, with its best rank and its runs."""
        return build_frame(
            {
                "topic": text_of(topic),
                "docno": text_of(document.docno),
                "best_rank": document.best_rank,
                "runs": [self.runs[place.run] for place in document.places],
                "stratum": document.stratum,
                "inclusion": document.inclusion,
            }
            for topic, document in self
        )

    def without(self, grades: Grades) -> Pool:
        """Return the pool without judged documents; grade -1 is not a judgment."""
        left = {
            topic: tuple(
                document for document in documents if not is_judged(grades, topic, document.docno)
            )
            for topic, documents in self.topics.items()
        }
        return replace(self, topics=left)

    def brought_only_by(self, runs: Collection[int]) -> dict[bytes, set[bytes]]:
        """Return the documents of each topic that only these runs have; runs are numbers."""
        return {
            topic: {
                document.docno
                for document in documents
                if all(p.run in runs for p in document.places)
            }
            for topic, documents in self.topics.items()
        }

    def summary(self, grades: Grades | None = None) -> PoolSummary:
        """Return the sizes, the judged documents, the documents of each run and the overlap."""
        sizes = [len(documents) for documents in self.topics.values()] or [0]
        runs = [tuple(sorted({place.run for place in document.places})) for _, document in self]
        brought = Counter(run for sharing in runs for run in sharing)
        alone = Counter(sharing[0] for sharing in runs if len(sharing) == 1)
        shared = Counter(map(len, runs))
        judged = sum(is_judged(grades or {}, topic, document.docno) for topic, document in self)
        return PoolSummary(
            documents=len(self),
            smallest=min(sizes),
            middle=median(sizes),
            largest=max(sizes),
            judged=judged,
            new=len(self) - judged,
            brought=tuple(brought[run] for run in range(len(self.runs))),
            alone=tuple(alone[run] for run in range(len(self.runs))),
            shared=tuple(shared[runs] for runs in range(1, len(self.runs) + 1)),
        )

    def lines(self) -> Iterator[bytes]:
        """A TREC pool file: topic and docno on each line."""
        return (b"%b %b\n" % (topic, document.docno) for topic, document in self)

    def sample_lines(self, grades: Grades | None = None) -> Iterator[bytes]:
        """Judgments of a sample in five columns: topic, 0, docno, stratum, grade.

        A drawn document has its grade, `?` where it has none yet. Others have -1, even if they
        are judged, since a sample must not depend on grades.
        """
        for topic, documents in self.topics.items():
            known = (grades or {}).get(topic, {})
            lines = [(document, NOT_DRAWN) for document in self.undrawn.get(topic, ())]
            for document in documents:
                grade = known.get(document.docno, POOLED)
                lines.append((document, TO_JUDGE if grade == POOLED else b"%d" % grade))
            for document, token in sorted(lines, key=lambda line: line[0].docno):
                yield b"%b 0 %b %d %b\n" % (topic, document.docno, document.stratum, token)


def is_judged(grades: Grades, topic: bytes, docno: bytes) -> bool:
    """Whether a document has a grade, which may mean junk."""
    return grades.get(topic, {}).get(docno, POOLED) != POOLED


def depth_pool(runs: Sequence[Run], depth: int, topics: Iterable[bytes] | None = None) -> Pool:
    """The union of the first `depth` documents of every run (Sparck Jones and van Rijsbergen 1975).

    `topics` None pools every topic that a run has. ValueError where `depth` is below 1.
    """
    pooled = {
        topic: in_docno_order(Pooled(docno, places) for docno, places in found.items())
        for topic, found in gathered(runs, depth, topics).items()
    }
    return Pool(f"depth@{depth}", tags_of(runs), pooled)


def depth_table(
    runs: Sequence[Run], depths: Sequence[int] = (5, 10, 20, 50, 100), grades: Grades | None = None
) -> dict[int, int]:
    """Return the number of documents without a grade in a pool of each depth."""
    best = [
        min(place.rank for place in places)
        for topic, found in gathered(runs, max(depths), None).items()
        for docno, places in found.items()
        if not is_judged(grades or {}, topic, docno)
    ]
    return {depth: sum(rank <= depth for rank in best) for depth in depths}


def gathered(
    runs: Sequence[Run], depth: int, topics: Iterable[bytes] | None
) -> dict[bytes, dict[bytes, tuple[Place, ...]]]:
    """Every document within `depth` with all its places, by topic and docno."""
    if depth < 1:
        raise ValueError(f"a pool is at least 1 deep: {depth}")
    chosen = sorted({topic for run in runs for topic in run.rankings} if topics is None else topics)
    gathered: dict[bytes, dict[bytes, tuple[Place, ...]]] = {}
    for topic in chosen:
        found: dict[bytes, list[Place]] = {}
        for number, run in enumerate(runs):
            docnos = run.rankings[topic].docnos[:depth] if topic in run.rankings else []
            for rank, docno in enumerate(docnos, 1):
                found.setdefault(docno, []).append(Place(number, rank))
        gathered[topic] = {docno: tuple(places) for docno, places in found.items()}
    return gathered


def tags_of(runs: Sequence[Run]) -> tuple[str, ...]:
    return tuple(run.tag for run in runs)


def in_docno_order(documents: Iterable[Pooled]) -> tuple[Pooled, ...]:
    return tuple(sorted(documents, key=lambda document: document.docno))


def order_for_judging(pool: Pool, topic: bytes, order: Judging, seed: int = 0) -> list[Pooled]:
    """Return the documents of a topic in the order of judging.

    `docno` and `random` are independent of the runs; `priority` sorts by the number of runs,
    descending, then by the sum of ranks (NTCIR). Random order depends on the seed, the topic
    and each docno only, so documents added later do not change the order of the others.
    """
    documents = pool.topics.get(topic, ())
    if order == "docno":
        return list(documents)
    if order == "random":
        return sorted(documents, key=lambda document: chance_of(seed, topic, document.docno))
    return sorted(
        documents,
        key=lambda document: (
            -len(document.places),
            sum(p.rank for p in document.places),
            document.docno,
        ),
    )


def chance_of(seed: int, topic: bytes, docno: bytes) -> bytes:
    """Return a fixed random key; sorting by it gives a random order."""
    return sha256(b"%d %b %b" % (seed, topic, docno)).digest()
