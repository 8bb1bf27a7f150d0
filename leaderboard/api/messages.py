"""Endpoints for messages to people of a benchmark, and invitations by address."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from leaderboard.actions import messages
from leaderboard.actions.refusals import ActionError
from leaderboard.api.auth import ORGANISE, viewer
from leaderboard.api.benchmark_schemas import (
    InvitationsIn,
    InvitationsOut,
    MessageGroupOut,
    MessageIn,
    MessageOut,
)
from leaderboard.api.benchmarks import organised_benchmark_or_403
from leaderboard.api.errors import ApiError, field_error
from leaderboard.api.schemas import response_schemas
from leaderboard.boards.message_groups import MessageGroup, find_groups, find_recipients
from leaderboard.models import Assessment, Benchmark

router = Router(tags=["benchmarks"])


@router.get(
    "/{slug:slug}/message-groups", auth=ORGANISE, response=response_schemas(list[MessageGroupOut])
)
def list_message_groups(request: HttpRequest, slug: str) -> list[dict[str, Any]]:
    """List the groups that organisers can write to, with their sizes."""
    sight = organised_benchmark_or_403(viewer(request), slug)
    return [
        {
            "key": group.key,
            "name": group.name,
            "people": len(group.users),
            "teams": len(group.teams),
        }
        for group in find_groups(sight.benchmark)
    ]


@router.post("/{slug:slug}/messages", auth=ORGANISE, response=response_schemas(MessageOut, 201))
def write_message(request: HttpRequest, slug: str, body: MessageIn) -> Status[dict[str, Any]]:
    """Write to groups of people: each gets a notice, and an email if they want one.

    With `preview`, only counts who would get it.
    """
    user = viewer(request)
    benchmark = organised_benchmark_or_403(user, slug).benchmark
    groups = _find_groups_or_error(benchmark, body.groups)
    details = messages.MessageDetails(groups, body.subject, body.text, body.urgent)
    sent = None
    if not body.preview:
        try:
            sent = messages.write_message(benchmark, user, details)
        except ActionError as refusal:
            raise ApiError(409, "E_CONFLICT", str(refusal)) from None
    recipients = find_recipients(groups)
    return Status(
        201,
        {
            "id": sent.pk if sent is not None else None,
            "people": len(recipients.users),
            "teams": recipients.num_teams,
            "by_email": recipients.num_by_email,
        },
    )


def _find_groups_or_error(benchmark: Benchmark, keys: list[str]) -> list[MessageGroup]:
    known = {group.key: group for group in find_groups(benchmark)}
    for key in keys:
        if key not in known:
            raise field_error("groups", f"has no group with this key; use {list(known)}", key)
    return [known[key] for key in dict.fromkeys(keys)]


@router.post(
    "/{slug:slug}/invitations", auth=ORGANISE, response=response_schemas(InvitationsOut, 201)
)
def invite(request: HttpRequest, slug: str, body: InvitationsIn) -> Status[dict[str, Any]]:
    """Email an invitation to each address that has none yet: to take part, or to judge."""
    user = viewer(request)
    benchmark = organised_benchmark_or_403(user, slug).benchmark
    try:
        addresses = messages.read_addresses("\n".join(body.addresses))
    except ActionError as refusal:
        raise field_error("addresses", str(refusal), "") from None
    assessment = _find_assessment_or_error(benchmark, body.track, body.assessment)
    try:
        invited = messages.invite(benchmark, user, addresses, assessment)
    except ActionError as refusal:
        raise ApiError(409, "E_CONFLICT", str(refusal)) from None
    return Status(201, {"invited": [each.email for each in invited]})


def _find_assessment_or_error(benchmark: Benchmark, track: str, name: str) -> Assessment | None:
    if not name:
        return None
    known = Assessment.objects.unfinished().filter(track__benchmark=benchmark, name=name)
    found = known.filter(track__slug=track).first() if track else known.first()
    if found is None:
        raise field_error("assessment", "is not an unfinished assessment here", name)
    return found
