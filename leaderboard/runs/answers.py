"""The answer file: the answers of a run, one compressed block per topic.

    block    Zstandard: the answer as JSON, see `pack_answer`
    size     of a block: its number of sentences
    tops     for the first twenty sentences of every topic eight bytes of the key, as hexadecimal
             digits

The rest is that of every file by topic.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

import zstandard
from django.core.files.storage import default_storage

from evaluation.answers.runs import Answer, Cited, QuotedNugget, Reference, Sentence
from leaderboard.models import Run
from leaderboard.runs.topic_files import (
    LEVEL,
    TOP,
    TopicFile,
    TopicFileWriter,
    Tops,
    decompressed,
)

MAGIC = b"RFA1"
# Bytes of a key that tell sentences of one team apart.
KEY = 8


class AnswerWriter(TopicFileWriter):
    """Writes an answer file, answer by answer."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, MAGIC)

    def add(self, answer: Answer) -> None:
        """Add the answer to the next topic."""
        packed = zstandard.compress(json.dumps(pack_answer(answer)).encode(), LEVEL)
        self.write_block(packed, len(answer.sentences))
        self.numbers.append(answer.topic.encode("utf-8", "replace"))
        keys = [sentence.key[:KEY].hex() for sentence in answer.sentences[:TOP]]
        self.tops.append("\n".join(keys).encode())


class Answers(TopicFile):
    """An open answer file; its topics are in the order of the run."""

    def answer(self, number: str) -> Answer | None:
        """Return the answer to a topic, or None if the run does not answer it."""
        place = self.place(number)
        if place is None:
            return None
        return unpack_answer(number, json.loads(decompressed(self.packed(place))))


def pack_answer(answer: Answer) -> dict[str, Any]:
    """Return an answer as JSON; of a sentence the text, and what it cites in three lists."""
    return {
        "sentences": [
            [each.text, each.citations, each.contradicted, each.existing]
            for each in answer.sentences
        ],
        "references": answer.references,
        "confidence": answer.confidence,
        "status": answer.status,
        "quoted": answer.quoted,
        "extra": dict(answer.extra),
        "line": answer.line,
    }


def unpack_answer(topic: str, packed: dict[str, Any]) -> Answer:
    """Return the answer that `pack_answer` packed."""
    references = packed.pop("references")
    sentences = packed.pop("sentences")
    quoted = packed.pop("quoted")
    return Answer(
        topic,
        tuple(
            Sentence(text, _cited(citations), _cited(contradicted), tuple(existing))
            for text, citations, contradicted, existing in sentences
        ),
        None if references is None else tuple(Reference(*each) for each in references),
        quoted=tuple(QuotedNugget(*each) for each in quoted),
        **packed,
    )


def _cited(packed: list[list[Any]]) -> tuple[Cited, ...]:
    return tuple(Cited(*each) for each in packed)


def load_answer(run: Run, number: str) -> Answer | None:
    """Return what a run answers to a topic, None if it does not answer it."""
    with default_storage.open(run.answer_file.name) as file:
        return Answers(file).answer(number)


def read_answers(run: Run) -> Iterator[tuple[str, Answer]]:
    """Yield every answer of an accepted run with its topic."""
    with default_storage.open(run.answer_file.name) as file:
        stored = Answers(file)
        for number in stored:
            answer = stored.answer(number)
            assert answer is not None
            yield number, answer


def load_sentences(run: Run) -> Tops:
    """Return the keys of the first sentences of every topic, from the answer file of a run."""
    with default_storage.open(run.answer_file.name) as file:
        return Answers(file).tops
