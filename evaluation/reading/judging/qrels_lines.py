"""Lines of judgments: the columns of topic, document and grade in each format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.problems import refuse
from evaluation.reading.columns import ZERO
from evaluation.reading.headers import OTHER, name_columns
from evaluation.reading.recognition import NOT_READ, NTCIR_GRADE

# NTCIR's letters: S is highly relevant, C is not relevant; L0 to L9 are grades as numbers.
LETTERS = {b"S": b"3", b"A": b"2", b"B": b"1", b"C": b"0"} | {
    b"L%d" % n: b"%d" % n for n in range(10)
}


@dataclass(frozen=True, slots=True)
class Judgment:
    """One line of judgments, with its grade as written."""

    topic: bytes
    docno: bytes
    token: bytes
    iteration: bytes = b""
    stratum: bytes = b""
    confidence: bytes = b""


@dataclass(frozen=True)
class Layout:
    """A format of judgments: its columns, the relevant ones, and letters that are grades."""

    format: str
    columns: tuple[str, ...]
    letters: Mapping[bytes, bytes] = field(default_factory=dict)
    topic_at: int = 0
    docno_at: int = -2
    grade_at: int = -1
    iteration_at: int | None = None
    stratum_at: int | None = None
    confidence_at: int | None = None
    only_relevant: bool = False
    separator: str = ""
    has_subtopics: bool = False

    @property
    def expected(self) -> str:
        between = self.separator or " "
        return f"{len(self.columns)} columns ({between.join(self.columns)})"

    def is_header(self, columns: Sequence[bytes]) -> bool:
        """Whether a line names these columns, in this order."""
        names = name_columns(columns)
        places = {"topic": self.topic_at, "docno": self.docno_at, "grade": self.grade_at}
        return len(names) == len(self.columns) and all(
            names[place] == name for name, place in places.items()
        )

    def judgment(self, columns: Sequence[bytes]) -> Judgment | None:
        """Read topic, docno and grade of a line; None if it has other columns.

        >>> read = layout_of("ntcir").judgment([b"0001", b"C", b"gakkai-7", b"0"])
        >>> read.topic, read.docno, read.token
        (b'0001', b'gakkai-7', b'C')
        """
        if self.format == "ntcir" and len(columns) == 4:
            by_letter = NTCIR_GRADE.fullmatch(columns[1]) is not None
            return Judgment(columns[0], columns[2], columns[1 if by_letter else 3])
        if len(columns) != len(self.columns):
            return None
        if self.only_relevant:
            return _relevant(columns)
        iteration = b"" if self.iteration_at is None else columns[self.iteration_at]
        return Judgment(
            columns[self.topic_at],
            columns[self.docno_at],
            columns[self.grade_at],
            iteration,
            b"" if self.stratum_at is None else columns[self.stratum_at],
            b"" if self.confidence_at is None else columns[self.confidence_at],
        )


LAYOUTS = {
    layout.format: layout
    for layout in (
        Layout("trec", ("topic", "iteration", "docno", "grade"), iteration_at=1),
        Layout("cranfield", ("topic", "docno", "grade")),
        Layout("beir", ("query-id", "corpus-id", "score")),
        Layout("ntcir", ("topic", "docno", "grade"), LETTERS),
        Layout(
            "strata",
            ("topic", "iteration", "docno", "stratum", "grade"),
            docno_at=2,
            iteration_at=1,
            stratum_at=3,
        ),
        Layout(
            "confidence",
            ("topic", "iteration", "docno", "grade", "confidence"),
            docno_at=2,
            grade_at=3,
            iteration_at=1,
            confidence_at=4,
        ),
        Layout(
            "subtopics",
            ("topic", "subtopic", "docno", "grade"),
            iteration_at=1,
            has_subtopics=True,
        ),
        Layout("smart", ("topic", "docno", "0", "0"), only_relevant=True),
        Layout("json", ("topic", "docno", "grade")),
        Layout("jsonl", ("topic", "docno", "grade")),
        Layout("golden", ("topic", "docno", "grade")),
    )
}


def _relevant(columns: Sequence[bytes]) -> Judgment:
    """Read a line of a SMART file: a relevant document and two zeros; topics may be padded.

    >>> read = _relevant([b"01", b"1410", b"0", b"0.000000"])
    >>> read.topic, read.docno, read.token
    (b'1', b'1410', b'1')
    """
    topic, docno, *rest = columns
    token = b"1" if all(ZERO.fullmatch(value) for value in rest) else b" ".join(rest)
    return Judgment(topic.lstrip(b"0") or topic, docno, token)


SEPARATORS = ",;"
# The columns that are needed in another order, and those that may be missing.
NEEDED = {"topic", "docno", "grade"}
OPTIONAL = {"iteration", "subtopic"}


def layout_of(format: str) -> Layout:
    """Return the layout of a format, or of columns named in their order.

    Commas or semicolons between the names are those of CSV; a column "-" is ignored. Raises
    `Refused` with E_FORMAT for a format that is not read, and for any other word.

    >>> read = layout_of("docno iteration topic grade").judgment([b"D1", b"0", b"301", b"2"])
    >>> read.topic, read.docno, read.token
    (b'301', b'D1', b'2')
    """
    if format in NOT_READ:
        raise refuse("E_FORMAT", "this judgment format is not supported", format, NOT_READ[format])
    return LAYOUTS[format] if format in LAYOUTS else _in_order(format)


def _in_order(format: str) -> Layout:
    separator = next((sign for sign in SEPARATORS if sign in format), "")
    names = format.split(separator or None)
    known = [name for name in names if name != OTHER]
    if len(known) != len(set(known)) or not NEEDED <= set(known) <= NEEDED | OPTIONAL:
        hint = f"Formats are {', '.join(LAYOUTS)}, or columns such as: docno topic grade."
        raise refuse("E_FORMAT", "unknown judgment format", format, hint)
    named = next((name for name in ("subtopic", "iteration") if name in names), None)
    return Layout(
        format,
        tuple(names),
        topic_at=names.index("topic"),
        docno_at=names.index("docno"),
        grade_at=names.index("grade"),
        iteration_at=None if named is None else names.index(named),
        separator=separator,
        has_subtopics=named == "subtopic",
    )
