"""The endpoint of judges on a track whose runs are judgments."""

from __future__ import annotations

from typing import Any, Literal

from django.http import Http404, HttpRequest
from ninja import Router, Schema
from pydantic import Field

from leaderboard.analysis.entrants import STATISTICS_SHOWN, find_judges
from leaderboard.api.agreement import serialise_table
from leaderboard.api.auth import PUBLIC, viewer
from leaderboard.api.schemas import TableRow, response_schemas
from leaderboard.boards.disclosure import track_or_404
from leaderboard.jobs.calculations import Awaited
from leaderboard.scoring.kinds import JUDGED

router = Router(tags=["judges"])


class JudgesOut(Schema):
    """Judges beside people; a row for each, as in the table as CSV."""

    statistic: str
    judges_follow: bool = Field(description="Whether they are being compared.")
    topics: int
    judges: list[TableRow]


@router.get("/{slug:slug}/judges", auth=PUBLIC, response=response_schemas(JudgesOut))
def get_judges(
    request: HttpRequest,
    slug: str,
    statistic: Literal[tuple(STATISTICS_SHOWN)] = "kappa_quadratic",
) -> dict[str, Any]:
    """Get how far each judge agrees with the people of a track, with possible ranks.

    Judges are compared in the background: while `judges_follow` is true, ask again.
    """
    sight = track_or_404(viewer(request), slug)
    if sight.track.run_kind != JUDGED.name or not sight.can_see_scores:
        raise Http404("no judges to see")
    found = find_judges(sight, statistic)
    return {
        "statistic": found.statistic,
        "judges_follow": found.awaited == Awaited.FOLLOWS,
        "topics": found.topics,
        "judges": serialise_table(found.table),
    }
