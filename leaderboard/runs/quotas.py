"""Quotas: how many runs a team may submit, by its track and its grants, and how many are left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q
from django.utils import timezone

from leaderboard.models import Grant, Run, Team, Track


@dataclass(frozen=True)
class Quota:
    """How many runs a team may submit and has left; None where the track has no limit."""

    today: int | None
    in_all: int | None
    left_today: int | None
    left_in_all: int | None
    next_day: datetime
    # What it is a quota of, if not of one track.
    where: str = ""

    @property
    def left(self) -> int | None:
        """How many runs can be submitted now; None without a limit."""
        limits = [each for each in (self.left_today, self.left_in_all) if each is not None]
        return min(limits, default=None)

    @property
    def is_used_up(self) -> bool:
        return self.left == 0

    @property
    def is_used_up_today(self) -> bool:
        """Whether the next day brings a place."""
        return self.left_today == 0 and self.left_in_all != 0

    def has_place_of(self, run: Run) -> bool:
        """Whether a run that replaces this one can be submitted although the quota is used up."""
        is_freed = find_freed_place(run) is not None
        return is_freed and (self.left_today != 0 or run.received_at >= _midnight(None))


def find_quota(
    track: Track, team: Team | None, now: datetime | None = None, without: str | None = None
) -> Quota:
    """Return the quota of a team, or of a user who has no team yet.

    `without` is the id of a run whose place another run takes.
    """
    if team is not None:
        return find_quotas([(track, team)], now, without)[track.pk, team.pk]
    per_day, in_all = track.quota_per_day, track.quota_total
    return Quota(per_day, in_all, per_day, in_all, _midnight(now) + timedelta(days=1))


def find_benchmark_quota(
    team: Team, now: datetime | None = None, without: str | None = None
) -> Quota:
    """Return how many runs a team may submit to all tracks of its benchmark together."""
    midnight = _midnight(now)
    next_day = midnight + timedelta(days=1)
    runs = Run.objects.using_quota().filter(team=team).order_by()
    runs = runs if without is None else runs.exclude(pk=without)
    that_day = runs.filter(received_at__gte=midnight, received_at__lt=next_day)
    per_day, in_all = team.benchmark.quota_per_day, team.benchmark.quota_total
    left_today = None if per_day is None else _left(per_day, that_day.count())
    left_in_all = None if in_all is None else _left(in_all, runs.count())
    return Quota(per_day, in_all, left_today, left_in_all, next_day, " of this benchmark")


def find_used_up(track: Track, team: Team | None, replaced: Run | None = None) -> Quota | None:
    """Return the quota that leaves no place for a run now: of the track, or of its benchmark."""
    freed = find_freed_place(replaced)
    quotas = [find_quota(track, team, without=freed)]
    if team is not None:
        quotas.append(find_benchmark_quota(team, without=freed))
    return next((quota for quota in quotas if quota.is_used_up), None)


def find_freed_place(replaced: Run | None) -> str | None:
    """Return the id of a run that will no longer use quota once it is replaced, if it will not.

    Where scores show, the replacement of a replacement uses quota, see `using_quota`.
    """
    if replaced is None or (replaced.replaces_id is not None and replaced.track.shows_means):
        return None
    return replaced.pk


def find_quotas(
    pairs: Sequence[tuple[Track, Team]], now: datetime | None = None, without: str | None = None
) -> dict[tuple[int, int], Quota]:
    """Return the quotas by the ids of track and team, with as few queries as for one pair."""
    midnight = _midnight(now)
    next_day = midnight + timedelta(days=1)
    that_day = Q(received_at__gte=midnight, received_at__lt=next_day)
    wanted = Q(track__in={track.pk for track, _ in pairs}, team__in={team.pk for _, team in pairs})
    runs = Run.objects.using_quota().filter(wanted).order_by()
    sent = (runs if without is None else runs.exclude(pk=without)).values("track", "team")
    counted = sent.annotate(today=Count("pk", filter=that_day), in_all=Count("pk"))
    used = {(row["track"], row["team"]): (row["today"], row["in_all"]) for row in counted}
    granted: dict[tuple[int, int, bool], int] = defaultdict(int)
    for grant in Grant.objects.filter(wanted, Q(day=midnight.date()) | Q(day=None)):
        granted[grant.track_id, grant.team_id, grant.day is None] += grant.runs
    quotas = {}
    for track, team in pairs:
        key = track.pk, team.pk
        today = _add_grant(track.quota_per_day, granted[*key, False])
        in_all = _add_grant(track.quota_total, granted[*key, True])
        used_today, used_in_all = used.get(key, (0, 0))
        left = _left(today, used_today), _left(in_all, used_in_all)
        quotas[key] = Quota(today, in_all, *left, next_day)
    return quotas


def _midnight(now: datetime | None) -> datetime:
    return (now or timezone.now()).replace(hour=0, minute=0, second=0, microsecond=0)


def _add_grant(limit: int | None, granted: int) -> int | None:
    return None if limit is None else limit + granted


def _left(limit: int | None, used: int) -> int | None:
    return None if limit is None else max(0, limit - used)
