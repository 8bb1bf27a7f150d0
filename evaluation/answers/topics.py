"""The topics of a track of answers: number, text, a limit of their own, given sentences.

Besides the files of topics that every track reads, JSON with `limit`, with the turns of iKAT and
with the sentences of BioGen A is read, and a plain list of numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from evaluation.answers.findings import Findings
from evaluation.answers.objects import read_objects
from evaluation.problems import Refused, refuse
from evaluation.reading.lines import first_bytes
from evaluation.reading.topics import read_topics

NUMBERS = ("topic_id", "narrative_id", "request_id", "qa_id", "turn_id", "query_id", "qid")
TEXTS = ("topic", "narrative", "title", "question", "query", "text")


@dataclass(frozen=True, slots=True)
class AnswerTopic:
    """A topic; `limit` is None where that of the track holds, `sentences` where none are given."""

    number: str
    text: str = ""
    limit: int | None = None
    sentences: tuple[str, ...] | None = None


def read_answer_topics(file: BinaryIO) -> dict[str, AnswerTopic]:
    """Return the topics of a file by number; raises `Refused`.

    >>> from io import BytesIO
    >>> list(read_answer_topics(BytesIO(b'{"topic_id": "t1", "limit": 60}')).values())
    [AnswerTopic(number='t1', text='', limit=60, sentences=None)]
    """
    if first_bytes(file).startswith((b"{", b"[")):
        return _topics_of_json(file)
    try:
        return {t.number: AnswerTopic(t.number, t.title) for t in read_topics(file).topics}
    except Refused as refusal:
        file.seek(0)
        words = [line.split() for line in file.read().decode("utf-8", "replace").splitlines()]
        if any(len(word) > 1 for word in words) or "E_FORMAT" not in refusal.problems.counts:
            raise
        return {word[0]: AnswerTopic(word[0]) for word in words if word}


def _topics_of_json(file: BinaryIO) -> dict[str, AnswerTopic]:
    findings = Findings()
    topics: dict[str, AnswerTopic] = {}
    for item in read_objects(file, findings):
        for topic in _topics_of(item.value):
            if topic.number in topics:
                message = f"topic {topic.number} appears twice"
                findings.error("E_DUP_TOPIC", item.line, message)
            topics[topic.number] = topic
    if not topics and not findings.errors:
        raise refuse("E_EMPTY", "the file has no topics")
    findings.raise_if_refused()
    return topics


def _topics_of(value: Mapping[str, object]) -> Iterator[AnswerTopic]:
    number = _first(value, (*NUMBERS, "id", "number", "_id"))
    turns = value.get("responses", value.get("turns"))
    if isinstance(turns, list):
        ids = [_first(turn, ("turn_id", "number")) for turn in turns if isinstance(turn, dict)]
        yield from (AnswerTopic(i if "_" in i else f"{number}_{i}") for i in ids)
    elif number:
        limit = value.get("limit")
        whole = limit if isinstance(limit, int) and not isinstance(limit, bool) else None
        yield AnswerTopic(number, _first(value, TEXTS), whole, _sentences(value.get("answer")))


def _first(value: Mapping[str, object], names: tuple[str, ...]) -> str:
    """Return the first field that has a text or a whole number."""
    found = (value.get(name) for name in names)
    kept = (v for v in found if isinstance(v, str | int) and not isinstance(v, bool))
    return str(next(kept, ""))


def _sentences(answer: object) -> tuple[str, ...] | None:
    if not isinstance(answer, list):
        return None
    texts = (part.get("text") if isinstance(part, dict) else part for part in answer)
    return tuple(text for text in texts if isinstance(text, str))
