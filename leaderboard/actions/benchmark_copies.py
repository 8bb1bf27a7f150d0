"""Copy a benchmark as next year's: its rules, tracks and texts, without people, runs and scores."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import TypeVar

from django.db import transaction

from leaderboard.actions.lone_tracks import RULES, copy_agreements
from leaderboard.actions.names import unused_slug
from leaderboard.actions.track_copies import build_copy, copy_page
from leaderboard.actions.tracks import create_draft
from leaderboard.models import AuditEvent, Benchmark, Collection, Track, User

# What the benchmark has besides its rules.
KEPT = (
    *(*RULES, "description", "asked", "question", "quota_per_day", "quota_total", "measure"),
    "reminds_teams",
)
DATES = ("opens_at", "closes_at", "release_at", "judgments_at", "baseline_at")
Day = TypeVar("Day", date, datetime)


@transaction.atomic
def copy_benchmark(
    benchmark: Benchmark, user: User, name: str, slug: str, collections: Mapping[int, Collection]
) -> Benchmark:
    """Make next year's benchmark; each track is a draft on the collection chosen for its key.

    Its dates are a year later, which the checklist of each draft says until they are looked at.
    The user alone organises it.
    """
    values = {field: getattr(benchmark, field) for field in KEPT}
    copied = Benchmark.objects.create(name=name, slug=slug, owner=user, **values)
    AuditEvent.objects.record(user, "create", copied, after={"slug": slug, "from": benchmark.slug})
    copy_agreements(benchmark, copied)
    tracks = list(benchmark.tracks.in_order().select_related("collection"))
    slugs = {
        track.slug: _copy_track(
            track, copied, user, collections.get(track.pk, track.collection)
        ).slug
        for track in tracks
    }
    for former, slug in slugs.items():
        # Rankings are of the systems of the new track.
        copied.tracks.filter(systems=former).update(systems=slug)
    return copied


def _copy_track(track: Track, benchmark: Benchmark, user: User, collection: Collection) -> Track:
    dates = {name: getattr(track, name) for name in DATES if getattr(track, name) is not None}
    copied = build_copy(
        track,
        collection,
        slug=unused_slug(f"{benchmark.slug} {track.slug}", Track),
        benchmark=benchmark,
        position=track.position,
        has_moved_dates=bool(dates),
        **{name: _a_year_later(day) for name, day in dates.items()},
    )
    create_draft(copied, user)
    copy_page(track, copied, _a_year_later)
    return copied


def _a_year_later(day: Day) -> Day:
    """Return the same day of the next year; the 28th for the 29th of February.

    >>> _a_year_later(date(2028, 2, 29))
    datetime.date(2029, 2, 28)
    """
    try:
        return day.replace(year=day.year + 1)
    except ValueError:
        return day.replace(year=day.year + 1, day=28)
