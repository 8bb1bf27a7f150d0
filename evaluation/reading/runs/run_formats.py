"""Runs in other formats than TREC's six columns.

Every format is read as rows of topic, docno, rank or score, and perhaps a tag. If a format has no
score, the documents of a topic get k, k - 1 ... 1 by rank, so that there are no ties.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import BinaryIO

from evaluation.problems import Refused, refuse
from evaluation.reading.columns import columns_of
from evaluation.reading.evidence import Evidence
from evaluation.reading.lines import data_lines, first_bytes, numbered_lines
from evaluation.reading.recognition import (
    RUN_FORMATS,
    Candidate,
    run_by_first_bytes,
    run_candidates,
)
from evaluation.reading.repairs import TAG, TAG_RULE
from evaluation.reading.runs.run_json import take_json, take_json_lines
from evaluation.reading.runs.run_lines import Row, RunLines
from evaluation.reading.runs.run_metadata import read_metadata, split_header

LOOKED_AT = 2_000
COLUMNS = {
    "trec5": ("topic", "Q0", "docno", "rank", "score"),
    "msmarco": ("topic", "docno", "rank"),
    "scores": ("topic", "docno", "score"),
    "pairs": ("topic", "docno"),
}
WITH_RANKS = ("trec", "trec5", "ntcir")
WITH_SCORES_ALONE = ("scores", "json", "jsonl")

NumberedLines = Iterable[tuple[int, bytes]]


@dataclass(frozen=True, slots=True)
class Heading:
    """The head of a run: its format, `metadata` of ir_metadata, `description` of NTCIR."""

    format: str = "trec"
    description: str = ""
    metadata: dict[str, str] = field(default_factory=dict)


def take_run(file: BinaryIO, collected: RunLines) -> Heading:
    """Take all rows of a run in one of the formats that its track allows.

    Raises `Refused` with E_FORMAT for a format that is recognised but not allowed, and if two
    allowed formats fit.
    """
    formats = collected.rules.formats
    by_bytes = run_by_first_bytes(first_bytes(file))
    if by_bytes is not None and by_bytes.format != "markup":
        return _take_by_bytes(only_fitting([by_bytes], formats), file, collected)
    rules = collected.rules
    lines = numbered_lines(file, collected.problems, rules.line, rules.lines)
    comments, lines = split_header(lines)
    format = "trec"
    if tuple(formats) != ("trec",):
        first = list(islice(lines, LOOKED_AT))
        lines = chain(first, lines)
        table = Evidence.of(first, collected.rules.topics, collected.rules.docnos)
        format = only_fitting(run_candidates(table), formats)
    if format == "trec":
        take_six_columns(lines, collected)
    else:
        _take_columns(lines, format, collected)
    return Heading(format, metadata=read_metadata(comments, collected.problems))


def only_fitting(candidates: Sequence[Candidate], formats: Sequence[str]) -> str:
    """Return the only format of `formats` that fits, else one that explains the problems.

    >>> only_fitting([Candidate("msmarco", "Column 3 counts.")], ("trec", "msmarco"))
    'msmarco'
    """
    fitting = [
        candidate
        for candidate in candidates
        if candidate.format in formats and not candidate.refused
    ]
    if len(fitting) == 1:
        return fitting[0].format
    if len(fitting) > 1:
        message = "the file matches two formats; choose one"
        hint = " ".join(
            f"{RUN_FORMATS[candidate.format]}? {candidate.because}" for candidate in fitting
        )
        raise refuse("E_FORMAT", message, hint=hint)
    faulty = [candidate.format for candidate in candidates[1:] if candidate.format in formats]
    if faulty and not candidates[0].refused:
        return faulty[0]
    is_table = not candidates or candidates[0].format not in ("json", "jsonl", "ntcir", "list")
    if (
        "trec" in formats
        and is_table
        and [candidate.format for candidate in candidates] != ["trecvid"]
    ):
        return "trec"
    raise _not_allowed(candidates, formats)


def _not_allowed(candidates: Sequence[Candidate], formats: Sequence[str]) -> Refused:
    hint = f"Accepted formats: {'; '.join(RUN_FORMATS[name] for name in formats)}."
    if not candidates:
        return refuse("E_FORMAT", "the run format is not recognised", hint=hint)
    likeliest = candidates[0]
    if likeliest.refused:
        message = "the file cannot be read as a run"
        return refuse("E_FORMAT", message, hint=f"{likeliest.refused} {hint}")
    message = f"this track does not accept this format: {RUN_FORMATS[likeliest.format]}"
    return refuse("E_FORMAT", message, hint=f"{likeliest.because} {hint}")


def take_six_columns(lines: NumberedLines, collected: RunLines) -> None:
    take = collected.take
    following = collected.conflicts.without(data_lines(lines, collected.problems))
    for number, line in following:
        take(number, line)


def _take_by_bytes(format: str, file: BinaryIO, collected: RunLines) -> Heading:
    if format == "ntcir":
        return _take_ntcir(file, collected)
    if format == "json":
        take_json(file, collected)
    else:
        take_json_lines(file, collected)
    _take_tag(collected)
    return Heading(format)


def _take_ntcir(file: BinaryIO, collected: RunLines) -> Heading:
    rules = collected.rules
    lines = numbered_lines(file, collected.problems, rules.line, rules.lines)
    following = data_lines(lines, collected.problems)
    number, first = next(following, (1, b""))
    description = _SYSDESC.fullmatch(first.strip())
    if description is None:
        message = "the <SYSDESC> line has no </SYSDESC>"
        collected.problems.error("E_FORMAT", number, message, first)
    take_six_columns(following, collected)
    said = description[1].strip().decode("utf-8", "replace") if description else ""
    return Heading("ntcir", said)


_SYSDESC = re.compile(rb"<SYSDESC>(.*)</SYSDESC>")


def _take_columns(lines: NumberedLines, format: str, collected: RunLines) -> None:
    names = COLUMNS[format]
    for number, line in collected.conflicts.without(data_lines(lines, collected.problems)):
        collected.count += 1
        columns = columns_of(number, line, collected.problems)
        if len(columns) == len(names):
            collected.take_row(number, _row(dict(zip(names, columns, strict=True)), collected))
        else:
            collected.without_topic += 1
            if columns:
                collected.report_columns(number, line, columns, names)
    if "score" not in names:
        _score_by_rank(collected)
    _take_tag(collected)


def _row(parts: dict[str, bytes], collected: RunLines) -> Row:
    topic, docno = parts["topic"], parts["docno"]
    rank, score = parts.get("rank", b""), parts.get("score", b"")
    if not rank and not score:
        rows = collected.by_topic.get(topic)
        rank = b"%d" % (1 if rows is None else len(rows.docnos) + rows.too_many + 1)
    return Row(topic, docno, rank, score)


def _score_by_rank(collected: RunLines) -> None:
    """Give rows without scores the score top + 1 - rank; a rank that repeats is an error."""
    for rows in collected.by_topic.values():
        top = max(rows.ranks)
        rows.scores = array("d", (top + 1.0 - rank for rank in rows.ranks))
        if len(set(rows.ranks)) == len(rows.ranks):
            continue
        first_line: dict[int, int] = {}
        for rank, line in zip(rows.ranks, rows.lines, strict=True):
            if first_line.setdefault(rank, line) != line:
                message = f"duplicate rank in this topic, first at line {first_line[rank]:,}"
                collected.problems.error("E_RANK", line, message, str(rank))


def _take_tag(collected: RunLines) -> None:
    """For a format without a tag, use the tag that was given with the file."""
    asked = collected.rules.tag or collected.rules.name
    if collected.tags or not collected.count:
        return
    if asked is None:
        message = "no run tag in the file, and none was entered"
        collected.problems.error("E_TAG", None, message)
    elif not TAG.fullmatch(asked.encode()):
        collected.problems.error("E_TAG", None, TAG_RULE, asked)
    else:
        collected.tag = asked.encode()
