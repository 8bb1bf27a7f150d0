r"""Golden sets: queries, each with the documents that are expected, as teams keep them.

A query is an object with a text, perhaps an identifier, and its documents: a list of ids, an
object of grades by id, or a list of objects with id and grade. Objects are in a JSON list, on
lines of their own, in an object by identifier, in YAML, or in a wrapper: judgments of OpenSearch
(`judgmentRatings`) and requests of Elasticsearch's `_rank_eval` are golden sets too. A table has
a row per query with its ids, or per query and document, as Quepid exports them. A query without
an identifier is q1, q2 and so on, in the order of the file.

>>> lines = [(1, b'{"query": "red shoes", "expected": {"d1": 2, "d2": 0}}')]
>>> [query] = golden_queries(lines, Problems())
>>> query.number, query.text, [(each.docno, each.grade) for each in query.documents]
('q1', 'red shoes', [('d1', '2'), ('d2', '0')])
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain
from typing import Any

from evaluation.problems import Problems
from evaluation.reading.lines import text_of
from evaluation.reading.texts.records import (
    JsonPart,
    Lines,
    Record,
    first_lines,
    is_name,
    json_objects,
    json_parts,
    whole_text,
)

# Names are compared in small letters and in one word.
IDENTIFIERS = ("qid", "queryid", "topicid", "id", "number", "topic", "topicnumber")
TEXTS = ("query", "querytext", "question", "text", "title", "body", "q", "topictext")
DOCNOS = (
    *("docid", "docno", "documentid", "corpusid", "passageid", "pid", "id", "doc", "document"),
    "url",
)
GRADES = ("grade", "rating", "relevance", "score", "label", "rel", "relevancy")
_OF_DOCUMENTS = ("", "ids", "docs", "docids", "documents", "documentids", "passages")
_SAYING = ("expected", "relevant", "golden", "gold", "positive")
_PLAINLY = {"docs", "documents"}
EXPECTED = {
    *_PLAINLY,
    *(f"{word}{what}" for word in _SAYING for what in _OF_DOCUMENTS),
    *("positives", "ratings", "judgments", "judgements", "qrels", "docids", "documentids"),
    *("targets", "grades"),
}
REJECTED = {
    *(f"{word}{what}" for word in ("negative", "irrelevant") for what in _OF_DOCUMENTS),
    "negatives",
}
# What an object has its queries under.
WRAPPERS = {
    *("judgmentratings", "requests", "queries", "questions", "golden", "goldenset", "topics"),
    *("testcases", "cases", "dataset", "data", "examples", "items"),
}
# The text of a query is within them.
REQUESTS = ("request", "params")
YAML = re.compile(rb"(?:---\s*\n)?\s*(?:-\s+)?[A-Za-z_][\w -]*:(?:[ \t]|\r?\n)")
SAMPLED = 20
LONGEST_YAML = 4 * 1024 * 1024
ONE_ROW = "Join the documents of a query in one row, or write a row for each document."
QUOTE_CELLS = "Put a cell with a separator within it in quotation marks."
AS_EXPECTED = 'Write {"query": "red shoes", "expected": ["d1", "d7"]}, or grades by id.'
NO_ID = "Give every document its id: a text or a whole number."
NO_TEXT = "Give every row the text of its query."
SOME_HAVE_IDS = "Give every query an identifier, or none: then they are q1, q2 and so on."
SEPARATORS = ",;\t"
# Several ids in one cell; no docno of a table has one of these.
BETWEEN = re.compile(r"[\s,;|]+")
_KEYED = re.compile(r'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*(?=\{)')
_NAMED = re.compile(r'"([A-Za-z_ -]{1,30})"\s*:')
_NAMED_PART = re.compile(r'"([A-Za-z_ -]{3,30})"\s*:\s*(?=[\[{])')
_WRAPPED = re.compile(r'"([A-Za-z_ -]{4,20})"\s*:\s*\[\s*(?=\{)')


@dataclass(frozen=True, slots=True)
class GoldenDocument:
    """A document of a query with its grade, both as written; `line` is where the query begins."""

    line: int
    docno: str
    grade: str


@dataclass
class GoldenQuery:
    """A query with its documents; `is_numbered` says that the number is ours."""

    line: int
    number: str
    text: str
    documents: list[GoldenDocument] = field(default_factory=list)
    is_numbered: bool = False


def recognise_golden(first: Lines) -> str:
    """Return by which evidence the first lines of a file are a golden set; empty if they are not.

    >>> recognise_golden([(1, b'[{"query": "red shoes", "relevant_ids": ["d1"]}]')])
    'Queries have their documents under "relevant_ids".'
    >>> recognise_golden([(1, b"query,docid,rating"), (2, b"red shoes,d1,3")])
    'The first line names columns of a query, its text and its documents.'
    """
    head = b"\n".join(line for _, line in first).lstrip()
    if head.startswith((b"{", b"[")):
        text = head.decode("utf-8", "replace")
        found = _first_object(text)
        name = _names_shown(text) if found is None else _query_name(found)
        return f'Queries have their documents under "{name}".' if name else ""
    lines = [line for line in head.split(b"\n") if line.strip()]
    if lines and _table_of(lines) is not None:
        return "The first line names columns of a query, its text and its documents."
    has_documents = any(_plain(word) in EXPECTED for word in _yaml_names(lines))
    if lines and YAML.match(head) and has_documents:
        return "The lines have names and colons, as in YAML, and one names documents."
    return ""


def numbers_are_ours(first: Lines) -> bool:
    """Whether queries have no identifier, or are those of a search engine, in these lines."""
    head = b"\n".join(line for _, line in first).lstrip()
    if not head.startswith((b"{", b"[")):
        return True
    text = head.decode("utf-8", "replace")
    found = _first_object(text)
    wrapped = {_plain(name) for name in _WRAPPED.findall(text)}
    return bool(wrapped & {"judgmentratings", "requests"}) or not _find(found, IDENTIFIERS)


def golden_queries(lines: Lines, problems: Problems) -> Iterator[GoldenQuery]:
    """Yield the queries of a golden set; what is none becomes a problem at its line.

    E_JSON, E_YAML, E_COLUMNS, E_ENCODING and E_FORMAT (YAML without PyYAML) are collected.
    """
    following = iter(lines)
    first = first_lines(following)
    lines = chain(first, following)
    head = b"\n".join(line for _, line in first).lstrip()
    if head.startswith((b"{", b"[")):
        objects = _json_queries(lines, head, problems)
    elif (table := _table_of([line for line in head.split(b"\n") if line.strip()])) is not None:
        yield from _table_queries(lines, table, problems)
        return
    else:
        objects = _yaml_queries(lines, problems)
    is_numbered: bool | None = None
    for place, (line, name, value) in enumerate(objects, 1):
        query = _query(line, name, value, place, problems)
        if query is None:
            continue
        if is_numbered is None:
            is_numbered = query.is_numbered
        elif is_numbered != query.is_numbered:
            message = f"the query has {'no' if query.is_numbered else 'an'} identifier"
            message += f", the first one has {'one' if query.is_numbered else 'none'}"
            problems.error("E_JSON", line, message, query.text, SOME_HAVE_IDS)
            return
        yield query


def golden_topic_records(lines: Lines, problems: Problems) -> Iterator[Record]:
    """Yield the queries of a golden set as topics."""
    for query in golden_queries(lines, problems):
        yield Record(query.line, {"number": query.number, "title": query.text})


# Objects.

Numbered = Iterator[tuple[int, str | None, object]]


def _json_queries(lines: Lines, head: bytes, problems: Problems) -> Numbered:
    first = head.split(b"\n", 1)[0]
    if head.startswith(b"{") and _query_name(_decoded(first)):
        yield from ((number, None, value) for number, value in json_objects(lines, problems))
        return
    parts = json_parts(lines, problems)
    yield from ((part.line, part.name, part.value) for part in _unwrapped(parts))


def _unwrapped(parts: Iterable[JsonPart]) -> Iterator[JsonPart]:
    """Yield the queries of a list or an object by identifier, or those within a wrapper."""
    listed = list(parts)
    wrapped = [p for p in listed if p.name is not None and _plain(p.name) in WRAPPERS]
    for part in wrapped:
        if isinstance(part.value, list):
            yield from part.inner()
            return
    yield from listed


def _yaml_queries(lines: Lines, problems: Problems) -> Numbered:
    """Yield the queries of YAML, which needs PyYAML; anchors are not read."""
    content = whole_text(lines, problems, "YAML", LONGEST_YAML)
    if content is None:
        return
    try:
        yaml: Any = import_module("yaml")
    except ModuleNotFoundError:
        message = "YAML is read by PyYAML, which is not installed"
        hint = "Install it with: pip install pyyaml. JSON needs nothing."
        problems.error("E_FORMAT", None, message, hint=hint)
        return
    try:
        if any(isinstance(event, yaml.events.AliasEvent) for event in yaml.parse(content)):
            hint = "Write each value where it belongs, without & and *."
            problems.error("E_YAML", None, "the file has anchors, which are not read", hint=hint)
            return
        root = yaml.compose(content, Loader=yaml.SafeLoader)
        yield from _yaml_values(root)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        deep = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        message = getattr(error, "problem", None) or deep
        at = None if mark is None else mark.line + 1
        hint = "Check how far lines are moved in, and quote texts with a colon or brackets."
        problems.error("E_YAML", at, f"the file is not YAML: {message}", hint=hint)


def _yaml_values(root: Any) -> Numbered:
    if root is None:
        return
    if root.id == "mapping":
        for name, node in root.value:
            if _plain(str(name.value)) in WRAPPERS and node.id == "sequence":
                yield from _yaml_values(node)
                return
        for name, node in root.value:
            yield name.start_mark.line + 1, str(name.value), _as_written(node)
    elif root.id == "sequence":
        for node in root.value:
            yield node.start_mark.line + 1, None, _as_written(node)


def _as_written(node: Any) -> object:
    """Return a node with its scalars as texts: 007 is an id, not a number."""
    if node.id == "mapping":
        named = {str(name.value): _as_written(value) for name, value in node.value}
        if len(named) < len(node.value):
            raise ValueError("a name appears twice")
        return named
    if node.id == "sequence":
        return [_as_written(each) for each in node.value]
    return str(node.value)


def _query(
    line: int, name: str | None, value: object, place: int, problems: Problems
) -> GoldenQuery | None:
    """Read a query from an object; the name that it has in an object around it is its number."""
    documents = _documents_name(value)
    if not isinstance(value, dict) or not documents:
        message = "expected a query with its documents, such as relevant_ids"
        written = json.dumps(value, ensure_ascii=False, default=str)
        problems.error("E_JSON", line, message, written, AS_EXPECTED)
        return None
    number = name or _identifier(value.get(_find(value, IDENTIFIERS) or ""))
    query = GoldenQuery(line, number or f"q{place}", _text(value), is_numbered=not number)
    query.documents += _documents(line, value[documents], "1", problems)
    for field_name, part in value.items():
        if _plain(field_name) in REJECTED:
            query.documents += _documents(line, part, "0", problems)
    return query


def _documents(
    line: int, part: object, default: str, problems: Problems
) -> Iterator[GoldenDocument]:
    if isinstance(part, dict):
        yield from (GoldenDocument(line, d, _written(grade)) for d, grade in part.items())
        return
    for each in part if isinstance(part, list) else [part]:
        if not isinstance(each, dict):
            docno, grade = _identifier(each), default
        else:
            docno = _identifier(each.get(_find(each, DOCNOS) or ""))
            named = _find(each, GRADES)
            grade = default if named is None else _written(each[named])
        if not docno:
            written = json.dumps(each, ensure_ascii=False, default=str)
            problems.error("E_JSON", line, "a document of the query has no id", written, NO_ID)
        # A document without a rating is shown by the tool, and was not judged.
        elif grade:
            yield GoldenDocument(line, docno, grade)


def _text(value: Mapping[str, Any]) -> str:
    """Return the text of a query, also from the request of a search engine."""
    named = _find(value, TEXTS)
    text = value[named] if named else ""
    if isinstance(text, str) and text:
        return text
    return next(filter(None, (_first_text(value.get(name)) for name in REQUESTS)), "")


def _first_text(value: object) -> str:
    """Return the first text within a request, such as {"query": {"match": {"title": "shoes"}}}."""
    if isinstance(value, str):
        return value
    within = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next(filter(None, map(_first_text, within)), "")


def _first_object(text: str) -> object:
    """Return the first query that a text begins with, which may be cut behind it.

    The name that a query has in an object around it is its identifier.
    """
    if text.startswith("["):
        return _decoded(text[1:].lstrip())
    whole = _decoded(text)
    if _query_name(whole):
        return whole
    wrapped = next((m for m in _WRAPPED.finditer(text) if _plain(m[1]) in WRAPPERS), None)
    if wrapped is not None:
        return _decoded(text[wrapped.end() :])
    keyed = _KEYED.match(text)
    inner = None if keyed is None else _decoded(text[keyed.end() :])
    return {**inner, IDENTIFIERS[0]: "keyed"} if isinstance(inner, dict) else whole


def _decoded(text: str | bytes) -> object:
    """Return the JSON value that a text begins with; None if there is none."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


