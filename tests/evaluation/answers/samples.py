"""Small invented runs of answers, and short ways to read them."""

import io
import json

from evaluation.answers.reading import check_answers, read_answers
from evaluation.answers.rules import AnswerRules
from evaluation.answers.runs import AnswerRun
from evaluation.problems import Problems, Refused

CEDAR = [{"text": "Cedar smells strong.", "citations": ["d1", "d2"]}]


def common(topic="t1", run="oak", sentences=None, **fields):
    """Return an object of the common format."""
    sentences = CEDAR if sentences is None else sentences
    return {"metadata": {"run_id": run, "topic_id": topic}, "responses": sentences, **fields}


def rag24(number="t1", citations=(0,), references=("d1", "d2"), **fields):
    """Return an object of RAG 2024 with one sentence of two words."""
    answer = [{"text": "Cedar smells.", "citations": list(citations)}]
    fixed = {"run_id": "oak", "topic_id": number, "topic": "why", "response_length": 2}
    return {**fixed, "references": references, "answer": answer, **fields}


def lines_of(*objects) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in objects)


def read(*objects, **rules) -> AnswerRun:
    """Read objects, or the bytes of a file."""
    content = objects[0] if isinstance(objects[0], bytes) else lines_of(*objects)
    return read_answers(io.BytesIO(content), AnswerRules(**rules))


def problems_of(*objects, rules=AnswerRules()) -> Problems:
    content = objects[0] if isinstance(objects[0], bytes) else lines_of(*objects)
    try:
        return check_answers(io.BytesIO(content), rules).problems
    except Refused as refusal:
        return refusal.problems


def codes_of(*objects, rules=AnswerRules()) -> list[str]:
    return [problem.code for problem in problems_of(*objects, rules=rules)]
