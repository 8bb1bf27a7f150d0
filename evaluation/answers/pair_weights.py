"""Which measures of answers are weighted sums over pairs, and the weight of each pair.

A pair is an answer and a nugget, or a sentence and a document that it cites. Where a measure is
such a sum, a sample of pairs with known probabilities gives an estimate of it.

>>> from evaluation.answers.judged import AnswerMarks, judge_answers
>>> from evaluation.answers.measures import parse_answer_measure
>>> from evaluation.answers.nuggets import Nugget, NuggetBank
>>> from evaluation.answers.runs import Answer, Sentence
>>> from evaluation.problems import Problems
>>> bank = NuggetBank({"t1": (Nugget("t1", "a", "Oak"), Nugget("t1", "b", "Elm"))}, "", Problems())
>>> answers = {"t1": Answer("t1", (Sentence("An oak."),))}
>>> judged = judge_answers("run", answers, AnswerMarks(bank), ["t1"])
>>> weighed = weigh_pairs(parse_answer_measure("all"), judged, answers, bank)
>>> [(pair.other, weight) for pair, weight in weighed.items()]
[('1', 0.5), ('2', 0.5)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from evaluation.answers.judged import JudgedAnswers, credit
from evaluation.answers.labels import CONTRADICTS
from evaluation.answers.marks import Codes
from evaluation.answers.measures import AnswerMeasure
from evaluation.answers.nuggets import NuggetBank
from evaluation.answers.runs import Answer
from evaluation.ragged import FloatArray, IntArray, ratio


class Pair(NamedTuple):
    """A topic, the key of an answer or a sentence, and the place of a nugget from 1 or a docno."""

    topic: str
    key: bytes
    other: str


# The weights of rows, and their sum by topic.
Shares = tuple[FloatArray, FloatArray]


def explain_no_sum(measure: AnswerMeasure) -> str:
    """Return why a measure is no weighted sum over pairs; empty if it is one.

    >>> from evaluation.answers.measures import parse_answer_measure
    >>> explain_no_sum(parse_answer_measure("strict_vital"))
    ''
    >>> explain_no_sum(parse_answer_measure("SupportF1"))
    'SupportF1 is no sum over pairs'
    """
    is_by_topic = measure.parameters.get("over", "topics") == "topics"
    is_sum = measure.name in SHARES and is_by_topic
    return "" if is_sum else f"{measure} is no sum over pairs"


def weigh_pairs(
    measure: AnswerMeasure,
    judged: JudgedAnswers,
    answers: Mapping[str, Answer],
    bank: NuggetBank | None = None,
) -> dict[Pair, float]:
    """Return the weight of each pair of a run in its score over all topics.

    With a value for each pair (`value_pairs`) the score is the sum of weight times value. Raises
    ValueError for a measure that is no such sum.
    """
    if reason := explain_no_sum(measure):
        raise ValueError(reason)
    rows: IntArray
    if measure.definition.domain == "nuggets":
        assert bank is not None
        rows, pairs = judged.nuggets.topic, _pairs_of_nuggets(judged, answers, bank)
    else:
        rows, pairs = judged.citations.topic, _pairs_of_citations(judged, answers)
    each, whole = SHARES[measure.name](judged, measure)
    counts = judged.domains[measure.definition.domain]
    weights = ratio(each, whole[rows]) * counts[rows] / max(int(counts.sum()), 1)
    weighed: dict[Pair, float] = {}
    for pair, weight in zip(pairs, weights.tolist(), strict=True):
        if pair is not None and weight:
            weighed[pair] = weighed.get(pair, 0.0) + weight
    return weighed


def value_pairs(measure: AnswerMeasure, codes: Codes) -> FloatArray:
    """Return the value of pairs with these codes, from 0 to 1.

    >>> from evaluation.answers.measures import parse_answer_measure
    >>> value_pairs(parse_answer_measure("all"), np.array([2, 1, 0, 3], np.uint8)).tolist()
    [1.0, 0.5, 0.0, 0.0]
    """
    if measure.definition.contradicts:
        return np.where(codes == CONTRADICTS, 1.0, 0.0)
    return credit(codes, _number(measure, "partial"))


def _number(measure: AnswerMeasure, name: str) -> float:
    """Return a parameter that is a number."""
    value = measure.parameters[name]
    assert isinstance(value, (int, float))
    return float(value)


def _pairs_of_nuggets(
    judged: JudgedAnswers, answers: Mapping[str, Answer], bank: NuggetBank
) -> Iterator[Pair | None]:
    """Yield the pair of each row; None where there is no answer, which has no nugget."""
    for topic, is_answered in zip(judged.topics, judged.answered.tolist(), strict=True):
        key = answers[topic].key if is_answered else b""
        for place in range(1, len(bank.topics.get(topic, ())) + 1):
            yield Pair(topic, key, str(place)) if is_answered else None


def _pairs_of_citations(judged: JudgedAnswers, answers: Mapping[str, Answer]) -> Iterator[Pair]:
    for topic in judged.topics:
        for sentence in answers[topic].sentences if topic in answers else ():
            for cited in sentence.citations:
                yield Pair(topic, sentence.key, cited.docno)


def _share_nuggets(judged: JudgedAnswers, measure: AnswerMeasure) -> Shares:
    rows = judged.nuggets
    vital_alone = measure.parameters.get("of") == "vital"
    each = np.where(rows.vital | (not vital_alone), 1.0, 0.0)
    return each, judged.sum(rows.topic, each)


def _share_weighted_nuggets(judged: JudgedAnswers, measure: AnswerMeasure) -> Shares:
    rows = judged.nuggets
    each = np.where(rows.vital, _number(measure, "vital"), _number(measure, "okay"))
    return each, judged.sum(rows.topic, each)


def _share_sentences(judged: JudgedAnswers, measure: AnswerMeasure) -> Shares:
    rows, sentences = judged.citations, judged.sentences
    each = rows.first.astype(np.float64)
    if measure.parameters["cites"] == "all":
        each = 1 / sentences.num_cited[rows.sentence]
    counted = (sentences.num_cited > 0) | (measure.name == "SupportR")
    return each, judged.sum(sentences.topic, counted)


def _share_citations(judged: JudgedAnswers, measure: AnswerMeasure) -> Shares:
    rows = judged.citations
    each = np.ones(len(rows.topic))
    return each, judged.sum(rows.topic, each)


SHARES: Mapping[str, Callable[[JudgedAnswers, AnswerMeasure], Shares]] = {
    "Nuggets": _share_nuggets,
    "WNuggets": _share_weighted_nuggets,
    "Contradicted": _share_nuggets,
    "SupportP": _share_sentences,
    "SupportR": _share_sentences,
    "CitationP": _share_citations,
}
