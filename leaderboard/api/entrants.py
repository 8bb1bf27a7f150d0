"""The endpoints of judges on a track whose runs are judgments, or rank systems."""

from __future__ import annotations

from typing import Any, Literal

from django.http import Http404, HttpRequest
from ninja import Router, Schema
from pydantic import Field

from leaderboard.analysis.entrant_boards import find_entrant_boards
from leaderboard.analysis.entrants import STATISTICS_SHOWN, find_or_request_judges
from leaderboard.analysis.ranked_systems import ORDERS_SHOWN, find_or_request_rankings
from leaderboard.api.agreement import serialise_table
from leaderboard.api.auth import PUBLIC, viewer
from leaderboard.api.fields import Label
from leaderboard.api.schemas import TableRow, response_schemas
from leaderboard.boards.disclosure import Sight, track_or_404
from leaderboard.jobs.calculations import Awaited
from leaderboard.scoring.kinds import kind_of

router = Router(tags=["judges"])


class JudgesOut(Schema):
    """Judges beside people; a row for each, as in the table as CSV."""

    statistic: str
    judges_follow: bool = Field(description="Whether they are being compared.")
    topics: int
    judges: list[TableRow]
    by_grade: list[TableRow] = Field(description="On the documents of each grade by people.")
    by_topic: list[TableRow] = Field(description="On the documents of each topic.")
    calibration: list[TableRow] = Field(
        description="By bin of confidence, of judges that say how sure they are."
    )


@router.get("/{slug:slug}/judges", auth=PUBLIC, response=response_schemas(JudgesOut))
def get_judges(
    request: HttpRequest,
    slug: str,
    statistic: Literal[tuple(STATISTICS_SHOWN)] = "kappa_quadratic",
) -> dict[str, Any]:
    """Get how far each judge agrees with the people of a track, with possible ranks.

    Judges are compared in the background: while `judges_follow` is true, ask again.
    """
    sight = _judged_sight_or_404(request, slug)
    found = find_or_request_judges(sight, statistic)
    return {
        "statistic": found.statistic,
        "judges_follow": found.awaited == Awaited.FOLLOWS,
        "topics": found.topics,
        **{name: serialise_table(table) for name, table in found.tables.items()},
    }


class RankingsOut(Schema):
    """Rankings of systems beside the board of their scores; rows as in the tables as CSV."""

    statistic: str
    track: str = Field(description="The track of the systems; empty without one.")
    measure: str
    judges_follow: bool = Field(description="Whether they are being compared.")
    topics: int
    judges: list[TableRow]
    systems: list[TableRow] = Field(description="The rank of each system by score and ranking.")


@router.get("/{slug:slug}/judges/systems", auth=PUBLIC, response=response_schemas(RankingsOut))
def get_rankings(
    request: HttpRequest, slug: str, statistic: Literal[tuple(ORDERS_SHOWN)] = "tau"
) -> dict[str, Any]:
    """Get how near each ranking of systems is to the board of their scores.

    Rankings are compared in the background: while `judges_follow` is true, ask again.
    """
    sight = _judged_sight_or_404(request, slug, ranks_systems=True)
    found = find_or_request_rankings(sight, statistic)
    return {
        "statistic": found.statistic,
        "track": found.truth.slug if found.truth is not None else "",
        "measure": found.measure,
        "judges_follow": found.awaited == Awaited.FOLLOWS,
        "topics": found.topics,
        **{name: serialise_table(table) for name, table in found.tables.items()},
    }


class JudgesBoardsOut(Schema):
    """The boards of systems that judges would make; rows as in the tables as CSV."""

    track: str = Field(description="The track whose runs are the systems; empty without one.")
    measure: str
    boards_follow: bool = Field(description="Whether the boards are being computed.")
    judges: list[TableRow]
    systems: list[TableRow]
    families: list[TableRow] = Field(
        description="By how much each judge favours the runs of each team, where teams are shown."
    )


@router.get("/{slug:slug}/judges/boards", auth=PUBLIC, response=response_schemas(JudgesBoardsOut))
def get_judges_boards(
    request: HttpRequest, slug: str, of: Label = "", measure: Label = ""
) -> dict[str, Any]:
    """Get the board of systems that each judge would make, beside that of people.

    The systems are the runs of a track of rankings on the same collection: `of` is its short name.
    Boards are computed in the background: while `boards_follow` is true, ask again.
    """
    found = find_entrant_boards(_judged_sight_or_404(request, slug), of, measure)
    return {
        "track": found.systems.slug if found.systems is not None else "",
        "measure": found.by_judge.measure,
        "boards_follow": found.by_judge.awaited == Awaited.FOLLOWS,
        **{name: serialise_table(table) for name, table in found.tables.items()},
    }


def _judged_sight_or_404(request: HttpRequest, slug: str, ranks_systems: bool = False) -> Sight:
    sight = track_or_404(viewer(request), slug)
    is_of_kind = kind_of(sight.track).is_of_judges and sight.track.ranks_systems == ranks_systems
    if not is_of_kind or not sight.can_see_scores:
        raise Http404("no judges to see")
    return sight
