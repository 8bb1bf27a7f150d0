"""Changes to run facts by the team (until release), by organisers or from the file header."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from leaderboard.models import AuditEvent, Job, Run, Track, User
from leaderboard.runs.facts import BY_NAME, columns_of, facts_in_header, label_of, stated, words_of

ACT = "state facts"


def change_facts(run: Run, user: User, facts: Mapping[str, Any]) -> None:
    """State these facts beside those that stay; an empty one is taken back."""
    with transaction.atomic():
        # The lock under which runs are published, so that a team has one primary run.
        track = Track.objects.select_for_update(no_key=True).get(pk=run.track_id)
        run = Run.objects.get(pk=run.pk)
        if _write(run, user, facts) and track.edition is not None:
            Job.objects.enqueue("compare", track.edition)


def settle_facts(run_id: str, metadata: Mapping[str, str]) -> None:
    """The file of a run is accepted: its header states what its team did not.

    Only now a new primary run takes the place of the one before it.
    """
    run = Run.objects.get(pk=run_id)
    said, header = stated(run), facts_in_header(metadata)
    _write(run, None, {name: header[name] for name in header if name not in said})
    if run.is_primary:
        Run.objects.replace_primary(run)


def _write(run: Run, user: User | None, facts: Mapping[str, Any]) -> bool:
    """Write what is new with its history; whether the team has another primary run now."""
    before = stated(run)
    columns = columns_of({**before, **facts})
    after = stated(Run(**columns))
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if not changed:
        return False
    if columns["is_primary"] and run.state in (Run.State.VALID, Run.State.SCORED):
        Run.objects.replace_primary(run)
    Run.objects.filter(pk=run.pk).update(**columns)
    AuditEvent.objects.record(
        user,
        ACT,
        run,
        before={name: before.get(name) for name in changed},
        after={name: after.get(name) for name in changed},
    )
    return "primary" in changed


@dataclass(frozen=True)
class ChangedFact:
    label: str
    before: str
    after: str


@dataclass(frozen=True)
class Change:
    """What was stated at once; `by` is empty where the file stated it itself."""

    at: datetime
    by: str
    facts: list[ChangedFact]


def in_their_order(facts: dict[str, Any]) -> list[tuple[str, Any]]:
    """Facts as they are declared, and then others; a database may keep them in another order."""
    declared = list(BY_NAME)
    place = {name: declared.index(name) for name in facts if name in BY_NAME}
    return sorted(facts.items(), key=lambda fact: (place.get(fact[0], len(declared)), fact[0]))


def history_of(run: Run) -> list[Change]:
    """How the facts of a run changed, the latest first."""
    events = AuditEvent.objects.filter(target_kind="run", target_id=run.pk, act=ACT)
    return [
        Change(
            at=event.at,
            by=event.actor.username if event.actor is not None else "",
            facts=[
                ChangedFact(
                    label_of(name), words_of(name, before), words_of(name, event.after[name])
                )
                for name, before in in_their_order(event.before)
            ],
        )
        for event in events.select_related("actor").order_by("-at")
    ]
