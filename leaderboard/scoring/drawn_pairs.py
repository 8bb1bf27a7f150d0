"""Scores of answers estimated from a sample, where people marked pairs that were drawn.

The frame of the pool says with which probability each pair was drawn. What was marked before it
was made is known. A run that came later is estimated as far as its pairs were drawn from too.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from evaluation.answers.drawn_pairs import NoEstimateError, PairEstimate, PairKey, PairSample
from evaluation.answers.judged import JudgedAnswers
from evaluation.answers.measures import AnswerMeasure
from evaluation.answers.pair_weights import explain_no_sum, value_pairs, weigh_pairs
from evaluation.answers.runs import Answer
from leaderboard.collections.answer_pools import PairName
from leaderboard.collections.marked_pairs import list_codes, load_people_pairs
from leaderboard.collections.nuggets import load_bank
from leaderboard.collections.pool_frames import read_frame
from leaderboard.models import MarkLayer, Pool
from leaderboard.scoring.judgments import number_topic_groups


def is_drawn(layer: MarkLayer) -> bool:
    """Whether a layer has the labels of pairs that were drawn with stored probabilities."""
    return _find_pool(layer) is not None


def _find_pool(layer: MarkLayer) -> Pool | None:
    if layer.assessment_id is None:
        return None
    drawn = Pool.objects.filter(assessments=layer.assessment_id, drawn__isnull=False)
    return drawn.exclude(frame_file="").first()


@lru_cache(maxsize=8)
def load_sample(layer_id: int, topics: tuple[str, ...]) -> PairSample:
    """Return the drawn pairs of a layer with their labels; neither changes once it is ready.

    Raises NoEstimateError.
    """
    pool = _find_pool(MarkLayer.objects.get(pk=layer_id))
    assert pool is not None
    rows, _ = read_frame(pool)
    codes = {
        (topic, str(name)): code
        for topic, name, code in list_codes(load_people_pairs(layer_id).grades)
    }
    return PairSample.of(rows, topics, codes)


def estimate_score(
    layer: MarkLayer, measure: AnswerMeasure, judged: JudgedAnswers, answers: Mapping[str, Answer]
) -> PairEstimate:
    """Estimate the score of a run by a measure that reads a drawn layer.

    Raises NoEstimateError, which says why there is no honest number.
    """
    if reason := explain_no_sum(measure):
        raise NoEstimateError(reason)
    sample = load_sample(layer.pk, judged.topics)
    bank = None if layer.nuggets_id is None else load_bank(layer.nuggets_id)
    weights: dict[PairKey, float] = {
        (pair.topic, str(PairName(pair.key.hex(), pair.other))): weight
        for pair, weight in weigh_pairs(measure, judged, answers, bank).items()
    }
    topics = [topic.encode() for topic in judged.topics]
    groups = number_topic_groups(layer.track.collection_id, topics)
    return sample.estimate(weights, lambda codes: value_pairs(measure, codes), groups)
