"""A whole board at once: which runs differ, how measures agree, which topics are hard."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET

from leaderboard import wording
from leaderboard.breakdowns.agreement import MeasureAgreement, RankedRun, measure_agreement
from leaderboard.breakdowns.matrices import RUNS, SignificanceMatrix, significance_matrix
from leaderboard.charts.bumps import Climber, bumps
from leaderboard.charts.matrix import Pairs, agreement_cells, pair_cells
from leaderboard.disclosure import track_or_404
from leaderboard.drawings import address
from leaderboard.standings import Board, Standing
from leaderboard.views.parts import board_of


@dataclass(frozen=True)
class MatrixLine:
    """A run with its letters, and its cells beside all others."""

    standing: Standing
    mean: float | None
    letters: str
    cells: SafeString


@require_GET
def significance(request: HttpRequest, slug: str) -> HttpResponse:
    """All ranked runs against each other; the first of them on a long board."""
    sight = track_or_404(request.user, slug)
    board = board_of(sight, request)
    matrix = significance_matrix(board) if len(board.ranked) > 1 else None
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "power": wording.power(board),
        "matrix": matrix,
        "lines": _matrix_lines(matrix) if matrix is not None else [],
    }
    return render(request, "significance.html", context)


def _matrix_lines(matrix: SignificanceMatrix) -> list[MatrixLine]:
    runs = [each.run for each in matrix.standings]
    pairs = Pairs(
        names=[str(run) for run in runs],
        differences=matrix.differences,
        p=matrix.p,
        hrefs=[
            [address("compare", a.track, a=b.pk, b=a.pk, measure=matrix.measure) for b in runs]
            for a in runs
        ],
        direction=matrix.direction,
    )
    return [
        MatrixLine(standing, standing.scores[matrix.measure], letters, pair_cells(pairs, row))
        for row, (standing, letters) in enumerate(
            zip(matrix.standings, matrix.letters, strict=True)
        )
    ]


@dataclass(frozen=True)
class AgreementLine:
    """A measure with its cells beside all others."""

    measure: str
    cells: SafeString


@dataclass(frozen=True, slots=True)
class RankAndMean:
    rank: int | None
    mean: float | None


@dataclass(frozen=True)
class RunLine:
    """A run with its rank and mean by every measure."""

    ranked: RankedRun
    values: list[RankAndMean]


@require_GET
def measures_agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """The board by each of the track's measures: do they put the runs in the same order?"""
    sight = track_or_404(request.user, slug)
    board = board_of(sight, request)
    found = measure_agreement(board)
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "agreement": found,
        "lines": [
            AgreementLine(measure, agreement_cells(found.tau, found.tau_ap, row))
            for row, measure in enumerate(found.measures)
        ],
        "runs": [
            RunLine(each, [_rank(each, place, board) for place in range(len(found.measures))])
            for each in found.runs
        ],
        "chart": _bumps(found),
        "is_cut": len(found.runs) > RUNS,
        "num_drawn": RUNS,
    }
    return render(request, "measures_agreement.html", context)


def _rank(ranked: RankedRun, place: int, board: Board) -> RankAndMean:
    return RankAndMean(ranked.ranks[place], ranked.standing.scores[board.measures[place]])


def _bumps(agreement: MeasureAgreement) -> SafeString:
    drawn = agreement.runs[:RUNS]
    # Places among the runs that are drawn, so that a long board leaves no gaps.
    columns = [sorted(column) for column in zip(*(each.places for each in drawn), strict=True)]
    climbers = [
        Climber(
            name=str(each.run),
            places=[
                column.index(place) + 1 for column, place in zip(columns, each.places, strict=True)
            ],
            href=reverse("run", args=[each.run.pk]),
            kind="own" if each.standing.is_own else "asks" if each.is_short else "",
        )
        for each in drawn
    ]
    return bumps(agreement.measures, climbers, "Places of the runs by every measure")
