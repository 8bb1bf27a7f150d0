"""Scores of a run of answers by its marks: of nuggets, and of the support of its sentences.

What is unjudged counts as the measure says; its bounds are kept beside the score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.answers.any_measure import AnyMeasure, parse_measure
from evaluation.answers.drawn_pairs import NoEstimateError, PairEstimate
from evaluation.answers.judged import AnswerMarks, JudgedAnswers, judge_answers
from evaluation.answers.measures import AnswerMeasure
from evaluation.answers.runs import Answer
from evaluation.answers.scoring import grades_of
from leaderboard.collections.mark_layers import load_assignments, load_support
from leaderboard.collections.nuggets import load_bank
from leaderboard.models import Edition, MarkLayer, Run, Track
from leaderboard.runs.answers import read_answers
from leaderboard.scoring.drawn_pairs import estimate_score, is_drawn
from leaderboard.scoring.judgments import load_judgments, load_topic_numbers, topic_mask

# The layer of a track that each kind of unjudged pair is marked in, as a setting.
LAYERS = {"nuggets": ("assignments",), "support": ("support",), "both": ("assignments", "support")}
# Measures of citations that read nuggets.
READ_NUGGETS = ("CitationRelevance", "AnswerJudged(of=nuggets)")
# Measures that need what no layer has yet: verdicts, whole answers marked correct, questions.
NOT_KEPT = {"verdicts", "correctness"}
OF_QUESTIONS = "RubricQuestions"


@dataclass(frozen=True)
class MarkedScore:
    """Scores by evaluated topic, the share of pairs with a mark, and the bounds of the mean.

    Of a layer of drawn pairs `estimate` is that of the mean with its margins, or why there is none.
    """

    values: NDArray[np.float64]
    judged: float
    low: float
    high: float
    estimate: PairEstimate | str | None = None

    def pack(self) -> list[Any]:
        """Return what is stored of it besides the scores, as JSON."""
        bounds = [self.judged, self.low, self.high]
        if self.estimate is None:
            return bounds
        is_text = isinstance(self.estimate, str)
        return [*bounds, self.estimate if is_text else list(astuple(self.estimate))]


def find_layer(track: Track, setting: str) -> MarkLayer | None:
    """Return the layer that a setting of a track names; None if it names none that is ready."""
    return MarkLayer.objects.named_by(track, setting).select_related("nuggets").first()


def explain_missing_marks(measure: AnyMeasure, track: Track) -> str:
    """Return why a track cannot have a measure; empty for measures of rankings."""
    if not isinstance(measure, AnswerMeasure):
        return ""
    definition = measure.definition
    if track.run_kind != "answers":
        return f"{measure.name} is of answers, and runs of this track are rankings"
    if not definition.has_direction:
        return f"{measure.name} has no better and worse; boards of answers show lengths anyway"
    if measure.parameters.get("over", "topics") != "topics":
        return f"{measure} has no scores by topic, so no runs can be compared by it"
    if definition.domain in NOT_KEPT or measure.name == OF_QUESTIONS:
        return f"{measure.name} needs marks that tracks do not keep yet"
    for setting in needed_layers(measure):
        if find_layer(track, setting) is None:
            label = Track._meta.get_field(setting).setting.label.lower()
            return f"{measure.name} needs {label}: import a layer, and choose it here"
    return ""


def needed_layers(measure: AnswerMeasure) -> tuple[str, ...]:
    """Return the settings of a track that name the layers which a measure reads."""
    definition = measure.definition
    if definition.unjudged != "none":
        return LAYERS[definition.unjudged]
    if str(measure) in READ_NUGGETS:
        return ("assignments",)
    return {"nuggets": ("assignments",), "support": ("support",)}.get(definition.domain, ())


def find_marks(text: str) -> tuple[str, ...]:
    """Return the settings of a track that name the layers of a measure; none of rankings."""
    measure = parse_measure(text)
    return needed_layers(measure) if isinstance(measure, AnswerMeasure) else ()


def score_by_marks(
    run: Run, edition: Edition, measures: Sequence[str]
) -> Mapping[str, MarkedScore]:
    """Score a run by measures of answers; those whose marks are missing are left out."""
    track = edition.track
    parsed = {text: parse_measure(text) for text in measures}
    possible = {
        text: measure
        for text, measure in parsed.items()
        if isinstance(measure, AnswerMeasure) and not explain_missing_marks(measure, track)
    }
    if not possible:
        return {}
    numbers = load_topic_numbers(track.collection_id)
    topics = [number.decode() for number in compress(numbers, topic_mask(edition))]
    answers = dict(read_answers(run))
    judged = judge_answers(run.pk, answers, load_marks(run, edition, topics), topics)
    scores = {}
    for text, measure in possible.items():
        found = measure.scores(judged)
        low = high = found
        if measure.definition.unjudged != "none":
            low, high = measure.bounds(judged)
        share = measure.judged_share(judged)
        estimate = None if share == 1 else _estimate(track, measure, judged, answers)
        scores[text] = MarkedScore(found.by_topic, share, low.overall, high.overall, estimate)
    return scores


def _estimate(
    track: Track, measure: AnswerMeasure, judged: JudgedAnswers, answers: Mapping[str, Answer]
) -> PairEstimate | str | None:
    """Return the estimate from drawn pairs, or why there is none; None if none were drawn."""
    layers = [find_layer(track, setting) for setting in needed_layers(measure)]
    drawn = [layer for layer in layers if layer is not None and is_drawn(layer)]
    if not drawn:
        return None
    try:
        return estimate_score(drawn[0], measure, judged, answers)
    except NoEstimateError as reason:
        return str(reason)


def load_marks(run: Run, edition: Edition, topics: Sequence[str]) -> AnswerMarks:
    """Return what a run is scored by: nuggets, the track's layers, grades of these topics."""
    assignments, support = (find_layer(edition.track, name) for name in ("assignments", "support"))
    grades = grades_of(load_judgments(edition.pk).qrels)
    return AnswerMarks(
        load_bank(assignments.nuggets_id) if assignments and assignments.nuggets_id else None,
        load_assignments(assignments, run) if assignments else None,
        load_support(support, run) if support else None,
        {topic: grades[topic] for topic in topics if topic in grades},
    )
