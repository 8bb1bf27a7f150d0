"""Qrels: the file of judgments, `topic iteration docno grade`.

The iteration column is ignored. A negative grade means: in the pool, but not judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

from evaluation.problems import Problems
from evaluation.reading import trec_eval_text


@dataclass(frozen=True)
class Qrels:
    """Judgments by topic and docno, `grades[topic][docno]`; topics in the order of the file."""

    grades: dict[bytes, dict[bytes, int]]
    problems: Problems

    @property
    def top_grade(self) -> int:
        """The highest grade; 0 when no grade is positive."""
        grades = (grade for judged in self.grades.values() for grade in judged.values())
        return max(0, max(grades, default=0))

    @property
    def count(self) -> int:
        """The number of judgments."""
        return sum(len(judged) for judged in self.grades.values())


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
        problems.error("E_EMPTY", None, "the file holds no judgment")
    problems.raise_if_refused()
    return Qrels(grades, problems)
