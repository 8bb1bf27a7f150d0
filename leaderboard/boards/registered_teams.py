"""The teams of a benchmark with what they registered and signed, and who downloaded its files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db.models import Prefetch

from leaderboard.display.csv_tables import CsvTable
from leaderboard.models import (
    Benchmark,
    Download,
    JoinRequest,
    Membership,
    Registration,
    Signature,
)
from leaderboard.models.registrations import Asked, RegistrationQuerySet


@dataclass(frozen=True)
class RegisteredAnswer:
    """What a team said to one thing that it was asked."""

    label: str
    text: str


@dataclass(frozen=True)
class RegisteredTeam:
    """A registration with its answers, and the latest signature if there is one."""

    registration: Registration
    name: str
    answers: list[RegisteredAnswer]
    signature: Signature | None
    # Whether it signed the latest version, or there is none.
    is_signed: bool


@dataclass(frozen=True)
class RegisteredRequest:
    """A request to join with what its sender registered, if anything."""

    request: JoinRequest
    team: RegisteredTeam | None


def find_registered_teams(benchmark: Benchmark) -> list[RegisteredTeam]:
    """Return the registrations of teams that take part, by name."""
    rows = _read(benchmark).exclude(team=None).order_by("team__name")
    return list(_describe(benchmark, rows))


def find_requests(benchmark: Benchmark) -> list[RegisteredRequest]:
    """Return the waiting requests to join, the oldest first."""
    waiting = benchmark.join_requests.waiting()
    asked = list(waiting.select_related("user"))
    rows = _read(benchmark).filter(team=None, user__in=[each.user_id for each in asked])
    teams = {team.registration.user_id: team for team in _describe(benchmark, rows)}
    return [RegisteredRequest(each, teams.get(each.user_id)) for each in asked]


def _read(benchmark: Benchmark) -> RegistrationQuerySet:
    signatures = Prefetch("signatures", Signature.objects.select_related("agreement"))
    rows = benchmark.registrations.select_related("user", "team")
    return rows.prefetch_related(signatures)


def _describe(benchmark: Benchmark, rows: Iterable[Registration]) -> Iterator[RegisteredTeam]:
    latest = benchmark.agreement
    for row in rows:
        signatures = list(row.signatures.all())
        signed = signatures[0] if signatures else None
        yield RegisteredTeam(
            row,
            row.team.name if row.team is not None else "",
            [
                RegisteredAnswer(_label(benchmark, name), _plain(text))
                for name, text in row.answers.items()
            ],
            signed,
            is_signed=latest is None or (signed is not None and signed.agreement == latest),
        )


def _label(benchmark: Benchmark, name: str) -> str:
    if name == Asked.QUESTION:
        return benchmark.question
    return str(Asked(name).label)


def _plain(text: object) -> str:
    return ", ".join(map(str, text)) if isinstance(text, list) else str(text)


def tabulate_teams(benchmark: Benchmark) -> CsvTable:
    """Return the registered teams as a table, with their addresses."""
    head = ("team", "person", "user", *Asked.values, "signed_version", "signed_name", "signed_at")
    lines = (
        (
            team.name,
            team.registration.person,
            team.registration.user.username,
            *(_plain(team.registration.answers.get(name, "")) for name in Asked.values),
            team.signature.agreement.version if team.signature else "",
            team.signature.name if team.signature else "",
            team.signature.signed_at.isoformat() if team.signature else "",
        )
        for team in find_registered_teams(benchmark)
    )
    return CsvTable(head, lines)


def tabulate_downloads(benchmark: Benchmark) -> CsvTable:
    """Return who downloaded which file of the benchmark's collections, the latest first."""
    rows = Download.objects.filter(collection__tracks__benchmark=benchmark).distinct()
    members = Membership.objects.filter(benchmark=benchmark).select_related("team")
    teams = {member.user_id: member.team.name for member in members}
    lines = (
        (
            row.at.isoformat(),
            row.collection.slug,
            row.file,
            row.user.username if row.user else "",
            teams.get(row.user_id, ""),
        )
        for row in rows.select_related("collection", "user")
    )
    return CsvTable(("at", "collection", "file", "user", "team"), lines)
