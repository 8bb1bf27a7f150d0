"""How many topics and how deep a pool the next collection needs."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from evaluation.significance import Variances
from leaderboard.analysis.planning import (
    DepthLine,
    PlanRequest,
    TopicLine,
    find_detectable,
    find_variances,
    plan_depths,
    plan_topics,
    typed_variances,
)
from leaderboard.boards.disclosure import track_or_404
from leaderboard.boards.standings import Board
from leaderboard.pages.forms.planning import PlanForm
from leaderboard.pages.page_urls import carried_parameters
from leaderboard.pages.views.lookups import board_or_404
from leaderboard.pages.views.tables import csv_file, wants_csv


@require_GET
def plan(request: HttpRequest, slug: str) -> HttpResponse:
    """Plan from the variance of a board, or from a typed one, also before there is a board."""
    sight = track_or_404(request.user, slug)
    if sight.edition is None and not sight.is_organiser:
        raise Http404("no board to plan from")
    board = board_or_404(sight, request) if sight.edition is not None else None
    form = PlanForm(request.GET)
    asked = form.read()
    variances = _find_variances(board, asked)
    topics = plan_topics(asked, variances) if asked is not None and variances is not None else []
    depths = plan_depths(board, asked.seconds) if board is not None and asked is not None else []
    if wants_csv(request):
        return _plan_csv(slug, request.GET.get("table", ""), topics, depths)
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "form": form,
        "asked": asked,
        "kept": carried_parameters(request.GET),
        "variances": variances,
        "topics": topics,
        "detectable": find_detectable(board, asked, variances)
        if board is not None and asked is not None and variances is not None
        else None,
        "depths": depths,
    }
    return render(request, "plan.html", context)


def _find_variances(board: Board | None, asked: PlanRequest | None) -> Variances | None:
    if asked is not None and asked.variance is not None:
        return typed_variances(asked.variance)
    return find_variances(board) if board is not None else None


def _plan_csv(
    slug: str, table: str, topics: Sequence[TopicLine], depths: Sequence[DepthLine]
) -> HttpResponse:
    if table == "pools":
        return csv_file(f"{slug}-pools", DepthLine.COLUMNS, [line.cells for line in depths])
    return csv_file(f"{slug}-plan", TopicLine.COLUMNS, [line.cells for line in topics])
