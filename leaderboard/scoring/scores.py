"""The scores of runs by topic, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from evaluation.significance import Collected, topic_order
from leaderboard.models import Edition, Score
from leaderboard.scoring.judgments import load_topic_numbers, load_topics, topic_mask


def score_matrix(edition: Edition, measure: str, run_ids: Sequence[str]) -> NDArray[np.float64]:
    """Return the scores of these runs as float64[runs, evaluated topics], topics by position."""
    of_runs = Score.objects.filter(score_set__edition=edition, score_set__run__in=run_ids)
    rows = of_runs.filter(measure=measure)
    return stack_scores(edition, dict(rows.values_list("score_set__run_id", "by_topic")), run_ids)


def stack_scores(
    edition: Edition, by_topic: Mapping[str, bytes], run_ids: Sequence[str]
) -> NDArray[np.float64]:
    """Return the same matrix from the stored scores of each run; the array is read-only."""
    mask = topic_mask(edition)
    every = np.frombuffer(b"".join(by_topic[run_id] for run_id in run_ids), dtype="<f8")
    values = every.reshape(len(run_ids), mask.size)
    return values if mask.all() else values[:, mask]


def tested_scores(edition: Edition, measure: str, run_ids: Sequence[str]) -> NDArray[np.float64]:
    """Return the score matrix with the topics in the order of draws, so that p is the same."""
    return score_matrix(edition, measure, run_ids)[:, topic_order(_evaluated_numbers(edition))]


def collect_scores(edition: Edition, measure: str, run_ids: Sequence[str]) -> Collected:
    """Return the score matrix with the keys of its topics.

    A topic is known by collection and number: two tracks of one collection share it, and so is a
    group of topics.
    """
    collection, numbers = edition.track.collection, _evaluated_numbers(edition)
    keys = [(collection.slug, number) for number in numbers]
    group_of = load_topics(collection.pk).group_of
    groups = [(collection.slug, group_of[number]) for number in numbers] if group_of else None
    return Collected(score_matrix(edition, measure, run_ids), keys, groups)


def _evaluated_numbers(edition: Edition) -> list[bytes]:
    return list(compress(load_topic_numbers(edition.track.collection_id), topic_mask(edition)))
