"""Grants of extra runs beyond a track's quota."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from leaderboard.models import AuditEvent, Grant, Team, User
from leaderboard.notifications import notices


@transaction.atomic
def grant(team: Team, user: User, runs: int, today: bool, reason: str = "") -> Grant:
    """So many runs more, today (UTC) or in all; the team is told.

    Uploads count under the lock on the team's row, so what is granted counts for the next one.
    """
    team = Team.objects.select_for_update(no_key=True).select_related("track").get(pk=team.pk)
    day = timezone.now().date() if today else None
    granted = team.grants.create(runs=runs, day=day, reason=reason, granted_by=user)
    said = {"runs": runs, "day": day.isoformat() if day else None, "reason": reason}
    AuditEvent.objects.record(user, "grant", granted, after=said)
    notices.granted(granted)
    return granted
