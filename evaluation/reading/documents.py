"""Documents of a collection, each with its docno, read one after the other.

The formats are TREC's SGML, XML, SMART, tab-separated columns, CSV, JSON lines, one JSON value, and
a plain list of docnos. Documents are read as a stream, but for one JSON value: only keys that find
repeated docnos and texts are kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from evaluation.problems import Problems, Refused
from evaluation.reading.columns import IDENTIFIER_RULE, is_identifier, is_normal, warn_of_form
from evaluation.reading.containers import DOCUMENT_LIMITS
from evaluation.reading.lines import data_lines, numbered_lines, text_of
from evaluation.reading.recognition import Recognised, of_records
from evaluation.reading.texts.field_names import ADDRESS, FieldNames, identifies, is_prose
from evaluation.reading.texts.markup import trec_document_records, xml_records
from evaluation.reading.texts.records import (
    Lines,
    Record,
    describe_fields,
    first_lines,
    is_storable,
    json_parts,
    json_records,
    report_unread,
    smart_records,
)
from evaluation.reading.texts.tables import csv_records, table_records

IntArray: TypeAlias = npt.NDArray[np.intp]


TITLES = ("title", "headline", "ttl", "hl", "t")
TEXTS = (
    *("text", "contents", "content", "body", "passage", "segment", "abstract", "bodytext", "txt"),
    "w",
)
# A passage is named before the document that it is of.
NAMES = FieldNames(
    ("docno", "_id", "id", "pid", "passageid", "did", "docid", "documentid", "number", "i"),
    (*TEXTS, *TITLES),
    frozenset({"doc", "document", "passage", "page", "article", "paper", "full"}),
)
NOT_TEXT = frozenset({"dochdr", "author", "authors", "bib", "url", "date", "spans", "a", "b"})

XML_NAMES = frozenset({"doc", "document", "record", "passage", "article"})
TABLE = {
    2: ("docno", "text"),
    3: ("docno", "title", "text"),
    4: ("docno", "url", "title", "text"),
}
FORMATS_HINT = "Documents are TREC SGML, XML, SMART, tab-separated, CSV, JSON or docnos."


@dataclass(frozen=True, slots=True)
class Document:
    """A document; its title and its text may be empty."""

    docno: str
    title: str
    text: str


def docno_records(lines: Lines, problems: Problems) -> Iterator[Record]:
    """Yield the records of a plain list of docnos, one per line.

    >>> list(docno_records([(1, b"FT911-3")], Problems()))
    [Record(line=1, fields={'docno': 'FT911-3'}, attributes={})]
    """
    for number, line in data_lines(lines, problems, comments=False):
        text = text_of(number, line, problems)
        if text is not None:
            yield Record(number, {"docno": text})


READERS: dict[str, Callable[[Lines, Problems], Iterator[Record]]] = {
    "trec": trec_document_records,
    "xml": lambda lines, problems: xml_records(lines, problems, XML_NAMES),
    "smart": smart_records,
    "tsv": lambda lines, problems: table_records(lines, problems, TABLE, NAMES),
    "csv": lambda lines, problems: csv_records(lines, problems, TABLE, NAMES),
    "jsonl": json_records,
    "json": lambda lines, problems: (part.record() for part in json_parts(lines, problems, NAMES)),
    "docnos": docno_records,
}


def recognise_documents(file: BinaryIO) -> Recognised:
    """Recognise the format of documents by the first lines; raises `Refused` if none fits.

    >>> from io import BytesIO
    >>> recognise_documents(BytesIO(b"FT911-1\\nFT911-2\\n")).because
    'The first 2 lines each contain one identifier.'
    """
    problems = Problems()
    return _recognised(first_lines(numbered_lines(file, problems, DOCUMENT_LIMITS.line)), problems)


def read_documents(
    file: BinaryIO, problems: Problems, format: str | None = None
) -> Iterator[Document]:
    """Yield documents one by one, in the given or recognised format.

    The formats are "trec", "xml", "smart", "tsv", "csv", "jsonl", "json" and "docnos". Nothing is
    raised:
    `problems` collects, until the last document has been read, E_FORMAT, E_XML, E_JSON,
    E_COLUMNS, E_DOCID, E_DUP_ID, E_CHAR, E_ENCODING, E_LINE_LONG, E_EMPTY, the problems of a
    container, and W_BOM, W_CRLF, W_BLANK, W_DUP_TEXT, W_NFC (docnos in another Unicode form than
    NFC), W_FIELDS (texts that are not read), W_HEADER and W_DUP_ID (a docno that a plain list
    repeats). A document with an error is
    skipped. A second document with the same docno is not skipped, but reported at the end.

    >>> from io import BytesIO
    >>> problems = Problems()
    >>> list(read_documents(BytesIO(b'{"_id": "d1", "text": "boundary layers"}'), problems))
    [Document(docno='d1', title='', text='boundary layers')]
    """
    taken = _SeenDocuments()
    unread: dict[str, int] = {}
    try:
        lines = numbered_lines(file, problems, DOCUMENT_LIMITS.line)
        first = first_lines(lines)
        name = format or _recognised(first, problems).format
        for record in READERS[name](chain(first, lines), problems):
            document = _document(record, problems)
            if document is not None:
                _look_for_unread(record, unread)
                taken.add(record.line, document)
                yield document
    except Refused:
        return  # `problems` has the reason already
    report_unread(unread, problems)
    taken.report_repeated(problems, only_docnos=name == "docnos")
    warn_of_form(taken.num_other_form, taken.other_form, taken.other_form_line, problems)
    if not taken.lines and not problems.errors:
        problems.error("E_EMPTY", None, "the file has no documents")


def repeated_places(documents: Iterable[Document]) -> frozenset[int]:
    """Return which documents, counted from 0, repeat an earlier docno.

    >>> sorted(repeated_places([Document("d1", "", ""), Document("d2", "", "")] * 2))
    [2, 3]
    """
    taken = _SeenDocuments()
    for place, document in enumerate(documents):
        taken.add(place, document)
    return frozenset(later for _, later in taken.repeated())


def _recognised(first: list[tuple[int, bytes]], problems: Problems) -> Recognised:
    recognised = of_records(first, "doc", READERS, NAMES)
    if recognised is not None:
        return recognised
    lines = [line for _, line in first if line.strip()]
    if lines and all(is_identifier(line.strip()) for line in lines):
        return Recognised.surely(
            "docnos", f"The first {len(lines)} lines each contain one identifier."
        )
    if lines:
        message = "the format is not recognised"
        problems.error("E_FORMAT", first[0][0], message, lines[0], FORMATS_HINT)
    elif not problems.errors:
        problems.error("E_EMPTY", None, "the file has no documents")
    raise Refused(problems)


def _document(record: Record, problems: Problems) -> Document | None:
    places = _places(record.names())
    docno = record.text(places.docno).strip()
    title = " ".join(record.text(places.title).split())
    text = _joined(record.text(name).strip() for name in places.texts or places.others)
    if not docno:
        hint = describe_fields(record.names())
        problems.error("E_DOCID", record.line, "the document has no docno", hint=hint)
    elif not is_identifier(docno.encode("utf-8", "surrogatepass")):
        message = IDENTIFIER_RULE
        problems.error("E_DOCID", record.line, message, docno)
    elif is_storable(record.line, (title, text), problems):
        return Document(docno, title, text)
    return None


@dataclass(frozen=True, slots=True)
class _DocumentFields:
    """Which fields of a record are what in a document; `others` are text if nothing else is."""

    docno: str | None
    title: str | None
    texts: tuple[str, ...]
    others: tuple[str, ...]


@lru_cache(maxsize=16)
def _places(names: tuple[str, ...]) -> _DocumentFields:
    docno, title = NAMES.find_identifier(names), NAMES.find(names, TITLES)
    left = [name for name in names if name not in (docno, title)]
    found = set(NAMES.find_all(left, TEXTS))
    others = [name for name in left if name not in found and name.lower() not in NOT_TEXT]
    return _DocumentFields(
        docno,
        title,
        tuple(name for name in left if name in found),
        tuple(name for name in others if not identifies(name)),
    )


def _joined(texts: Iterable[str]) -> str:
    """Join the texts of a document in their order, without one that another contains.

    >>> _joined(["On layers", "Of flow.", "On layers", "https://x.example/"])
    'On layers\\nOf flow.'
    """
    found = list(dict.fromkeys(text for text in texts if text and not ADDRESS.fullmatch(text)))
    if len(found) < 2:
        return "".join(found)
    return "\n".join(text for text in found if not any(text in t for t in found if t != text))


def _look_for_unread(record: Record, unread: dict[str, int]) -> None:
    """Remember the first line of each field whose text is not read."""
    places = _places(record.names())
    for name in places.others if places.texts else ():
        if name not in unread and is_prose(record.text(name)):
            unread[name] = record.line


class _SeenDocuments:
    """Keys that find repeated docnos and texts, with about 30 bytes per document.

    Hash keys only pre-select; docnos are compared byte by byte.
    """

    def __init__(self) -> None:
        self.lines = array("q")
        self.docnos = bytearray()
        self.ends = array("q")
        self.docno_keys = array("q")
        self.text_keys = array("q")
        self.num_other_form = self.other_form_line = 0
        self.other_form = b""

    def add(self, line: int, document: Document) -> None:
        docno = document.docno.encode()
        self.lines.append(line)
        self.docnos += docno
        self.ends.append(len(self.docnos))
        self.docno_keys.append(hash(docno))
        self.text_keys.append(hash(document.text))
        if not is_normal(docno):
            if not self.num_other_form:
                self.other_form, self.other_form_line = docno, line
            self.num_other_form += 1

    def repeated(self) -> Iterator[tuple[int, int]]:
        """Yield the first place and the place of each repeated docno."""
        for earlier, later in zip(*_repeated(self.docno_keys), strict=True):
            if self._docno(earlier) == self._docno(later):
                yield int(earlier), int(later)

    def report_repeated(self, problems: Problems, only_docnos: bool = False) -> None:
        if only_docnos:
            self._warn_of_repeated(problems)
            return
        for earlier, later in self.repeated():
            message = f"the document is already defined at line {self.lines[earlier]:,}"
            problems.error("E_DUP_ID", self.lines[later], message, self._docno(later))
        earlier_twins, later_twins = _repeated(self.text_keys, hash(""))
        if len(later_twins):
            later, earlier = later_twins[0], earlier_twins[0]
            problems.warn(
                "W_DUP_TEXT",
                self.lines[later],
                f"{len(later_twins):,} documents duplicate the text of an earlier one; first:"
                f" {self._docno(later).decode()}, as {self._docno(earlier).decode()}",
            )

    def _warn_of_repeated(self, problems: Problems) -> None:
        """Warn of repeated docnos in a plain list, where they do no harm."""
        repeated = list(self.repeated())
        if repeated:
            earlier, later = repeated[0]
            message = f"lines that repeat a docno were ignored: {len(repeated):,}"
            hint = f"The first repeats line {self.lines[earlier]:,}."
            problems.warn("W_DUP_ID", self.lines[later], message, self._docno(later), hint)

    def _docno(self, place: int) -> bytes:
        return bytes(self.docnos[self.ends[place - 1] if place else 0 : self.ends[place]])


def _repeated(keys: array[int], ignored: int | None = None) -> tuple[IntArray, IntArray]:
    """Return the places of repeated keys, in order, and the first place of each key.

    >>> _repeated(array("q", [5, 7, 5, 9, 7, 5]))
    (array([0, 1, 0]), array([2, 4, 5]))
    """
    values = np.array(keys, dtype=np.int64)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    again = np.flatnonzero((ordered[1:] == ordered[:-1]) & (ordered[1:] != ignored)) + 1
    again = again[np.argsort(order[again])]
    return order[np.searchsorted(ordered, ordered[again])], order[again]
