"""Answers of a machine about the bread collection, and how Ada imports them."""

from __future__ import annotations

import json

from leaderboard.actions.machine_judgments import import_machine_answers
from leaderboard.models import Collection, JudgmentSet
from tests.builders import upload, work

CARD = {"model": "GPT-4o", "prompt_name": "umbrela", "prompt": "Grade it from 0 to 3."}
# Topic 1: d1 grade 2 twice, d2 first fails, d3 fails for good; d9 is judged by no person.
ANSWERS = [
    {"id": "1 d1", "grade": 2},
    {"id": "1 d1", "grade": 2},
    {"id": "1 d2", "grade": None, "answer": "Sorry."},
    {"id": "1 d2", "grade": 1},
    {"id": "1 d3", "grade": 0, "result_status": 0},
    {"id": "1 d9", "grade": 1},
    {"id": "2 d4", "grade": 2},
]
LINES = "".join(json.dumps(line) + "\n" for line in ANSWERS)


def import_answers(
    collection: Collection, version: str = "machine", text: str = LINES
) -> JudgmentSet:
    """A version by the machine, imported to the end."""
    file = upload("answers.jsonl", text)
    made = import_machine_answers(
        collection, collection.owner, file, version, CARD, asks_first=False
    )
    work()
    return JudgmentSet.objects.get(pk=made.judgment_set.pk)
