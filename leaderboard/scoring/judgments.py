"""Runs become scores: read and check the file, judge it, measure it, publish.

Each function here is the work of a job.  It reads what cannot change, and returns the function
that writes the result; `jobs` calls that one only while the job is still its own.
"""

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
    """The topics that count on the board; None where not everybody may know which they are."""
    if track.edition is None or not track.shows_scores:
        return None
    counts = mask_of(track.edition)
    return tuple(compress(topics_of(track.collection_id), counts))


@lru_cache(maxsize=16)
def topics_of(collection_id: int) -> tuple[bytes, ...]:
    """The topic numbers of a ready collection, by position; they never change."""
    collection = Collection.objects.get(pk=collection_id, state=ImportState.READY)
    return tuple(number.encode() for number in collection.topics.values_list("number", flat=True))


def resolved(track: Track, text: str) -> Measure:
    """The measure of that text with the track's threshold where it names none."""
    return parse_measure(text).resolved(track.relevance_threshold)


def mask_of(edition: Edition) -> NDArray[np.bool_]:
    return np.frombuffer(edition.mask, dtype=np.uint8).astype(bool)


@lru_cache(maxsize=8)
def prepared(edition_id: int) -> Judgments:
    """The judgments of an edition; neither they nor the edition change once made."""
    edition = Edition.objects.select_related("track", "judgment_set").get(pk=edition_id)
    numbers = np.array(topics_of(edition.track.collection_id), dtype=object)
    evaluated = list(numbers[mask_of(edition)])
    qrels = Qrels(load_grades(edition.judgment_set_id), Problems())
    return prepare(qrels, topics=evaluated, top_grade=edition.judgment_set.top_grade)
