"""Undo a change of a track that everybody sees, for ten minutes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from leaderboard.actions.refusals import ActionError
from leaderboard.actions.track_settings import with_changes
from leaderboard.actions.tracks import change_track, plain_value
from leaderboard.models import AuditEvent, Run, Track, User
from leaderboard.models.tracks import UNDO_TIME

# The settings whose change everybody sees and an organiser can take back.
UNDOABLE = ("name", "slug", "judgment_set")
# What readers see of scores, from nothing to everything.
OPENNESS = (Track.Disclosure.BLIND, Track.Disclosure.LEADERBOARD, Track.Disclosure.OPEN)
TOO_LATE = (
    "This change was undone already, or it is older than ten minutes. "
    "Change the setting back instead."
)
CHANGED_SINCE = "It was changed again since. Look at the settings and change it back there."


@dataclass(frozen=True)
class UndoableChange:
    """A change that can still be undone: the earlier and the later value by setting."""

    event: AuditEvent
    before: Mapping[str, Any]
    after: Mapping[str, Any]

    @property
    def until(self) -> datetime:
        return self.event.at + UNDO_TIME


def find_visible_changes(track: Track, changes: Mapping[str, Any]) -> list[str]:
    """Return which of these changes everybody sees; the first judgments replace none."""
    if track.is_draft:
        return []
    return [
        name
        for name in UNDOABLE
        if name in changes and getattr(track, name) and changes[name] != getattr(track, name)
    ]


def shows_more(track: Track, changes: Mapping[str, Any]) -> bool:
    """Whether these changes show more scores of an opened track to everyone who sees it.

    No setting shows the runs of a blind track, so there is nothing to confirm.
    """
    wanted = changes.get("disclosure", track.disclosure)
    is_release = track.is_blind and track.runs.not_rejected().exists()
    shows = OPENNESS.index(wanted) > OPENNESS.index(track.disclosure)
    return shows and not track.is_draft and not is_release


def find_files_taken_back(track: Track, changes: Mapping[str, Any]) -> list[str]:
    """Return the dates whose change takes back what people could see already."""
    if track.is_draft:
        return []
    changed = with_changes(track, changes)
    was_offered = track.shows_scores and track.offers_judgments
    had_baseline = track.baseline_readers and not track.hides_baseline_file
    taken_back = {
        "topics_at": changed.hides_topics and not track.hides_topics,
        "documents_at": changed.hides_documents and not track.hides_documents,
        "judgments_at": was_offered and changed.shares_judgments and not changed.offers_judgments,
        "baseline_at": had_baseline and changed.hides_baseline_file,
    }
    return [name for name, is_taken in taken_back.items() if is_taken and name in changes]


def moves_deadline(track: Track, changes: Mapping[str, Any]) -> bool:
    """Whether a new deadline closes a track, opens it again or makes runs late."""
    if "closes_at" not in changes or track.is_draft:
        return False
    return (
        closes_at_once(track, changes)
        or opens_again(track, changes)
        or bool(find_runs_made_late(track, changes))
    )


def closes_at_once(track: Track, changes: Mapping[str, Any]) -> bool:
    """Whether a new deadline that has passed closes a track that is open now."""
    closes = changes.get("closes_at")
    return closes is not None and closes <= timezone.now() and track.state() == Track.State.OPEN


def opens_again(track: Track, changes: Mapping[str, Any]) -> bool:
    """Whether a new deadline lets a closed track accept runs again."""
    is_closed = track.state() == Track.State.CLOSED
    return is_closed and with_changes(track, changes).state() == Track.State.OPEN


def find_runs_made_late(track: Track, changes: Mapping[str, Any]) -> list[Run]:
    """Return the runs that arrived in time and would be late by a new deadline."""
    changed = with_changes(track, changes)
    runs = track.runs.not_rejected().select_related("team", "track").order_by("received_at")
    return [
        run
        for run in runs
        if not (run.is_late or run.team.of_organisers)
        and changed.is_late(run.received_at, run.team)
    ]


def find_undoable_change(track: Track) -> UndoableChange | None:
    """Return the latest change that an organiser can undo now."""
    since = timezone.now() - UNDO_TIME
    recent = track.events.filter(act="change", target_kind="track", undone_at=None, at__gt=since)
    found = (_read_change(event) for event in recent.latest_first())
    return next((change for change in found if change and _is_current(change, track)), None)


@transaction.atomic
def undo_change(track: Track, user: User, event_id: int) -> Track:
    """Restore the settings from before a change and return the restored track.

    Raises ActionError if it is too late.
    """
    now = timezone.now()
    events = track.events.filter(pk=event_id, act="change", target_kind="track")
    if not events.filter(undone_at=None, at__gt=now - UNDO_TIME).update(undone_at=now):
        raise ActionError(TOO_LATE)
    change = _read_change(events.get())
    # The lock makes a change that is being saved visible here, or wait for this one.
    current = Track.objects.select_for_update(no_key=True).get(pk=track.pk)
    if change is None or not _is_current(change, current):
        raise ActionError(CHANGED_SINCE)
    try:
        with transaction.atomic():
            return change_track(current, user, _restore(current, change.before), act="undo")
    except IntegrityError:
        raise ActionError("Another track has the earlier short name by now.") from None


def _read_change(event: AuditEvent) -> UndoableChange | None:
    """Return what can be undone of a change; None if nothing."""
    before, after = event.before or {}, event.after or {}
    names = [name for name in UNDOABLE if before.get(name) and name in after]
    if not names:
        return None
    return UndoableChange(
        event, {name: before[name] for name in names}, {name: after[name] for name in names}
    )


def _is_current(change: UndoableChange, track: Track) -> bool:
    return all(plain_value(getattr(track, name)) == now for name, now in change.after.items())


def _restore(track: Track, before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of settings as they were; the log has a version in place of judgments."""
    restored = dict(before)
    if "judgment_set" in restored:
        versions = track.collection.judgment_sets
        restored["judgment_set"] = versions.get(version=restored["judgment_set"])
    return restored
