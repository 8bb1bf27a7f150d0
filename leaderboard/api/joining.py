"""Joining by the API: what a call brings, and the errors of one that lets nobody in."""

from __future__ import annotations

from leaderboard.actions import people
from leaderboard.api.errors import ApiError, field_error
from leaderboard.api.schemas import JoinIn
from leaderboard.models import Benchmark, Team, Track, User


def read_details(body: JoinIn) -> people.JoinDetails:
    return people.JoinDetails(body.invitation, body.team, body.team_code, body.accepts_terms)


def admit_or_error(place: Track | Benchmark, user: User, asking: people.JoinDetails) -> Team:
    """Return the user's team, joined or created if needed; raise ApiError for others."""
    try:
        return people.admit(place, user, asking)
    except people.NotInvitedError as reason:
        raise ApiError(403, "E_NO_TEAM", str(reason)) from None
    except people.JoinError as reason:
        raise field_error("team", str(reason), asking.team_name) from None
