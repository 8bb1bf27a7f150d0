"""Teams that organisers create, each with an account and an API token of its own.

They serve benchmarks whose teams never sign up here: teams or organisers submit with these tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.utils.text import slugify

from leaderboard.actions import people
from leaderboard.models import ApiToken, AuditEvent, Benchmark, Team, User

SCOPES = ["read", "submit"]


@dataclass(frozen=True)
class TeamAccount:
    """A new team, its account without a password, and the secret that is shown once."""

    team: Team
    user: User
    token: str


@transaction.atomic
def create_teams(benchmark: Benchmark, organiser: User, names: Iterable[str]) -> list[TeamAccount]:
    """Create all of these teams, or none of them. Raises JoinError."""
    return [_create_team(benchmark, organiser, name) for name in names]


def _create_team(benchmark: Benchmark, organiser: User, name: str) -> TeamAccount:
    name = people.clean_team_name(name)
    # Never use an existing account: the token would act for its owner.
    user = User(username=_free_username(benchmark, name))
    user.set_unusable_password()
    user.save()
    team = people.create_team(benchmark, user, name)
    AuditEvent.objects.record(organiser, "create", team, after={"account": user.username})
    _, secret = ApiToken.objects.issue(user, SCOPES, name="created with the team")
    return TeamAccount(team, user, secret)


def _free_username(benchmark: Benchmark, name: str) -> str:
    """Return a free username made of the benchmark's and the team's names, numbered if needed."""
    # One character may become several letters, and a username has at most 150.
    first = f"{benchmark.slug}-{slugify(name) or 'team'}"[:140]
    number, username = 1, first
    while User.objects.filter(username__iexact=username).exists():
        number += 1
        username = f"{first}-{number}"
    return username
