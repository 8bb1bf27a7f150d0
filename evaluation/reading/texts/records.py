"""Records: the common form of all formats of topics and documents.

A record is a topic or a document as named texts, with the line where it starts. Each format has
one function that turns numbered lines into records as they are read, so that a file of any size
needs little memory. Unreadable parts become problems, and reading continues if possible.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from evaluation.problems import Problems
from evaluation.reading.lines import data_lines, text_of
from evaluation.reading.texts.field_names import FieldNames
from evaluation.reading.texts.json_texts import text_of_part, texts_by_name

Lines = Iterable[tuple[int, bytes]]

MIB = 1024 * 1024
LONGEST_RECORD = 16 * MIB
LONGEST_JSON = 64 * MIB
SAMPLED_LINES = 100
MOST_NAMED = 10
SAMPLED_BYTES = MIB


@dataclass(frozen=True, slots=True)
class Record:
    """Named texts; `fields` hold what the reader shows, `attributes` what only describes it."""

    line: int
    fields: Mapping[str, str]
    attributes: Mapping[str, str] = field(default_factory=dict)

    def names(self) -> tuple[str, ...]:
        """Return the names of the fields that have a text, then of such attributes."""
        filled = [name for name, text in self.fields.items() if text.strip()]
        described = [name for name, text in self.attributes.items() if text.strip()]
        return (*filled, *(name for name in described if name not in filled))

    def text(self, name: str | None) -> str:
        """Return the text of a field, else of an attribute; empty if there is none."""
        if name is None:
            return ""
        return self.fields.get(name) or self.attributes.get(name, "")


def smart_records(lines: Lines, problems: Problems) -> Iterator[Record]:
    """Yield the records of SMART: `.I number`, then fields under `.T`, `.A`, `.B`, `.W` and others.

    >>> lines = [(1, b".I 7"), (2, b".W"), (3, b"boundary layers"), (4, b"in flow")]
    >>> list(smart_records(lines, Problems()))
    [Record(line=1, fields={'i': '7', 'w': 'boundary layers\\nin flow'}, attributes={})]
    """
    start, name, size = 0, "", 0
    fields: dict[str, list[str]] = {}
    for number, line in lines:
        text = text_of(number, line, problems)
        if text is None:
            continue
        if text.startswith(".I "):
            if start:
                yield _smart_record(start, fields)
            start, name, size, fields = number, "i", 0, {"i": [text[3:]]}
        elif _SMART_FIELD.fullmatch(text):
            # A repeated field is a stray line in the text, as in Cranfield's document 240.
            name = name if text[1].lower() in fields else text[1].lower()
            fields.setdefault(name, [])
        elif start and (size := size + len(text)) <= LONGEST_RECORD:
            fields[name].append(text)
    if start:
        yield _smart_record(start, fields)


_SMART_FIELD = re.compile(r"\.[A-Z]\s*")


def _smart_record(line: int, fields: Mapping[str, list[str]]) -> Record:
    return Record(line, {name: "\n".join(texts) for name, texts in fields.items()})


def json_records(lines: Lines, problems: Problems) -> Iterator[Record]:
    """Yield a record per line of JSON, with the texts that `texts_by_name` finds.

    >>> list(json_records([(1, b'{"_id": 7, "text": "boundary layers"}')], Problems()))
    [Record(line=1, fields={'_id': '7', 'text': 'boundary layers'}, attributes={})]
    """
    for number, value in json_objects(lines, problems):
        yield Record(number, texts_by_name(value))


def json_objects(lines: Lines, problems: Problems) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield the object on each line of JSON, with the number of the line.

    >>> list(json_objects([(1, b'{"_id": 7}')], Problems()))
    [(1, {'_id': 7})]
    """
    for number, line in data_lines(lines, problems, comments=False):
        text = text_of(number, line, problems)
        if text is None:
            continue
        try:
            value = json.loads(text, object_pairs_hook=refuse_repeated_names)
        except (ValueError, RecursionError) as error:
            message = f"the line is not JSON: {json_fault(error)}"
            problems.error("E_JSON", number, message, line, hint_for_json(error))
            continue
        if not isinstance(value, dict):
            hint = "Write an object in braces on each line."
            problems.error("E_JSON", number, "the line is JSON, but not an object", line, hint)
            continue
        yield number, value


