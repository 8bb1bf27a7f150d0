"""What the audit trail says, in words: who did what to what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from leaderboard.models import AuditEvent, Run, Team

ACTS = {
    "add": "added a",
    "add organiser": "named an organiser of the",
    "announce": "made an",
    "approved": "approved a",
    "become member": "joined the",
    "bring back": "brought back the",
    "call again": "had called again the",
    "change": "changed the",
    "check again": "had checked again the",
    "confirm": "confirmed the",
    "declined": "declined a",
    "discard": "took away the",
    "disqualify": "disqualified the",
    "erase": "erased the",
    "freeze": "froze the board as a",
    "grant": "gave a",
    "hide": "hid the",
    "join": "joined with the",
    "keep": "kept the",
    "leave": "left the",
    "make leader": "named a leader of the",
    "open": "opened the",
    "release": "released the scores of the",
    "remove": "removed a",
    "remove organiser": "took an organiser from the",
    "remove badge": "took away the badge of the",
    "remove member": "took a member out of the",
    "renew badge": "made an address for the badge of the",
    "score again": "had scored again all runs of the",
    "state facts": "stated facts of the",
    "try": "tried other judgments on the",
    "try again": "tried again the",
    "undo withdrawal": "undid the withdrawal of the",
    "upload": "sent the",
    "withdraw": "withdrew the",
}
NOUNS = {
    "grant": "grant of runs",
    "joinrequest": "request to take part",
    "judgmentset": "judgments",
}


@dataclass(frozen=True, slots=True)
class Told:
    """One line of the trail; `name` is a stranger's text, `details` are what was set."""

    event: AuditEvent
    words: str
    name: str
    details: list[str]


def trail_of(events: Iterable[AuditEvent]) -> list[Told]:
    """The events in words, with the names that runs and teams have now."""
    events = list(events)
    runs = Run.objects.in_bulk([each.target_id for each in events if each.target_kind == "run"])
    team_ids = [int(each.target_id) for each in events if each.target_kind == "team"]
    teams = Team.objects.in_bulk(team_ids)
    names = {("run", key): str(run) for key, run in runs.items()}
    names |= {("team", str(key)): team.name for key, team in teams.items()}
    return [
        Told(
            event,
            words_of(event),
            names.get((event.target_kind, event.target_id), ""),
            details_of(event.before, event.after),
        )
        for event in events
    ]


def words_of(event: AuditEvent) -> str:
    """The act and its target: "changed the track"."""
    act = ACTS.get(event.act, f"{event.act}:")
    return f"{act} {NOUNS.get(event.target_kind, event.target_kind)}"


def details_of(before: Any, after: Any) -> list[str]:
    """What was set, field by field, with what it was where that is known.

    >>> details_of({"depth": 100}, {"depth": 1000}), details_of(None, {"reason": ""})
    (['depth: 100 → 1000'], [])
    """
    old, new = (each if isinstance(each, dict) else {} for each in (before, after))
    details = []
    for name in {**old, **new}:
        was, now = (in_words(each.get(name)) for each in (old, new))
        if was or now:
            change = f"{was or 'nothing'} → {now or 'nothing'}" if name in old else now
            details.append(f"{name.replace('_', ' ')}: {change}")
    return details


def in_words(value: Any) -> str:
    if value in (None, "", "None", [], {}):
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
