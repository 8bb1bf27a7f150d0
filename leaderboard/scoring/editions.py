"""Editions: create and find the editions that the settings of a track ask for.

An edition has the scores for one set of settings and judgments.  It is on the board, next on the
board, or on trial.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from evaluation.conventions import SCORING_VERSION
from leaderboard.models import (
    Collection,
    Edition,
    Job,
    Judgment,
    JudgmentSet,
    MarkedAnswer,
    MarkLayer,
    Track,
)
from leaderboard.models.nuggets import ABOUT_OF, SETTING_OF
from leaderboard.models.tracks import settings_digest
from leaderboard.scoring.truths import find_truth_positions, has_order, pin_truth


def draw_topics(numbers: Sequence[str], share: int, seed: str) -> list[str]:
    """Draw this share (in per cent) of the topics, at least one and never all, in their order.

    >>> first = draw_topics(["1", "2", "3", "4"], 50, "a seed")
    >>> first == draw_topics(["1", "2", "3", "4"], 50, "a seed")
    True
    """
    size = min(max(1, round(len(numbers) * share / 100)), len(numbers) - 1)
    chosen = set(random.Random(seed).sample(list(numbers), max(0, size)))
    return [number for number in numbers if number in chosen]


def draw_public_topics(collection: Collection, left_out: Sequence[str], share: int) -> list[str]:
    """Draw public topics among those that count, with a seed that is not stored."""
    numbers = collection.topics.exclude(number__in=left_out).values_list("number", flat=True)
    return draw_topics(list(numbers), share, secrets.token_hex())


def with_public_topics(track: Track) -> Track:
    """Return a copy of the track with only its public topics; do not save it."""
    public = set(track.public_topics)
    numbers = track.collection.topics.values_list("number", flat=True)
    private = {number for number in numbers if number not in public}
    other = copy(track)
    other.excluded_topics = sorted(private.union(track.excluded_topics))
    return other


def start_edition(track: Track) -> Edition | None:
    """Return the edition of the track's settings and queue its scoring.

    It is created if missing, and None while the track has no judgments, no marks by people, or no
    systems with scores.
    """
    if track.judgment_set is None:
        return None
    if track.ranks_systems and not has_order(pin_truth(track)):
        return None
    if track.judged_marks and not MarkLayer.objects.judged_by(track).exists():
        return None
    editions = get_or_create_editions(track)
    build_editions(editions)
    return editions[-1]


def get_or_create_editions(track: Track) -> list[Edition]:
    """Return the editions of the track's settings; a split track has one of its public topics."""
    part = (
        [get_or_create_edition(with_public_topics(track), is_part=True)] if track.is_split else []
    )
    return [*part, get_or_create_edition(track)]


def build_editions(editions: Iterable[Edition]) -> None:
    """Queue the scoring of these editions."""
    for edition in editions:
        Job.objects.enqueue("build_edition", edition)


def get_or_create_edition(track: Track, is_part: bool = False) -> Edition:
    """Return the edition of the track's settings, created if missing."""
    mask = evaluated_topics(track)
    edition, _ = Edition.objects.get_or_create(
        **edition_identity(track),
        defaults={
            "settings": scoring_settings(track),
            "mask": mask.tobytes(),
            "num_evaluated": int(mask.sum()),
            "is_part": is_part,
        },
    )
    return edition


def evaluated_topics(track: Track) -> NDArray[np.uint8]:
    """Return one byte per topic: 1 if it is judged, not excluded, and not dropped as empty.

    Where answers are scored by marks alone, all topics are judged. Where runs are marks of judges,
    it is judged if people marked an answer to it; where runs rank systems, if it counts there.
    """
    topics = track.collection.topics.exclude(number__in=track.excluded_topics)
    if track.judged_marks:
        marked = MarkedAnswer.objects.filter(layer__in=MarkLayer.objects.judged_by(track)[:1])
        topics = topics.filter(pk__in=marked.values("topic"))
    elif track.ranks_systems:
        topics = topics.filter(position__in=find_truth_positions(track))
    elif track.judgment_set is not None and track.judgment_set.has_documents:
        judged = Judgment.objects.filter(judgment_set=track.judgment_set)
        if track.drop_empty_topics:
            judged = judged.filter(grade__gte=max(1, track.relevance_threshold))
        topics = topics.filter(pk__in=judged.values("topic"))
    positions = topics.values_list("position", flat=True)
    mask = np.zeros(track.collection.num_topics, dtype=np.uint8)
    mask[list(positions)] = 1
    return mask


