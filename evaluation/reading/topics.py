"""Topics: the numbered information needs that runs answer.

The formats are SGML of TREC or NTCIR, XML, SMART, tab-separated columns, `number:text`, JSON lines
and one JSON value. The format is recognised by evidence, which is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO

from evaluation.problems import Problems, Refused
from evaluation.reading.columns import is_identifier
from evaluation.reading.containers import DOCUMENT_LIMITS
from evaluation.reading.conversations import topic_json_records
from evaluation.reading.lines import in_line_order, numbered_lines
from evaluation.reading.markup import (
    is_repairable,
    ntcir_topic_records,
    trec_topic_records,
    xml_records,
)
from evaluation.reading.recognition import Recognised, of_records
from evaluation.reading.records import (
    LONGEST_RECORD,
    Lines,
    Record,
    colon_records,
    first_lines,
    is_storable,
    json_records,
    smart_records,
)
from evaluation.reading.tables import table_records

LONGEST_TITLE = 10_000
LONGEST_TEXT = 100_000

NUMBERS = ("num", "number", "_id", "id", "qid", "query_id", "query-id", "topic_id", "topic", "i")
TITLES = ("title", "query", "text", "w", "question", "t")
DESCRIPTIONS = ("desc", "description", "smry")
NARRATIVES = ("narr", "narrative")
# Further texts of topics in TREC-1 to TREC-3 and NTCIR-1; shown below the narrative.
BESIDES = ("dom", "con", "fac", "nat", "def", "conc", "concept", "back", "rel")

XML_NAMES = frozenset({"top", "topic", "query"})
TABLE = {
    2: ("number", "title"),
    3: ("number", "title", "description"),
    4: ("number", "title", "description", "narrative"),
}


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic; all but its number and one of the texts may be empty."""

    number: str
    title: str
    description: str
    narrative: str


@dataclass(frozen=True)
class TopicFile:
    """The topics in the order of the file, its format, and the evidence for that format."""

    topics: list[Topic]
    format: str
    because: str
    problems: Problems


def smart_topic_records(lines: Lines, problems: Problems) -> Iterator[Record]:
    """Yield the records of SMART without authors and notes; CACM's last `.I 0` is ignored.

    >>> lines = [(1, b".I 1"), (2, b".W"), (3, b"flow"), (4, b".N"), (5, b"by Ada"), (6, b".I 0")]
    >>> [dict(record.fields) for record in smart_topic_records(lines, Problems())]
    [{'i': '1', 'w': 'flow'}]
    """
    for record in smart_records(lines, problems):
        fields = {name: text for name, text in record.fields.items() if name in ("i", "t", "w")}
        if len(fields) > 1 or fields["i"].strip() != "0":
            yield Record(record.line, fields)


READERS: dict[str, Callable[[Lines, Problems], Iterator[Record]]] = {
    "trec": trec_topic_records,
    "xml": lambda lines, problems: xml_records(lines, problems, XML_NAMES),
    "smart": smart_topic_records,
    "tsv": lambda lines, problems: table_records(
        lines, problems, TABLE, NUMBERS, (*TITLES, *DESCRIPTIONS)
    ),
    "jsonl": json_records,
    "json": topic_json_records,
    "colon": colon_records,
    "ntcir": ntcir_topic_records,
}


def read_topics(file: BinaryIO, format: str | None = None) -> TopicFile:
    """Read topics in the given or recognised format.

    The formats are "trec", "ntcir", "xml", "smart", "tsv", "colon", "jsonl" and "json".
    The whole file is read; raises `Refused` with every problem: E_FORMAT, E_XML, E_JSON,
    E_COLUMNS, E_TOPIC, E_DUP_TOPIC, E_CHAR, E_ENCODING, E_LINE_LONG, E_EMPTY. Accepted topics
    may carry W_BOM, W_CRLF, W_BLANK, W_DUP_TEXT (two topics with one title), W_DUP_TOPIC (turns
    on several paths of a conversation) and W_XML (broken XML that was read as TREC topics).

    >>> from io import BytesIO
    >>> found = read_topics(BytesIO(b"7\\tboundary layers\\n8\\theat transfer\\n"))
    >>> found.topics[0], found.because
    (Topic(number='7', title='boundary layers', description='', narrative=''), \
'The first line has 2 tab-separated columns.')
    """
    problems = Problems()
    lines = numbered_lines(file, problems, DOCUMENT_LIMITS.line)
    first = first_lines(lines)
    recognised = _recognised(first, format, problems)
    lines = chain(first, lines)
    if format is None and recognised.format == "xml":
        return _read_xml(lines, recognised, problems)
    return _read(lines, recognised.format, recognised.because, problems)


def _read(lines: Lines, format: str, because: str, problems: Problems) -> TopicFile:
    topics = _Topics(problems)
    for record in READERS[format](lines, problems):
        topics.take(record)
    if not topics.line_of and not problems.errors:
        problems.error("E_EMPTY", None, "the file has no topics")
    in_line_order(problems).raise_if_refused()
    return TopicFile(topics.topics, format, because, problems)


