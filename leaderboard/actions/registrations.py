"""Register a team: what it says of itself, and what is signed for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from leaderboard.actions.refusals import ActionError
from leaderboard.models import (
    Agreement,
    AuditEvent,
    Benchmark,
    Registration,
    Signature,
    Team,
    User,
)
from leaderboard.models.registrations import Asked


class RegistrationError(Exception):
    """Why a team cannot register like this; its sender sees the text."""


@dataclass(frozen=True)
class RegistrationDetails:
    """What a team says to register.

    `agreement` is the version that its sender read, None where there is none, and `signed_name` the
    name under it.
    """

    person: str = ""
    answers: Mapping[str, Any] = field(default_factory=dict)
    agreement: int | None = None
    signed_name: str = ""


@transaction.atomic
def ask_teams(benchmark: Benchmark, user: User, asked: Sequence[str], question: str) -> None:
    """Choose what teams that register from now on are asked."""
    after = {"asked": list(asked), "question": question if Asked.QUESTION in asked else ""}
    before = {name: getattr(benchmark, name) for name in after}
    if after != before:
        for name, value in after.items():
            setattr(benchmark, name, value)
        benchmark.save(update_fields=list(after))
        AuditEvent.objects.record(user, "change", benchmark, before, after)


@transaction.atomic
def write_agreement(benchmark: Benchmark, user: User, text: str) -> Agreement:
    """Write the next version of the agreement; every team signs it again.

    Raises ActionError for the text of the present version.
    """
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    latest = benchmark.agreement
    if latest is not None and latest.text == text:
        raise ActionError(f"This is the text of version {latest.version}.")
    version = latest.version + 1 if latest is not None else 1
    written = benchmark.agreements.create(version=version, text=text, written_by=user)
    AuditEvent.objects.record(user, "write agreement", benchmark, after={"version": version})
    return written


@transaction.atomic
def register(
    benchmark: Benchmark, user: User, details: RegistrationDetails, team: Team | None = None
) -> Registration | None:
    """Store what a team says and its signature; `team` once it takes part.

    The lock on the benchmark keeps the agreement as it is meanwhile. Raises RegistrationError.
    """
    if not benchmark.registers_teams:
        return None
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    agreement = benchmark.agreement
    _refuse_incomplete(benchmark, details, agreement)
    key = {"team": team} if team is not None else {"user": user, "team": None}
    known = benchmark.registrations.filter(**key).first()
    found = known or Registration(benchmark=benchmark, user=user, team=team)
    found.person = details.person
    found.answers = {name: details.answers[name] for name in benchmark.asked}
    found.save()
    AuditEvent.objects.record(user, "register", found)
    if agreement is not None:
        _sign(found, agreement, user, details.signed_name)
    return found


def _refuse_incomplete(
    benchmark: Benchmark, details: RegistrationDetails, agreement: Agreement | None
) -> None:
    if not details.person:
        raise RegistrationError("Name the person responsible for the team.")
    missing = [name for name in benchmark.asked if not details.answers.get(name)]
    if missing:
        raise RegistrationError(f"The organisers also ask for: {', '.join(missing)}.")
    if agreement is None:
        return
    if details.agreement != agreement.version:
        raise RegistrationError(
            f"The agreement has another version now: {agreement.version}. Read it and sign it."
        )
    if details.signed_name.split() != details.person.split():
        raise RegistrationError(
            f"The name that signs must be the person responsible: {details.person}."
        )


def _sign(registration: Registration, agreement: Agreement, user: User, name: str) -> None:
    _, is_new = Signature.objects.get_or_create(
        registration=registration, agreement=agreement, defaults={"user": user, "name": name}
    )
    if is_new:
        after = {"version": agreement.version}
        AuditEvent.objects.record(user, "sign", registration, after=after)


def give_registration(team: Team, user: User) -> None:
    """Make what a user said the registration of the team that the user now leads."""
    own = Registration.objects.filter(benchmark=team.benchmark, user=user, team=None)
    own.update(team=team)
