"""Runs: what a system retrieved for each topic, in scoring order.

A run is a text file of six columns, `topic Q0 docno rank score tag`. The order of a ranking is
score descending, ties by docno descending in byte order, as trec_eval has it; the rank column
and the order of the lines decide nothing.
"""

from __future__ import annotations

from array import array
from collections.abc import Container
from dataclasses import dataclass, field
from typing import BinaryIO, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evaluation.problems import Problems
from evaluation.reading import trec_eval_text

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The documents of one topic in scoring order, `docnos[i]` with `scores[i]`."""

    docnos: list[bytes]
    scores: FloatArray

    @classmethod
    def in_scoring_order(cls, docnos: list[bytes], scores: FloatArray) -> Ranking:
        """Order by score descending, then docno descending by bytes; NaN is below every number.

        >>> Ranking.in_scoring_order([b"a", b"b", b"c"], np.array([1.0, 1.0, 2.0])).docnos
        [b'c', b'b', b'a']
        """
        order = np.lexsort((np.array(docnos, dtype="S"), scores, ~np.isnan(scores)))[::-1]
        return cls([docnos[i] for i in order.tolist()], scores[order])


@dataclass(frozen=True)
class Run:
    """An accepted run; `lines` counts its data lines, `problems` holds only warnings and notes."""

    tag: str
    rankings: dict[bytes, Ranking]
    lines: int
    problems: Problems


@dataclass(frozen=True)
class RunRules:
    """What a track asks of a run. `topics` or `docnos` None means: not checked."""

    topics: Container[bytes] | None = None
    docnos: Container[bytes] | None = None
    depth: int = 1000
    tag: str | None = None
    missing_topics: Literal["warn", "refuse"] = "warn"
    unknown_documents: Literal["refuse", "drop"] = "refuse"
    duplicates: Literal["refuse", "keep_best"] = "refuse"
    line: int = 4096


@dataclass(slots=True)
class TopicLines:
    """The lines of one topic as they stand in the file; flat, since a run may have millions."""

    docnos: list[bytes] = field(default_factory=list)
    scores: array[float] = field(default_factory=lambda: array("d"))
    lines: array[int] = field(default_factory=lambda: array("q"))

    def add(self, line: int, docno: bytes, score: float) -> None:
        self.docnos.append(docno)
        self.scores.append(score)
        self.lines.append(line)


def read_run_leniently(
    file: BinaryIO,
    float32: bool = False,
    *,
    topics: Container[bytes] | None = None,
    depth: int | None = None,
) -> Run:
    """A run as trec_eval reads it: at least six columns, any score, any tag, any bytes.

    `float32` compares scores as 32-bit floats, as trec_eval 9.0.8 does. Like trec_eval, a
    document that comes twice for a topic is refused; with `topics` (the judged ones) and `depth`
    (trec_eval's -M) only in these topics and down to that rank, which also cuts the rankings.

    Raises `Refused` with E_COLUMNS, E_DUP_DOC, E_CHAR, E_LINE_LONG or E_EMPTY.

    >>> from io import BytesIO
    >>> run = read_run_leniently(BytesIO(b"7 Q0 d1 1 abc my tag\\n7 Q0 d2 2 1,5 my tag\\n"))
    >>> run.tag, run.rankings[b"7"].docnos, run.rankings[b"7"].scores.tolist()
    ('my', [b'd2', b'd1'], [1.0, 0.0])
    """
    problems = Problems()
    by_topic: dict[bytes, TopicLines] = {}
    tag = b""
    count = 0
    for line_number, line in trec_eval_text.data_lines(file, problems, of_run=True):
        columns = line.split(None, 6)
        if len(columns) < 6:
            problems.error(
                "E_COLUMNS",
                line_number,
                f"expected 6 columns (topic Q0 docno rank score tag) but found {len(columns)}",
                line.rstrip(),
            )
            continue
        topic, _, docno, _, score, tag = columns[:6]
        if topic not in by_topic:
            by_topic[topic] = TopicLines()
        by_topic[topic].add(line_number, docno, trec_eval_text.number(score))
        count += 1
    if not by_topic and not problems.errors:
        problems.error("E_EMPTY", None, "the run holds no line")
    rankings = {topic: _as_trec_eval(rows, float32, depth) for topic, rows in by_topic.items()}
    for topic, ranking in rankings.items():
        if (topics is None or topic in topics) and len(set(ranking.docnos)) < len(ranking.docnos):
            _report_duplicates(topic, by_topic[topic], set(ranking.docnos), problems)
    problems.raise_if_refused()
    return Run(tag.decode("utf-8", "backslashreplace"), rankings, count, problems)


def _as_trec_eval(rows: TopicLines, float32: bool, depth: int | None) -> Ranking:
    scores = np.array(rows.scores, dtype=np.float64)
    if float32:
        with np.errstate(over="ignore", under="ignore"):
            scores = scores.astype(np.float32).astype(np.float64)
    ranking = Ranking.in_scoring_order(rows.docnos, scores)
    return ranking if depth is None else Ranking(ranking.docnos[:depth], ranking.scores[:depth])


def _report_duplicates(
    topic: bytes, rows: TopicLines, retrieved: set[bytes], problems: Problems
) -> None:
    first_line: dict[bytes, int] = {}
    for docno, line in zip(rows.docnos, rows.lines, strict=True):
        if docno in retrieved and first_line.setdefault(docno, line) != line:
            problems.error(
                "E_DUP_DOC",
                line,
                f"the document is already retrieved for topic {topic.decode('utf-8', 'replace')}"
                f" at line {first_line[docno]}",
                docno,
                "A document may stand once in a ranking; remove one of the lines.",
            )
