"""What a benchmark says about a collection that nobody has seen yet."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard.analysis.new_collections import NewCollections
from leaderboard.boards.benchmark_boards import find_benchmark_board
from leaderboard.boards.deferred_tests import request_missing_tests
from leaderboard.boards.disclosure import benchmark_or_404
from leaderboard.pages.views.benchmark_boards import link_phases, list_measures
from leaderboard.pages.views.lookups import requested_benchmark_choice, text_of
from leaderboard.pages.views.tables import csv_file, wants_csv
from leaderboard.pages.wording.new_collections import (
    describe_gaps,
    describe_new_collections,
    explain_ranks,
    explain_silence,
)


@require_GET
def new_collections(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the ranks that systems may have elsewhere, and the board without each collection."""
    sight = benchmark_or_404(request.user, slug)
    board = find_benchmark_board(sight, requested_benchmark_choice(request))
    found = NewCollections(board)
    if wants_csv(request):
        tables = {"left-out": found.left_out_table, "gaps": found.gap_table}
        asked = text_of(request.GET, "table")
        name, table = (asked, tables[asked]) if asked in tables else ("ranks", found.table)
        return csv_file(f"{slug}-{name}", *table)
    context = {
        "benchmark": sight.benchmark,
        "sight": sight,
        "board": board,
        "found": found,
        "tests_follow": request_missing_tests(board),
        "phases": link_phases(board),
        "measures": list_measures(board),
        "verdict": describe_new_collections(found),
        "gap_verdict": describe_gaps(found),
        "explained": explain_ranks(found),
        "reason": explain_silence(found),
    }
    return render(request, "benchmark/new_collections.html", context)