def _documents_name(value: object) -> str:
    """Return the field of a query that has its documents; empty if there is none."""
    found = []
    for name, part in value.items() if isinstance(value, dict) else ():
        is_one = isinstance(part, str) and _plain(name).startswith(_SAYING)
        if _plain(name) in EXPECTED and (is_one or isinstance(part, list | dict)):
            found.append(str(name))
    # Beside ids, documents may be texts.
    return min(found, key=lambda name: _plain(name) in _PLAINLY, default="")


def _query_name(value: object) -> str:
    """Return the field with the documents of an object that also has a name or a text."""
    is_query = _find(value, (*IDENTIFIERS, *TEXTS, *REQUESTS)) is not None
    return _documents_name(value) if is_query else ""


def _names_shown(text: str) -> str:
    """Return the name of documents in a first query that is broken, or longer than was looked at.

    >>> _names_shown('[{"query": "red shoes", "expected": [{"id": "d1", ')
    'expected'
    """
    named = {_plain(name) for name in _NAMED.findall(text)}
    if named.isdisjoint({*IDENTIFIERS, *TEXTS, *REQUESTS}):
        return ""
    known = EXPECTED | {"judgmentratings"}
    return next((name for name in _NAMED_PART.findall(text) if _plain(name) in known), "")


def _find(fields: object, names: Iterable[str]) -> str | None:
    """Return the field with the first of these names, if there is one."""
    spelled = {_plain(name): name for name in fields} if isinstance(fields, dict) else {}
    return next((spelled[name] for name in names if name in spelled), None)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


