"""Records in markup: TREC's SGML, which is not XML, and XML.

TREC's files have unclosed tags and unescaped ampersands, so they are split at their known tags and
never parsed as XML. XML is parsed by expat, and refused if it refers to other files or could grow:
entities of its own, deep nesting.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from xml.parsers import expat

from evaluation.problems import Problem, Problems
from evaluation.reading.lines import text_of
from evaluation.reading.texts.document_types import without_document_type
from evaluation.reading.texts.field_names import is_prose
from evaluation.reading.texts.records import LONGEST_RECORD, Lines, Record

DEEPEST = 64
ROOT, END = b"<records>", b"</records>"
NO_DOCUMENT_TYPE = "document types and entities are not allowed here"
MISMATCHED = expat.errors.codes[expat.errors.XML_ERROR_TAG_MISMATCH]
PIECE = 1024 * 1024

_XML_DECLARATION = re.compile(rb"\A\s*+<\?xml\b[^>]*+(?<=\?)>")
_DOCTYPE = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.I)
_CLOSING = re.compile(rb"</([^\s<>]+)\s*>")
_ENTITY = re.compile(r"&(amp|lt|gt|quot|apos);")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*+)[^<>]*+>")
_TOPIC_TAG = re.compile(
    r"<(/?)(num|number|title|query|question|utterance|claim|text|keywords|desc|description|narr|narrative"
    r"|search|statement|request|content|image|img|docid|url|dom|smry|con|fac|nat|def|group)\b[^<>]*>",
    re.I,
)


def trec_topic_records(lines: Lines, problems: Problems) -> Iterator[Record]:
    """Yield the records between `<top>` tags; a field ends where the next known tag begins.

    >>> lines = [(1, b"<top>"), (2, b"<num> Number: 7"), (3, b"<title> flow & heat")]
    >>> next(trec_topic_records(lines, Problems())).fields
    {'num': ' Number: 7\\n', 'title': ' flow & heat\\n'}
    """
    for line, _, text in _blocks(lines, "top", problems):
        _, *pieces = _TOPIC_TAG.split(text)
        fields: dict[str, list[str]] = defaultdict(list)
        for closing, tag, content in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
            if not closing:
                fields[tag.lower()].append(content)
        yield _record(line, fields)


def trec_document_records(lines: Lines, problems: Problems) -> Iterator[Record]:
    """Yield the records between `<doc>` tags; tags inside a field are dropped.

    >>> lines = [(1, b"<DOC><DOCNO> d7 </DOCNO><TEXT>boundary <b>layers</b></TEXT></DOC>")]
    >>> next(trec_document_records(lines, Problems())).fields
    {'docno': ' d7 ', 'text': 'boundary layers'}
    """
    for line, _, text in _blocks(lines, "doc", problems):
        yield _record(line, _outermost(text))


def ntcir_topic_records(lines: Lines, problems: Problems) -> Iterator[Record]:
    """Yield the records between `<TOPIC>` tags; the number is in `<NUM>` or in the tag (NTCIR-1).

    >>> lines = [(1, b"<TOPIC q=0001><TITLE>robots & cars</TITLE></TOPIC>")]
    >>> next(ntcir_topic_records(lines, Problems()))
    Record(line=1, fields={'title': 'robots & cars'}, attributes={'num': '0001'})
    """
    for line, attributes, text in _blocks(lines, "topic", problems):
        number = _NTCIR_NUMBER.fullmatch(attributes.strip())
        yield _record(line, _outermost(text), {"num": number[1]} if number else {})


_NTCIR_NUMBER = re.compile(r"""q\s*=\s*["']?([^"'\s]+)["']?""", re.I)


def _outermost(text: str) -> dict[str, list[str]]:
    """Return the text of each outermost element; "" has the text outside of all elements."""
    before, *pieces = _TAG.split(text)
    outer = ""
    fields: dict[str, list[str]] = defaultdict(list, {outer: [before]})
    for closing, tag, content in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        if not outer and not closing:
            outer = tag.lower()
        elif closing and tag.lower() == outer:
            outer = ""
        fields[outer].append(content)
    return fields


def _record(
    line: int, fields: dict[str, list[str]], attributes: Mapping[str, str] = MappingProxyType({})
) -> Record:
    joined = {name: "".join(pieces) for name, pieces in fields.items()}
    texts = {name: _unescaped(text) for name, text in joined.items() if text.strip()}
    return Record(line, texts, dict(attributes))


def _unescaped(text: str) -> str:
    return _ENTITY.sub(lambda match: _CHARACTERS[match[1]], text)


def _blocks(lines: Lines, name: str, problems: Problems) -> Iterator[tuple[int, str, str]]:
    """Yield the line, attributes and text of each `<name>` element, closed or not."""
    tag = re.compile(rf"<(/?){name}(\s[^<>]*)?>", re.I)
    start = size = 0
    attributes = ""
    block: list[str] = []
    is_told = False
    for number, line in lines:
        text = text_of(number, line, problems)
        if text is None:
            continue
        before, *pieces = tag.split(text)
        if not start and not is_told and is_prose(_TAG.sub("", before)):
            is_told = True
            message = f"text outside of <{name}> was not read"
            problems.note("W_FIELDS", number, message, before, f"Is a <{name}> missing?")
        size += len(before) + 1
        if size <= LONGEST_RECORD:
            block.append(before if pieces else before + "\n")
        for closing, inside, after in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
            if _is_whole(start, size, name, problems):
                yield start, attributes, "".join(block)
            start, attributes = 0 if closing else number, inside or ""
            size, block = len(after), [after, "\n"]
    if _is_whole(start, size, name, problems):
        yield start, attributes, "".join(block)


def _is_whole(start: int, size: int, name: str, problems: Problems) -> bool:
    if start and size > LONGEST_RECORD:
        hint = f"Is a </{name}> missing?"
        problems.error("E_FORMAT", start, "the record exceeds 16 MiB", hint=hint)
    return start > 0 and size <= LONGEST_RECORD


def xml_records(lines: Lines, problems: Problems, names: Collection[str]) -> Iterator[Record]:
    """Yield the outermost elements with one of the `names`; the file need not have one root.

    Their children are fields; their own text is the field "".

    >>> lines = [(1, b'<t><topic number="7"><title>boundary layers</title></topic></t>')]
    >>> next(xml_records(lines, Problems(), {"topic"}))
    Record(line=1, fields={'title': 'boundary layers'}, attributes={'number': '7'})
    """
    elements = _Elements(names)

    def is_partly_read() -> bool:
        """Whether a line was refused, so that what follows it may look broken."""
        return bool(problems.counts["E_ENCODING"] or problems.counts["E_LINE_LONG"])

    lines = without_document_type(lines, problems)
    try:
        elements.parse(1, ROOT)
        for first, piece in _pieces(lines, problems):
            yield from elements.parse(first, piece)
        if not is_partly_read():
            yield from elements.parse(elements.parser.CurrentLineNumber, END, last=True)
    except expat.ExpatError as error:
        if not is_partly_read():
            elements.report(error, problems)
    except _TooMuch as error:
        problems.error("E_XML", elements.parser.CurrentLineNumber, str(error))


def _pieces(lines: Lines, problems: Problems) -> Iterator[tuple[int, bytes]]:
    """Join lines to larger pieces, each with the number of its first line.

    Expat reads an unfinished tag or comment from its start again with every piece.
    """
    first = size = 0
    piece: list[bytes] = []
    for number, line in lines:
        if text_of(number, line, problems) is None:
            return
        piece.append(_XML_DECLARATION.sub(b"", line, 1) if number == 1 else line)
        first, size = first or number, size + len(line)
        if size >= PIECE:
            yield first, b"\n".join(piece) + b"\n"
            first, size, piece = 0, 0, []
    yield first, b"\n".join(piece)


def _hint(reason: str) -> str:
    if reason == NO_DOCUMENT_TYPE:
        return "Remove the <!DOCTYPE> and <!ENTITY> declarations."
    if "undefined entity" in reason:
        return "Write the character itself."
    if "invalid token" in reason:
        return "Write &amp; for &, &lt; for <, and values of attributes in quotation marks."
    return "Check the tags there, or read the file as TREC topics."


def is_repairable(fault: Problem) -> bool:
    """Return whether broken XML may be read tag by tag: only if it declares no entities."""
    return "document type" not in fault.message


class _TooMuch(Exception):
    """The XML is nested too deeply, or a record is too long."""


class _Elements:
    """Collects the records from the elements that an XML parser finds."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = names
        self.line = 0
        self.record_depth = 0
        self.field = ""
        self.size = 0
        self.opened: list[tuple[str, int]] = []
        self.fields: dict[str, list[str]] = {}
        self.attributes: dict[str, str] = {}
        self.records: list[Record] = []
        self.parser = expat.ParserCreate("utf-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text

    def parse(self, first_line: int, data: bytes, *, last: bool = False) -> list[Record]:
        """Return the records that end in these bytes."""
        self.first_line, self.data = first_line, data
        self.records = []
        self.size += len(data)
        if self.size > LONGEST_RECORD:
            raise _TooMuch("a record or a tag has over 16 MiB")
        self.parser.Parse(data, last)
        return self.records

    def line_at(self, number: int) -> bytes:
        """Return a line of the bytes parsed last; empty if it is not among them."""
        place = number - self.first_line
        return b"".join(self.data.split(b"\n")[place : place + 1]) if place >= 0 else b""

    def report(self, error: expat.ExpatError, problems: Problems) -> None:
        """Report E_XML at its line; for an unclosed tag, at the line where it was opened."""
        line = self.line_at(error.lineno)
        closing = _CLOSING.search(line, max(0, error.offset - 2 - self.shift(error.lineno)))
        tag, opened = self.opened[-1] if self.opened else ("", 0)
        if error.code == MISMATCHED and len(self.opened) > 1 and self.is_missing(closing):
            hint = f"The file ends without </{tag}>."
            if closing is not None:
                hint = f"Line {error.lineno:,} has {closing[0].decode()} instead of </{tag}>."
            message = f"invalid XML: <{tag}> is not closed"
            problems.error("E_XML", opened, message, f"<{tag}>", hint)
            return
        if self.data == END:
            hint = "Was the file written to its end?"
            problems.error("E_XML", error.lineno, "invalid XML: it ends within a tag", hint=hint)
            return
        reason = expat.ErrorString(error.code)
        if _DOCTYPE.search(line):
            reason = NO_DOCUMENT_TYPE
        problems.error("E_XML", error.lineno, f"invalid XML: {reason}", line, _hint(reason))

    def shift(self, number: int) -> int:
        """Return how far the added root tag shifts the columns of a line."""
        return len(ROOT) if number == 1 else 0

    def is_missing(self, closing: re.Match[bytes] | None) -> bool:
        """Return whether another closing tag is in the place of the expected one."""
        outer = [tag.encode() for tag, _ in self.opened[:-1]]
        return closing is None or closing[1] in outer

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        self.opened.append((tag, line))
        depth = len(self.opened)
        if depth > DEEPEST:
            raise _TooMuch(f"elements are nested more than {DEEPEST} deep")
        name = _local(tag)
        if not self.record_depth:
            self.size = 0
            if name in self.names:
                self.record_depth, self.fields, self.line = depth, {}, line
                self.attributes = {_local(key): value for key, value in attributes.items()}
        elif depth == self.record_depth + 1:
            self.field = name
            if name in self.fields:
                self.text("\n")
        else:
            self.text(" ")

    def end(self, tag: str) -> None:
        depth = len(self.opened)
        self.opened.pop()
        if depth == self.record_depth:
            texts = {name: "".join(pieces) for name, pieces in self.fields.items()}
            kept = {name: text for name, text in texts.items() if text.strip()}
            self.records.append(Record(self.line, kept, self.attributes))
            self.record_depth = self.size = 0
        elif depth == self.record_depth + 1:
            self.field = ""

    def text(self, data: str) -> None:
        if self.record_depth:
            self.fields.setdefault(self.field, []).append(data)


def _local(tag: str) -> str:
    return tag.rpartition(":")[2].lower()
