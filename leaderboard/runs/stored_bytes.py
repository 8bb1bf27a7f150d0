"""The stored bytes of teams and of the site, compared with their limits."""

from __future__ import annotations

from django.conf import settings
from django.db.models import Model, QuerySet, Sum

from leaderboard.models import (
    Collection,
    JudgmentSet,
    MarkLayer,
    NuggetVersion,
    Run,
    Team,
    UploadPiece,
)


def bytes_of_team(team: Team) -> int:
    """Return the total size of the stored run files of a team."""
    return _total(Run.objects.filter(team=team).exclude(file=""))


def bytes_of_site() -> int:
    """Return the total size of all stored files of users."""
    runs = Run.objects.exclude(file="")
    others = (Collection, JudgmentSet, NuggetVersion, MarkLayer, UploadPiece)
    return _total(runs) + sum(_total(model.objects.all()) for model in others)


def exceeds_team(team: Team, size: int) -> bool:
    return 0 < settings.TEAM_BYTES < bytes_of_team(team) + size


def exceeds_site(size: int) -> bool:
    return 0 < settings.SITE_BYTES < bytes_of_site() + size


def _total(rows: QuerySet[Model]) -> int:
    # Without the order of the model: it would be a column of the query.
    total: int | None = rows.order_by().aggregate(total=Sum("size"))["total"]
    return total or 0
