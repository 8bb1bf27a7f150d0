"""Measures of support: whether cited documents say what sentences say.

Full support is 1, partial support `partial`, everything else 0. What is unjudged is neither in
the sum nor in the count, unless a measure says otherwise.
"""

from __future__ import annotations

import numpy as np

from evaluation.answers.judged import CLASSES, JudgedAnswers, credit
from evaluation.answers.labels import SUPPORT, UNJUDGED
from evaluation.answers.measures.declaring import (
    CITES,
    CLASS,
    OVER,
    PARTIAL,
    Share,
    answer_measure,
)
from evaluation.answers.measures.example import example  # noqa: F401, for the docstrings
from evaluation.measures.declaring import choice
from evaluation.ragged import BoolArray, FloatArray, ratio


def _sentence_values(
    judged: JudgedAnswers, cites: str, partial: float
) -> tuple[FloatArray, BoolArray]:
    """Return the value of every sentence and which are judged: by the first citation, or all."""
    rows, size = judged.citations, len(judged.sentences.topic)
    counted = (rows.code != UNJUDGED) & (rows.first | (cites == "all"))
    number = np.bincount(rows.sentence[counted], minlength=size)
    values = credit(rows.code, partial)[counted]
    total = np.bincount(rows.sentence[counted], values, minlength=size)
    return ratio(total, number), number > 0


@answer_measure("SupportP", CITES, PARTIAL, OVER, domain="support", unjudged="support")
def support_precision(judged: JudgedAnswers, *, cites: str, partial: float) -> Share:
    """Mean support of the sentences that cite, by their first citation or by all of them.

    Takes cites (first or all), partial and over. With partial=0 it is the hard precision.
    Source: Thakur and others, Support Evaluation for the TREC 2024 RAG Track, SIGIR 2025.

    >>> example("SupportP"), example("SupportP(cites=all)")
    (1.0, 0.75)
    """
    values, is_judged = _sentence_values(judged, cites, partial)
    topic = judged.sentences.topic
    return Share(judged.sum(topic, values), judged.sum(topic, is_judged))


@answer_measure("SupportR", CITES, PARTIAL, OVER, domain="support", unjudged="support")
def support_recall(judged: JudgedAnswers, *, cites: str, partial: float) -> Share:
    """Mean support of all sentences; one without citation counts 0.

    Takes cites (first or all), partial and over. With partial=0 it is the hard recall.
    Source: Thakur and others, Support Evaluation for the TREC 2024 RAG Track, SIGIR 2025.

    >>> example("SupportR")
    0.5
    """
    values, is_judged = _sentence_values(judged, cites, partial)
    rows = judged.sentences
    counted = is_judged | (rows.num_cited == 0)
    return Share(judged.sum(rows.topic, values), judged.sum(rows.topic, counted))


@answer_measure("SupportF1", CITES, PARTIAL, domain="support", unjudged="support")
def support_f1(judged: JudgedAnswers, *, cites: str, partial: float) -> FloatArray:
    """Harmonic mean of SupportP and SupportR by topic.

    Takes cites (first or all) and partial.
    Source: Thakur and others, Support Evaluation for the TREC 2024 RAG Track, SIGIR 2025.

    >>> example("SupportF1")
    0.6667
    """
    precision = ratio(*support_precision(judged, cites=cites, partial=partial))
    recall = ratio(*support_recall(judged, cites=cites, partial=partial))
    return ratio(2 * precision * recall, precision + recall)


@answer_measure(
    "CitationP", PARTIAL, OVER, domain="support", unjudged="support", also=("citation_support",)
)
def citation_precision(judged: JudgedAnswers, *, partial: float) -> Share:
    """Mean support of all citations.

    Takes partial and over; RAGTIME has partial=0.
    Source: Lawrie and others, Overview of the TREC 2025 RAGTIME Track.

    >>> example("CitationP")
    0.75
    """
    rows = judged.citations
    values = judged.sum(rows.topic, credit(rows.code, partial))
    return Share(values, judged.sum(rows.topic, rows.code != UNJUDGED))


@answer_measure("CitationRelevance", OVER, domain="support")
def citation_relevance(judged: JudgedAnswers) -> Share:
    """Share of the citations whose document attests any accepted answer of the topic.

    Takes over.
    Source: Mayfield and others, On the Evaluation of Machine-Generated Reports, SIGIR 2024.

    >>> example("CitationRelevance")
    0.3333
    """
    rows = judged.citations
    part = judged.sum(rows.topic, rows.attests)
    return Share(part, judged.sum(rows.topic, np.ones(len(rows.topic))))


