"""The notice bar with the change of a track that can still be undone."""

from __future__ import annotations

from typing import Any

from leaderboard.actions.undo import find_undoable_change
from leaderboard.models import Track
from leaderboard.pages.wording.changes import describe_undoable_change


def undo_context(track: Track) -> dict[str, Any]:
    """Return what `_undo.html` shows; nothing if no change can be undone."""
    change = find_undoable_change(track)
    if change is None:
        return {}
    return {"undoable": change, "undoable_parts": describe_undoable_change(change)}
