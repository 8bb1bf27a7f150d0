"""A small answer with the value of every measure, for docstrings and the reference.

Four nuggets of three questions: n1 (vital, supported), n2 (vital, partial), n3 (okay, none), n4
(okay, contradicted). Three sentences: the first cites d1 (full support) and d2 (partial), the
second d3 (unjudged), the third nothing, though it needs a citation. d1 has grade 2, d2 grade 0.

    >>> example("Nuggets")
    0.375
"""

from __future__ import annotations

from evaluation.answers.judged import AnswerMarks, JudgedAnswers, judge_answers
from evaluation.answers.labels import CONTRADICTS, NONE, PARTIAL, SUPPORT
from evaluation.answers.marks import PEOPLE, AssignmentLayer, AssignmentMark, SupportLayer
from evaluation.answers.measures.names import parse_answer_measure
from evaluation.answers.nuggets import OKAY, VITAL, AcceptedAnswer, Nugget, NuggetBank
from evaluation.answers.runs import Answer, Cited, Reference, Sentence
from evaluation.answers.verdicts import SentenceVerdict
from evaluation.problems import Problems

RUN, TOPIC = "oak", "t1"


def _nugget(key: str, importance: str, group: str, parent: str, weight: float) -> Nugget:
    answers = (AcceptedAnswer("yes", ("d1",)),)
    return Nugget(TOPIC, key, key, "question", importance, weight, group, parent, answers=answers)


NUGGETS = (
    _nugget("n1", VITAL, "causes", "q1", 4.0),
    _nugget("n2", VITAL, "causes", "q1", 4.0),
    _nugget("n3", OKAY, "cures", "q2", 2.0),
    _nugget("n4", OKAY, "costs", "q3", 1.0),
)
SENTENCES = (
    Sentence("Phosphorus feeds algae.", (Cited("d1"), Cited("d2"))),
    Sentence("Warm water helps.", (Cited("d3"),)),
    Sentence("Alum is cheap."),
)
ASSIGNED = {
    "n1": AssignmentMark(SUPPORT, 1),
    "n2": AssignmentMark(PARTIAL, 2),
    "n3": AssignmentMark(NONE),
    "n4": AssignmentMark(CONTRADICTS, 3),
}
VERDICTS = (
    SentenceVerdict(True, pairs=frozenset({("n1", "yes"), ("n2", "yes")})),
    SentenceVerdict(True, fails=True),
    SentenceVerdict(False, needs_citation=True, is_first=True),
)


def example_answers() -> JudgedAnswers:
    """Return the record of the small answer."""
    of_answer = RUN, TOPIC
    references = tuple(Reference(docno) for docno in ("d1", "d2", "d3", "d4"))
    answers = {TOPIC: Answer(TOPIC, SENTENCES, references, confidence=80.0)}
    placed = {(1, "d1"): SUPPORT, (1, "d2"): PARTIAL, (2, "d4"): SUPPORT}
    marks = AnswerMarks(
        NuggetBank({TOPIC: NUGGETS}, "", Problems()),
        AssignmentLayer(PEOPLE, {of_answer: ASSIGNED}, Problems(), {of_answer: True}),
        SupportLayer(PEOPLE, {of_answer: placed}, {}, Problems(), {of_answer: {3: True}}),
        {TOPIC: {"d1": 2, "d2": 0}},
        {of_answer: VERDICTS},
    )
    return judge_answers(RUN, answers, marks, [TOPIC])


def example(text: str) -> float:
    """Return the value of a measure for the small answer, with four decimals."""
    return round(parse_answer_measure(text).scores(example_answers()).overall, 4)