def json_line_parts(lines: Lines, problems: Problems) -> Iterator[JsonPart]:
    """Yield the object on each line as a part without a name."""
    for number, value in json_objects(lines, problems):
        text = json.dumps(value)
        yield JsonPart(text, 0, 0, number, None, value)


class RepeatedNameError(ValueError):
    """A JSON object has a name twice: programs differ in which value they keep."""


def refuse_repeated_names(parts: list[tuple[str, object]]) -> dict[str, object]:
    """Return the object of these names and values; raises RepeatedNameError."""
    named = dict(parts)
    if len(named) < len(parts):
        again = next(name for i, (name, _) in enumerate(parts) if name in dict(parts[:i]))
        raise RepeatedNameError(f'the name "{again[:40]}" appears twice')
    return named


def json_fault(error: Exception) -> str:
    if isinstance(error, RepeatedNameError):
        return str(error)
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} in column {error.colno}"
    too_deep = isinstance(error, RecursionError)
    return "nested too deeply" if too_deep else "a number is too long"


def hint_for_json(error: Exception) -> str:
    """Return how to mend what is no JSON.

    >>> try: json.loads('{"7": [')
    ... except ValueError as error: print(hint_for_json(error))
    It ends early. Was it written to its end?
    """
    if isinstance(error, RecursionError):
        return "Lists and objects may be within one another a few times, not hundreds of times."
    if isinstance(error, RepeatedNameError):
        return "Keep one of the two."
    if not isinstance(error, json.JSONDecodeError):
        return "Write numbers with fewer digits."
    is_cut = error.msg.startswith("Unterminated") or error.pos >= len(error.doc.rstrip())
    if is_cut:
        return "It ends early. Was it written to its end?"
    if "property name" in error.msg:
        return "Write names in double quotes, and no comma before a closing brace."
    return "Check commas, quotation marks and brackets there, or write it by a program for JSON."


def is_name(value: object) -> bool:
    """Whether a value of JSON may name a topic or a document: a text or a whole number."""
    return isinstance(value, str | int) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class JsonPart:
    """A part of a list or object: its start, its name in an object, and its value."""

    text: str
    start: int
    place: int
    line: int
    name: str | None
    value: object

    def record(self) -> Record:
        """Return the part as a record; its name, if any, is the number."""
        if isinstance(self.value, dict):
            fields = texts_by_name(self.value)
        else:
            fields = {"text": text_of_part(self.value)}
        return Record(self.line, fields if self.name is None else {"number": self.name, **fields})

    def inner(self) -> Iterator[JsonPart]:
        """Return the parts of this part, which is a list or an object."""
        line = self.line + self.text.count("\n", self.start, self.place)
        return _parts(self.text, self.place, line)


def json_parts(
    lines: Lines, problems: Problems, names: FieldNames | None = None
) -> Iterator[JsonPart]:
    """Yield the parts of one JSON value: a list of objects, or an object by number.

    With the names of records, the value may also have them under a name, as in
    `{"version": 2, "topics": [...]}`.

    >>> [part.record() for part in json_parts([(1, b'{"7":'), (2, b'"flow"}')], Problems())]
    [Record(line=1, fields={'number': '7', 'text': 'flow'}, attributes={})]
    """
    text = whole_text(lines, problems)
    if text is None:
        return
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        message = f"the file is not JSON: {json_fault(error)}"
        problems.error("E_JSON", line, message, hint=hint_for_json(error))
        return
    start = _skip_separators(text, 0)
    whole = JsonPart(text, start, start, 1, None, value)
    if names is None:
        yield from whole.inner()
        return
    while wrapped := find_wrapped(whole.value, names):
        whole = next(part for part in whole.inner() if part.name == wrapped)
    if isinstance(whole.value, dict) and names.find_identifier(texts_by_name(whole.value, 0)):
        yield whole
        return
    for part in whole.inner():
        if part.name is not None and _holds_records(part.value, names):
            message = f'"{part.name[:40]}" is no record, but has records within'
            hint = "Put the list of records at the top, or directly under one name."
            problems.error("E_JSON", part.line, message, hint=hint)
        else:
            yield part


