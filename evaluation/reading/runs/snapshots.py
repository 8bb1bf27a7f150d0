"""Snapshots of Quepid: CSV of what a search engine returned for each query, by its text.

The columns are Snapshot Name, Query Text, Doc ID and Doc Position; others are ignored. A file may
have several snapshots.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from evaluation.problems import Problems
from evaluation.reading.columns import check_identifier
from evaluation.reading.lines import first_bytes

NAME, QUERY, DOCNO, POSITION = "Snapshot Name", "Query Text", "Doc ID", "Doc Position"
COLUMNS = (NAME, QUERY, DOCNO, POSITION)
MOST_POSITIONS = 1_000_000


@dataclass
class Snapshot:
    """The docnos of each topic by position, which is checked to be there once."""

    name: str
    documents: dict[str, dict[int, str]] = field(default_factory=dict)

    def lines(self, tag: str) -> list[bytes]:
        """Return the lines of a TREC run; a topic with k documents has the scores k to 1."""
        return [
            f"{topic} Q0 {at[position]} {rank} {len(at) - rank + 1} {tag}\n".encode()
            for topic, at in self.documents.items()
            for rank, position in enumerate(sorted(at), 1)
        ]


def read_snapshots(file: BinaryIO, numbers: Mapping[str, str]) -> dict[str, Snapshot]:
    """Return the snapshots of a file by name; `numbers` has the topic of each text.

    Raises `Refused` with every problem: E_COLUMNS, E_ENCODING, E_UNKNOWN_TOPIC (once for a text),
    E_DOCID, E_RANK.

    >>> head = b"Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position\\n"
    >>> found = read_snapshots(io.BytesIO(head + b"May,-,8,red shoes,d1,1\\n"), {"red shoes": "q1"})
    >>> found["May"].lines("may")
    [b'q1 Q0 d1 1 1 may\\n']
    """
    problems = Problems()
    snapshots: dict[str, Snapshot] = {}
    unknown: set[str] = set()
    head = first_bytes(file).split(b"\n", 1)[0]
    separator = ";" if head.count(b";") > head.count(b",") else ","
    text = io.TextIOWrapper(file, "utf-8-sig", newline="")
    rows = csv.DictReader(text, delimiter=separator)
    try:
        if missing := [name for name in COLUMNS if name not in (rows.fieldnames or ())]:
            hint = "Export the snapshot from Quepid as CSV."
            problems.error("E_COLUMNS", 1, f"the column {missing[0]} is missing", hint=hint)
            problems.raise_if_refused()
        for row in rows:
            # The values of a row that is too long or too short are not under their names.
            if None in row or None in row.values():
                message = f"expected {len(rows.fieldnames or ())} columns of CSV"
                problems.error("E_COLUMNS", rows.line_num, message, row[QUERY] or "")
                continue
            query = (row[QUERY] or "").strip()
            if query not in numbers:
                if query not in unknown:
                    message, hint = "no topic has this text", "Write it as the topics have it."
                    problems.error("E_UNKNOWN_TOPIC", rows.line_num, message, query, hint)
                unknown.add(query)
                continue
            snapshot = snapshots.setdefault(row[NAME] or "", Snapshot(row[NAME] or ""))
            at = snapshot.documents.setdefault(numbers[query], {})
            _take(row, rows.line_num, at, problems)
    except UnicodeDecodeError:
        problems.error("E_ENCODING", None, "the file is not UTF-8", hint="Save it as UTF-8.")
    except csv.Error as error:
        problems.error("E_COLUMNS", rows.line_num, f"the line is not CSV: {error}")
    if not snapshots and not problems.errors:
        problems.error("E_EMPTY", None, "the file has no snapshots")
    problems.raise_if_refused()
    return snapshots


def _take(row: Mapping[str, str | None], line: int, at: dict[int, str], problems: Problems) -> None:
    """Take the document of a row at its position."""
    docno, position = (row[DOCNO] or "").strip(), (row[POSITION] or "").strip()
    is_docno = check_identifier("document", "E_DOCID", line, docno.encode(), problems)
    is_rank = position.isascii() and position.isdigit() and int(position[:9]) < MOST_POSITIONS
    if not is_rank or int(position) in at:
        problems.error("E_RANK", line, "the position is no whole number, or there twice", position)
    elif is_docno:
        at[int(position)] = docno
