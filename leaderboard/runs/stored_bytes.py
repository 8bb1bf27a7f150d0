"""Bytes that teams and the whole site store, and how many more they may."""

from __future__ import annotations

from django.conf import settings
from django.db.models import Model, QuerySet, Sum

from leaderboard.models import Collection, JudgmentSet, Run, Team


def bytes_of_team(team: Team) -> int:
    """Return the bytes of the run files that a team has sent and that are still kept."""
    return _total(Run.objects.filter(team=team).exclude(file=""))


def bytes_of_site() -> int:
    """Return the bytes of all files that users have sent and that are still kept."""
    runs = Run.objects.exclude(file="")
    return _total(runs) + _total(Collection.objects.all()) + _total(JudgmentSet.objects.all())


def exceeds_team(team: Team, size: int) -> bool:
    return 0 < settings.TEAM_BYTES < bytes_of_team(team) + size


def exceeds_site(size: int) -> bool:
    return 0 < settings.SITE_BYTES < bytes_of_site() + size


def _total(rows: QuerySet[Model]) -> int:
    # Without the order of the model: it would be a column of the query.
    total: int | None = rows.order_by().aggregate(total=Sum("size"))["total"]
    return total or 0
