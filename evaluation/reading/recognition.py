"""What a file is, told from its evidence: first bytes, tags, a header row, columns.

The strongest evidence is a column that holds topics or documents known already; it also tells
which columns are swapped. Where several readings fit, all are returned, the likeliest first:
nothing is guessed, the caller asks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container
from dataclasses import dataclass

from evaluation.reading.records import Lines


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to read a file: the evidence as a sentence, and why it is not read, if it is not."""

    format: str
    because: str
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Recognised:
    """The ways to read a file, the likeliest first; more than one is a question to ask."""

    candidates: tuple[Candidate, ...]

    @classmethod
    def surely(cls, format: str, because: str) -> Recognised:
        return cls((Candidate(format, because),))

    @property
    def format(self) -> str:
        return self.candidates[0].format

    @property
    def because(self) -> str:
        return self.candidates[0].because

    @property
    def is_sure(self) -> bool:
        return len(self.candidates) == 1

    @property
    def refused(self) -> str:
        """Why the file is not read, where no candidate is; else empty."""
        reasons = [candidate.refused for candidate in self.candidates]
        return reasons[0] if all(reasons) else ""


def of_records(first_lines: Lines, record_tag: str, formats: Container[str]) -> Recognised | None:
    """The format that the first lines of topics or documents show, if they show one of `formats`.

    >>> lines = [(1, b""), (2, b"<TOP>"), (3, b"<num> Number: 301")]
    >>> of_records(lines, "top", {"trec", "xml"}).because
    'The first tag is <TOP>, as in files of TREC.'
    """
    lines = [line for _, line in first_lines if line.strip()]
    first = lines[0] if lines else b""
    line = first.lstrip()
    if line.startswith(b"<"):
        return _of_markup(line, record_tag, formats)
    if line.startswith(b".I "):
        return Recognised.surely("smart", "The first line begins with .I, as in files of SMART.")
    if line.startswith((b"{", b"[")):
        return _of_json(lines, formats)
    if "colon" in formats and all(COLON.match(line) for line in lines) and lines:
        because = f"A number and a colon begin the first {len(lines)} lines."
        return Recognised.surely("colon", because)
    if b"\t" in first:
        count = first.count(b"\t") + 1
        return Recognised.surely("tsv", f"The first line has {count} columns parted by tabs.")
    return None


_TAG = re.compile(rb"<([A-Za-z][\w.:-]{0,40})")


def _of_markup(line: bytes, record_tag: str, formats: Container[str]) -> Recognised:
    tag = _TAG.match(line)
    name = tag[1].decode() if tag else ""
    if line.startswith(b"<?xml"):
        return Recognised.surely("xml", "The file begins with an XML declaration.")
    if name.lower() == record_tag:
        return Recognised.surely("trec", f"The first tag is <{name}>, as in files of TREC.")
    if name == "TOPIC" and "ntcir" in formats:
        return Recognised.surely("ntcir", "The first tag is <TOPIC>, as in files of NTCIR.")
    what = f"The first tag is <{name}>" if name else "The file begins with markup"
    return Recognised.surely("xml", f"{what}, so it is read as XML.")


def _of_json(lines: list[bytes], formats: Container[str]) -> Recognised | None:
    """JSON in one piece, or an object on each line: those hold fields, not topics by number."""
    start = chr(lines[0].lstrip()[0])
    if start == "{" and ("json" not in formats or _is_object_of_fields(lines)):
        because = "The first line begins with {, so every line is a JSON object."
        return Recognised.surely("jsonl", because)
    if "json" not in formats:
        return None
    what = "a list" if start == "[" else "an object of topics by number"
    return Recognised.surely("json", f"The file begins with {start}, so it is JSON: {what}.")


def _is_object_of_fields(lines: list[bytes]) -> bool:
    if len(lines) > 1:
        return lines[1].lstrip().startswith(b"{") or lines[0].rstrip().endswith(b"}")
    try:
        value = json.loads(lines[0])
    except (ValueError, RecursionError):
        return True
    return not NUMBER_FIELDS.isdisjoint(name.lower() for name in value)


NUMBER_FIELDS = {"num", "number", "_id", "id", "qid", "query_id", "query-id", "topic_id", "topic"}
# A number without colon or blank, perhaps a priority, and a text: the Million Query track's.
COLON = re.compile(rb"[!-9;-~]{1,128}:(?:\d{1,3}:)?[ ]*[^\s:/]")
