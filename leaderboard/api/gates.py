"""The endpoint of the gate: a new run held against a fixed reference, for CI."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from evaluation.significance import Gate
from leaderboard.api.auth import PUBLIC, viewer
from leaderboard.api.boards import board_or_404, standing_on_board
from leaderboard.api.errors import field_error
from leaderboard.api.fields import Label
from leaderboard.api.runs import find_measure
from leaderboard.api.schemas import Number, response_schemas
from leaderboard.boards.disclosure import track_or_404
from leaderboard.boards.standings import Board, BoardChoice, Standing, find_board
from leaderboard.scoring.branches import find_main_run
from leaderboard.scoring.gates import check_build

router = Router(tags=["boards"])

Margin = Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=10_000)]


class MovedTopicOut(Schema):
    topic: str
    reference: Number
    new: Number
    difference: Number


class GateOut(Schema):
    """The answer of the gate, and why."""

    answer: Literal["pass", "worse", "cannot tell"]
    sentences: list[str]
    run: str
    reference: str
    measure: str
    margin: float
    builds: int = Field(description="The budget of runs that are held against this reference.")
    build: int = Field(
        description="How many of them there are, up to this one; equal runs do not count."
    )
    unit: Literal["mean", "total", "ratio"]
    difference: Number = Field(description="New minus reference.")
    low: Number = Field(description="Where more is better, the bound that must be above -margin.")
    high: Number = Field(description="Where more is better, the bound that is below 0 for a loss.")
    topics: int
    changed: int = Field(description="Topics on which the two differ.")
    needed: int | None = Field(description="Topics that would let an equal run pass.")
    helps: bool = Field(description="Whether more topics could make it pass.")
    notice: bool = Field(description="It looks worse, as one build in forty does by luck.")
    unjudged: float = Field(description="Mean number of unjudged documents in the first ten.")
    unjudged_reference: float
    moved: list[MovedTopicOut]


@router.get(
    "/{slug:slug}/gate",
    auth=PUBLIC,
    response=response_schemas(GateOut),
    summary="Check a run against a reference",
)
def check(
    request: HttpRequest,
    slug: str,
    run: Label,
    margin: Margin | None = None,
    reference: Label = "",
    measure: Label = "",
    builds: Count | None = None,
    look: Count | None = None,
) -> dict[str, Any]:
    """Hold a run against a fixed reference: pass, worse, or cannot tell.

    Without `reference` it is the newest run of the main branch before it, else the baseline.
    `margin` and `builds` are by default those of the track.
    """
    sight = track_or_404(viewer(request), slug).with_every_run()
    choice = BoardChoice(measure=find_measure(sight, measure))
    board = board_or_404(find_board(sight, choice), choice)
    new = standing_on_board(board, "run", run)
    other = find_reference(board, new, reference)
    margin = margin or sight.track.gate_margin
    if not margin:
        raise field_error("margin", "is needed: the track has none", "")
    gate = Gate(margin, builds or sight.track.gate_builds, look)
    build = check_build(board.edition, board.measure, other.run, new.run, gate)
    report, found = build.report, build.report.outcome
    return {
        "answer": report.answer,
        "sentences": build.sentences,
        "run": new.run.pk,
        "reference": other.run.pk,
        "measure": report.measure,
        "margin": margin,
        "builds": build.budget,
        "build": build.number,
        "unit": report.unit,
        "difference": report.difference,
        "low": report.low,
        "high": report.high,
        "topics": found.topics,
        "changed": found.changed,
        "needed": found.needed,
        "helps": found.helps,
        "notice": found.is_notice,
        "unjudged": report.unjudged,
        "unjudged_reference": report.unjudged_reference,
        "moved": [asdict(each) for each in report.moved],
    }


def find_reference(board: Board, new: Standing, asked: str) -> Standing:
    """Return the run that is asked for, that of the main branch, or the baseline."""
    if asked:
        return standing_on_board(board, "reference", asked)
    main = find_main_run(new.run, board.sight.runs())
    found = board.standing_with(main.pk) if main is not None else None
    if found is None:
        raise field_error("reference", "is needed: there is no run of a main branch", asked)
    return found
