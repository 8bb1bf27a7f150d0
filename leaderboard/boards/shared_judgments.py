"""Tracks on the same judgments where one shows the grades that another one hides.

Anyone who sees all scores of a track sees each grade, so a blind track hides no more than the most
open track on its judgments. Nothing forbids that; the organisers of both are notified.
"""

from __future__ import annotations

from leaderboard.models import Track
from leaderboard.sight.tracks import Viewer


def find_conflicts(track: Track, viewer: Viewer) -> list[str]:
    """Say which opened tracks on the judgments of this one show or hide their grades otherwise."""
    if track.judgment_set_id is None:
        return []
    others = Track.objects.opened().filter(judgment_set=track.judgment_set_id).exclude(pk=track.pk)
    visible = set(others.visible_to(viewer).values_list("pk", flat=True))
    return [
        _describe_conflict(track, f"The track {other}" if other.pk in visible else "Another track")
        for other in others.order_by("name")
        if other.shows_scores != track.shows_scores
    ]


def _describe_conflict(track: Track, other: str) -> str:
    if track.shows_scores:
        return f"{other} hides the grades of these judgments, which this track shows."
    return f"{other} shows the grades of these judgments, which this track hides."
