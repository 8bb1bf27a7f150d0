"""Measures of documents, lengths, correctness and confidence, and of what is judged."""

from __future__ import annotations

import numpy as np

from evaluation.answers.judged import JudgedAnswers
from evaluation.answers.measures.declaring import Share, answer_measure
from evaluation.answers.measures.example import example  # noqa: F401, for the docstrings
from evaluation.answers.measures.names import parse_answer_measure
from evaluation.measures.declaring import Parameter, choice, integer
from evaluation.ragged import FloatArray, ratio

INFINITY = np.inf


def _measure(name: str, default: str) -> Parameter:
    """Return a parameter that is a measure of answers, written as it prints."""
    allowed = "a measure of answers"
    return Parameter(name, default, allowed, lambda text: str(parse_answer_measure(text)))


@answer_measure(
    "AnswerF1",
    _measure("p", "SentenceSupport"),
    _measure("r", "WNuggets(partial=0)"),
    domain="nuggets",
    unjudged="both",
    also=("f1",),
)
def answer_f1(judged: JudgedAnswers, *, p: str, r: str) -> FloatArray:
    """Harmonic mean of a precision and a recall by topic, 0 where both are 0.

    Takes p and r, two measures of answers. It is not computed from the two printed means.
    Source: Lawrie and others, Overview of the TREC 2025 RAGTIME Track.

    >>> example("f1"), example("AnswerF1(p=SupportP,r=Nuggets)")
    (0.0, 0.5455)
    """
    precision = np.nan_to_num(parse_answer_measure(p).scores(judged).by_topic)
    recall = np.nan_to_num(parse_answer_measure(r).scores(judged).by_topic)
    return ratio(2 * precision * recall, precision + recall)


@answer_measure(
    "Cited", choice("of", "grade"), domain="documents", range=(0, INFINITY), unit="grade"
)
def cited_grade(judged: JudgedAnswers, *, of: str) -> FloatArray:
    """Mean grade of the distinct cited documents that are judged; undefined without any.

    Source: Rankfield.

    >>> example("Cited(grade)")
    1.0
    """
    rows = judged.documents
    is_judged = ~np.isnan(rows.grade)
    total = judged.sum(rows.topic, np.nan_to_num(rows.grade))
    number = judged.sum(rows.topic, is_judged)
    return np.where(number > 0, ratio(total, number), np.nan)


@answer_measure("CitedP", integer("rel", 0, 1), domain="documents")
def cited_precision(judged: JudgedAnswers, *, rel: int) -> Share:
    """Share of the distinct cited documents that are relevant; unjudged ones are not.

    Takes rel, the lowest relevant grade.
    Source: Rankfield.

    >>> example("CitedP")
    0.3333
    """
    rows = judged.documents
    relevant = np.nan_to_num(rows.grade, nan=-INFINITY) >= rel
    return Share(judged.sum(rows.topic, relevant), judged.sum(rows.topic, np.ones(len(rows.topic))))


@answer_measure("Accuracy", domain="correctness")
def accuracy(judged: JudgedAnswers) -> FloatArray:
    """1 if the answer is marked correct, else 0.

    Source: Chen and others, BrowseComp-Plus, 2025.

    >>> example("Accuracy")
    1.0
    """
    return np.nan_to_num(judged.correct)


SMALLEST = 100


@answer_measure(
    "CalibrationError",
    integer("bins", 1, 100),
    choice("last", "kept", "dropped"),
    domain="correctness",
    range=(0, 100),
    unit="percent",
    higher_is_better=False,
)
def calibration(judged: JudgedAnswers, *, bins: int, last: str) -> float:
    """How far confidence and accuracy differ, over bins of answers ordered by confidence.

    100 times the root of the mean squared difference; undefined below 100 answers. Takes bins, the
    answers per bin, and last: with dropped, the last bin is not counted, as in the public script.
    Source: Chen and others, BrowseComp-Plus, 2025; Hendrycks and others, ICLR 2019.

    >>> example("CalibrationError")
    nan
    """
    known = ~np.isnan(judged.correct) & ~np.isnan(judged.confidence)
    return calibration_error(judged.confidence[known], judged.correct[known], bins, last)


