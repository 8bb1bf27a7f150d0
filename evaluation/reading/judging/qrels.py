"""Qrels: the file of judgments, `topic iteration docno grade`.

The iteration column is ignored. Grade -1 means: in the pool, but not judged. Other
columns, CSV and JSON are read where they are asked for, see `qrels_lines` and `qrels_json`.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import BinaryIO

from evaluation.phrases import counted
from evaluation.problems import Problems, Refused
from evaluation.reading import hints
from evaluation.reading.columns import (
    WHOLE,
    ZERO,
    check_identifier,
    columns_of,
    is_normal,
    warn_of_form,
)
from evaluation.reading.containers import RUN_LIMITS
from evaluation.reading.judging.confidences import RULE, read_confidence
from evaluation.reading.judging.qrels_json import (
    golden_judgments,
    json_judgments,
    json_line_judgments,
)
from evaluation.reading.judging.qrels_lines import Judgment, Layout, layout_of
from evaluation.reading.lines import data_lines, in_line_order, numbered_lines
from evaluation.reading.recognition import recognise_judge
from evaluation.reading.repairs import match_known_topics
from evaluation.reading.runs import trec_eval_text
from evaluation.reading.runs.fast_reader import read_grades
from evaluation.reading.words import Unclear

HIGHEST_GRADE = 127
LISTED = 10
HINTED = 50
JSON = {"json": json_judgments, "jsonl": json_line_judgments, "golden": golden_judgments}
SINGLE = frozenset({b"", b"0", b"Q0", b"q0"})


@dataclass(frozen=True)
class Qrels:
    """Judgments by topic and docno, `grades[topic][docno]`; topics in the order of the file.

    strata: the stratum of each document of a sample, `strata[topic][docno]`; empty otherwise.
    subtopics: the grade of each document for each subtopic, `subtopics[topic][docno][subtopic]`;
    `grades` has the highest of them.
    confidences: how sure a judge is of a grade, `confidences[topic][docno]`, where it says so.
    probabilities: the probability of each subtopic, `probabilities[topic][subtopic]`; empty where
    all are equal.
    """

    grades: dict[bytes, dict[bytes, int]]
    problems: Problems
    format: str = "trec"
    strata: dict[bytes, dict[bytes, bytes]] = field(default_factory=dict)
    subtopics: dict[bytes, dict[bytes, dict[bytes, int]]] = field(default_factory=dict)
    probabilities: dict[bytes, dict[bytes, float]] = field(default_factory=dict)
    confidences: dict[bytes, dict[bytes, float]] = field(default_factory=dict)

    @property
    def top_grade(self) -> int:
        """The highest grade; 0 when no grade is positive."""
        grades = (grade for judged in self.grades.values() for grade in judged.values())
        return max(0, max(grades, default=0))

    @property
    def count(self) -> int:
        """The number of judgments."""
        return sum(len(judged) for judged in self.grades.values())

    @property
    def is_sample(self) -> bool:
        """Whether documents of a stratum were not drawn."""
        return bool(self.strata) and any(
            min(judged.values()) < 0 for judged in self.grades.values()
        )

    def names_of_subtopics(self) -> dict[bytes, list[bytes]]:
        """The judged subtopics of each topic, in the order of the file; empty without subtopics."""
        return {
            topic: list(dict.fromkeys(name for graded in judged.values() for name in graded))
            for topic, judged in self.subtopics.items()
        }

    def lines(self) -> Iterator[tuple[bytes, bytes, int]]:
        """Yield topic, docno and grade of each line: one for each subtopic of a document."""
        for topic, judged in self.grades.items():
            by_subtopic = self.subtopics.get(topic)
            for docno, grade in judged.items():
                if by_subtopic is None:
                    yield topic, docno, grade
                else:
                    yield from ((topic, docno, each) for each in by_subtopic[docno].values())


def read_qrels(
    file: BinaryIO,
    topics: Container[bytes] | None = None,
    docnos: Container[bytes] | None = None,
    *,
    format: str | None = None,
    of_judge: bool = False,
) -> Qrels:
    """Judgments in exactly four columns, each of a known topic and once for a document.

    `format` "cranfield", "beir", "ntcir" or "smart" asks for those columns instead, "strata" for
    the five columns of a sample (topic iteration docno stratum grade), where grade -1 means: in
    the stratum, not drawn; "subtopics" for topic subtopic docno grade; "docno,topic,grade" for
    CSV with these columns; "json", "jsonl" or "golden". A header is skipped. The file `of_judge`
    may say how sure it is of a grade, in a fifth column or in the objects of JSON lines, and shows
    which; E_CONFIDENCE is anything else than a number from 0 to 1. The whole file is read; raises
    `Refused` with every problem, each at its physical line: E_EMPTY, E_COLUMNS, E_ENCODING, E_CHAR,
    E_LINE_LONG, E_JSON, E_YAML, E_TOPIC, E_DUP_TOPIC, E_DOCID, E_REL (not an integer from -127 to
    127), E_STRATUM, E_SUBTOPIC, E_DUP_QREL, E_UNKNOWN_TOPIC (once for a topic);
    E_FORMAT for a format that is recognised but not read. Accepted qrels may carry W_BOM, W_CRLF,
    W_BLANK, W_NO_REL, W_UNJUDGED (a document outside the collection) and W_NFC (docnos in another
    Unicode form than NFC).

    >>> from io import BytesIO
    >>> qrels = read_qrels(BytesIO(b"7 0 d1 2\\n7 0 d2 0\\n8 0 d1 1\\n"))
    >>> qrels.grades, qrels.top_grade, qrels.count
    ({b'7': {b'd1': 2, b'd2': 0}, b'8': {b'd1': 1}}, 2, 3)
    """
    layout = layout_of(format or (recognise_judge(file) if of_judge else "trec"))
    if layout.format == "trec" and file.seekable():
        clean = _read_clean(file, topics, docnos)
        if clean is not None:
            return clean
    collected = _QrelsLines(layout, topics, docnos, with_confidence=of_judge)
    collected.take_file(file)
    collected.check_whole()
    collected.problems.fold(collected.count)
    in_line_order(collected.problems).raise_if_refused()
    return Qrels(
        collected.grades,
        collected.problems,
        layout.format,
        collected.strata,
        collected.subtopics,
        confidences=collected.confidences,
    )


def _read_clean(
    file: BinaryIO, topics: Container[bytes] | None, docnos: Container[bytes] | None
) -> Qrels | None:
    """Judgments read by the block; None, and the file as it was, where lines must be looked at."""
    start = file.tell()
    collected = _QrelsLines(layout_of("trec"), topics, docnos)
    try:
        collected.grades = read_grades(file, RUN_LIMITS.line, HIGHEST_GRADE, topics, docnos)
    except (Unclear, Refused):
        file.seek(start)
        return None
    collected.check_whole()
    return Qrels(collected.grades, collected.problems)


@dataclass
class _QrelsLines:
    """The judgments as far as they have been taken, with their problems."""

    layout: Layout
    topics: Container[bytes] | None
    docnos: Container[bytes] | None
    problems: Problems = field(default_factory=Problems)
    with_confidence: bool = False
    grades: dict[bytes, dict[bytes, int]] = field(default_factory=dict)
    confidences: dict[bytes, dict[bytes, float]] = field(default_factory=dict)
    first_line: dict[bytes, dict[bytes, int]] = field(default_factory=dict)
    strata: dict[bytes, dict[bytes, bytes]] = field(default_factory=dict)
    subtopics: dict[bytes, dict[bytes, dict[bytes, int]]] = field(default_factory=dict)
    iterations: dict[tuple[bytes, bytes], bytes] = field(default_factory=dict)
    has_begun: bool = False
    count: int = 0
    other_form: dict[bytes, int] = field(default_factory=dict)

    def take_file(self, file: BinaryIO) -> None:
        """Take every judgment of a file, in the form of the layout."""
        if self.layout.format in JSON:
            for number, judgment in JSON[self.layout.format](file, self.problems):
                self.count += 1
                self.take_judgment(number, judgment, [])
            return
        lines = numbered_lines(file, self.problems, RUN_LIMITS.line, RUN_LIMITS.lines)
        for number, line in data_lines(lines, self.problems):
            self.take(number, line)

    def take(self, number: int, line: bytes) -> None:
        columns = columns_of(number, line, self.problems, self.layout.separator)
        if not columns:
            return
        is_first, self.has_begun = not self.has_begun, True
        # The column of a table's index has no name.
        unnamed = [b""] if line.startswith(b"\t") else []
        if is_first and self.layout.is_header([*unnamed, *columns]):
            return
        self.count += 1
        judgment = self.layout.judgment(columns)
        if judgment is None:
            self.problems.error(
                "E_COLUMNS",
                number,
                f"expected {self.layout.expected} but found {len(columns)}",
                line,
                hints.hint_for_qrels_columns(columns),
            )
            return
        self.take_judgment(number, judgment, columns)

    def take_judgment(self, number: int, judgment: Judgment, columns: Sequence[bytes]) -> None:
        """Check every part of a judgment, and keep it; `columns` are those of its line."""
        topic, docno = judgment.topic, judgment.docno
        grade = self._grade(number, judgment.token, columns)
        sure = self._confidence(number, judgment.confidence)
        good_topic = check_identifier("topic number", "E_TOPIC", number, topic, self.problems)
        good_docno = check_identifier("document", "E_DOCID", number, docno, self.problems)
        if good_topic and good_docno and self._check_names(number, judgment):
            self._store(number, judgment, grade)
            if sure is not None:
                self.confidences.setdefault(topic, {}).setdefault(docno, sure)

    def _confidence(self, number: int, token: bytes) -> float | None:
        """How sure the judge is of the grade of a line; None where it does not say so."""
        if not token or not (self.with_confidence or self.layout.confidence_at is not None):
            return None
        sure = read_confidence(token)
        if sure is None:
            self.problems.error("E_CONFIDENCE", number, RULE, token)
        return sure

    def _check_names(self, number: int, judgment: Judgment) -> bool:
        """Whether the subtopic or the stratum of a line is well formed."""
        if self.layout.has_subtopics:
            subtopic = judgment.iteration
            return check_identifier("subtopic", "E_SUBTOPIC", number, subtopic, self.problems)
        return not judgment.stratum or check_identifier(
            "stratum", "E_STRATUM", number, judgment.stratum, self.problems
        )

    def _grade(self, number: int, token: bytes, columns: Sequence[bytes]) -> int:
        token = self.layout.letters.get(token.upper(), token)
        like_smart = b"." in token and len(columns) == 4 and all(map(ZERO.fullmatch, columns[2:]))
        if WHOLE.fullmatch(token) and not like_smart:
            grade = int(token.partition(b".")[0])
            if abs(grade) <= HIGHEST_GRADE:
                return grade
        message = f"the grade is not an integer from -{HIGHEST_GRADE} to {HIGHEST_GRADE}"
        self.problems.error(
            "E_REL", number, message, token, hints.hint_for_judgment(token, columns)
        )
        return 0

    def _store(self, number: int, judgment: Judgment, grade: int) -> None:
        topic, docno, iteration = judgment.topic, judgment.docno, judgment.iteration
        judged = self.grades.setdefault(topic, {})
        first_line = self.first_line.setdefault(topic, {})
        if self.layout.has_subtopics:
            of_document = self.subtopics.setdefault(topic, {}).setdefault(docno, {})
            if iteration in of_document:
                self._report_repeated_subtopic(number, judgment, of_document[iteration])
                return
            of_document[iteration] = grade
            grade = max(grade, judged.pop(docno, grade))
        if docno in judged:
            self.problems.error(
                "E_DUP_QREL",
                number,
                f"the document is already judged for topic {topic.decode()}"
                f" at line {first_line[docno]:,} with grade {judged[docno]}",
                docno,
                self._hint_of_duplicate(judgment),
            )
            return
        judged[docno], first_line[docno] = grade, number
        if not is_normal(docno):
            self.other_form.setdefault(docno, number)
        if judgment.stratum:
            self.strata.setdefault(topic, {})[docno] = judgment.stratum
        if iteration not in SINGLE:
            self.iterations[topic, docno] = iteration
        if self.docnos is not None and docno not in self.docnos:
            message = "the judged document is not in the collection"
            self.problems.warn("W_UNJUDGED", number, message, docno, self._hint(docno))

    def _report_repeated_subtopic(self, number: int, judgment: Judgment, grade: int) -> None:
        self.problems.error(
            "E_DUP_QREL",
            number,
            f"the document is already judged for subtopic {judgment.iteration.decode()}"
            f" of topic {judgment.topic.decode()} with grade {grade}",
            judgment.docno,
            "Keep one judgment per document and subtopic.",
        )

    def _hint_of_duplicate(self, judgment: Judgment) -> str:
        if (judgment.docno, judgment.token) == (b"0", b"0"):
            return hints.LIKE_SMART
        before = self.iterations.get((judgment.topic, judgment.docno), b"0")
        if judgment.iteration == before or {judgment.iteration, before} <= SINGLE:
            return "Keep one judgment per document and topic."
        return "Column 2 differs. If it names subtopics, select the format subtopics."

    def _hint(self, docno: bytes) -> str:
        if self.docnos is None or self.problems.counts["W_UNJUDGED"] >= HINTED:
            return ""
        return hints.hint_for_unknown_document(docno, self.docnos)

    def check_whole(self) -> None:
        """What only the whole file can tell: unknown topics, topics without relevant documents."""
        if not self.grades and not self.problems.errors:
            self.problems.error("E_EMPTY", None, "the file has no judgments")
        for docno, line in islice(self.other_form.items(), 1):
            warn_of_form(len(self.other_form), docno, line, self.problems)
        if self.topics is not None:
            self._report_unknown_topics(self.topics)
        without = [topic for topic, judged in self.grades.items() if max(judged.values()) < 1]
        # A topic with a rejected grade may have a relevant document.
        if without and not self.problems.errors:
            listed = b", ".join(without[:LISTED]).decode()
            more = f" and {len(without) - LISTED:,} more" if len(without) > LISTED else ""
            self.problems.warn(
                "W_NO_REL",
                None,
                f"{len(without):,} of {counted(len(self.grades), 'topic')}"
                f" {'has' if len(without) == 1 else 'have'} no relevant document:"
                f" {listed}{more}",
                hint="They score 0 and count in every mean, unless the track drops them.",
            )

    def _report_unknown_topics(self, topics: Container[bytes]) -> None:
        unknown = [topic for topic in self.grades if topic not in topics]
        all_at_once = hints.hint_for_unknown_topics(
            unknown, topics, self.docnos, len(self.grades) - len(unknown)
        )
        renamed = match_known_topics(unknown, topics, self.grades.keys() - set(unknown))
        for position, topic in enumerate(unknown):
            hint = hints.hint_for_unknown_topic(topic, topics) if position < HINTED else ""
            if topic in renamed:
                hint = f'The topics file has "{renamed[topic].decode()}". Write one form in both.'
            self.problems.error(
                "E_UNKNOWN_TOPIC",
                min(self.first_line[topic].values()),
                "the topic is not in the collection;"
                f" unknown topics: {len(unknown):,} of {len(self.grades):,}",
                topic,
                hint if topic in renamed else all_at_once or hint,
            )


def read_qrels_leniently(file: BinaryIO) -> Qrels:
    """Judgments as trec_eval reads them: exactly four columns, the grade as C's `atol` reads it.

    A blank line is malformed, a line that starts with `#` is a comment. Raises `Refused` with
    E_COLUMNS, E_REL (beyond 32 bits), E_DUP_QREL, E_CHAR, E_LINE_LONG or E_EMPTY.

    >>> from io import BytesIO
    >>> read_qrels_leniently(BytesIO(b"# made by hand\\n7 0 d1 2\\n7 0 d2 0.9\\n")).grades
    {b'7': {b'd1': 2, b'd2': 0}}
    """
    problems = Problems()
    grades: dict[bytes, dict[bytes, int]] = {}
    for line_number, line in trec_eval_text.data_lines(file, problems, of_run=False):
        columns = line.split(None, 5)
        if len(columns) != 4:
            problems.error(
                "E_COLUMNS",
                line_number,
                f"expected 4 columns (topic iteration docno grade) but found {len(columns)}",
                line.rstrip(),
            )
            continue
        topic, _, docno, token = columns
        grade = trec_eval_text.integer(token)
        judged = grades.setdefault(topic, {})
        if grade is None:
            problems.error("E_REL", line_number, "the grade does not fit into 32 bits", token)
        elif docno in judged:
            problems.error("E_DUP_QREL", line_number, "the document is already judged", docno)
        else:
            judged[docno] = grade
    if not grades and not problems.errors:
        problems.error("E_EMPTY", None, "the file has no judgments")
    problems.raise_if_refused()
    return Qrels(grades, problems)


def read_qrels_by_assessor(file: BinaryIO) -> dict[bytes, Qrels]:
    """Judgments of several assessors in one file: the second column names the assessor.

    Returns the judgments of each assessor, in the order of the file. An assessor judges a
    document of a topic once. Raises `Refused` as `read_qrels` does, with line numbers.

    >>> from io import BytesIO
    >>> read = read_qrels_by_assessor(BytesIO(b"7 ada d1 2\\n7 ben d1 0\\n"))
    >>> {name: qrels.grades for name, qrels in read.items()}
    {b'ada': {b'7': {b'd1': 2}}, b'ben': {b'7': {b'd1': 0}}}
    """
    problems, layout = Problems(), layout_of("trec")
    collected: dict[bytes, _QrelsLines] = {}
    lines = numbered_lines(file, problems, RUN_LIMITS.line, RUN_LIMITS.lines)
    for number, line in data_lines(lines, problems):
        name = b"".join(line.split(None, 2)[1:2])
        collected.setdefault(name, _QrelsLines(layout, None, None, problems)).take(number, line)
    if not collected:
        problems.error("E_EMPTY", None, "the file has no judgments")
    in_line_order(problems).raise_if_refused()
    return {name: Qrels(lines.grades, problems) for name, lines in collected.items()}