@answer_measure("SentenceSupport", OVER, domain="support", unjudged="support")
def sentence_support(judged: JudgedAnswers) -> Share:
    """Share of the sentences whose citations are all full, of those that cite or need to.

    Takes over. Unjudged is not full. Without marks of need, only sentences that cite count.
    Source: Auto-ARGUE, as described by Lawrie and others, RAGTIME 2025.

    >>> example("SentenceSupport")
    0.0
    """
    rows, cited = judged.sentences, judged.citations
    full = np.bincount(cited.sentence, cited.code == SUPPORT, minlength=len(rows.topic))
    has_citation = rows.num_cited > 0
    good = has_citation & (full == rows.num_cited)
    return Share(judged.sum(rows.topic, good), judged.sum(rows.topic, has_citation | rows.needs))


@answer_measure("ArgueP", OVER, domain="verdicts")
def argue_precision(judged: JudgedAnswers) -> Share:
    """Share of the rewarded sentences of those that are rewarded or penalised.

    Takes over. A cited sentence has -1 if a citation fails, else the number of its nuggets; an
    uncited one 1 or -1 if it is negative, -1 if it needs a citation, else 0.
    Source: Mayfield and others, On the Evaluation of Machine-Generated Reports, SIGIR 2024.

    >>> example("ArgueP")
    0.3333
    """
    rows = judged.verdicts
    return Share(judged.sum(rows.topic, rows.score > 0), judged.sum(rows.topic, rows.score != 0))


@answer_measure("ArgueR", OVER, domain="verdicts")
def argue_recall(judged: JudgedAnswers) -> Share:
    """Share of the accepted answers that any sentence states.

    Takes over.
    Source: Mayfield and others, On the Evaluation of Machine-Generated Reports, SIGIR 2024.

    >>> example("ArgueR")
    0.5
    """
    rows = judged.verdicts
    return Share(rows.found.astype(np.float64), rows.accepted.astype(np.float64))


OVER_SENTENCES = choice("over", "topics", "sentences")


def _by_class(judged: JudgedAnswers, kind: str) -> tuple[FloatArray, FloatArray]:
    """Return precision and recall of every sentence for a class of documents."""
    rows, place = judged.sentences, list(CLASSES).index(kind)
    right = rows.right[place]
    return ratio(right, rows.predicted[place]), ratio(right, rows.gold[place])


def _over_sentences(judged: JudgedAnswers, values: FloatArray) -> Share:
    """Return the mean of values of sentences by topic; pooled, it is that over all sentences."""
    topic = judged.sentences.topic
    return Share(judged.sum(topic, values), judged.sum(topic, np.ones(len(topic))))


@answer_measure("SetP", CLASS, OVER_SENTENCES, domain="support")
def set_precision(judged: JudgedAnswers, *, kind: str) -> Share:
    """Share of the cited, judged documents of a sentence that support it, or contradict it.

    Takes class (supports or contradicts) and over: the mean over the sentences of each topic, or
    over those of all topics. Unjudged documents are neither right nor wrong.
    Source: TREC 2025 BioGen Track, evaluation of part A.

    >>> example("SetP")
    0.1667
    """
    return _over_sentences(judged, _by_class(judged, kind)[0])


@answer_measure("SetR", CLASS, OVER_SENTENCES, domain="support")
def set_recall(judged: JudgedAnswers, *, kind: str) -> Share:
    """Share of the documents judged to support a sentence, or contradict it, that it cites.

    Takes class (supports or contradicts) and over.
    Source: TREC 2025 BioGen Track, evaluation of part A.

    >>> example("SetR")
    0.3333
    """
    return _over_sentences(judged, _by_class(judged, kind)[1])


@answer_measure("SetF1", CLASS, OVER_SENTENCES, domain="support")
def set_f1(judged: JudgedAnswers, *, kind: str) -> Share:
    """Harmonic mean of SetP and SetR by sentence.

    Takes class (supports or contradicts) and over.
    Source: TREC 2025 BioGen Track, evaluation of part A.

    >>> example("SetF1")
    0.2222
    """
    precision, recall = _by_class(judged, kind)
    return _over_sentences(judged, ratio(2 * precision * recall, precision + recall))


@answer_measure("SoftR", CLASS, OVER_SENTENCES, domain="support")
def soft_recall(judged: JudgedAnswers, *, kind: str) -> Share:
    """Share of the sentences that cite at least one document judged of the class.

    Takes class (supports or contradicts) and over.
    Source: TREC 2025 BioGen Track, evaluation of part A.

    >>> example("SoftR")
    0.3333
    """
    right = judged.sentences.right[list(CLASSES).index(kind)]
    return _over_sentences(judged, (right > 0).astype(np.float64))
