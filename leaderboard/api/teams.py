"""Endpoints for the teams of a benchmark: join, create, merge."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Router, Status

from leaderboard.actions import people
from leaderboard.actions.merged_teams import merge_teams
from leaderboard.actions.refusals import ActionError
from leaderboard.actions.registrations import RegistrationDetails
from leaderboard.actions.team_accounts import create_teams
from leaderboard.api.auth import ORGANISE, SUBMIT, viewer
from leaderboard.api.benchmark_schemas import BenchmarkTeamOut, MergeIn, NewTeamOut
from leaderboard.api.benchmarks import organised_benchmark_or_403
from leaderboard.api.errors import ApiError, field_error
from leaderboard.api.schemas import JoinIn, TeamIn, response_schemas
from leaderboard.boards.disclosure import BenchmarkSight, benchmark_or_404, benchmark_sight_of
from leaderboard.models import Benchmark, Team, User
from leaderboard.models.people import team_key
from leaderboard.models.registrations import Asked

router = Router(tags=["benchmarks"])


@router.post("/{slug:slug}/join", auth=SUBMIT, response=response_schemas(BenchmarkTeamOut))
def join_benchmark(request: HttpRequest, slug: str, body: JoinIn = None) -> dict[str, Any]:
    """Join all tracks of a benchmark with a new team. Returns your team if you already have one."""
    user, asking = viewer(request), read_details(body or JoinIn())
    benchmark = get_object_or_404(Benchmark, slug=slug)
    if not people.find_admission(benchmark, asking).is_invited:
        benchmark_or_404(user, slug)
    team = admit_or_error(benchmark, user, asking)
    return serialise_team(benchmark_sight_of(benchmark, user), team)


@router.post("/{slug:slug}/teams", auth=ORGANISE, response=response_schemas(NewTeamOut, 201))
def create_team(request: HttpRequest, slug: str, body: TeamIn) -> Status[dict[str, Any]]:
    """Create a team with an account and an API token, for teams that do not sign up."""
    user = viewer(request)
    sight = organised_benchmark_or_403(user, slug)
    try:
        (made,) = create_teams(sight.benchmark, user, [body.name])
    except people.JoinError as reason:
        raise field_error("name", str(reason), body.name) from None
    account = {"user": made.user.username, "token": made.token}
    return Status(201, serialise_team(sight, made.team) | account)


@router.post("/{slug:slug}/teams/merge", auth=ORGANISE, response=response_schemas(BenchmarkTeamOut))
def merge_two_teams(request: HttpRequest, slug: str, body: MergeIn) -> dict[str, Any]:
    """Give a team members, runs, systems and extra runs of another one, which is deleted.

    On each track the later deadline of both is its own. You cannot undo this.
    """
    user = viewer(request)
    sight = organised_benchmark_or_403(user, slug)
    kept = team_or_error(sight, body.into, "into")
    try:
        merge_teams(kept, team_or_error(sight, body.team, "team"), user)
    except ActionError as refusal:
        raise ApiError(409, "E_CONFLICT", str(refusal)) from None
    return serialise_team(sight, kept)


def serialise_team(sight: BenchmarkSight, team: Team) -> dict[str, Any]:
    tracks = [seen.track.slug for seen in sight.sights]
    return {"benchmark": sight.benchmark.slug, "team": team.name, "tracks": tracks}


def team_or_error(sight: BenchmarkSight, name: str, field: str) -> Team:
    """Return the team of a benchmark that has this name; raise ApiError if there is none."""
    team = sight.benchmark.teams.filter(key=team_key(name)).first()
    if team is None:
        raise field_error(field, "is not a team of this benchmark", name)
    return team


def read_details(body: JoinIn) -> people.JoinDetails:
    said = body.registration
    registration = RegistrationDetails(
        said.person, said.model_dump(include={*Asked.values}), said.agreement, said.signed_name
    )
    return people.JoinDetails(
        body.invitation, body.team, body.team_code, body.accepts_terms, registration
    )


def admit_or_error(benchmark: Benchmark, user: User, asking: people.JoinDetails) -> Team:
    """Return the user's team, joined or created if needed; raise ApiError for others."""
    try:
        return people.admit(benchmark, user, asking)
    except people.NotInvitedError as reason:
        raise ApiError(403, "E_NO_TEAM", str(reason)) from None
    except people.JoinError as reason:
        raise field_error("team", str(reason), asking.team_name) from None