def _identifier(value: object) -> str:
    """Return the name of a query or a document; empty if the value is none."""
    return str(value) if is_name(value) else ""


def _written(value: object) -> str:
    if value is None or isinstance(value, dict | list):
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _yaml_names(lines: Iterable[bytes]) -> Iterator[str]:
    for line in lines:
        name, colon, _ = line.decode("utf-8", "replace").strip().lstrip("- ").partition(":")
        if colon:
            yield name


# Tables.


@dataclass(frozen=True)
class _Table:
    """Which cells of a row hold what; `listed` is where several documents stand in one cell."""

    separator: str
    names: tuple[str, ...]
    number: int | None
    text: int | None
    docno: int | None
    listed: int | None
    grade: int | None


def _table_of(lines: list[bytes]) -> _Table | None:
    """Return the columns of a table of queries with their documents; None for another file."""
    head = [line.decode("utf-8", "replace").strip("\r") for line in lines]
    for separator in SEPARATORS:
        try:
            rows = list(csv.reader(head[:SAMPLED], delimiter=separator))
        except csv.Error:
            continue
        names = tuple(map(_plain, rows[0])) if rows else ()
        if len(names) < 2:
            continue
        at = {kind: _place(names, known) for kind, known in _COLUMNS.items()}
        listed = None if at["docno"] is not None else _place(names, sorted(EXPECTED - _GRADED))
        whole = [row for row in rows[1:] if len(row) == len(names)]
        number = at["number"]
        if number is None and _has_one_id_each(whole, names, at["text"]):
            number = names.index("id")
        table = _Table(separator, names, number, at["text"], at["docno"], listed, at["grade"])
        if listed is not None and (table.text is not None or table.number is not None):
            return table
        is_text = table.text is not None and at["number"] is None
        if is_text and table.docno is not None and table.grade is not None:
            is_named = names[table.text or 0] == "querytext"
            if is_named or _are_texts([row[table.text or 0] for row in whole]):
                return table
    return None


