"""Topics: the numbered information needs that runs answer.

The formats are SGML of TREC or NTCIR, XML, SMART, tab-separated columns, CSV, `number:text`,
number and text, labels of CLEF, JSON lines, one JSON value and golden sets. The format is
recognised by evidence, which is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import BinaryIO

from evaluation.problems import Problems, Refused
from evaluation.reading.columns import IDENTIFIER_RULE, is_identifier
from evaluation.reading.containers import DOCUMENT_LIMITS
from evaluation.reading.golden import golden_topic_records, numbers_are_ours, recognise_golden
from evaluation.reading.lines import in_line_order, numbered_lines
from evaluation.reading.recognition import Recognised, of_records
from evaluation.reading.texts.conversations import topic_json_line_records, topic_json_records
from evaluation.reading.texts.field_names import ADDRESS, FieldNames, identifies, is_prose
from evaluation.reading.texts.markup import (
    is_repairable,
    ntcir_topic_records,
    trec_topic_records,
    xml_records,
)
from evaluation.reading.texts.records import (
    LONGEST_RECORD,
    Lines,
    Record,
    colon_records,
    describe_fields,
    first_lines,
    is_storable,
    labelled_records,
    report_unread,
    smart_records,
    spaced_records,
)
from evaluation.reading.texts.tables import csv_records, table_records

LONG_TEXT = 10_000
LONGEST_TEXT = 500_000

# The first of these is the title; others, if a topic has several, are its description.
TITLES = (
    *("title", "query", "content", "question", "claim", "text", "txt", "w", "body", "utterance"),
    *("statement", "request", "search", "t", "keywords", "keyword", "topic"),
)
DESCRIPTIONS = ("desc", "description", "smry")
NARRATIVES = ("narr", "narrative", "narratives")
# Further texts of topics, such as those of TREC-1 to TREC-3 and NTCIR-1; shown below the narrative.
BESIDES = (
    *("dom", "con", "fac", "nat", "def", "conc", "concept", "back", "rel", "background"),
    *("problemstatement", "problem", "context", "summary", "note", "scope", "criteria"),
)
NAMES = FieldNames(
    (
        *("num", "number", "_id", "id", "qid", "queryid", "topicid", "questionid", "topicnumber"),
        *("querynumber", "tid", "topic", "i"),
    ),
    (*TITLES, *DESCRIPTIONS, *NARRATIVES),
    frozenset({"query", "topic", "question", "search", "q", "claim", "tweet", "information"}),
)
# What several topics have in common, such as the conversation that a turn belongs to.
GROUPS = (
    *("conversation", "conversationid", "conversationnumber", "dialogue", "dialogueid", "dialog"),
    *("dialogid", "session", "sessionid", "group", "groupid", "cluster", "clusterid"),
)
# The document that a topic is about, as in the background linking.
DOCUMENTS = ("docid", "docno")
# Fields that say where something is, or what kind it is: never the title of a topic.
NOT_TITLES = {
    *("image", "images", "img", "imageurl", "imagepath", "imgurl", "imgpath", "picture", "photo"),
    *("figure", "video", "modality", "media", "mediatype"),
    *("audio", "file", "filename", "filepath", "path", "url", "uri", "link", "href", "source"),
    *("date", "time", "timestamp", "type", "category", "lang", "language", "split"),
}

XML_NAMES = frozenset({"top", "topic", "query", "question", "claim"})
TABLE = {
    2: ("number", "title"),
    3: ("number", "title", "description"),
    4: ("number", "title", "description", "narrative"),
}


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic; all but its number and one of the texts may be empty.

    `group` names what it has in common with others; all topics of a file have one, or none.
    """

    number: str
    title: str
    description: str
    narrative: str
    group: str = ""


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
    "tsv": lambda lines, problems: table_records(lines, problems, TABLE, NAMES),
    "csv": lambda lines, problems: csv_records(lines, problems, TABLE, NAMES),
    "jsonl": topic_json_line_records,
    "json": lambda lines, problems: topic_json_records(lines, problems, NAMES),
    "colon": colon_records,
    "space": spaced_records,
    "labels": labelled_records,
    "ntcir": ntcir_topic_records,
    "golden": golden_topic_records,
}


