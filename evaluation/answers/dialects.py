"""The dialects of answer runs, recognised by the fields of the first object alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from evaluation.answers.topics import NUMBERS

Fields: TypeAlias = Mapping[str, object]

DIALECTS = {
    "r2c2": "R2C2 (an answer with its confidence between <ID> and </ID>)",
    "ikat24": "iKAT 2024 (one object with run_name and turns)",
    "ikat25": "iKAT 2025 (an object with turn_id and responses on each line)",
    "browsecomp": "BrowseComp-Plus (query_id, status and result)",
    "biogen-a": "BioGen A (answer with supported_citations)",
    "rag24": "RAG 2024 (topic_id, answer and response_length)",
    "rag": "RAG 2025 and 2026 (metadata with narrative_id, and answer)",
    "common": "the common format (metadata with a topic, and responses)",
    "argue": "ARGUE (request_id and sentences)",
    "questions": "ranked questions (topic, team, run, rank and text, separated by tabs)",
}


def _metadata(fields: Fields) -> Fields:
    metadata = fields.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _is_biogen(fields: Fields) -> bool:
    answer = fields.get("answer")
    parts = answer if isinstance(answer, list) else []
    return any(isinstance(part, dict) and "supported_citations" in part for part in parts)


def _is_common(fields: Fields) -> bool:
    metadata = _metadata(fields)
    has_topic = any(name in metadata for name in NUMBERS)
    either = {*metadata, *fields}
    return (has_topic and "responses" in fields) or (
        "answer" in fields and bool({"topic_id", "request_id"} & either)
    )


# In the order in which they are tried; those of lines without JSON are recognised before.
TESTS: dict[str, Callable[[Fields], bool]] = {
    "ikat24": lambda fields: {"run_name", "turns"} <= fields.keys(),
    "ikat25": lambda fields: {"turn_id", "responses"} <= fields.keys(),
    "browsecomp": lambda fields: {"query_id", "status", "result"} <= fields.keys(),
    "biogen-a": _is_biogen,
    "rag24": lambda fields: {"topic_id", "answer", "response_length"} <= fields.keys(),
    "rag": lambda fields: "narrative_id" in _metadata(fields) and "answer" in fields,
    "common": _is_common,
    "argue": lambda fields: {"request_id", "sentences"} <= fields.keys(),
}
# The fields that have the sentences. An object with two of them has two answers.
HOLDERS = ("turns", "responses", "result", "answer", "sentences")
HOLDER = {
    "ikat24": "turns",
    "ikat25": "responses",
    "browsecomp": "result",
    "biogen-a": "answer",
    "rag24": "answer",
    "rag": "answer",
    "argue": "sentences",
}
R2C2_START = re.compile(rb"\s*<([^<>\s/]+)>\s*$")
QUESTION = re.compile(rb"[^\t]+\t[^\t]*\t[^\t]+\t\d+\t[^\t]+$")


@dataclass(frozen=True, slots=True)
class FoundDialect:
    """The dialects that an object or the first lines fit: one, none or too many; and why."""

    names: tuple[str, ...]
    because: str = ""


def recognise_object(fields: Fields, expected: str = "") -> FoundDialect:
    """Return the dialect of an object; two where it has the sentences of two.

    `expected` decides where the content does not: an object that lacks a field of its dialect.

    >>> recognise_object({"request_id": "t1", "sentences": []})
    FoundDialect(names=('argue',), because='The first object has request_id, sentences.')
    >>> recognise_object({"request_id": "t1", "answer": [], "sentences": []}).names
    ('common', 'argue')
    """
    fitting = [name for name, fits in TESTS.items() if fits(fields)]
    holders = {_holder(name, fields): name for name in reversed(fitting)}
    if len(holders) > 1:
        return FoundDialect(tuple(name for name in fitting if name in holders.values()))
    name = fitting[0] if fitting else ""
    if name in ("", "common") and expected in TESTS:
        name = expected if HOLDER.get(expected, "metadata") in fields else name
    shown = ", ".join(list(fields)[:6])
    return FoundDialect((name,) if name else (), f"The first object has {shown}.")


def _holder(name: str, fields: Fields) -> str:
    return HOLDER.get(name) or ("responses" if "responses" in fields else "answer")


def recognise_lines(lines: Iterator[bytes]) -> FoundDialect | None:
    """Return the dialect of lines that are not JSON; None if they may be JSON.

    >>> recognise_lines(iter([b"<D001>", b"phosphorus;0.8"])).names
    ('r2c2',)
    """
    first = next((line for line in lines if line.strip()), b"")
    second = next(lines, b"")
    start = R2C2_START.match(first)
    if start and second.strip() and not second.lstrip().startswith(b"<"):
        name = start[1].decode("utf-8", "replace")
        return FoundDialect(("r2c2",), f"The first line is <{name}>.")
    if QUESTION.match(first.rstrip(b"\r\n")):
        return FoundDialect(("questions",), "The first line has 5 columns separated by tabs.")
    return None if first.lstrip()[:1] in (b"{", b"[", b"") else FoundDialect(())
