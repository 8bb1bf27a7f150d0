"""Conversations: topics of the CAsT and iKAT tracks, where each turn of the user is a topic."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from evaluation.problems import Problems
from evaluation.reading.texts.field_names import FieldNames
from evaluation.reading.texts.records import JsonPart, Lines, Record, json_line_parts, json_parts

UTTERANCES = ("rawutterance", "utterance", "userutterance")
REWRITTEN = (
    "manualrewrittenutterance",
    "resolvedutterance",
    "rewrittenutterance",
    "automaticrewrittenutterance",
)
# Of BioASQ and of golden sets: documents that answer a question, not its text.
EVIDENCE = ("snippets", "documents", "concepts", "triples", "ideal_answer", "exact_answer")
ANSWERS = ("response", "passage", "systemutterance")
TURN = FieldNames(("number", "turnid", "turnnumber", "id"), UTTERANCES, frozenset({"turn"}))
CONVERSATION = FieldNames(
    ("number", "id", "topicnumber", "conversationid"), (), frozenset({"topic", "conversation"})
)


def topic_json_records(lines: Lines, problems: Problems, names: FieldNames) -> Iterator[Record]:
    """Yield the records of one JSON value; a conversation has a record for each turn of the user.

    >>> from evaluation.reading.topics import NAMES
    >>> line = b'[{"number": 31, "turn": [{"number": 1, "raw_utterance": "Is it deep?"}]}]'
    >>> [record.fields["number"] for record in topic_json_records([(1, line)], Problems(), NAMES)]
    ['31_1']
    """
    return _topics(json_parts(lines, problems, names), problems)


def topic_json_line_records(lines: Lines, problems: Problems) -> Iterator[Record]:
    """Yield the records of JSON lines, each a topic or a conversation."""
    return _topics(json_line_parts(lines, problems), problems)


def _topics(parts: Iterable[JsonPart], problems: Problems) -> Iterator[Record]:
    paths = _Paths()
    for part in parts:
        spoken = _name_of_turns(part)
        if not spoken:
            yield _without_evidence(part).record()
            continue
        conversation = _without(part, {spoken}).record()
        for turn in next(member for member in part.inner() if member.name == spoken).inner():
            if isinstance(turn.value, dict):
                yield from paths.new(_topic(conversation, turn, problems))
            else:
                hint = "Write a turn as an object with its number and its utterance."
                problems.error("E_JSON", turn.line, "a turn is not a JSON object", hint=hint)
    paths.report(problems)


def _without_evidence(part: JsonPart) -> JsonPart:
    """Return a topic without its documents and answers, whose texts are not its own."""
    names = part.value if isinstance(part.value, dict) else {}
    return _without(part, {name for name in names if name.lower() in EVIDENCE})


def _without(part: JsonPart, names: Collection[str]) -> JsonPart:
    """Return a part without some of its fields."""
    if not isinstance(part.value, dict):
        return part
    own = {name: value for name, value in part.value.items() if name not in names}
    return replace(part, value=own)


def _name_of_turns(part: JsonPart) -> str:
    """Return the field with the turns of a conversation; empty for a plain topic."""
    fields = part.value if isinstance(part.value, dict) else {}
    return next((name for name, value in fields.items() if _has_utterances(value)), "")


def _has_utterances(value: object) -> bool:
    turns = value if isinstance(value, list) else []
    return any(isinstance(turn, dict) and TURN.find(turn, UTTERANCES) for turn in turns)


def _topic(conversation: Record, turn: JsonPart, problems: Problems) -> Record | None:
    """Return a turn of the user as a topic, its conversation as narrative; None for answers."""
    spoken = turn.record()
    names = spoken.names()
    said = spoken.text(TURN.find(names, UTTERANCES))
    if not said and TURN.find(names, ANSWERS):
        return None
    numbers = (
        conversation.text(CONVERSATION.find(conversation.names(), CONVERSATION.identifiers)),
        spoken.text(TURN.find(names, TURN.identifiers)),
    )
    if not said:
        message, hint = "the turn has no utterance", "Give a turn its utterance, or its response."
        problems.error("E_TOPIC", turn.line, message, "_".join(numbers), hint)
        return None
    rewritten = spoken.text(TURN.find(names, REWRITTEN))
    about = (conversation.text(name) for name in ("title", "description"))
    return Record(
        turn.line,
        {
            "number": "_".join(numbers) if all(numbers) else "",
            "title": said,
            "description": "" if rewritten == said else rewritten,
            "narrative": "\n\n".join(text for text in about if text),
            "conversation": numbers[0],
        },
    )


class _Paths:
    """The turns read so far; a file of all paths of a conversation repeats their beginnings."""

    def __init__(self) -> None:
        self.taken: dict[str, Mapping[str, str]] = {}
        self.repeated = 0
        self.line = 0

    def new(self, topic: Record | None) -> Iterator[Record]:
        if topic is None:
            return
        number = topic.fields["number"]
        if number and self.taken.get(number) == topic.fields:
            self.line = self.line or topic.line
            self.repeated += 1
            return
        self.taken.setdefault(number, topic.fields)
        yield topic

    def report(self, problems: Problems) -> None:
        if self.repeated:
            message = f"turns on several paths of a conversation were read once: {self.repeated:,}"
            problems.warn("W_DUP_TOPIC", self.line, message)
