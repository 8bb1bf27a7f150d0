"""Conversations: topics of the CAsT and iKAT tracks, where each turn of the user is a topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evaluation.problems import Problems
from evaluation.reading.records import JsonPart, Lines, Record, json_parts

TURNS = ("turn", "turns")
NUMBERS = ("number", "turn_id")
UTTERANCES = ("raw_utterance", "utterance")
REWRITTEN = (
    "manual_rewritten_utterance",
    "resolved_utterance",
    "automatic_rewritten_utterance",
)
ANSWERS = ("response", "passage")


def topic_json_records(lines: Lines, problems: Problems) -> Iterator[Record]:
    """Yield the records of one JSON value; a conversation has a record for each turn of the user.

    >>> line = b'[{"number": 31, "turn": [{"number": 1, "raw_utterance": "Is it deep?"}]}]'
    >>> [record.fields["number"] for record in topic_json_records([(1, line)], Problems())]
    ['31_1']
    """
    paths = _Paths()
    for part in json_parts(lines, problems):
        turns = _turns(part)
        if not turns:
            yield part.record()
        for turn in turns:
            if isinstance(turn.value, dict):
                yield from paths.new(_topic(part.record(), turn.record()))
            else:
                problems.error("E_JSON", turn.line, "a turn is not a JSON object")
    paths.report(problems)


def _turns(part: JsonPart) -> list[JsonPart]:
    """Return the turns of a conversation, or none if the part is a plain topic."""
    if not isinstance(part.value, dict) or part.value.keys().isdisjoint(TURNS):
        return []
    lists = (member for member in part.inner() if member.name in TURNS)
    found = next((member for member in lists if isinstance(member.value, list)), None)
    return [] if found is None else list(found.inner())


def _topic(conversation: Record, turn: Record) -> Record | None:
    """Return a turn of the user as a topic, its conversation as narrative; None for answers."""
    said = turn.first_text(UTTERANCES)
    if not said and turn.first_text(ANSWERS):
        return None
    numbers = (conversation.first_text(NUMBERS), turn.first_text(NUMBERS))
    rewritten = turn.first_text(REWRITTEN)
    about = (conversation.first_text((name,)) for name in ("title", "description"))
    return Record(
        turn.line,
        {
            "number": "_".join(numbers) if all(numbers) else "",
            "title": said,
            "description": "" if rewritten == said else rewritten,
            "narrative": "\n\n".join(text for text in about if text),
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
