"""Endpoints of battles: the board of the votes, and votes in and out."""

from __future__ import annotations

from typing import Any, Literal

from django.http import Http404, HttpRequest, StreamingHttpResponse
from ninja import File, Router, Schema
from ninja.files import UploadedFile
from pydantic import Field

from evaluation.battles import Kind
from evaluation.problems import Refused
from evaluation.reading.judging.votes import write_votes
from leaderboard.actions import battles as acts
from leaderboard.analysis.battles import (
    FoundBattles,
    battles_or_404,
    find_battle_standings,
)
from leaderboard.api.agreement import serialise_table
from leaderboard.api.auth import ORGANISE, PUBLIC, viewer
from leaderboard.api.errors import MOST_PROBLEMS, ApiError
from leaderboard.api.fields import refuse_truncated_body
from leaderboard.api.schemas import Number, TableRow, response_schemas
from leaderboard.api.tracks import organised_sight_or_403
from leaderboard.assessments.battles import load_all_votes
from leaderboard.boards.disclosure import track_or_404
from leaderboard.infrastructure.downloads import streamed_bytes
from leaderboard.jobs.calculations import Awaited

router = Router(tags=["battles"])


class EffectOut(Schema):
    name: Literal["length", "citations", "position"]
    share: Number = Field(description="How often the side with more of it won.")
    odds: Number = Field(
        description="For twice the words, one citation more, or being at the left."
    )
    low: Number = Field(description="The 95 % interval of the odds, clustered by topic.")
    high: Number


class BattleBoardOut(Schema):
    """The runs by votes on pairs of them; a row for each run, as in the table as CSV."""

    voters: Kind = Field(description="Whose votes count: person or machine.")
    board_follows: bool = Field(description="Whether newer votes are being counted.")
    votes: int = 0
    both_bad: int = Field(0, description="Votes that both sides are bad. They count as ties.")
    runs: list[TableRow] = []
    effects: list[EffectOut] = []


class ImportedVotesOut(Schema):
    votes: int


@router.get("/{slug:slug}/battles", auth=PUBLIC, response=response_schemas(BattleBoardOut))
def get_battle_board(
    request: HttpRequest, slug: str, voters: Literal["person", "machine"] = "person"
) -> dict[str, Any]:
    """Get the board of battles: the chance of being preferred to an average run, with ranks.

    Votes are counted in the background: while `board_follows` is true, ask again.
    """
    sight = track_or_404(viewer(request), slug)
    battles = battles_or_404(sight)
    if not sight.can_see_scores:
        raise Http404("no battles to see")
    return describe(find_battle_standings(sight, battles, voters))


def describe(found: FoundBattles) -> dict[str, Any]:
    head = {"voters": found.kind, "board_follows": found.awaited == Awaited.FOLLOWS}
    if found.standings is None:
        return head
    return {
        **head,
        "votes": found.standings.votes,
        "both_bad": found.standings.num_both_bad,
        "runs": serialise_table(found.standings.table),
        "effects": [
            {
                "name": each.name,
                "share": each.share,
                "odds": each.odds,
                "low": each.interval.low if each.interval else None,
                "high": each.interval.high if each.interval else None,
            }
            for each in found.standings.effects
        ],
    }


@router.get("/{slug:slug}/battles/votes", auth=PUBLIC)
def get_votes(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """Download every vote on runs in place, voters under pseudonyms (organisers only)."""
    sight = track_or_404(viewer(request), slug)
    battles = battles_or_404(sight)
    if not sight.is_organiser:
        raise Http404("no votes to see")
    lines = write_votes(load_all_votes(battles))
    return streamed_bytes(f"{slug}-votes.jsonl", lines, "application/jsonl")


@router.post(
    "/{slug:slug}/battles/votes", auth=ORGANISE, response=response_schemas(ImportedVotesOut, 201)
)
def import_votes(
    request: HttpRequest, slug: str, file: File[UploadedFile]
) -> tuple[int, dict[str, int]]:
    """Import votes of people or machines that were given elsewhere: all or none.

    `votes.jsonl` has topic, left, right, vote and voter in each line; kind is person or machine.
    """
    user = viewer(request)
    battles = battles_or_404(organised_sight_or_403(user, slug))
    refuse_truncated_body(request)
    try:
        return 201, {"votes": acts.import_votes(battles, user, file)}
    except Refused as refusal:
        problems = list(refusal.problems)[:MOST_PROBLEMS]
        first = next(refusal.problems.of("error"))
        message = f"No vote was imported. {refusal}"
        raise ApiError(422, first.code, message, problems) from None
