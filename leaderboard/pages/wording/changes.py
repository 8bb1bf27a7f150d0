"""Changes of a track that everybody sees: what each of them does, before it is saved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from leaderboard.actions.undo import UndoableChange, closes_at_once, opens_again
from leaderboard.display.numbers import anywhere_on_earth, counted
from leaderboard.models import Run, Track

LABELS = {
    "name": "Name",
    "slug": "Short name",
    "judgment_set": "Judgments",
    "closes_at": "Deadline",
    "disclosure": "Scores",
    "topics_at": "Topics appear",
    "documents_at": "Documents appear",
    "judgments_at": "Judgments as a file",
    "baseline_at": "Baseline as a file",
}
EFFECTS = {
    "name": "All pages show the new name at once. No one is notified.",
    "slug": "Links with the old short name stop working: pages, API calls, badges and feeds. "
    "No one is notified.",
    "judgment_set": "Every run is scored with the new judgments. Scores, ranks and verdicts can "
    "change.",
    "disclosure": "Anyone who sees all scores also sees every ranking and each grade of a "
    "document. What people have seen they can keep.",
    "topics_at": "The topics are out. They disappear from all pages, and runs are rejected until "
    "then. Anyone who downloaded them keeps them.",
    "documents_at": "The documents are out. They disappear from all pages with every board, and "
    "runs are rejected until then. Anyone who downloaded them keeps them.",
    "judgments_at": "The judgments are offered as a file. Anyone who downloaded them keeps them.",
    "baseline_at": "The baseline run is offered as a file. Anyone who downloaded it keeps it.",
}
CLOSES = "This is in the past: the track closes at once. You can move the deadline again."
REOPENS = "The track accepts runs again."
# How many late runs are named.
NAMED = 10


@dataclass(frozen=True)
class VisibleChange:
    """A setting with its earlier and its new value, and what follows."""

    label: str
    before: str
    after: str
    effect: str = ""


def describe_visible_changes(
    track: Track,
    names: Iterable[str],
    changes: Mapping[str, Any],
    told: int,
    late: Sequence[Run] = (),
) -> list[VisibleChange]:
    """Describe changes before they are saved.

    `told` members are notified of judgments, and a new deadline makes the runs `late`.
    """
    effects = EFFECTS | {
        "judgment_set": f"{EFFECTS['judgment_set']} {describe_notified(told)}",
        "closes_at": describe_deadline(track, changes, late),
    }
    return [
        VisibleChange(
            LABELS[name],
            _plain(name, getattr(track, name)),
            _plain(name, changes[name]),
            effects[name],
        )
        for name in names
    ]


def describe_deadline(track: Track, changes: Mapping[str, Any], late: Sequence[Run]) -> str:
    """Say what a new deadline does, and name the runs that it makes late."""
    parts = [
        CLOSES if closes_at_once(track, changes) else "",
        REOPENS if opens_again(track, changes) else "",
    ]
    if late:
        named = ", ".join(f"{run} of {run.team}" for run in late[:NAMED])
        more = f" and {len(late) - NAMED:,} more" if len(late) > NAMED else ""
        parts.append(f"Late by this deadline: {named}{more}.")
    return " ".join(filter(None, parts))


def _plain(name: str, value: Any) -> str:
    if name == "disclosure":
        return str(Track.Disclosure(value).label)
    return anywhere_on_earth(value) if isinstance(value, datetime) else str(value or "none")


def describe_notified(told: int) -> str:
    """Say how many members are notified of other judgments, and when."""
    if not told:
        return "No member is notified."
    return f"{counted(told, 'member is,members are')} notified ten minutes later."


def describe_undoable_change(change: UndoableChange) -> list[VisibleChange]:
    """Describe a change that can still be undone."""
    return [
        VisibleChange(LABELS[name], str(before), str(change.after[name]))
        for name, before in change.before.items()
    ]
