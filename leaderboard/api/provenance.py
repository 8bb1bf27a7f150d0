"""Provenance of a run's scores, and the command to reproduce them."""

from __future__ import annotations

from typing import Any

from leaderboard.analysis.origins import command_of
from leaderboard.boards.disclosure import Sight
from leaderboard.models import Edition, Run
from leaderboard.scoring.judgments import resolved


def provenance_of(sight: Sight, run: Run) -> dict[str, Any]:
    """The file for those inside; judgments and edition where scores may be seen."""
    provenance: dict[str, Any] = {"sha256": run.sha256}
    if sight.inside(run):
        provenance |= {
            "filename": run.filename,
            "size": run.size,
            "submitted_by": run.submitted_by.username,
            "checked_at": run.checked_at,
        }
    edition = sight.board_edition
    if edition is not None and sight.means_of(run):
        provenance |= describe_edition(edition, sight)
    return provenance


def describe_edition(edition: Edition, sight: Sight) -> dict[str, Any]:
    track = sight.track
    measures = {text: str(resolved(track, text)) for text in track.measures}
    return {
        "edition": str(edition.pk),
        "judgments": edition.judgment_set.version,
        "convention": edition.convention,
        "scoring_version": edition.scoring_version,
        "relevance_threshold": track.relevance_threshold,
        "depth": track.depth,
        "top_grade": edition.judgment_set.top_grade,
        "measures": measures,
        "command": command_of(edition, list(measures.values()), ["QRELS", "RUN"]) or None,
    }
