"""Who takes part in a track, and in which team."""

from __future__ import annotations

import hmac

from django.db import IntegrityError, transaction

from leaderboard.models import AuditEvent, Membership, Team, Track, User
from leaderboard.models.people import team_key

ORGANISERS = "organisers"
NAME_LIMIT = 80


class CannotJoin(Exception):
    """Why this user cannot take part; the text is for them to read."""


def may_join(track: Track, invitation: str = "") -> bool:
    if track.joining == Track.Joining.EVERYONE:
        return True
    return hmac.compare_digest(track.invitation.encode(), invitation.encode())


def join(track: Track, user: User, invitation: str = "", team_name: str = "") -> Team:
    """The user's team in the track, made if there is none yet."""
    team = track.team_of(user)
    if team is not None:
        return team
    if not may_join(track, invitation):
        raise CannotJoin("This track is for those who have its invitation link.")
    return _new_team(track, user, checked_name(team_name or user.username))


def checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > NAME_LIMIT or not name.isprintable():
        raise CannotJoin(f"A team name has 1 to {NAME_LIMIT} printable characters.")
    if team_key(name) == ORGANISERS:
        raise CannotJoin(f"{ORGANISERS} is the name of those who run the track.")
    return name


def _new_team(track: Track, user: User, name: str) -> Team:
    try:
        with transaction.atomic():
            team = Team.objects.create(track=track, name=name)
            Membership.objects.create(track=track, team=team, user=user)
            AuditEvent.objects.record(user, "join", team, after={"name": name})
            return team
    except IntegrityError:
        # Two requests of one person at once, or a name that is taken.
        team = track.team_of(user)
        if team is not None:
            return team
        raise CannotJoin(f"There is a team {name} already; choose another name.") from None


def team_called(track: Track, name: str) -> Team:
    """The team of that name, made without members if there is none; for organisers."""
    name = checked_name(name)
    team, _ = Team.objects.get_or_create(track=track, key=team_key(name), defaults={"name": name})
    return team


def organisers_team(track: Track) -> Team:
    """The team under which baselines and other runs of the organisers stand."""
    team, _ = Team.objects.get_or_create(
        track=track, of_organisers=True, defaults={"name": ORGANISERS}
    )
    return team
