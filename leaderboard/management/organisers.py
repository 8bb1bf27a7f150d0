"""The organiser for whom a command acts."""

from __future__ import annotations

from django.core.management.base import CommandError

from leaderboard.models import User


def find_organiser(name: str | None) -> User:
    """Return the named user, or the first organiser, who is created if there is none."""
    if name is not None:
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"There is no user {name}; `create_token {name}` creates one.")
        return user
    organisers = User.objects.filter(is_active=True, can_organise=True)
    staff = User.objects.filter(is_active=True, is_staff=True)
    first = organisers.order_by("pk").first() or staff.order_by("pk").first()
    return first or User.objects.create_user("organiser", can_organise=True)
