"""The board of scores that others report, which no run of this site has made."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard.boards.board_files import FORMATS, download
from leaderboard.boards.columns import shown_columns
from leaderboard.boards.deferred_tests import request_reported_ranks
from leaderboard.boards.disclosure import benchmark_or_404
from leaderboard.boards.kept_pages import kept, leave_unkept
from leaderboard.boards.page_keys import find_seen_benchmark
from leaderboard.boards.reported_boards import find_reported_board
from leaderboard.jobs.calculations import Awaited
from leaderboard.pages.board_table import ReportedTablePage
from leaderboard.pages.views.lookups import page_number, requested_reported_choice
from leaderboard.pages.wording.reported_boards import (
    RULES,
    describe_leader,
    describe_part,
    describe_ranks,
    explain_empty_part,
)

SYSTEMS_PER_PAGE = 50
# What papers print: the columns that the page shows, without each collection.
PAPERS = ("md", "tex")


@require_GET
@kept(find_seen_benchmark)
def reported_board(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the reported scores of a benchmark, or return them as a file."""
    sight = benchmark_or_404(request.user, slug)
    board = find_reported_board(sight, requested_reported_choice(request))
    if board is None:
        raise Http404("no reported scores")
    format = request.GET.get("format", "")
    if format in FORMATS:
        columns = shown_columns(board) if format in PAPERS else board.columns_of_file
        return download(board.file(columns), format)
    awaited = request_reported_ranks(board)
    page = Paginator(board.shown, SYSTEMS_PER_PAGE).get_page(page_number(request))
    context = {
        "sight": sight,
        "benchmark": sight.benchmark,
        "board": board,
        "page": page,
        "table": ReportedTablePage(board, request.GET, page),
        "rules": RULES,
        "exports": FORMATS,
        "part": describe_part(board),
        "leader": describe_leader(board),
        "ranks": describe_ranks(board),
        "awaited": awaited,
        "empty": explain_empty_part(board),
    }
    shown = render(request, "benchmark/reported.html", context)
    return leave_unkept(shown) if awaited == Awaited.FAILED else shown
