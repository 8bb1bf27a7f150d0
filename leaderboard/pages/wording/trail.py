"""Activity log entries in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Model

from leaderboard.models import (
    AuditEvent,
    JudgmentSet,
    Participation,
    Pool,
    Run,
    Snapshot,
    Team,
    User,
)

NOUNS = {
    "grant": "run quota",
    "joinrequest": "request to join",
    "participation": "team",
    "judgmentset": "judgments",
    "benchmarksnapshot": "snapshot",
    "systemversion": "system version",
}
# Models whose rows have names that readers know.
MODELS_WITH_NAMES: dict[str, type[Model]] = {
    "judgmentset": JudgmentSet,
    "participation": Participation,
    "pool": Pool,
    "run": Run,
    "snapshot": Snapshot,
    "team": Team,
    "user": User,
}


@dataclass(frozen=True, slots=True)
class TrailEntry:
    """One entry of the activity log; `name` is user text, `details` are the changed fields."""

    event: AuditEvent
    words: str
    name: str
    details: list[str]


def describe_events(events: Iterable[AuditEvent]) -> list[TrailEntry]:
    """Describe events in words, with the current names of their targets."""
    events = list(events)
    names = _find_target_names(events)
    return [
        TrailEntry(
            event,
            describe_act(event),
            names.get((event.target_kind, event.target_id), ""),
            describe_changes(event.before, event.after),
        )
        for event in events
    ]


def _find_target_names(events: Iterable[AuditEvent]) -> dict[tuple[str, str], str]:
    """Return the names of the targets, by kind and key."""
    keys: dict[str, list[str]] = {}
    for event in events:
        # A target that the archive did not contain has no key.
        if event.target_id:
            keys.setdefault(event.target_kind, []).append(event.target_id)
    return {
        (kind, str(key)): str(row)
        for kind, model in MODELS_WITH_NAMES.items()
        if kind in keys
        for key, row in model.objects.in_bulk(keys[kind]).items()
    }


def describe_act(event: AuditEvent) -> str:
    """Describe an act and its target: "changed the track"."""
    return f"{event.words} {NOUNS.get(event.target_kind, event.target_kind)}"


def describe_changes(before: Any, after: Any) -> list[str]:
    """Describe the changed fields, with the earlier values if they are known.

    >>> describe_changes({"depth": 100}, {"depth": 1000}), describe_changes(None, {"reason": ""})
    (['depth: 100 → 1000'], [])
    """
    old, new = (values if isinstance(values, dict) else {} for values in (before, after))
    details = []
    for name in {**old, **new}:
        was, now = (describe_value(values.get(name)) for values in (old, new))
        if was or now:
            change = f"{was or 'nothing'} → {now or 'nothing'}" if name in old else now
            details.append(f"{name.replace('_', ' ')}: {change}")
    return details


def describe_value(value: Any) -> str:
    if value in (None, "", "None", [], {}):
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