def _read_xml(lines: Lines, recognised: Recognised, problems: Problems) -> TopicFile:
    """Read topics in XML; if it is broken, in TREC's format, whose tags may be unclosed."""
    following = iter(lines)
    kept = list(_lines_up_to(following, LONGEST_RECORD))
    again = problems.copy()
    try:
        return _read(chain(kept, following), recognised.format, recognised.because, problems)
    except Refused as refusal:
        fault = next((problem for problem in refusal.problems if problem.code == "E_XML"), None)
        is_long = next(following, None) is not None
        if fault is None or is_long or not is_repairable(fault):
            raise
        try:
            found = _read(kept, "trec", "The file is not valid XML.", again)
        except Refused:
            raise refusal from None
    message = f"{fault.message}; the file was read as TREC topics"
    again.warn("W_XML", fault.line, message, fault.found, fault.hint)
    in_line_order(again)
    return found


def _lines_up_to(lines: Lines, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield the first lines, up to this many bytes."""
    for number, line in lines:
        yield number, line
        size -= len(line)
        if size < 0:
            return


def recognise_topics(file: BinaryIO) -> Recognised:
    """Recognise the format of topics by the first lines; raises `Refused` if none fits.

    >>> from io import BytesIO
    >>> recognise_topics(BytesIO(b"20001:5:obama family tree\\n")).because
    'Every line begins with a number and a colon.'
    """
    problems = Problems()
    first = first_lines(numbered_lines(file, problems, DOCUMENT_LIMITS.line))
    return _recognised(first, None, problems)


def _recognised(
    first: list[tuple[int, bytes]], format: str | None, problems: Problems
) -> Recognised:
    if format is not None:
        return Recognised.surely(format, "The format was given.")
    recognised = of_records(first, "top", READERS)
    if recognised is not None:
        return recognised
    if any(line.strip() for _, line in first):
        hint = "Use TREC or NTCIR SGML, XML, SMART, tab-separated, number:text or JSON."
        problems.error("E_FORMAT", first[0][0], "the format is not recognised", first[0][1], hint)
    elif not problems.errors:
        problems.error("E_EMPTY", None, "the file has no topics")
    raise Refused(problems)


class _Topics:
    """The topics read so far, with their problems."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.topics: list[Topic] = []
        self.line_of: dict[str, int] = {}
        self.number_of: dict[str, str] = {}

    def take(self, record: Record) -> None:
        topic = _topic(record)
        line = record.line
        if not self._is_whole(line, topic):
            return
        if topic.number in self.line_of:
            message = f"the topic is already defined at line {self.line_of[topic.number]:,}"
            self.problems.error("E_DUP_TOPIC", line, message, topic.number)
            return
        self.line_of[topic.number] = line
        self.topics.append(topic)
        twin = self.number_of.setdefault(topic.title.casefold(), topic.number)
        if twin != topic.number:
            message = f"topic {topic.number} has the same title as topic {twin}"
            self.problems.warn("W_DUP_TEXT", line, message, topic.title)

    def _is_whole(self, line: int, topic: Topic) -> bool:
        if not topic.number:
            message = "the topic has no number"
        elif not is_identifier(topic.number):
            message = "use 1 to 128 printable ASCII characters, without spaces"
        elif not topic.title:
            message = f"topic {topic.number} has no text"
        elif len(topic.title) > LONGEST_TITLE:
            message = f"the title of topic {topic.number} exceeds {LONGEST_TITLE:,} characters"
        elif len(topic.description) > LONGEST_TEXT or len(topic.narrative) > LONGEST_TEXT:
            message = f"a text of topic {topic.number} has over {LONGEST_TEXT:,} characters"
        else:
            texts = (topic.title, topic.description, topic.narrative)
            return is_storable(line, texts, self.problems)
        self.problems.error("E_TOPIC", line, message, topic.number)
        return False


def _topic(record: Record) -> Topic:
    """Read a topic from a record; without a title, its first text is the title."""
    title = _paragraphs(record.first_text(TITLES), "topic")
    description = _paragraphs(record.first_text(DESCRIPTIONS), "description|summary")
    narrative = _paragraphs(record.first_text(NARRATIVES), "narrative")
    besides = (_paragraphs(record.fields.get(name, ""), "") for name in BESIDES)
    if not title:
        title, description = description, ""
    if not title:
        title = record.other_texts({*NUMBERS, *NARRATIVES})
    number = _without_label(record.first_text(NUMBERS), "number").strip()
    narrative = "\n\n".join(text for text in (narrative, *besides) if text)
    return Topic(number, " ".join(title.split()), description, narrative)


def _without_label(text: str, label: str) -> str:
    return re.sub(rf"^\s*(?:{label})\s*:", "", text, count=1, flags=re.I)


def _paragraphs(text: str, label: str) -> str:
    """Return the text without TREC's label, with its paragraphs but without line breaks.

    >>> _paragraphs(" Description:\\nWhat is\\nknown?\\n\\nAnd what not?", "description")
    'What is known?\\n\\nAnd what not?'
    """
    paragraphs = re.split(r"\n[ \t]*\n", _without_label(text, label))
    return "\n\n".join(" ".join(part.split()) for part in paragraphs if part.strip())
