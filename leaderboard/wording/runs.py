"""What has to be known beside the scores of a run."""

from __future__ import annotations

from leaderboard.boards.disclosure import Sight
from leaderboard.boards.standings import Board
from leaderboard.display.numbers import score
from leaderboard.models import Run, ScoreSet

# A run is little judged where less than this share of what the run in the middle has is.
LITTLE = 0.8


def left_open(scored: ScoreSet, measure: str) -> str:
    """Between what equal scores leave the measure; empty where their order changes nothing."""
    if measure not in scored.ties:
        return ""
    low, high = scored.ties[measure]
    return (
        f"Documents with tied scores are ordered by docno; in another order "
        f"{measure} could be {score(low)} to {score(high)}."
    )


def little_judged(scored: ScoreSet, board: Board) -> str:
    """Where fewer of its first ten documents are judged than of most runs."""
    median = board.median_judged
    if scored.judged_at_10 >= LITTLE * median:
        return ""
    return (
        f"{scored.judged_at_10:.0%} of its top ten documents are judged, against a median of "
        f"{median:.0%}. Unjudged documents count as not relevant, so its scores may be "
        "too low."
    )


def withdrawn_by(sight: Sight, run: Run) -> str:
    """Who withdrew a run: by name for those inside; empty where nobody did or is known."""
    who = run.withdrawn_by
    if who is None or sight.inside(run):
        return who.username if who is not None else ""
    is_member = run.team.memberships.filter(user=who).exists()
    return "its team" if is_member else "the organisers"
