"""Document types: the DOCTYPE before the first tag of an XML file, which is skipped.

A document type may declare elements and attributes, which are ignored. It may neither declare an
entity, which could grow the file or read another one, nor refer to another file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from xml.parsers import expat

from evaluation.problems import Problems, Refused
from evaluation.reading.texts.records import Lines

LONGEST_PROLOG = 256 * 1024
WITHOUT_ENTITIES = "Remove the <!ENTITY> declarations and write the characters themselves."
WITHOUT_FILES = "Remove the <!DOCTYPE> line. Other files are never opened."


def without_document_type(lines: Lines, problems: Problems) -> Iterator[tuple[int, bytes]]:
    """Yield the same lines without the document type.

    Raises `Refused` with E_XML if it declares an entity or refers to another file.

    >>> lines = [(1, b"<!DOCTYPE t ["), (2, b"<!ELEMENT t ANY> ]><t/>")]
    >>> list(without_document_type(lines, Problems()))
    [(1, b''), (2, b'<t/>')]
    """
    following = iter(lines)
    first = _first(following)
    text = b"\n".join(line for _, line in first)
    prolog = _Prolog()
    if b"<!DOCTYPE" in text:
        prolog.parse(text)
    if prolog.fault:
        number, line = first[prolog.fault_line - 1]
        problems.error("E_XML", number, f"invalid XML: {prolog.fault}", line, prolog.hint)
        raise Refused(problems)
    gap = b"\n" * text.count(b"\n", prolog.start, prolog.end)
    rest = text[: prolog.start] + gap + text[prolog.end :]
    numbers = (number for number, _ in first)
    return chain(zip(numbers, rest.split(b"\n"), strict=False), following)


def _first(lines: Iterator[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    taken: list[tuple[int, bytes]] = []
    size = 0
    for number, line in lines:
        taken.append((number, line))
        size += len(line)
        if size >= LONGEST_PROLOG:
            break
    return taken


class _Ended(Exception):
    """Stops the parser, because everything about the prolog is known."""


class _Prolog:
    """What precedes the first tag: the place of the document type, and its problem."""

    def __init__(self) -> None:
        self.start = self.end = 0
        self.fault = self.hint = ""
        self.fault_line = 1
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartDoctypeDeclHandler = self._begin
        self.parser.EndDoctypeDeclHandler = self._finish
        self.parser.EntityDeclHandler = self._entity
        self.parser.StartElementHandler = self._element

    def parse(self, text: bytes) -> None:
        # An XML declaration may follow blanks; the reader of records drops it anyway.
        self.text, self.shift = text.lstrip(), len(text) - len(text.lstrip())
        self.lines_before = text.count(b"\n", 0, self.shift)
        # The reader of records reports invalid XML.
        with suppress(_Ended, expat.ExpatError):
            self.parser.Parse(self.text, True)

    def _begin(self, name: str, system: str | None, public: str | None, _: int) -> None:
        place = self.parser.CurrentByteIndex
        self.opened = self.text.rfind(b"<!DOCTYPE", 0, place + 9)
        if system is not None or public is not None:
            self._refuse("the document type refers to another file", WITHOUT_FILES)

    def _entity(self, *_: object) -> None:
        self._refuse("the document type declares an entity", WITHOUT_ENTITIES)

    def _finish(self) -> None:
        closed = self.text.index(b">", self.parser.CurrentByteIndex)
        self.start, self.end = self.shift + self.opened, self.shift + closed + 1
        raise _Ended

    def _element(self, *_: object) -> None:
        raise _Ended

    def _refuse(self, fault: str, hint: str) -> None:
        self.fault, self.hint = fault, hint
        self.fault_line = self.lines_before + self.parser.CurrentLineNumber
        raise _Ended
