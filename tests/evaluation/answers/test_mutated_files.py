"""Any object in place of any other is rejected or read; it never ends a reader otherwise."""

import io
import json
import random
from contextlib import suppress

from evaluation.answers.assignment_files import read_assignments
from evaluation.answers.nugget_files import read_nuggets
from evaluation.answers.rankings import ranking_run, trec_lines
from evaluation.answers.reading import read_answers, read_answers_leniently
from evaluation.answers.reported import read_reported
from evaluation.answers.rules import FIXES, PRESETS
from evaluation.answers.support_files import read_support
from evaluation.answers.topics import AnswerTopic, read_answer_topics
from evaluation.answers.verdicts import read_verdicts
from evaluation.answers.writing import WRITERS, AnswerWriter
from evaluation.problems import Refused
from tests.evaluation.answers.samples import common, lines_of
from tests.evaluation.answers.test_nuggets import BANKS
from tests.evaluation.answers.test_reading_answers import SAMPLES

ODD = (
    *(None, True, 0, -1, 10**30, 1.5, float("nan"), "", "x", "\ud800", "\0", "\u200f", "1"),
    *([], {}, [[]], {"a": 1}, [None], [1, "x"], {"d1": None}, [{"text": None}]),
)
MARKED = {"sentences": [{"text": "Cedar.", "citations": [{"docno": "d1", "support": 2}]}]}
OTHERS = [
    {"topic_id": "t1", "run_id": "oak", **MARKED},
    {"topic": "t1", "run": "oak", "nugget": "n1", "label": "support", "assessor": "ada"},
    {"request_id": "t1", "run_id": "oak", "sentence_results": [{"score": 1}]},
    {"topic_id": "t1", "limit": 60, "answer": [{"text": "Cedar."}]},
]
READERS = (
    *(read_nuggets, read_assignments, read_support, read_verdicts),
    *(read_answer_topics, read_reported),
)
TOPICS = {"t1": AnswerTopic("t1", "why", 60, ("Cedar.",))}


def places_in(value, path=()):
    yield path
    parts = value.items() if isinstance(value, dict) else ()
    for name, part in parts if parts else enumerate(value if isinstance(value, list) else ()):
        yield from places_in(part, (*path, name))


def mutated(value, chance):
    """The same object with something odd somewhere in it, or without something."""
    value = json.loads(json.dumps(value))
    *path, last = chance.choice([path for path in places_in(value) if path])
    inner = value
    for name in path:
        inner = inner[name]
    if chance.random() < 0.2:
        del inner[last]
    else:
        inner[last] = chance.choice(ODD)
    return value


def test_readers_of_answers_reject_or_read_whatever_is_in_an_object():
    chance = random.Random(7)
    for _ in range(400):
        content = lines_of(mutated(chance.choice([*SAMPLES.values()]), chance))
        fix = frozenset(chance.sample([*FIXES], chance.randrange(5)))
        preset = PRESETS[chance.choice([*PRESETS])]
        rules = type(preset)(**{**vars(preset), "fix": fix, "topics": TOPICS})
        with suppress(Refused):
            read_answers(io.BytesIO(content), rules)
        with suppress(Refused):
            run = read_answers_leniently(io.BytesIO(content), rules)
            list(trec_lines(ranking_run(run, "cited", with_references=True)))
            assert all(list(AnswerWriter(run, name).lines()) for name in WRITERS)


def test_readers_of_nuggets_and_marks_reject_or_read_whatever_is_in_an_object():
    chance = random.Random(8)
    for _ in range(200):
        content = lines_of(mutated(chance.choice([*BANKS.values(), *OTHERS]), chance))
        for read in READERS:
            with suppress(Refused):
                read(io.BytesIO(content))


def test_readers_of_lines_reject_or_read_any_bytes():
    chance = random.Random(9)
    header = b"topic_id,run_tag,answer_id,annotation\n"
    files = [b"<D1>\ncedar;0.8\n1;P;1;x\n</D1>\n", b"t1\ta\toak\t1\tWhy?\n", lines_of(common())]
    files += [header + b"t1,oak,a1,supports\n", b"oak t1 1 support\n", b"oak t1 1 d1 FS\n"]
    for _ in range(300):
        content = bytearray(chance.choice(files))
        for _ in range(3):
            place = chance.randrange(len(content))
            content[place : place + chance.randrange(3)] = chance.choice(
                [b"\xff", b"\0", b'"', b"\n"]
            )
        for read in (read_answers, *READERS):
            with suppress(Refused):
                read(io.BytesIO(bytes(content)))