def find_editions_to_score(track: Track) -> list[Edition]:
    """Return the edition on the board, the next one, and the one of judgments on trial."""
    editions = Edition.objects.filter(pk=track.edition_id) | find_wanted_editions(track)
    return list(editions.select_related("track", "judgment_set").order_by("pk"))


def find_wanted_editions(track: Track) -> QuerySet[Edition]:
    """Find the editions of the track's settings, with its judgments and those on trial."""
    tried = find_trial_judgments(track)
    if tried is None:
        return find_current_editions(track)
    return find_current_editions(track) | find_current_editions(with_judgments(track, tried))


def find_current_editions(track: Track) -> QuerySet[Edition]:
    """Find the editions of the track's settings, with all topics and with the public ones."""
    if track.judgment_set_id is None:
        return Edition.objects.none()
    editions = Edition.objects.filter(**edition_identity(track))
    if track.is_split:
        editions |= Edition.objects.filter(**edition_identity(with_public_topics(track)))
    return editions


def find_trial_judgments(track: Track) -> JudgmentSet | None:
    """Return the collection's newest judgments if the track has tried but never shown them.

    The settings and the code version of the trial do not matter.
    """
    ready = JudgmentSet.objects.filter(collection=track.collection_id).ready()
    newest = ready.for_boards().order_by("ready_at").last()
    if newest is None or newest.pk == track.judgment_set_id:
        return None
    editions = track.editions.filter(judgment_set=newest)
    shown_before = editions.filter(left_at__isnull=False)
    return newest if editions.exists() and not shown_before.exists() else None


def find_trial_edition(track: Track) -> Edition | None:
    """Return the edition of the judgments on trial under the track's settings, if any."""
    tried = find_trial_judgments(track)
    return None if tried is None else find_edition_with(track, tried)


def find_edition_with(track: Track, judgment_set: JudgmentSet) -> Edition | None:
    """Return the edition of these judgments under the track's settings, if any."""
    return find_edition(with_judgments(track, judgment_set))


def find_edition(track: Track) -> Edition | None:
    """Return the edition of the track's settings, if any."""
    return Edition.objects.filter(**edition_identity(track)).first()


def with_judgments(track: Track, judgment_set: JudgmentSet) -> Track:
    """Return a copy of the track with these judgments; do not save it."""
    other = copy(track)
    other.judgment_set = judgment_set
    return other


def edition_identity(track: Track) -> dict[str, Any]:
    """Return the fields that identify the edition of the track's settings."""
    return {
        "track_id": track.pk,
        "judgment_set_id": track.judgment_set_id,
        "convention": track.convention,
        "scoring_version": SCORING_VERSION,
        "digest": settings_digest(scoring_settings(track)),
    }


# The layers of marks, which settings of an edition name where there are any.
NO_MARKS = dict.fromkeys(ABOUT_OF, "")


def scoring_settings(track: Track) -> dict[str, Any]:
    """Return the settings that change a score; a new measure does not change an edition."""
    marks = {name: getattr(track, name) for name in NO_MARKS}
    return {
        "relevance_threshold": track.relevance_threshold,
        "depth": track.depth,
        "drop_empty_topics": track.drop_empty_topics,
        "excluded_topics": sorted(track.excluded_topics),
        **{name: layer for name, layer in marks.items() if layer},
        **({"ranked_runs": pin_truth(track)} if track.ranks_systems else {}),
    }


def apply_settings(edition: Edition) -> Edition:
    """Give the edition a copy of its track with the edition's own settings.

    The track's settings may have changed since the edition was created.
    """
    edition.track = _with_values(edition.track, {**NO_MARKS, **edition.settings})
    return edition


def with_marks(edition: Edition) -> Track:
    """Return a copy of the track with the layers that an edition reads; do not save it."""
    return _with_values(edition.track, {name: edition.settings.get(name, "") for name in NO_MARKS})


def with_layer(track: Track, layer: MarkLayer) -> Track:
    """Return a copy of the track whose measures read this layer; do not save it."""
    return _with_values(track, {SETTING_OF[layer.about]: layer.version})


def _with_values(track: Track, values: Mapping[str, Any]) -> Track:
    other = copy(track)
    for name, value in values.items():
        setattr(other, name, value)
    return other
