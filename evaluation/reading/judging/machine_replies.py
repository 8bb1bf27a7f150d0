"""Replies of a machine: what it was asked and what it said, to keep beside its grades or marks.

They are read from the same JSON Lines as grades and marks; lines without a reply are passed over.
Problems of the file are those that its reader of grades or marks reports.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from evaluation.problems import Problems
from evaluation.reading.columns import is_identifier
from evaluation.reading.containers import RUN_LIMITS
from evaluation.reading.judging.machine_grades import (
    GRADES,
    IDS,
    LONGEST_LINE,
    TEXTS,
    find_pair,
    first_of,
    plain_name,
    recognise_answers,
)
from evaluation.reading.lines import first_bytes, numbered_lines
from evaluation.reading.texts.records import json_objects

# Longer texts and prompts are cut, and say so.
LONGEST_TEXT = 20_000
CUT = " [cut]"
# Names of fields, in the order in which they are tried.
REPLIES = ("reply", "completion", *TEXTS)
PROMPTS = ("prompt", "messages")
MODELS = ("model",)
VERSIONS = ("version", "model_version", "revision")
HASHES = ("prompt_hash", "prompt_sha256")
TEMPERATURES = ("temperature",)
COSTS = ("cost", "price")
LABELS = ("labels", *GRADES, "assignment", "support")
# How the ids of exported lines begin that ask about answers.
OF_ANSWERS = ("assign", "support")
LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class MachineReply:
    """What a machine said about one item of a topic, and how it was asked.

    The item is a docno; of answers it is the key of an answer, or of a sentence with a docno.
    `prompt_hash` is the SHA-256 of the prompt, or what the file says, "" for neither.
    """

    topic: str
    item: str
    text: str
    label: str = ""
    prompt: str = ""
    prompt_hash: str = ""
    model: str = ""
    version: str = ""
    temperature: float | None = None
    cost: float | None = None


def read_replies(file: BinaryIO) -> Iterator[MachineReply]:
    """Yield each reply in a file of JSON Lines; nothing where the file has another form.

    >>> from io import BytesIO
    >>> line = b'{"id": "7 d1", "grade": 2, "answer": "It says 2.", "temperature": 0}'
    >>> reply = next(read_replies(BytesIO(line)))
    >>> reply.topic, reply.item, reply.label, reply.text, reply.temperature
    ('7', 'd1', '2', 'It says 2.', 0.0)
    """
    if recognise_answers(first_bytes(file)) != "jsonl":
        return
    unread = Problems()
    lines = numbered_lines(file, unread, LONGEST_LINE["jsonl"], RUN_LIMITS.lines)
    for _, values in json_objects(lines, unread):
        for record in _records_of(values):
            reply = _read_reply({plain_name(name): value for name, value in record.items()})
            if reply is not None:
                yield reply


def _records_of(values: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """Yield a record, or those of its candidates."""
    candidates = values.get("candidates")
    if not isinstance(candidates, list):
        yield values
        return
    for candidate in candidates:
        if isinstance(candidate, dict):
            yield {**values, "candidates": None, **candidate}


def _read_reply(named: Mapping[str, object]) -> MachineReply | None:
    about = str(named.get("about") or "document")
    place = _find_item(named, about)
    names = [name for name in REPLIES if name != "answer" or about == "document"]
    text, prompt = _text_of(first_of(named, names)), _text_of(first_of(named, PROMPTS))
    if place is None or not (text or prompt):
        return None
    stated = _text_of(first_of(named, HASHES))[:LONGEST_NAME]
    return MachineReply(
        *place,
        text=_cut(text),
        label=_text_of(first_of(named, LABELS))[:LONGEST_NAME],
        prompt=_cut(prompt),
        prompt_hash=stated or (hashlib.sha256(_encode(prompt)).hexdigest() if prompt else ""),
        model=_text_of(first_of(named, MODELS))[:LONGEST_NAME],
        version=_text_of(first_of(named, VERSIONS))[:LONGEST_NAME],
        temperature=_number_of(first_of(named, TEMPERATURES)),
        cost=_number_of(first_of(named, COSTS)),
    )


def _find_item(named: Mapping[str, object], about: str) -> tuple[str, str] | None:
    """Return the topic of a line and what it is about; None where it names neither."""
    words = str(first_of(named, IDS)).split()
    if len(words) > 2 and words[0] in OF_ANSWERS:
        return _checked(words[1], " ".join(words[2:]))
    if about == "document":
        pair = find_pair(named)
        return None if pair is None else _checked(*pair)
    topic = named.get("topic")
    number = topic.get("number") if isinstance(topic, dict) else topic
    if about == "support":
        parts = [named.get("sentence"), named.get("docno")]
    else:
        parts = [first_of(named, ("answer", "run_id", "run_tag", "run")), named.get("nugget")]
    return _checked(str(number), " ".join(str(part) for part in parts if part not in (None, "")))


def _checked(topic: str, item: str) -> tuple[str, str] | None:
    names = [_encode(word) for word in (topic, *item.split())]
    return (topic, item) if len(names) > 1 and all(map(is_identifier, names)) else None


def _text_of(value: object) -> str:
    """Return a value as text without half characters; lists and objects as JSON."""
    if value is None or isinstance(value, bool):
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _encode(text).decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + CUT


def _number_of(value: object) -> float | None:
    """Return a number that is finite, also where it is a text; None for anything else.

    >>> _number_of("0.7"), _number_of(True), _number_of("NaN"), _number_of("high")
    (0.7, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
