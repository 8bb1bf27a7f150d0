"""Scores as trec_eval prints them, as JSON and as a table.

Topic numbers may be any bytes, so everything printed is bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from evaluation.conventions import SCORING_VERSION
from evaluation.measures import Asked, TrecMeasure
from evaluation.ragged import FloatArray
from evaluation.scoring import RunScores
from evaluation.tables import Table

FORMATS = ("trec", "json", "tsv", "md", "tex")
NAME_WIDTH = 22
DECIMALS = 4


@dataclass(frozen=True)
class Printing:
    """What is printed: the lines of topics, the lines over all, and how many digits."""

    by_topic: bool
    overall: bool
    digits: int | None


def number_text(value: float, layout: Printing, whole: bool = False) -> str:
    """A value as trec_eval prints it, four decimals, or with this many significant digits.

    >>> number_text(1 / 3, Printing(True, True, None)), number_text(1 / 3, Printing(True, True, 17))
    ('0.3333', '0.33333333333333331')
    """
    if math.isnan(value):
        return "nan"
    if whole and float(value).is_integer():
        return str(int(value))
    return f"{value:z.{DECIMALS}f}" if layout.digits is None else f"{value:.{layout.digits}g}"


def score_text(asked: Asked, value: float, layout: Printing) -> str:
    whole = asked.measure.definition.aggregate == "sum"
    return number_text(value, layout, whole)


def trec_lines(scores: RunScores, layout: Printing) -> Iterable[bytes]:
    """`measure<TAB>topic<TAB>value`, topics in byte order, then `all`."""
    names = [asked.name.encode().ljust(NAME_WIDTH) for asked in scores.asked]
    if layout.by_topic:
        yield from _topic_lines(names, scores, layout)
    if layout.overall:
        for name, asked, value in zip(names, scores.asked, scores.overall, strict=True):
            yield b"%b\tall\t%b\n" % (name, score_text(asked, value, layout).encode())


def _topic_lines(names: Sequence[bytes], scores: RunScores, layout: Printing) -> Iterable[bytes]:
    """The lines of each topic by one pattern: a call for every value would cost a long run."""
    pattern, columns = b"", []
    for name, asked, values in zip(names, scores.asked, scores.values, strict=True):
        if asked.measure.definition.printed_by_topic:
            conversion, cells = _column(asked, values, layout)
            pattern += b"%b\t\0\t%b\n" % (name.replace(b"%", b"%%"), conversion)
            columns.append(cells)
    rows = zip(scores.topic_numbers, *columns, strict=True)
    for topic, *cells in sorted(rows, key=itemgetter(0)):
        yield (pattern % tuple(cells)).replace(b"\0", topic)


def _column(
    asked: Asked, values: FloatArray, layout: Printing
) -> tuple[bytes, list[float] | list[bytes]]:
    """What converts the values of a measure, and what it converts."""
    if asked.measure.definition.aggregate == "sum":
        return b"%b", [score_text(asked, value, layout).encode() for value in values]
    form = f"%.{DECIMALS}f" if layout.digits is None else f"%.{layout.digits}g"
    return form.encode(), values.tolist()


def json_bytes(runs: Sequence[RunScores], layout: Printing) -> bytes:
    """All scores as one JSON document, at full precision; an undefined score is null."""
    document = {
        "scoring_version": SCORING_VERSION,
        "runs": [_json_run(scores, layout) for scores in runs],
    }
    return json.dumps(document, indent=2).encode() + b"\n"


def _json_run(scores: RunScores, layout: Printing) -> dict[str, object]:
    measures: dict[str, object] = {}
    names = scores.topics
    for asked, values, value in zip(scores.asked, scores.values, scores.overall, strict=True):
        entry: dict[str, object] = {"measure": str(asked.measure)}
        if isinstance(asked.measure, TrecMeasure):
            entry["computed_as"] = "trec_eval"
        if layout.overall:
            entry["all"] = json_number(value)
        if layout.by_topic:
            entry["topics"] = dict(zip(names, map(json_number, values.tolist()), strict=True))
        measures[asked.name] = entry
    return {
        "file": scores.file,
        "run": scores.tag,
        "convention": scores.rules.convention.name,
        "ties": scores.rules.ties,
        "num_topics": len(scores.topics),
        "scores": measures,
    }


def json_number(value: float) -> float | None:
    return None if math.isnan(value) else value


def build_table(runs: Sequence[RunScores], layout: Printing) -> Table:
    """A line per run, or per run and topic, and a column per measure."""
    names = [asked.name for asked in runs[0].asked] if runs else []
    header = ["run", *(["topic"] if layout.by_topic else []), *names]
    rows: list[list[str]] = []
    for scores in runs:
        columns = list(zip(scores.asked, scores.values, scores.overall, strict=True))
        if layout.by_topic:
            for place in sorted(range(len(scores.topics)), key=scores.topic_numbers.__getitem__):
                topic = scores.topics[place]
                cells = [score_text(asked, by[place], layout) for asked, by, _ in columns]
                rows.append([scores.tag, topic, *cells])
        if layout.overall:
            cells = [score_text(asked, value, layout) for asked, _, value in columns]
            rows.append([scores.tag, *(["all"] if layout.by_topic else []), *cells])
    return Table(header, rows, 2 if layout.by_topic else 1)
