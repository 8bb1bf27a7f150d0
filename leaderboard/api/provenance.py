"""Provenance of a run's scores, and the command to reproduce them."""

from __future__ import annotations

from typing import Any

from leaderboard.analysis.origins import score_command
from leaderboard.boards.disclosure import Sight
from leaderboard.models import Edition, Run
from leaderboard.scoring.judgments import resolve_measure


def provenance_of(sight: Sight, run: Run) -> dict[str, Any]:
    """Return the file for team and organisers, and judgments and edition if scores are visible."""
    provenance: dict[str, Any] = {"sha256": run.sha256} if run.sha256 else {}
    if sight.can_see_file(run):
        provenance |= {
            "filename": run.filename,
            "size": run.size,
            "submitted_by": run.submitted_by.username,
            "checked_at": run.checked_at,
        }
    edition = sight.board_edition
    if edition is not None and sight.can_see_means_of(run):
        provenance |= describe_edition(edition, sight, run)
    return provenance


def describe_edition(edition: Edition, sight: Sight, run: Run) -> dict[str, Any]:
    track, shown = sight.track, sight.with_shown_name(run)
    measures = {text: str(resolve_measure(track, text)) for text in track.measures}
    return {
        "edition": str(edition.pk),
        "judgments": edition.judgment_set.version,
        "judged_by": sight.who_judged.text or None,
        "convention": edition.convention,
        "scoring_version": edition.scoring_version,
        "relevance_threshold": track.relevance_threshold,
        "depth": track.depth,
        "top_grade": edition.judgment_set.top_grade,
        "measures": measures,
        "command": score_command(edition, list(measures.values()), [shown]) or None,
    }