def _holds_records(value: object, names: FieldNames) -> bool:
    """Whether an object has no text of its own, and a list of records somewhere within."""
    if not isinstance(value, dict) or texts_by_name(value, 0):
        return False
    return any(_are_records(part, names) or _holds_records(part, names) for part in value.values())


WRAPPERS = {"topics", "queries", "questions", "documents", "docs", "corpus", "data", "hits"}
WRAPPERS |= {"response", "result", "results", "claims", "passages", "items", "records"}


def find_wrapped(value: object, names: FieldNames) -> str:
    """Return the name under which an object has all its records; empty if it has none.

    >>> from evaluation.reading.topics import NAMES
    >>> find_wrapped({"version": 2, "topics": [{"number": 7, "title": "flow"}]}, NAMES)
    'topics'
    >>> find_wrapped({"number": 7, "title": "flow", "turns": [{"number": 1}]}, NAMES)
    ''
    """
    if not isinstance(value, dict):
        return ""
    lists = [name for name, part in value.items() if _are_records(part, names)]
    known = [
        name
        for name, part in value.items()
        if name.lower() in WRAPPERS and (name in lists or isinstance(part, dict))
    ]
    if len(known) == 1:
        return str(known[0])
    if len(lists) != 1 or names.find_identifier(texts_by_name(value, 0)):
        return ""
    return str(lists[0])


def _are_records(part: object, names: FieldNames) -> bool:
    """Whether a value is a list of objects that have an identifier."""
    if not isinstance(part, list) or not part or not isinstance(part[0], dict):
        return False
    return bool(names.find_identifier(texts_by_name(part[0])))


def whole_text(
    lines: Lines, problems: Problems, kind: str = "JSON", longest: int = LONGEST_JSON
) -> str | None:
    """Return all lines as one text, of JSON up to 64 MiB; None where it is refused."""
    texts: list[str] = []
    size = 0
    for number, line in lines:
        text = text_of(number, line, problems)
        size += len(line)
        if text is None:
            return None
        if size > longest:
            hint = "Write one JSON object per line."
            message = f"the {kind} file exceeds {longest // MIB} MiB"
            problems.error(f"E_{kind}", number, message, hint=hint)
            return None
        texts.append(text)
    # A file with a line that is too long has been refused already.
    return None if problems.counts["E_LINE_LONG"] else "\n".join(texts)


def _parts(text: str, start: int, line: int) -> Iterator[JsonPart]:
    """Yield the parts of the list or object that starts in this line, also repeated names."""
    decoder = json.JSONDecoder()
    named = text[start : start + 1] == "{"
    counted, place = start, _skip_separators(text, start + 1)
    while text[place : place + 1] not in ("}", "]", ""):
        line, counted = line + text.count("\n", counted, place), place
        name: str | None = None
        if named:
            name, place = decoder.raw_decode(text, place)
            place = _skip_separators(text, place)
        value, end = decoder.raw_decode(text, place)
        yield JsonPart(text, counted, place, line, name, value)
        place = _skip_separators(text, end)


def _skip_separators(text: str, place: int) -> int:
    """Return the place after blanks, commas and colons."""
    while place < len(text) and text[place] in " \t\r\n,:":
        place += 1
    return place