def _has_one_id_each(rows: list[list[str]], names: tuple[str, ...], text: int | None) -> bool:
    """Whether there is a column "id" of queries, and not of rows: each text has the same one."""
    if text is None or "id" not in names:
        return False
    pairs = [(row[text].strip(), row[names.index("id")].strip()) for row in rows]
    return len({text for text, _ in pairs}) == len(set(pairs))


def _are_texts(values: list[str]) -> bool:
    """Whether values are texts rather than identifiers: words, and none with a digit within.

    >>> _are_texts(["shoes", "hats"]), _are_texts(["q1", "q2"]), _are_texts(["red shoes", "a4"])
    (True, False, True)
    """
    has_digit = any(char.isdigit() for value in values for char in value)
    return any(" " in value.strip() for value in values) or (bool(values) and not has_digit)


# A column of these names has grades, not documents.
_GRADED = {"grades", "ratings", "judgments", "judgements", "qrels"}
_COLUMNS: dict[str, tuple[str, ...]] = {
    "number": ("qid", "queryid", "topicid", "topic", "number"),
    "text": ("query", "querytext", "question"),
    "docno": ("docid", "docno", "documentid", "corpusid", "passageid", "pid"),
    "grade": GRADES,
}


def _place(names: tuple[str, ...], known: Iterable[str]) -> int | None:
    return next((names.index(name) for name in known if name in names), None)


