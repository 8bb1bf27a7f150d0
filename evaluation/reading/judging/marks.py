"""Files of assessors' marks: read, checked against each other, and written.

`marks.jsonl` has an object per line and keeps all that is known of a mark. `trec` is qrels whose
second column names the assessor, and `doccano` is what that annotation tool exports. Files of
several assessors are one log: `MarkLog` reads one after the other.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from evaluation.marks import Mark, replay
from evaluation.problems import Problems, Refused, refuse
from evaluation.reading.containers import KIB, MIB, RUN_LIMITS, unpacked
from evaluation.reading.judging.mark_lines import READERS
from evaluation.reading.lines import UTF_16, first_bytes, in_line_order, numbered_lines

FORMATS = tuple(READERS)
# A line of Doccano has the text of its document, one of marks.jsonl perhaps a long rationale.
LONGEST_LINE = {"marks.jsonl": 256 * KIB, "trec": RUN_LIMITS.line, "doccano": 16 * MIB}
NAME_IN_JSON = re.compile(rb'"(\w+)"\s*:')


@dataclass(frozen=True)
class MarkFile:
    """The marks of a file in the order of arrival, also those that a later one replaces."""

    marks: list[Mark]
    problems: Problems
    format: str


def read_marks(file: BinaryIO, format: str | None = None, assessor: str = "") -> MarkFile:
    """Marks of one or several assessors in one file; `format` is one of `FORMATS`, or found out.

    `assessor` is the name for lines that name none: qrels with 0 or Q0, all lines of Doccano. A
    grade of -1 is unjudged: a mark of the kind "later". The whole file is read; raises `Refused`
    with every problem, each at its physical line: E_FORMAT, E_EMPTY, E_LINE_LONG, E_ENCODING,
    E_CHAR, E_JSON, E_COLUMNS, E_FIELD (missing, or of a wrong kind), E_TOPIC, E_DOCID,
    E_ASSESSOR, E_LABEL, E_REL (not an integer from -1 to 127), E_DUP_KEY (a key that an
    earlier mark has with other content), E_REPLACES (a key that no earlier mark of the assessor
    and document has) and E_DUP_MARK (a document that the assessor has marked already). A mark
    that appears again unchanged counts once and is noted by W_AGAIN.

    >>> from io import BytesIO
    >>> read = read_marks(BytesIO(b"7 ada d1 2\\n7 ben d1 0\\n"))
    >>> read.format, [(mark.assessor, mark.grade) for mark in read.marks]
    ('trec', [('ada', 2), ('ben', 0)])
    """
    return MarkLog().read(file, format, assessor)


def read_assessor_folder(paths: Sequence[Path], log: MarkLog | None = None) -> list[Mark]:
    """Marks of several assessors, a file of qrels each, whose stem names the assessor.

    They follow those of `log`. All files are read; raises `Refused` with the problems of all, each
    beginning with the name of its file.
    """
    log, all_problems = log or MarkLog(), Problems()
    for path in paths:
        try:
            with path.open("rb") as file:
                log.read(unpacked(file), "trec", assessor_of(path.name), path.name)
        except Refused as refusal:
            for each in refusal.problems.of("error"):
                message = f"{path.name}: {each.message}"
                all_problems.error(
                    each.code, each.line, message, each.found, each.hint, count=each.count
                )
    all_problems.raise_if_refused()
    return log.marks


def assessor_of(name: str) -> str:
    """Return the assessor that the name of a file names: its stem, without .gz.

    >>> assessor_of("ada.qrels"), assessor_of("ben.qrels.gz")
    ('ada', 'ben')
    """
    return Path(name.removesuffix(".gz")).stem


def recognise_marks(head: bytes) -> str | None:
    """The format of marks by the first bytes of a file; None if they are something else.

    >>> recognise_marks(b'{"topic": "7", "docno": "d1", "assessor": "ada", "grade": 2}')
    'marks.jsonl'
    >>> recognise_marks(b"7 ada d1 2"), recognise_marks(b"7 Q0 d1 1 9.5 bm25")
    ('trec', None)
    """
    lines = (line.strip() for line in head.splitlines())
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    if not first.startswith(b"{"):
        return "trec" if len(first.split()) == 4 else None
    names = set(NAME_IN_JSON.findall(first))
    # A field of any name may follow those of a mark, and what Doccano keeps of a document.
    if b"assessor" not in names and {b"label", b"labels", b"text"} & names:
        return "doccano"
    return "marks.jsonl" if {b"assessor", b"grade", b"kind"} & names else None


@dataclass
class MarkLog:
    """The marks of one or several files, each checked against those before it.

    `lines` has the line of each mark, `files` the place of the first mark of each file with its
    name, `by_key` the place of each key, and `valid` that of each document's mark that is neither
    replaced nor undone, by topic, docno and assessor.
    """

    marks: list[Mark] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    files: list[tuple[int, str]] = field(default_factory=list)
    by_key: dict[str, int] = field(default_factory=dict)
    valid: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def read(
        self, file: BinaryIO, format: str | None = None, assessor: str = "", name: str = ""
    ) -> MarkFile:
        """Read one more file, whose `name` later problems show; raises `Refused`."""
        found = _checked_format(file, format)
        start, problems, again = len(self.marks), Problems(), []
        self.files.append((start, name))
        lines = _CountedLines(numbered_lines(file, problems, LONGEST_LINE[found], RUN_LIMITS.lines))
        for number, mark in READERS[found](lines, assessor, problems):
            if self._is_known(number, mark, problems):
                again.append(number)
            else:
                self._add(number, mark, problems)
        if len(self.marks) == start and not again and not problems.errors:
            problems.error("E_EMPTY", None, "the file has no marks")
        if again:
            message = f"marks that came before, unchanged: {len(again):,}; each counts once"
            problems.note("W_AGAIN", again[0], message)
        problems.fold(lines.last)
        in_line_order(problems).raise_if_refused()
        return MarkFile(self.marks[start:], problems, found)

    def _is_known(self, number: int, mark: Mark, problems: Problems) -> bool:
        """Whether a mark with this key came before; E_DUP_KEY where it was another mark."""
        place = self.by_key.get(mark.key) if mark.key else None
        if place is None:
            return False
        if self.marks[place] != mark:
            message = f"{self._where(place)} has this key with other content"
            hint = "Give each mark a different key."
            problems.error("E_DUP_KEY", number, message, mark.key, hint)
        return True

    def _add(self, number: int, mark: Mark, problems: Problems) -> None:
        place, own = len(self.marks), _owner(mark)
        self.marks.append(mark)
        self.lines.append(number)
        replaced = self._replaced(number, mark, problems)
        if replaced is not None and self.valid.get(own) == replaced:
            del self.valid[own]
        if mark.key:
            self.by_key[mark.key] = place
        if mark.kind == "undo" or mark.is_repeat:
            return
        before = self.valid.setdefault(own, place)
        if before != place:
            problems.error(
                "E_DUP_MARK",
                number,
                f"{mark.assessor} has marked this document for topic {mark.topic} already,"
                f" at {self._where(before)}",
                mark.docno,
                "Keep one mark, or name in replaces the key of the one that it replaces.",
            )

    def _replaced(self, number: int, mark: Mark, problems: Problems) -> int | None:
        """The place of the mark that a mark replaces; E_REPLACES where it cannot."""
        if not mark.replaces:
            if mark.kind == "undo":
                message = "an undo names no mark that it takes back"
                hint = "Name its key in replaces."
                problems.error("E_REPLACES", number, message, mark.docno, hint)
            return None
        place = self.by_key.get(mark.replaces)
        if place is None:
            message = "no earlier mark has the key that this one replaces"
            problems.error("E_REPLACES", number, message, mark.replaces)
        elif _owner(self.marks[place]) != _owner(mark):
            message = f"{self._where(place)} is about another document or by another assessor"
            problems.error("E_REPLACES", number, message, mark.replaces)
        return place

    def _where(self, place: int) -> str:
        """The line of a mark, and its file where it is another one than the last."""
        at = bisect_right(self.files, place, key=lambda file: file[0]) - 1
        _, name = self.files[at]
        line = f"line {self.lines[place]:,}"
        return f"{line} of {name}" if name and at < len(self.files) - 1 else line


@dataclass
class _CountedLines:
    """Numbered lines, and the number of the last one that was read."""

    lines: Iterator[tuple[int, bytes]]
    last: int = 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        for number, line in self.lines:
            self.last = number
            yield number, line


def _owner(mark: Mark) -> tuple[str, str, str]:
    return mark.topic, mark.docno, mark.assessor


def _checked_format(file: BinaryIO, format: str | None) -> str:
    """The format that is asked for or recognised; raises `Refused` with E_FORMAT or E_EMPTY."""
    head = first_bytes(file)
    if head.startswith(UTF_16):
        return "trec"  # Reading the first line rejects the encoding.
    found = recognise_marks(head) if format is None else format
    if found in READERS:
        return found
    if format is None and not head:
        raise refuse("E_EMPTY", "the file has no marks")
    message = "this is not a format of marks" if format else "the format of the marks is unknown"
    hint = f"Formats are {', '.join(FORMATS)}; trec is topic, assessor, docno and grade."
    raise refuse("E_FORMAT", message, format or head.split(b"\n")[0], hint)


def write_marks(marks: Iterable[Mark]) -> Iterator[bytes]:
    """Yield the lines of `marks.jsonl`, without fields that have no value of their own.

    >>> list(write_marks([Mark("301", "D1", "ada", 2, key="k1")]))
    [b'{"topic": "301", "docno": "D1", "assessor": "ada", "grade": 2, "key": "k1"}\\n']
    """
    for mark in marks:
        values = {name: getattr(mark, of) for name, of in WRITTEN.items()}
        given = {name: value for name, value in values.items() if value != UNWRITTEN[name]}
        if mark.at is not None:
            given["at"] = mark.at.isoformat()
        yield json.dumps(given, ensure_ascii=False).encode() + b"\n"


# The names of the fields in a file, in their order.
WRITTEN = {
    name: {"repeat": "is_repeat"}.get(name, name)
    for name in (
        *("topic", "docno", "assessor", "kind", "reason", "grade", "turn", "at", "seconds"),
        *("guideline", "rationale", "spans", "key", "replaces", "order", "repeat", "by"),
    )
}
UNWRITTEN = {name: getattr(Mark("", "", ""), of) for name, of in WRITTEN.items()}


def write_trec_marks(marks: Iterable[Mark]) -> Iterator[bytes]:
    """Yield `topic assessor docno grade` of each valid mark with a grade, repeats excluded.

    >>> later = Mark("301", "D2", "ada", kind="later")
    >>> list(write_trec_marks([Mark("301", "D1", "ada", 2), later]))
    [b'301 ada D1 2\\n']
    """
    for mark in replay(marks):
        if mark.grade is not None and not mark.is_repeat:
            yield f"{mark.topic} {mark.assessor or 0} {mark.docno} {mark.grade}\n".encode()