def colon_records(lines: Lines, problems: Problems) -> Iterator[Record]:
    """Yield lines of `number:text`, or of `number:priority:text` if all the first lines are such.

    >>> list(colon_records([(1, b"20001:obama family tree")], Problems()))
    [Record(line=1, fields={'number': '20001', 'text': 'obama family tree'}, attributes={})]
    """
    following = data_lines(lines, problems, comments=False)
    first = first_lines(following)
    prioritised = all(_PRIORITISED.match(line) for _, line in first)
    for number, line in chain(first, following):
        text = text_of(number, line, problems)
        if text is None:
            continue
        name, colon, rest = text.partition(":")
        if not colon:
            problems.error("E_COLUMNS", number, "expected number:text", line)
            continue
        _, second, text = rest.partition(":")
        yield Record(number, {"number": name, "text": text if prioritised and second else rest})


# What ends a number in a list.
LISTED = re.compile(r"(?<=\d)[.)]$")


def spaced_records(lines: Lines, problems: Problems) -> Iterator[Record]:
    """Yield lines of a number, blanks and a text; the dot of `1.` is no part of the number.

    >>> list(spaced_records([(1, b"301 boundary layers")], Problems()))
    [Record(line=1, fields={'number': '301', 'text': 'boundary layers'}, attributes={})]
    """
    for number, line in data_lines(lines, problems, comments=False):
        text = text_of(number, line, problems)
        if text is not None:
            name, _, rest = text.strip().partition(" ")
            yield Record(number, {"number": LISTED.sub("", name), "text": rest})


def labelled_records(lines: Lines, problems: Problems) -> Iterator[Record]:
    """Yield the topics of CLEF's track on medical reviews: `Topic:`, `Title:`, `Query:`, `Pids:`.

    >>> lines = [(1, b"Topic: CD01"), (2, b"Title: Rapid tests"), (3, b"Pids:"), (4, b"  19001")]
    >>> [dict(record.fields) for record in labelled_records(lines, Problems())]
    [{'number': 'CD01', 'title': 'Rapid tests', 'pids': '\\n  19001'}]
    """
    start, name = 0, ""
    fields: dict[str, str] = {}
    for number, line in lines:
        text = text_of(number, line, problems)
        if text is None:
            continue
        label = _LABEL.match(text)
        if label is None:
            if name:
                fields[name] += f"\n{text}"
            continue
        name = label[1].lower()
        if name == "topic":
            if start:
                yield Record(start, fields)
            start, name, fields = number, "number", {}
        fields[name] = label[2].strip()
    if start:
        yield Record(start, fields)


_LABEL = re.compile(r"(Topic|Title|Query|Objective|Description|Narrative|Pids)\s*:(.*)", re.I)


def describe_fields(names: Sequence[str]) -> str:
    """Return the names of the fields of a record, for a message.

    >>> describe_fields(["page_key", "body"])
    'Its fields are: page_key, body.'
    """
    shown = ", ".join(name or "text" for name in names[:MOST_NAMED])
    return f"Its fields are: {shown}." if shown else ""


def report_unread(line_of: Mapping[str, int], problems: Problems) -> None:
    """Note the fields with texts that are not read, and the line of the first."""
    if line_of:
        shown = ", ".join(list(line_of)[:MOST_NAMED])
        message = f"fields with texts that were not read: {shown}"
        problems.note("W_FIELDS", next(iter(line_of.values())), message)


_PRIORITISED = re.compile(rb"[^:]+:\d{1,3}:")


def first_lines(lines: Iterator[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """Return enough first lines of a file to recognise its format."""
    taken: list[tuple[int, bytes]] = []
    size = 0
    for number, line in lines:
        taken.append((number, line))
        size += len(line)
        if len(taken) >= SAMPLED_LINES or size >= SAMPLED_BYTES:
            break
    return taken


def is_storable(line: int, texts: Iterable[str], problems: Problems) -> bool:
    """Check that a database can store all texts: E_CHAR for a NUL or half a surrogate."""
    for text in texts:
        match = _NOT_STORABLE.search(text)
        if match is not None:
            what = "a NUL" if match[0] == "\0" else "a lone surrogate"
            message = f"the text has {what} (U+{ord(match[0]):04X})"
            problems.error("E_CHAR", line, message)
            return False
    return True


_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")