def calibration_error(
    confidence: FloatArray, correct: FloatArray, bins: int = 100, last: str = "kept"
) -> float:
    """Return the calibration error of confidences in percent.

    Of equal confidences the last topic comes first. The public script leaves their order to numpy,
    whose sorting is not stable; this order gives the values that were recorded of it.

    >>> round(calibration_error(np.full(200, 90.0), np.arange(200) % 2.0), 6)
    40.0
    """
    size = len(confidence)
    if size < SMALLEST:
        return float("nan")
    order = np.lexsort((-np.arange(size), confidence))
    sure, right = confidence[order] / 100, correct[order]
    # The last bin takes the rest, as in the public script.
    edges = np.append(np.arange(max(size // bins, 1)) * bins, size)
    total = 0.0
    for start, end in zip(edges[:-1], edges[1:] if last == "kept" else edges[1:-1], strict=False):
        gap = sure[start:end].mean() - right[start:end].mean()
        total += (end - start) / size * gap**2
    return float(np.sqrt(total) * 100)


NFKC = choice("unit", "words", "words-nfkc")


@answer_measure(
    "Words", NFKC, domain="lengths", range=(0, INFINITY), unit="words", has_direction=False
)
def words(judged: JudgedAnswers, *, unit: str) -> FloatArray:
    """Number of words between white space.

    Takes unit: words-nfkc counts after the normalisation NFKC.
    Source: Rankfield.

    >>> example("Words")
    9.0
    """
    return judged.lengths[unit]


@answer_measure(
    "Characters", domain="lengths", range=(0, INFINITY), unit="characters", has_direction=False
)
def characters(judged: JudgedAnswers) -> FloatArray:
    """Number of characters after the normalisation NFKC.

    Source: Rankfield.

    >>> example("Characters")
    56.0
    """
    return judged.lengths["characters"]


@answer_measure(
    "Sentences", domain="lengths", range=(0, INFINITY), unit="sentences", has_direction=False
)
def num_sentences(judged: JudgedAnswers) -> FloatArray:
    """Number of sentences.

    Source: Rankfield.

    >>> example("Sentences")
    3.0
    """
    return judged.lengths["sentences"]


@answer_measure(
    "Citations", domain="lengths", range=(0, INFINITY), unit="citations", has_direction=False
)
def num_citations(judged: JudgedAnswers) -> FloatArray:
    """Number of citations, repeated ones too.

    Source: Rankfield.

    >>> example("Citations")
    3.0
    """
    return judged.lengths["citations"]


@answer_measure(
    "References", domain="lengths", range=(0, INFINITY), unit="references", has_direction=False
)
def num_references(judged: JudgedAnswers) -> FloatArray:
    """Number of references.

    Source: Rankfield.

    >>> example("References")
    4.0
    """
    return judged.lengths["references"]


@answer_measure(
    "CitationsPerSentence",
    domain="lengths",
    range=(0, INFINITY),
    unit="citations",
    has_direction=False,
)
def citations_per_sentence(judged: JudgedAnswers) -> Share:
    """Number of citations per sentence.

    Source: Rankfield.

    >>> example("CitationsPerSentence")
    1.0
    """
    return Share(judged.lengths["citations"], judged.lengths["sentences"])


@answer_measure("Uncited", domain="lengths", has_direction=False)
def uncited(judged: JudgedAnswers) -> Share:
    """Share of the sentences without a citation.

    Source: Rankfield.

    >>> example("Uncited")
    0.3333
    """
    return Share(judged.lengths["uncited"], judged.lengths["sentences"])


@answer_measure("RefsCited", domain="lengths", has_direction=False)
def references_cited(judged: JudgedAnswers) -> Share:
    """Share of the references that a sentence cites.

    Source: Rankfield.

    >>> example("RefsCited")
    0.75
    """
    return Share(judged.lengths["cited references"], judged.lengths["references"])


@answer_measure("AnswerJudged", choice("of", "nuggets", "support"), domain="support")
def answer_judged(judged: JudgedAnswers, *, of: str) -> FloatArray:
    """Share of the pairs with a mark: of answers and nuggets, or of sentences and documents.

    Takes of (nuggets or support). It is 1 where there is no pair.
    Source: Rankfield.

    >>> example("AnswerJudged(nuggets)"), example("AnswerJudged(support)")
    (1.0, 0.6667)
    """
    marked, pairs = judged.judged_support if of == "support" else judged.judged_nuggets
    return np.where(pairs > 0, ratio(marked, pairs), 1.0)
