"""Editions: what the settings of a track ask for, made and found again.

An edition holds the values of one set of settings and judgments; it is shown, to be shown, or on
trial.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from evaluation.conventions import SCORING_VERSION
from leaderboard.models import Collection, Edition, Job, Judgment, JudgmentSet, Track
from leaderboard.models.collections import ImportState
from leaderboard.models.tracks import settings_digest


def drawn(numbers: Sequence[str], share: int, seed: str) -> list[str]:
    """So many per cent of the topics, at least one and never all, in their own order.

    >>> drawn(["1", "2", "3", "4"], 50, "a seed") == drawn(["1", "2", "3", "4"], 50, "a seed")
    True
    """
    many = min(max(1, round(len(numbers) * share / 100)), len(numbers) - 1)
    chosen = set(random.Random(seed).sample(list(numbers), max(0, many)))
    return [number for number in numbers if number in chosen]


def drawn_of(collection: Collection, left_out: Sequence[str], share: int) -> list[str]:
    """A new draw among the topics that count; nobody can tell the seed."""
    numbers = collection.topics.exclude(number__in=left_out).values_list("number", flat=True)
    return drawn(list(numbers), share, secrets.token_hex())


def public_part(track: Track) -> Track:
    """The track as it would be with its public topics alone; not for saving."""
    public = set(track.public_topics)
    numbers = track.collection.topics.values_list("number", flat=True)
    private = {number for number in numbers if number not in public}
    other = copy(track)
    other.excluded_topics = sorted(private.union(track.excluded_topics))
    return other


def start_edition(track: Track) -> Edition | None:
    """The edition that the track's settings ask for, made if need be; its runs get scored.

    None while the track has no judgments.
    """
    if track.judgment_set is None:
        return None
    editions = editions_of(track)
    build_editions(editions)
    return editions[-1]


def editions_of(track: Track) -> list[Edition]:
    """What the settings of a track ask for: of its public topics, where it is split, and of all."""
    part = [edition_of(public_part(track), is_part=True)] if track.is_split else []
    return [*part, edition_of(track)]


def build_editions(editions: Iterable[Edition]) -> None:
    for edition in editions:
        Job.objects.enqueue("build_edition", edition)


def edition_of(track: Track, is_part: bool = False) -> Edition:
    """The edition of these settings, made if need be."""
    mask = evaluated_topics(track)
    edition, _ = Edition.objects.get_or_create(
        **identity(track),
        defaults={
            "settings": choices_of(track),
            "mask": mask.tobytes(),
            "num_evaluated": int(mask.sum()),
            "is_part": is_part,
        },
    )
    return edition


def evaluated_topics(track: Track) -> NDArray[np.uint8]:
    """One byte a topic: 1 where it is judged, not excluded, and not dropped as empty."""
    judged = Judgment.objects.filter(judgment_set=track.judgment_set)
    if track.drop_empty_topics:
        judged = judged.filter(grade__gte=max(1, track.relevance_threshold))
    positions = (
        judged.exclude(topic__number__in=track.excluded_topics)
        .values_list("topic__position", flat=True)
        .distinct()
    )
    mask = np.zeros(track.collection.num_topics, dtype=np.uint8)
    mask[list(positions)] = 1
    return mask


def editions_to_score(track: Track) -> list[Edition]:
    """The edition on the board, the one to take its place, and the one of judgments on trial."""
    editions = Edition.objects.filter(pk=track.edition_id) | editions_wanted(track)
    return list(editions.select_related("track", "judgment_set").order_by("pk"))


def editions_wanted(track: Track) -> QuerySet[Edition]:
    """Those of the track's present settings: of its judgments, and of those on trial."""
    tried = judgments_on_trial(track)
    if tried is None:
        return editions_asked_for(track)
    return editions_asked_for(track) | editions_asked_for(with_judgments(track, tried))


def editions_asked_for(track: Track) -> QuerySet[Edition]:
    """Those of the track's present settings: of all topics, and of the public ones."""
    if track.judgment_set_id is None:
        return Edition.objects.none()
    editions = Edition.objects.filter(**identity(track))
    if track.is_split:
        editions |= Edition.objects.filter(**identity(public_part(track)))
    return editions


def judgments_on_trial(track: Track) -> JudgmentSet | None:
    """The newest of the collection, where they wait beside the board's and never stood on it.

    Under whatever settings and by whatever code the track was scored with them.
    """
    ready = JudgmentSet.objects.filter(collection=track.collection_id, state=ImportState.READY)
    newest = ready.order_by("ready_at").last()
    if newest is None or newest.pk == track.judgment_set_id:
        return None
    editions = track.editions.filter(judgment_set=newest)
    stood = editions.filter(left_at__isnull=False)
    return newest if editions.exists() and not stood.exists() else None


def tried_edition(track: Track) -> Edition | None:
    """That of the judgments on trial, under the track's present settings."""
    tried = judgments_on_trial(track)
    return None if tried is None else edition_with(track, tried)


def edition_with(track: Track, judgment_set: JudgmentSet) -> Edition | None:
    """The edition of these judgments under the track's present settings, if there is one."""
    return edition_for(with_judgments(track, judgment_set))


def edition_for(track: Track) -> Edition | None:
    """The edition of the track's present settings, if there is one."""
    return Edition.objects.filter(**identity(track)).first()


def with_judgments(track: Track, judgment_set: JudgmentSet) -> Track:
    """The track as it would be with these judgments; not for saving."""
    other = copy(track)
    other.judgment_set = judgment_set
    return other


def identity(track: Track) -> dict[str, Any]:
    """What tells the edition of the track's present settings from every other."""
    return {
        "track_id": track.pk,
        "judgment_set_id": track.judgment_set_id,
        "convention": track.convention,
        "scoring_version": SCORING_VERSION,
        "digest": settings_digest(choices_of(track)),
    }


def choices_of(track: Track) -> dict[str, Any]:
    """The settings that change a value; measures are added to an edition, never change it."""
    return {
        "relevance_threshold": track.relevance_threshold,
        "depth": track.depth,
        "drop_empty_topics": track.drop_empty_topics,
        "excluded_topics": sorted(track.excluded_topics),
    }


def under_its_settings(edition: Edition) -> Edition:
    """The edition with its track as it was set when this was asked for.

    The settings may have moved on since, and an edition holds no values of others.
    """
    edition.track = copy(edition.track)
    for name, value in edition.settings.items():
        setattr(edition.track, name, value)
    return edition
