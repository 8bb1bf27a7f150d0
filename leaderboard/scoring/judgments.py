"""The judgments and topics of an edition, as scoring reads them."""

from __future__ import annotations

from functools import lru_cache
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from evaluation.judging import Judgments, prepare
from evaluation.measures import Measure, parse_measure
from evaluation.problems import Problems
from evaluation.reading.qrels import Qrels
from leaderboard.models import Collection, Edition, Track
from leaderboard.models.collections import ImportState, load_grades


def judged_topics(track: Track) -> tuple[bytes, ...] | None:
    """Return the topics that count on the board; None if not everyone may know them."""
    if track.edition is None or not track.shows_scores:
        return None
    counts = topic_mask(track.edition)
    return tuple(compress(load_topic_numbers(track.collection_id), counts))


@lru_cache(maxsize=16)
def load_topic_numbers(collection_id: int) -> tuple[bytes, ...]:
    """Return the topic numbers of a ready collection by position; they never change."""
    collection = Collection.objects.get(pk=collection_id, state=ImportState.READY)
    return tuple(number.encode() for number in collection.topics.values_list("number", flat=True))


def resolve_measure(track: Track, text: str) -> Measure:
    """Return the measure named by a text, with the track's threshold if it names none."""
    return parse_measure(text).resolved(track.relevance_threshold)


def topic_mask(edition: Edition) -> NDArray[np.bool_]:
    """Return which topics of the collection the edition evaluates, by position."""
    return np.frombuffer(edition.mask, dtype=np.uint8).astype(bool)


@lru_cache(maxsize=8)
def load_judgments(edition_id: int) -> Judgments:
    """Return the prepared judgments of an edition; neither changes once made."""
    edition = Edition.objects.select_related("track", "judgment_set").get(pk=edition_id)
    numbers = np.array(load_topic_numbers(edition.track.collection_id), dtype=object)
    evaluated = list(numbers[topic_mask(edition)])
    qrels = Qrels(load_grades(edition.judgment_set_id), Problems())
    return prepare(qrels, topics=evaluated, top_grade=edition.judgment_set.top_grade)
