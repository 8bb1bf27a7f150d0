"""Values of measures that were computed elsewhere: shown as reported, never mixed with our own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from evaluation.answers.findings import Findings
from evaluation.reading.containers import MIB
from evaluation.reading.lines import data_lines, in_line_order, numbered_lines, text_of

ALL = "all"
TOPICS = {"topic", "query_id", "qid", "topic_id"}


@dataclass(frozen=True)
class ReportedValues:
    """The values by measure, then by run, then by topic; those over all topics are apart."""

    by_topic: Mapping[str, Mapping[str, Mapping[str, float]]]
    overall: Mapping[str, Mapping[str, float]]

    def mean(self, measure: str, run: str) -> float:
        """Return the mean over the topics that the file has of a run; NaN without any."""
        values = self.by_topic.get(measure, {}).get(run, {}).values()
        return math.fsum(values) / len(values) if values else math.nan


def read_reported(file: BinaryIO) -> ReportedValues:
    """Read `run topic measure value` or `run measure topic value`; raises `Refused`.

    Topics are in the column with `all`, or that a header names, else in the one with more names.

    >>> from io import BytesIO
    >>> found = read_reported(BytesIO(b"oak t1 SCORE 0.5\\noak t2 SCORE 1\\noak all SCORE 0.75\\n"))
    >>> found.mean("SCORE", "oak"), found.overall["SCORE"]["oak"]
    (0.75, 0.75)
    """
    findings = Findings()
    rows: list[tuple[int, list[str], float]] = []
    header: list[str] = []
    for number, line in data_lines(numbered_lines(file, findings, MIB), findings):
        columns = (text_of(number, line, findings) or "").split()
        value = _number(columns[3]) if len(columns) == 4 else None
        if value is not None:
            rows.append((number, columns, value))
        elif not rows and not header and len(columns) == 4:
            header = columns
        else:
            message = "a value has four columns: run topic measure value"
            findings.error("E_COLUMNS", number, message, line)
    if not rows and not findings.errors:
        findings.error("E_EMPTY", None, "the file has no values")
    in_line_order(findings).raise_if_refused()
    topics = _topic_column(header, [columns for _, columns, _ in rows])
    by_topic: dict[str, dict[str, dict[str, float]]] = {}
    overall: dict[str, dict[str, float]] = {}
    for number, columns, value in rows:
        run, topic, measure = columns[0], columns[topics], columns[3 - topics]
        target = overall.setdefault(measure, {})
        name = run
        if topic != ALL:
            target, name = by_topic.setdefault(measure, {}).setdefault(run, {}), topic
        if name in target:
            findings.error("E_DUP_VALUE", number, f"{measure} of {run} is given twice for {topic}")
        target[name] = value
    findings.raise_if_refused()
    return ReportedValues(by_topic, overall)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _topic_column(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return which column has the topics, 1 or 2."""
    for place in (1, 2):
        if any(row[place] == ALL for row in rows) or header[place : place + 1] in [
            [name] for name in TOPICS
        ]:
            return place
    names = [len({row[place] for row in rows}) for place in (1, 2)]
    return 1 if names[0] >= names[1] else 2
