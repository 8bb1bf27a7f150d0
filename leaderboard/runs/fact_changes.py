"""Changes to facts and descriptions of runs, by team, organisers or the header of the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from leaderboard.models import AuditEvent, Job, Run, Track, User
from leaderboard.models.runs import RunQuerySet
from leaderboard.runs.facts import (
    BY_NAME,
    all_facts,
    build_columns,
    find_label,
    format_fact,
    read_header,
)

ACT = "state facts"


def change_facts(run: Run, user: User, facts: Mapping[str, Any]) -> None:
    """Change these facts of a run; an empty value deletes a fact."""
    with transaction.atomic():
        # Publishing takes this lock too, so a team has at most one primary run.
        track = Track.objects.select_for_update(no_key=True).get(pk=run.track_id)
        run = Run.objects.get(pk=run.pk)
        if _update_facts(run, user, facts) and track.edition is not None:
            Job.objects.enqueue("compare", track.edition)


def find_runs_described_alike(run: Run) -> RunQuerySet:
    """Return the team's other runs with the same description, such as those sent together."""
    if not run.description:
        return Run.objects.none()
    alike = Run.objects.filter(team=run.team_id, description=run.description)
    return alike.exclude(pk=run.pk)


def change_description(run: Run, user: User, description: str, of_all: bool = False) -> None:
    """Change the description of a run, or of all runs of its team that share it."""
    if description == run.description:
        return
    alike = list(find_runs_described_alike(run)) if of_all else []
    before = {"description": run.description}
    with transaction.atomic():
        for each in [run, *alike]:
            Run.objects.filter(pk=each.pk).update(description=description)
            AuditEvent.objects.record(
                user, ACT, each, before=before, after={"description": description}
            )


def apply_header_facts(run_id: str, metadata: Mapping[str, str]) -> None:
    """Add the facts in the header of an accepted file that its team did not state.

    Only an accepted run replaces the primary run of its team.
    """
    run = Run.objects.get(pk=run_id)
    stated, header = all_facts(run), read_header(metadata)
    _update_facts(run, None, {name: header[name] for name in header if name not in stated})
    if run.is_primary:
        Run.objects.replace_primary(run)


def _update_facts(run: Run, user: User | None, facts: Mapping[str, Any]) -> bool:
    """Store changed facts with their history; return whether the primary run changed."""
    before = all_facts(run)
    columns = build_columns({**before, **facts})
    after = all_facts(Run(**columns))
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
    """One fact before and after a change, as text."""

    label: str
    before: str
    after: str


@dataclass(frozen=True)
class FactChange:
    """One change of facts; `by` is empty if the header of the file stated them."""

    at: datetime
    by: str
    facts: list[ChangedFact]


def sort_facts(facts: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the declared facts in their order, then others; databases may reorder JSON."""
    declared = list(BY_NAME)
    place = {name: declared.index(name) for name in facts if name in BY_NAME}
    return sorted(facts.items(), key=lambda fact: (place.get(fact[0], len(declared)), fact[0]))


def load_history(run: Run) -> list[FactChange]:
    """Return the changes of the facts of a run, the latest first."""
    events = AuditEvent.objects.filter(target_kind="run", target_id=run.pk, act=ACT)
    return [
        FactChange(
            at=event.at,
            by=event.actor.username if event.actor is not None else "",
            facts=[
                ChangedFact(
                    find_label(name),
                    format_fact(name, before),
                    format_fact(name, event.after[name]),
                )
                for name, before in sort_facts(event.before)
            ],
        )
        for event in events.select_related("actor").order_by("-at")
    ]
