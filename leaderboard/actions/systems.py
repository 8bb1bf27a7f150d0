"""Change systems of a benchmark: what their runs share, and which runs are theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from leaderboard.actions.people import INVISIBLE
from leaderboard.actions.refusals import ActionError, NotAccepted
from leaderboard.actions.runs import withdraw_run
from leaderboard.models import (
    AuditEvent,
    Run,
    System,
    SystemVersion,
    Track,
    User,
)
from leaderboard.runs.fact_changes import change_facts
from leaderboard.runs.facts import OF_COMMITS

NAME_LIMIT = 80


def clean_system_name(name: str) -> str:
    """Return a name with single blanks; raises NotAccepted if it cannot be read on a page."""
    name = " ".join(name.split())
    if not name or len(name) > NAME_LIMIT or not name.isprintable() or INVISIBLE.search(name):
        raise NotAccepted("E_FIELD", f"name: use 1 to {NAME_LIMIT} printable characters.")
    return name


def withdraw_version(version: SystemVersion, user: User, reason: str = "") -> None:
    """Withdraw every run of a version; they can be restored one by one."""
    with transaction.atomic():
        AuditEvent.objects.record(user, "withdraw", version, after={"reason": reason})
        for run in version.runs.active().select_related("track", "team"):
            withdraw_run(run, user, reason)


def change_system(system: System, user: User, name: str, description: str) -> None:
    """Rename or describe a system; raises NotAccepted, and ActionError for a name of the team's."""
    name = clean_system_name(name)
    before = {"name": system.name, "description": system.description}
    after = {"name": name, "description": description}
    if before == after:
        return
    try:
        with transaction.atomic():
            System.objects.filter(pk=system.pk).update(**after)
            AuditEvent.objects.record(user, "change", system, before=before, after=after)
    except IntegrityError:
        raise ActionError(f"Your team has another system named {name}.") from None


def state_facts(system: System, user: User, facts: Mapping[str, Any]) -> int:
    """State facts of a system on all its runs; return on how many they can no longer change.

    A team states facts of a run until the release of its track, organisers at any time.
    """
    facts = {name: fact for name, fact in facts.items() if name not in ("primary", *OF_COMMITS)}
    organises = system.benchmark.is_organised_by(user)
    runs = Run.objects.filter(version__system=system).select_related("track")
    fixed = 0
    with transaction.atomic():
        kept = {name: fact for name, fact in {**system.facts, **facts}.items() if fact is not None}
        System.objects.filter(pk=system.pk).update(facts=kept)
        AuditEvent.objects.record(user, "state facts", system, before=system.facts, after=kept)
        for run in runs.order_by("track", "pk"):
            if organises or run.track.released_at is None:
                change_facts(run, user, facts)
            else:
                fixed += 1
    return fixed


def add_run(version: SystemVersion, user: User, run: Run) -> None:
    """Put an active run that its team submitted before into a version; raises ActionError."""
    if version.runs.active().filter(track=run.track_id).exists():
        raise _answered_already(version, run.track)
    try:
        with transaction.atomic():
            free = Run.objects.active().filter(version=None, team=version.system.team_id)
            if not free.filter(pk=run.pk).update(version=version):
                raise ActionError("This run is withdrawn or is part of a version already.")
            SystemVersion.objects.filter(pk=version.pk).update(announced_at=None)
            AuditEvent.objects.record(user, "add run", version, after={"run": run.pk})
    except IntegrityError:
        raise _answered_already(version, run.track) from None


def _answered_already(version: SystemVersion, track: Track) -> ActionError:
    return ActionError(f"Version {version.label} already has a run on {track.slug}.")
