"""The tokens with which programs act for a user."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from leaderboard.models import ApiToken, User

# A use is recorded once in this time, so that few reads cause a write.
RECORDED_AFTER = timedelta(minutes=1)


def issue_token(user: User, scopes: list[str], name: str, days: int) -> str:
    """Create a token that expires after these days; return its secret, which is not stored."""
    expires_at = timezone.now() + timedelta(days=days)
    return ApiToken.objects.issue(user, scopes, name, expires_at)[1]


def revoke_token(token: ApiToken) -> None:
    """Revoke a token."""
    ApiToken.objects.filter(pk=token.pk).update(revoked_at=timezone.now())


def revoke_tokens(user: User) -> None:
    """Revoke every usable token of a user."""
    user.tokens.revoke()


def record_use(token: ApiToken) -> None:
    """Record when a token was used."""
    now = timezone.now()
    before = Q(last_used_at=None) | Q(last_used_at__lt=now - RECORDED_AFTER)
    if token.last_used_at is None or now - token.last_used_at > RECORDED_AFTER:
        ApiToken.objects.filter(before, pk=token.pk).update(last_used_at=now)
