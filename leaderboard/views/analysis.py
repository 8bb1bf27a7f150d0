"""A whole board at once: which runs differ, how measures agree, which topics are hard."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET

from leaderboard import wording
from leaderboard.breakdowns.matrices import SignificanceMatrix, significance_matrix
from leaderboard.charts.matrix import Pairs, pair_cells
from leaderboard.disclosure import track_or_404
from leaderboard.drawings import address
from leaderboard.standings import Standing
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