def _table_queries(lines: Lines, table: _Table, problems: Problems) -> Iterator[GoldenQuery]:
    """Yield the queries of a table, each with the documents of all its rows."""
    queries: dict[str, GoldenQuery] = {}
    long: set[str] = set()
    rows = csv.reader(_texts(lines, problems), delimiter=table.separator, strict=True)
    try:
        next(rows, None)
        for row in rows:
            line = rows.line_num
            if len(row) != len(table.names):
                if row:
                    message = f"expected {len(table.names)} columns of CSV but found {len(row)}"
                    found = table.separator.join(row)
                    problems.error("E_COLUMNS", line, message, found, QUOTE_CELLS)
                continue
            number = row[table.number].strip() if table.number is not None else ""
            text = row[table.text].strip() if table.text is not None else ""
            ours = f"q{len(queries) + 1}"
            query = GoldenQuery(line, number or ours, text, is_numbered=not number)
            if not number and (table.number is not None or not text):
                message = f"the query has no {'text' if table.number is None else 'identifier'}"
                hint = NO_TEXT if table.number is None else SOME_HAVE_IDS
                problems.error("E_COLUMNS", line, message, table.separator.join(row), hint)
                continue
            named = number or text
            documents = list(_cells(line, row, table))
            if table.listed is not None and len(documents) > 1:
                long.add(named)
            # A row for each document is one query; two lists of one query are a mistake.
            if named in queries and named in long:
                message = f"the query is already at line {queries[named].line:,}"
                problems.error("E_DUP_TOPIC", line, message, named, ONE_ROW)
                continue
            queries.setdefault(named, query).documents += documents
    except csv.Error as error:
        problems.error("E_COLUMNS", rows.line_num, f"the line is not CSV: {error}")
    yield from queries.values()


def _cells(line: int, row: list[str], table: _Table) -> Iterator[GoldenDocument]:
    grade = "1" if table.grade is None else row[table.grade].strip()
    if table.listed is not None:
        docnos = [each for each in BETWEEN.split(row[table.listed]) if each]
    else:
        docnos = [row[table.docno].strip()] if table.docno is not None else []
    # Quepid leaves the rating of an unjudged document empty.
    yield from (GoldenDocument(line, docno, grade) for docno in docnos if grade)


def _texts(lines: Lines, problems: Problems) -> Iterator[str]:
    for number, line in lines:
        text = text_of(number, line, problems)
        yield "\n" if text is None else f"{text}\n"
