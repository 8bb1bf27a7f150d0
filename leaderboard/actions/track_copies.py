"""Copy a track: its settings, texts and milestones, on its collection or on another one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

from leaderboard.actions.track_settings import SHARED_DATES
from leaderboard.models import Collection, Milestone, Overview, Track
from leaderboard.models.track_settings import setting_fields
from leaderboard.scoring import editions

# What is said of the topics and judgments of a collection.
OF_COLLECTION = ("judgment_set", "excluded_topics", "exclusion_reason", "public_topics")


def build_copy(track: Track, collection: Collection, **changed: Any) -> Track:
    """Build a track with the settings of another: nobody has made marks for it yet.

    When topics and documents appear are dates of the collection, which the copy gets once it is
    saved.
    """
    is_other = collection.pk != track.collection_id
    left_out = {*SHARED_DATES, *(OF_COLLECTION if is_other else ())}
    names = [field.name for field in setting_fields(Track) if field.name not in left_out]
    values = {name: getattr(track, name) for name in names} | editions.NO_MARKS
    places = {"phase": track.phase, "group": track.group}
    if not is_other:
        places |= {"dated": track.dated, "is_private": track.is_private}
    return Track(**values | places | changed, collection=collection)


def copy_page(track: Track, copied: Track, move: Callable[[date], date] = lambda day: day) -> None:
    """Give a copied track the overview and the milestones of the track, on moved days."""
    page = Overview.objects.filter(track=track).first()
    if page is not None:
        page.track = copied
        page.save(force_insert=True)
    Milestone.objects.bulk_create(
        Milestone(
            track=copied,
            label=each.label,
            day=move(each.day),
            until=None if each.until is None else move(each.until),
        )
        for each in track.milestones.all()
    )
