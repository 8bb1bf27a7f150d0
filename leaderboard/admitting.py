"""Which users must have a second factor, and who lacks one."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import AnonymousUser

from leaderboard.models import Collection, Track, User


def needs_second_factor(user: User) -> bool:
    if settings.SECOND_FACTOR == "offered":
        return False
    organises = settings.SECOND_FACTOR == "organisers" and is_organiser(user)
    return user.is_staff or user.is_superuser or organises


def is_organiser(user: User) -> bool:
    """Whether tracks or collections are in this user's hands, or may be."""
    return (
        user.may_organise
        or Track.objects.organised_by(user).exists()
        or Collection.objects.organised_by(user).exists()
    )


def lacks_second_factor(user: User | AnonymousUser) -> bool:
    """Whether this user has to set a second factor before doing anything else here."""
    if not user.is_authenticated or not needs_second_factor(user):
        return False
    return not user.authenticator_set.filter(type="totp").exists()
