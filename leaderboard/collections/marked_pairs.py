"""Marks of answers as grades of pairs, under the names that pools give them.

An answer and a nugget, or a sentence and a document, have the place of a docno, see `answer_pools`.
So judges that mark answers are compared with people as judges that grade documents are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

from evaluation.answers.agreement import ORIGIN, grades_of_nuggets, grades_of_support
from evaluation.answers.labels import CONTRADICTS
from evaluation.answers.marks import AssignmentLayer, AssignmentMark, SupportLayer
from evaluation.answers.nuggets import NuggetBank
from evaluation.answers.opinions import BELOW_NONE, KEY
from evaluation.answers.runs import Answer
from evaluation.problems import Problems
from evaluation.reading.judging.qrels import Qrels
from leaderboard.collections.answer_pools import PairName, read_pair
from leaderboard.collections.mark_layers import load_assignments, load_support
from leaderboard.collections.nuggets import load_bank
from leaderboard.models import MarkLayer, Run
from leaderboard.models.collections import LONGEST_IDENTIFIER
from leaderboard.runs.answers import read_answers

ReadLayer: TypeAlias = AssignmentLayer | SupportLayer
Answers: TypeAlias = Mapping[str, Mapping[str, Answer]]
Grades: TypeAlias = Mapping[bytes, Mapping[bytes, int]]


@lru_cache(maxsize=8)
def load_people_pairs(layer_id: int) -> Qrels:
    """Return the marks of a ready layer as grades of pairs; it never changes."""
    layer = MarkLayer.objects.get(pk=layer_id)
    is_support = layer.about == MarkLayer.About.SUPPORT
    read = load_support(layer) if is_support else load_assignments(layer)
    return grade_pairs(layer, read, load_answers({run: run for run in list_runs(read)}))


def list_runs(read: ReadLayer) -> list[str]:
    """Return the runs that marks name."""
    marks = read.by_place if isinstance(read, SupportLayer) else read.marks
    return list(dict.fromkeys(run for run, _ in marks))


def load_answers(runs: Mapping[str, str]) -> Answers:
    """Return the answers of runs by topic, under the names of their ids."""
    found = Run.objects.in_bulk(list(runs.values()))
    return {name: dict(read_answers(found[pk])) for name, pk in runs.items() if pk in found}


def grade_pairs(layer: MarkLayer, read: ReadLayer, answers: Answers) -> Qrels:
    """Return marks of the nuggets of a layer, or of support, as grades of pairs.

    Grades begin at 0 for a contradiction, see `evaluation.answers.agreement`. Runs are named as in
    `answers`. Marks of what is in none of them, or of no nugget, are left out with W_PAIR.
    """
    if isinstance(read, SupportLayer):
        bank, grades = None, grades_of_support(read, answers)
    else:
        assert layer.nuggets_id is not None
        bank, grades = load_bank(layer.nuggets_id), grades_of_nuggets(read, answers)
    named = Qrels({}, read.problems)
    num_unknown = 0
    for topic, graded in grades.grades.items():
        sure = grades.confidences.get(topic, {})
        for pair, grade in graded.items():
            name = _name_pair(bank, topic.decode(), pair.decode())
            if name is None or len(str(name)) > LONGEST_IDENTIFIER:
                num_unknown += 1
                continue
            docno = str(name).encode()
            named.grades.setdefault(topic, {})[docno] = grade
            if pair in sure:
                named.confidences.setdefault(topic, {})[docno] = sure[pair]
    if num_unknown:
        message = "marks of pairs that are in no answer are ignored"
        named.problems.warn("W_PAIR", None, message, count=num_unknown)
    return named


def _name_pair(bank: NuggetBank | None, topic: str, pair: str) -> PairName | None:
    """Return the name of a pair as agreement has it; None where its text or nugget is unknown."""
    text, _, other = pair.partition("\n")
    if bank is None:
        return PairName(text, other) if KEY.fullmatch(text) else None
    _, is_key, key = text.partition("key ")
    place = bank.place_of(topic, other)
    return PairName(key, str(place + 1)) if is_key and place is not None else None


def lower_grades(grades: Grades) -> dict[bytes, dict[bytes, int]]:
    """Return grades of pairs as measures of rankings take them: a contradiction counts as none.

    >>> lower_grades({b"1": {b"9a3e:1": 3, b"9a3e:2": 1, b"9a3e:3": 0}})
    {b'1': {b'9a3e:1': 2, b'9a3e:2': 0, b'9a3e:3': 0}}
    """
    return {
        topic: {pair: max(0, grade - ORIGIN) for pair, grade in graded.items()}
        for topic, graded in grades.items()
    }


def layer_of_assignments(grades: Grades, bank: NuggetBank) -> AssignmentLayer:
    """Return grades of answers and nuggets as marks, by the keys of answers."""
    by_key: dict[tuple[str, bytes], dict[str, AssignmentMark]] = {}
    for topic, name, code in list_codes(grades):
        nugget = bank.topics[topic][int(name.other) - 1].key
        of_answer = by_key.setdefault((topic, bytes.fromhex(name.key)), {})
        of_answer[nugget] = AssignmentMark(code)
    return AssignmentLayer("", {}, Problems(), by_key=by_key)


def layer_of_support(grades: Grades) -> SupportLayer:
    """Return grades of sentences and documents as marks, by the keys of sentences."""
    by_text: dict[tuple[str, bytes], dict[str, int]] = {}
    for topic, name, code in list_codes(grades):
        by_text.setdefault((topic, bytes.fromhex(name.key)), {})[name.other] = code
    return SupportLayer("", {}, by_text, Problems())


def list_codes(grades: Grades) -> Iterator[tuple[str, PairName, int]]:
    """Yield each pair by its topic and name, with the code of its label.

    >>> list(list_codes({b"1": {b"9a3e:1": 3, b"9a3e:2": 0}}))[1]
    ('1', PairName(key='9a3e', other='2'), 3)
    """
    for topic, graded in grades.items():
        for pair, grade in graded.items():
            mark = grade - ORIGIN
            code = CONTRADICTS if mark == BELOW_NONE else mark
            yield topic.decode(), read_pair(pair.decode()), code
