"""Lines of judgments: where topic, document and grade stand in the formats that people have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.problems import refuse
from evaluation.reading.hints import HEADERS
from evaluation.reading.recognition import NOT_READ, NTCIR_GRADE

# Of the letters of NTCIR, S is highly relevant, C is not relevant; L0 to L9 say it in numbers.
LETTERS = {b"S": b"3", b"A": b"2", b"B": b"1", b"C": b"0"} | {
    b"L%d" % n: b"%d" % n for n in range(10)
}


@dataclass(frozen=True, slots=True)
class Judgment:
    """One line of judgments, its grade still as it is written."""

    topic: bytes
    docno: bytes
    token: bytes
    iteration: bytes = b""


@dataclass(frozen=True)
class Layout:
    """A format of judgments: the names of its columns, and letters that stand for grades."""

    format: str
    columns: tuple[str, ...]
    letters: Mapping[bytes, bytes] = field(default_factory=dict)

    @property
    def expected(self) -> str:
        return f"{len(self.columns)} columns ({' '.join(self.columns)})"

    def is_header(self, columns: Sequence[bytes]) -> bool:
        return self.format == "beir" and columns[0].lower() in HEADERS

    def judgment(self, columns: Sequence[bytes]) -> Judgment | None:
        """Topic, docno and grade of a line; None where it has not the columns.

        >>> layout_of("ntcir").judgment([b"0001", b"C", b"gakkai-7", b"0"])
        Judgment(topic=b'0001', docno=b'gakkai-7', token=b'C', iteration=b'')
        """
        if self.format == "ntcir" and len(columns) == 4:
            by_letter = NTCIR_GRADE.fullmatch(columns[1]) is not None
            return Judgment(columns[0], columns[2], columns[1 if by_letter else 3])
        if len(columns) != len(self.columns):
            return None
        iteration = columns[1] if len(columns) == 4 else b""
        return Judgment(columns[0], columns[-2], columns[-1], iteration)


LAYOUTS = {
    layout.format: layout
    for layout in (
        Layout("trec", ("topic", "iteration", "docno", "grade")),
        Layout("cranfield", ("topic", "docno", "grade")),
        Layout("beir", ("query-id", "corpus-id", "score")),
        Layout("ntcir", ("topic", "docno", "grade"), LETTERS),
    )
}


def layout_of(format: str) -> Layout:
    """The layout of a format; raises `Refused` with E_FORMAT for one that is only recognised."""
    if format in NOT_READ:
        raise refuse("E_FORMAT", "judgments of this kind are not read", format, NOT_READ[format])
    return LAYOUTS[format]
