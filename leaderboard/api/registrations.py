"""Endpoints for what teams of a benchmark say and sign, and for their requests to join."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Router, Status

from leaderboard.actions import people, registrations
from leaderboard.actions.refusals import ActionError
from leaderboard.api.auth import ORGANISE, PUBLIC, SUBMIT, viewer
from leaderboard.api.benchmark_schemas import (
    ApprovalIn,
    ApprovedTeams,
    JoinRequestOut,
    RegistrationPatch,
    RegistrationRules,
)
from leaderboard.api.benchmarks import organised_benchmark_or_403
from leaderboard.api.errors import ApiError, field_error
from leaderboard.api.schemas import JoinIn, response_schemas
from leaderboard.api.teams import read_details
from leaderboard.boards.disclosure import benchmark_or_404
from leaderboard.display.markdown import find_excess
from leaderboard.models import Benchmark, JoinRequest
from leaderboard.models.registrations import Asked

router = Router(tags=["benchmarks"])


@router.get("/{slug:slug}/registration", auth=PUBLIC, response=response_schemas(RegistrationRules))
def get_registration(request: HttpRequest, slug: str) -> dict[str, Any]:
    """Get what teams are asked when they register, and the agreement that they sign."""
    return serialise_registration(benchmark_or_404(viewer(request), slug).benchmark)


@router.patch(
    "/{slug:slug}/registration", auth=ORGANISE, response=response_schemas(RegistrationRules)
)
def change_registration(request: HttpRequest, slug: str, body: RegistrationPatch) -> dict[str, Any]:
    """Choose what teams are asked from now on, or write the next version of the agreement.

    Every team signs a new version again.
    """
    user = viewer(request)
    benchmark = organised_benchmark_or_403(user, slug).benchmark
    sent = body.model_fields_set
    asked = body.asked if "asked" in sent else benchmark.asked
    question = body.question if "question" in sent else benchmark.question
    if Asked.QUESTION in asked and not question:
        raise field_error("question", "is missing")
    if body.agreement and (excess := find_excess(body.agreement)):
        raise field_error("agreement", f"is a text that {excess}")
    with transaction.atomic():
        registrations.ask_teams(benchmark, user, asked, question)
        if body.agreement:
            try:
                registrations.write_agreement(benchmark, user, body.agreement)
            except ActionError as refusal:
                raise ApiError(409, "E_CONFLICT", str(refusal)) from None
    return serialise_registration(benchmark)


def serialise_registration(benchmark: Benchmark) -> dict[str, Any]:
    return {
        "asked": benchmark.asked,
        "question": benchmark.question,
        "agreement": benchmark.agreement,
    }


@router.post("/{slug:slug}/requests", auth=SUBMIT, response=response_schemas(JoinRequestOut, 202))
def ask_to_join(request: HttpRequest, slug: str, body: JoinIn) -> Status[JoinRequest]:
    """Ask the organisers to approve your team, where teams are approved."""
    user, asking = viewer(request), read_details(body)
    benchmark = benchmark_or_404(user, slug).benchmark
    try:
        return Status(202, people.request_to_join(benchmark, user, asking))
    except people.NotInvitedError as refusal:
        raise ApiError(409, "E_CONFLICT", str(refusal)) from None
    except people.JoinError as refusal:
        raise field_error("team", str(refusal), asking.team_name) from None


@router.get("/{slug:slug}/requests", auth=ORGANISE, response=response_schemas(list[JoinRequestOut]))
def list_requests(request: HttpRequest, slug: str) -> list[JoinRequest]:
    """List who waits to be approved (organisers only)."""
    benchmark = organised_benchmark_or_403(viewer(request), slug).benchmark
    return list(_waiting(benchmark))


@router.post(
    "/{slug:slug}/requests/approve", auth=ORGANISE, response=response_schemas(ApprovedTeams)
)
def approve_requests(request: HttpRequest, slug: str, body: ApprovalIn) -> dict[str, Any]:
    """Approve requests to join, each by its team name: all of them, or none if there is an error.

    A request whose name changed since you read it waits on.
    """
    user = viewer(request)
    benchmark = organised_benchmark_or_403(user, slug).benchmark
    waiting = {row.team_name: row for row in _waiting(benchmark)}
    for name in body.teams:
        if name not in waiting:
            raise field_error("teams", "has no request that waits under this name", name)
    try:
        with transaction.atomic():
            made = [people.approve_request(waiting[name], user) for name in body.teams]
    except people.JoinError as refusal:
        raise ApiError(409, "E_CONFLICT", str(refusal)) from None
    return {"teams": [team.name for team in made]}


def _waiting(benchmark: Benchmark) -> QuerySet[JoinRequest]:
    waiting = benchmark.join_requests.waiting()
    return waiting.select_related("user").order_by("asked_at", "pk")
