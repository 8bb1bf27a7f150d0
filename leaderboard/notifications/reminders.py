"""Remind teams without a run before a deadline: a week and a day before it, once each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard.infrastructure.logs import log_failure
from leaderboard.models import (
    Benchmark,
    Participation,
    Registration,
    Reminder,
    Run,
    Team,
    Track,
)
from leaderboard.notifications import notices

# Before a deadline, the nearest first.
DAYS = (1, 7)


def send_due_reminders(now: datetime | None = None) -> None:
    """Remind the teams of every benchmark with a deadline near, unless it is switched off."""
    now = now or timezone.now()
    near = (now, now + timedelta(days=max(DAYS)))
    dated = Q(tracks__closes_at__range=near) | Q(tracks__participations__closes_at__range=near)
    for key in Benchmark.objects.filter(dated, reminds_teams=True).values_list("pk").distinct():
        with log_failure(f"reminding the teams of benchmark {key[0]}"):
            _remind_teams(key[0], now)


@transaction.atomic
def _remind_teams(benchmark_id: int, now: datetime) -> None:
    # Two workers that sweep at the same moment would remind everyone twice.
    benchmark = Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark_id)
    known = set(
        Reminder.objects.filter(team__benchmark=benchmark).values_list("team", "closes_at", "days")
    )
    for team, missing in _find_teams(benchmark):
        due: dict[tuple[datetime, int], list[Track]] = defaultdict(list)
        for track, closes_at in missing:
            days = _find_days(team, closes_at, now)
            if days is not None and (team.pk, closes_at, days) not in known:
                due[closes_at, days].append(track)
        for (closes_at, days), tracks in due.items():
            Reminder.objects.create(team=team, closes_at=closes_at, days=days)
            notices.notify_deadline_near(team, tracks, closes_at)


def _find_teams(benchmark: Benchmark) -> Iterator[tuple[Team, list[tuple[Track, datetime]]]]:
    """Yield each team with the tracks that expect a run of it, and their deadlines for it.

    Where it named tracks when it registered, these expect one; else all do, until its first run.
    """
    tracks = benchmark.tracks.opened().exclude(closes_at=None).in_order()
    by_track = list(tracks.select_related("benchmark"))
    registered = dict(
        Registration.objects.filter(team__benchmark=benchmark).values_list("team", "answers")
    )
    active = Run.objects.active().filter(track__benchmark=benchmark)
    has_run = set(active.values_list("team", "track"))
    runs_anywhere = {team for team, _ in has_run}
    own = Participation.objects.filter(team__benchmark=benchmark).exclude(closes_at=None)
    later = {(row.team_id, row.track_id): row.closes_at for row in own}
    for team in benchmark.teams.filter(of_organisers=False).order_by("pk"):
        if benchmark.registers_teams and team.pk not in registered:
            continue
        named = registered.get(team.pk, {}).get("tracks", [])
        if not named and team.pk in runs_anywhere:
            continue
        yield (
            team,
            [
                (track, later.get((team.pk, track.pk), track.closes_at))
                for track in by_track
                if (not named or track.slug in named) and (team.pk, track.pk) not in has_run
            ],
        )


def _find_days(team: Team, closes_at: datetime, now: datetime) -> int | None:
    """Return which reminder is due, if one is; a team that came later than its time needs none."""
    left = closes_at - now
    due = next((days for days in DAYS if timedelta(0) < left <= timedelta(days=days)), None)
    if due is None or team.created_at > closes_at - timedelta(days=due):
        return None
    return due