def read_topics(file: BinaryIO, format: str | None = None) -> TopicFile:
    """Read topics in the given or recognised format.

    The formats are "trec", "ntcir", "xml", "smart", "tsv", "csv", "colon", "space", "labels",
    "jsonl", "json" and "golden". The whole file is read; raises `Refused` with every problem:
    E_FORMAT, E_XML, E_JSON, E_YAML, E_COLUMNS, E_TOPIC, E_DUP_TOPIC, E_CHAR, E_ENCODING,
    E_LINE_LONG, E_EMPTY.
    Accepted topics may carry W_BOM, W_CRLF, W_BLANK, W_DUP_TEXT (two topics with one title),
    W_NO_TEXT, W_LONG_TEXT, W_FIELDS (texts that are not read), W_HEADER, W_DUP_TOPIC (turns on
    several paths of a conversation), W_GROUP (topics without a group, so that none is read) and
    W_XML (broken XML that was read as TREC topics).

    >>> from io import BytesIO
    >>> found = read_topics(BytesIO(b"7\\tboundary layers\\n8\\theat transfer\\n"))
    >>> found.topics[0], found.because
    (Topic(number='7', title='boundary layers', description='', narrative='', group=''), \
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
    topics.report()
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
    # The usual readers of JSON know queries that have identifiers.
    if (because := recognise_golden(first)) and numbers_are_ours(first):
        return Recognised.surely("golden", because)
    recognised = of_records(first, "top", READERS, NAMES)
    if recognised is not None:
        return recognised
    if any(line.strip() for _, line in first):
        hint = "Use TREC or NTCIR SGML, XML, SMART, tab-separated, CSV, number:text or JSON."
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
        self.without_text: list[str] = []
        self.fields = ""
        self.long: list[str] = []
        self.unread: dict[str, int] = {}

    def take(self, record: Record) -> None:
        places = _places(record.names())
        topic = _topic(record, places)
        line = record.line
        if not self._is_whole(line, topic, record.names()):
            return
        if topic.number in self.line_of:
            message = f"the topic is already defined at line {self.line_of[topic.number]:,}"
            hint = "Keep one of them, or give it a number of its own."
            self.problems.error("E_DUP_TOPIC", line, message, topic.number, hint)
            return
        self.line_of[topic.number] = line
        self.topics.append(topic)
        if topic.title == record.text(places.document):
            self.without_text.append(topic.number)
            self.fields = self.fields or describe_fields(record.names())
        self._look_at_texts(line, topic)
        # Where nothing else is text, the other fields are the title.
        if topic.title and not places.titles and not places.descriptions:
            return
        for name in places.others:
            if is_prose(record.text(name)):
                self.unread.setdefault(name, line)

    def _look_at_texts(self, line: int, topic: Topic) -> None:
        if max(len(topic.title), len(topic.description), len(topic.narrative)) > LONG_TEXT:
            self.long.append(topic.number)
        twin = self.number_of.setdefault(topic.title.casefold(), topic.number)
        if twin != topic.number and topic.title:
            message = f"topic {topic.number} has the same title as topic {twin}"
            self.problems.warn("W_DUP_TEXT", line, message, topic.title)

    def report(self) -> None:
        """Warn once of topics without a text or a group, of long texts and of texts not read."""
        self._read_groups_of_all()
        if self.without_text:
            first = self.without_text[0]
            message = f"topics without a text: {len(self.without_text):,}; first: {first}"
            self.problems.warn("W_NO_TEXT", self.line_of[first], message, hint=self.fields)
        if self.long:
            first = self.long[0]
            message = (
                f"topics with over {LONG_TEXT:,} characters: {len(self.long):,}; first: {first}"
            )
            self.problems.warn("W_LONG_TEXT", self.line_of[first], message)
        report_unread(self.unread, self.problems)

    def _read_groups_of_all(self) -> None:
        """Keep the groups only where every topic has one."""
        without = [topic.number for topic in self.topics if not topic.group]
        if without and len(without) < len(self.topics):
            message = (
                f"{len(without):,} of {len(self.topics):,} topics have no group, so that none is"
                f" read; first: {without[0]}"
            )
            self.problems.warn("W_GROUP", self.line_of[without[0]], message)
            self.topics = [replace(topic, group="") for topic in self.topics]

    def _is_whole(self, line: int, topic: Topic, names: Sequence[str]) -> bool:
        texts = (topic.title, topic.description, topic.narrative)
        hint = ""
        if not topic.number:
            message, hint = "the topic has no number", describe_fields(names)
        elif not is_identifier(topic.number.encode("utf-8", "surrogatepass")):
            message = IDENTIFIER_RULE
        elif max(map(len, texts)) > LONGEST_TEXT:
            message = f"a text of topic {topic.number} has over {LONGEST_TEXT:,} characters"
            hint = "Is a line end or a closing tag missing?"
        else:
            return is_storable(line, texts, self.problems)
        self.problems.error("E_TOPIC", line, message, topic.number, hint)
        return False


@dataclass(frozen=True, slots=True)
class _TopicFields:
    """Which fields of a record are what in a topic; `others` are text if nothing else is."""

    number: str | None
    titles: tuple[str, ...]
    descriptions: tuple[str, ...]
    narratives: tuple[str, ...]
    besides: tuple[str, ...]
    document: str | None
    group: str | None
    others: tuple[str, ...]


@lru_cache(maxsize=16)
def _places(names: tuple[str, ...]) -> _TopicFields:
    number = NAMES.find_identifier(names)
    document = NAMES.find(names, DOCUMENTS)
    group = NAMES.find([name for name in names if name != number], GROUPS)
    left = [name for name in names if name not in (number, document, group)]
    titles, descriptions, narratives, besides = (
        tuple(NAMES.find_all(left, kind)) for kind in (TITLES, DESCRIPTIONS, NARRATIVES, BESIDES)
    )
    known = {*titles, *descriptions, *narratives, *besides}
    known |= set(NAMES.find_all(left, tuple(NOT_TITLES)))
    others = tuple(name for name in left if name not in known and not identifies(name))
    return _TopicFields(number, titles, descriptions, narratives, besides, document, group, others)


def _topic(record: Record, places: _TopicFields) -> Topic:
    """Read a topic from a record; without a title, its first text is the title."""
    number = _without_label(record.text(places.number), "number").strip()
    titles = _texts(record, places.titles, "topic|title|query")
    descriptions = _texts(record, places.descriptions, "description|summary")
    narrative = _texts(record, places.narratives, "narrative")
    title, further = titles[:1] or descriptions[:1], titles[1:]
    if not titles:
        descriptions = descriptions[1:]
    if not descriptions:
        descriptions, further = further, []
    if not title:
        title = _texts(record, places.others, "")
    if not title:
        title, narrative = narrative, []
    if not title:
        title = [record.text(places.document)]
    beside = _texts(record, places.besides, "")
    return Topic(
        number,
        " ".join(" ".join(title).split()),
        "\n\n".join(descriptions),
        "\n\n".join([*narrative, *further, *beside]),
        _group(record.text(places.group)),
    )


def _group(text: str) -> str:
    """Return the name of a group in one word; empty where it cannot be one.

    >>> _group(" canal locks ")
    'canal_locks'
    """
    name = "_".join(text.split())
    return name if is_identifier(name.encode("utf-8", "surrogatepass")) else ""


def _texts(record: Record, names: Sequence[str], label: str) -> list[str]:
    """Return the different texts of fields, without TREC's labels and without addresses."""
    texts = (_paragraphs(record.text(name), label) for name in names)
    return list(dict.fromkeys(text for text in texts if text and not ADDRESS.match(text)))


def _without_label(text: str, label: str) -> str:
    return re.sub(rf"^\s*(?:{label})\s*:", "", text, count=1, flags=re.I) if label else text


def _paragraphs(text: str, label: str) -> str:
    """Return the text without TREC's label, with its paragraphs but without line breaks.

    >>> _paragraphs(" Description:\\nWhat is\\nknown?\\n\\nAnd what not?", "description")
    'What is known?\\n\\nAnd what not?'
    """
    paragraphs = re.split(r"\n[ \t]*\n", _without_label(text, label))
    return "\n\n".join(" ".join(part.split()) for part in paragraphs if part.strip())
