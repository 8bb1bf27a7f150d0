"""Probabilities of intents: lines `topic subtopic probability`, as NTCIR has them."""

from __future__ import annotations

from dataclasses import replace
from typing import BinaryIO

from evaluation.problems import Problems
from evaluation.reading.columns import DECIMAL, check_identifier, columns_of
from evaluation.reading.containers import RUN_LIMITS
from evaluation.reading.judging.qrels import Qrels
from evaluation.reading.lines import data_lines, in_line_order, numbered_lines


def read_intents(file: BinaryIO) -> dict[bytes, dict[bytes, float]]:
    """Return the probability of each subtopic of each topic.

    Probabilities are above 0 and at most 1. They need not add up to 1. Raises `Refused` with each
    problem at its line: E_COLUMNS, E_TOPIC, E_SUBTOPIC, E_PROBABILITY, E_DUP_INTENT or E_EMPTY.

    >>> from io import BytesIO
    >>> read_intents(BytesIO(b"7 1 0.75\\n7 2 0.25\\n"))
    {b'7': {b'1': 0.75, b'2': 0.25}}
    """
    problems = Problems()
    intents: dict[bytes, dict[bytes, float]] = {}
    lines = numbered_lines(file, problems, RUN_LIMITS.line, RUN_LIMITS.lines)
    for number, line in data_lines(lines, problems):
        columns = columns_of(number, line, problems)
        if columns and len(columns) != 3:
            message = f"expected 3 columns (topic subtopic probability) but found {len(columns)}"
            problems.error("E_COLUMNS", number, message, line)
        elif columns:
            _take(number, columns, intents, problems)
    if not intents and not problems.errors:
        problems.error("E_EMPTY", None, "the file has no probabilities")
    in_line_order(problems).raise_if_refused()
    return intents


def _take(
    number: int, columns: list[bytes], intents: dict[bytes, dict[bytes, float]], problems: Problems
) -> None:
    topic, subtopic, token = columns
    good_topic = check_identifier("topic number", "E_TOPIC", number, topic, problems)
    if not check_identifier("subtopic", "E_SUBTOPIC", number, subtopic, problems) or not good_topic:
        return
    known = intents.setdefault(topic, {})
    if not DECIMAL.fullmatch(token) or not 0 < float(token) <= 1:
        message = "a probability is a number above 0 and at most 1"
        problems.error("E_PROBABILITY", number, message, token)
    elif subtopic in known:
        message = f"the subtopic already has a probability for topic {topic.decode()}"
        problems.error("E_DUP_INTENT", number, message, subtopic)
    else:
        known[subtopic] = float(token)


def with_probabilities(qrels: Qrels, intents: dict[bytes, dict[bytes, float]]) -> Qrels:
    """Return the judgments with the probabilities of their subtopics.

    In a topic without probabilities all subtopics are equally probable. Raises `Refused` with
    E_INTENT if only some of the judged subtopics of a topic have one.
    """
    problems = Problems()
    for topic in intents.keys() & qrels.subtopics.keys():
        judged = {name for graded in qrels.subtopics[topic].values() for name in graded}
        for subtopic in sorted(judged - intents[topic].keys()):
            message = f"a subtopic of topic {topic.decode()} has no probability"
            problems.error("E_INTENT", None, message, subtopic)
    problems.raise_if_refused()
    return replace(qrels, probabilities=intents)
