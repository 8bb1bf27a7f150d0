"""What several pages fetch in the same way."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from leaderboard.disclosure import Sight, track_or_404
from leaderboard.facts import FILTERS
from leaderboard.models import Run
from leaderboard.standings import Board, Choice, find_board


def organised_or_403(request: HttpRequest, slug: str) -> Sight:
    """The track, for those who organise it."""
    sight = track_or_404(request.user, slug)
    if not sight.organises:
        raise PermissionDenied
    return sight


def choice_of(request: HttpRequest) -> Choice:
    """What the address asks of a board."""
    asked = request.GET
    return Choice(
        measure=asked.get("measure", ""),
        baseline=asked.get("baseline", ""),
        sort=asked.get("sort", ""),
        team=asked.get("team", ""),
        kind=asked.get("kind", ""),
        text=asked.get("text", ""),
        best_per_team=bool(asked.get("best")),
        facts={name: asked[name] for name in FILTERS if asked.get(name) in FILTERS[name].options},
        columns=tuple(asked.getlist("column")),
    )


def board_of(sight: Sight, request: HttpRequest) -> Board:
    """The board, where the viewer may see one."""
    board = find_board(sight, choice_of(request))
    if board is None:
        raise Http404("no board to see")
    return board


def run_seen_or_404(board: Board, run_id: str) -> Run:
    for standing in board.standings:
        if standing.run.pk == run_id:
            return standing.run
    raise Http404("no such run on this board")


def page_of(request: HttpRequest) -> int:
    asked = request.GET.get("page", "1")
    return int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 7 else 1
