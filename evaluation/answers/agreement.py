"""The marks of assessors as grades, so that agreement is computed as that of judgments.

Labels are in an order: contradicts, none, partial, full. `grades_of` takes negative grades for no
judgment, so grades begin at 0 for a contradiction and `ORIGIN` is that of none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluation.answers.labels import CONTRADICTS, UNJUDGED
from evaluation.answers.marks import AssignmentLayer, OfPair, SupportLayer
from evaluation.answers.opinions import BELOW_NONE
from evaluation.answers.runs import Answer
from evaluation.marks import Mark, replay
from evaluation.problems import Problems
from evaluation.reading.judging.qrels import Qrels

ORIGIN = 1
NO_ANSWERS: Mapping[str, Mapping[str, Answer]] = {}


def grades_by_assessor(log: Sequence[Mark]) -> dict[str, Qrels]:
    """Return the marks of each assessor of one file: those that are valid in the end.

    >>> log = [Mark("t1", "oak n1", "ada", 2), Mark("t1", "oak n1", "ben", -1)]
    >>> [qrels.grades for qrels in grades_by_assessor(log).values()]
    [{b't1': {b'oak n1': 3}}, {b't1': {b'oak n1': 0}}]
    """
    found: dict[str, Qrels] = {}
    for mark in replay(log):
        qrels = found.setdefault(mark.assessor, Qrels({}, Problems()))
        if mark.grade is not None and not mark.is_repeat:
            _add(qrels, mark.topic, mark.docno, mark.grade)
    return found


def grades_of_layers(layers: Sequence[AssignmentLayer | SupportLayer]) -> list[Qrels]:
    """Return the marks of each layer, each with what the texts of all of them say."""
    answers: dict[str, dict[str, Answer]] = {}
    for layer in layers:
        for run, of_run in layer.runs.items() if isinstance(layer, SupportLayer) else ():
            answers.setdefault(run, {}).update(of_run)
    return [
        grades_of_support(layer, answers)
        if isinstance(layer, SupportLayer)
        else grades_of_nuggets(layer)
        for layer in layers
    ]


def grades_of_nuggets(
    layer: AssignmentLayer, answers: Mapping[str, Mapping[str, Answer]] = NO_ANSWERS
) -> Qrels:
    """Return the marks of one layer about nuggets; a pair is an answer and a nugget.

    Answers go by the key of their text where `answers`, by run and topic, have it, so that marks
    by run and by text meet.
    """
    keys = {
        (run, topic): f"key {answer.key.hex()}"
        for run, of_run in answers.items()
        for topic, answer in of_run.items()
    }
    qrels = Qrels({}, layer.problems)
    for (topic, key), marks in layer.by_key.items():
        for name, mark in marks.items():
            _add(qrels, topic, f"key {key.hex()}\n{name}", _grade(mark.code))
    for of_answer, marks in layer.marks.items():
        run, topic = of_answer
        for name, mark in marks.items():
            _add(qrels, topic, f"{keys.get(of_answer, run)}\n{name}", _grade(mark.code))
    confidences = {}
    for (topic, pair), sure in layer.confidences.items():
        run, _, name = pair.partition("\n")
        confidences[topic, f"{keys.get((run, topic), run)}\n{name}"] = sure
    _add_confidences(qrels, confidences)
    return qrels


def grades_of_support(layer: SupportLayer, answers: Mapping[str, Mapping[str, Answer]]) -> Qrels:
    """Return the marks of one layer about support; a pair is a sentence and a document.

    Sentences go by the key of their text where `answers`, by run and topic, have it, so that marks
    by place and by text meet.
    """
    qrels = Qrels({}, layer.problems)
    for (run, topic), marks in layer.by_place.items():
        answer = answers.get(run, {}).get(topic, Answer(topic))
        names = {n: s.key.hex() for n, s in enumerate(answer.sentences, 1) if s.text}
        for (number, docno), code in marks.items():
            name = names.get(number, f"{run} {number}")
            _add(qrels, topic, f"{name}\n{docno}", _grade(code))
    for (topic, key), documents in layer.by_text.items():
        for docno, code in documents.items():
            _add(qrels, topic, f"{key.hex()}\n{docno}", _grade(code))
    _add_confidences(qrels, layer.confidences)
    return qrels


def _grade(code: int) -> int | None:
    return None if code == UNJUDGED else BELOW_NONE if code == CONTRADICTS else code


def _add(qrels: Qrels, topic: str, pair: str, grade: int | None) -> None:
    if grade is not None:
        of_topic = qrels.grades.setdefault(topic.encode("utf-8", "surrogatepass"), {})
        of_topic[pair.encode("utf-8", "surrogatepass")] = grade + ORIGIN


def _add_confidences(qrels: Qrels, confidences: Mapping[OfPair, float]) -> None:
    """Keep how sure marks are, of pairs that have a label."""
    for (topic, pair), sure in confidences.items():
        name, docno = (text.encode("utf-8", "surrogatepass") for text in (topic, pair))
        if docno in qrels.grades.get(name, {}):
            qrels.confidences.setdefault(name, {})[docno] = sure
