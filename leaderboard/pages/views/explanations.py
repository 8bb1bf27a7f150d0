"""Explanations of how each number is computed; a script shows them in a drawer."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from evaluation.answers.any_measure import parse_measure
from leaderboard.analysis import topic_or_404
from leaderboard.analysis.costs import build_cost_breakdown
from leaderboard.analysis.origins import (
    JUDGED,
    RunComparison,
    board_command,
    compare_command,
    compare_run_with_baseline,
    compare_run_with_run,
    curve_command,
    find_origin,
    overlap_command,
    pairs_command,
    plan_command,
    probability_command,
    reuse_command,
    standing_or_404,
)
from leaderboard.analysis.pairs import RunAhead, compare_runs, find_run_ahead
from leaderboard.analysis.precision import precision_measures
from leaderboard.boards.rows import AGAINST_ALL
from leaderboard.boards.standings import Board
from leaderboard.pages import wording
from leaderboard.pages.forms.regions import RegionForm
from leaderboard.pages.views.lookups import board_with_runs_or_404, requested_sight
from leaderboard.pages.views.planning import read_plan
from leaderboard.scoring.families import match_measure

# Statistics that use the test of the track.
TESTED = ("difference", "bounds")
# Commands of `evaluation` that compute a statistic of a whole board, or its input.
COMMANDS = {
    "agreement": ["agree"],
    "bounds": ["bounds"],
    "precision": ["score"],
    "spread": ["score", "-q"],
    "correlation": ["score", "-q"],
}


@require_GET
def computed(request: HttpRequest, address: str) -> HttpResponse:
    """Explain a score: in general, of a run, or of a run on one topic."""
    sight = requested_sight(request, address)
    asked = request.GET
    text = asked.get("measure", sight.primary_measure)
    measure = match_measure(text, [*sight.measures, *JUDGED]) or text
    origin = find_origin(sight, measure, asked.get("run", ""), asked.get("number", ""))
    context = {"sight": sight, "track": sight.track, "origin": origin}
    return render(request, "board/computed.html", context)


@require_GET
def statistic(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Explain a statistic: in general, or of a run compared with another."""
    if name not in wording.STATISTICS:
        raise Http404("no such number")
    sight = requested_sight(request, address)
    board = board_with_runs_or_404(
        sight, request, request.GET.get("run", ""), request.GET.get("a", "")
    )
    test = wording.describe_test(sight.track.test, board.edition.num_evaluated)
    held, ahead = _find_comparison(request, board, name), _find_ahead(request, board, name)
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "statistic": wording.STATISTICS[name],
        "held": held,
        "ahead": ahead,
        "command": held.command if held is not None else _find_command(request, board, name),
        "test": test if name in TESTED else "",
    }
    return render(request, "board/statistic.html", context)


def _find_comparison(request: HttpRequest, board: Board, name: str) -> RunComparison | None:
    """Return the requested comparison with the baseline or another run, if any."""
    run = request.GET.get("run", "")
    if run and name == "difference":
        return compare_run_with_baseline(board, run)
    if run and name == "pair":
        return compare_run_with_run(board, run, request.GET.get("a", ""))
    return None


def _find_ahead(request: HttpRequest, board: Board, name: str) -> RunAhead | None:
    """Return the requested probability of two named runs, if any."""
    run, other = request.GET.get("run", ""), request.GET.get("a", "")
    if name != "probability" or not (run and other):
        return None
    runs = [standing_or_404(board, run_id).run for run_id in (other, run)]
    return find_run_ahead(compare_runs(board, *runs), RegionForm(request.GET).read())


def _find_command(request: HttpRequest, board: Board, name: str) -> str:
    """Return the command that reproduces a statistic of the board; "" if there is none."""
    run, other = request.GET.get("run", ""), request.GET.get("a", "")
    if name == "overlap" and run:
        return overlap_command(board, run, other)
    if name == "probability":
        ahead = _find_ahead(request, board, name)
        return probability_command(board, ahead.run, ahead.other, ahead.region) if ahead else ""
    if name == "curve" and request.GET.get("number"):
        return curve_command(board, topic_or_404(board.sight, request.GET["number"]).number, run)
    if name == "all-pairs":
        return pairs_command(board)
    if name == "cost":
        return _find_cost_command(board, request.GET.get("cost", ""))
    if name == "reusability":
        return reuse_command(board)
    if name == "planning":
        planned = read_plan(request, board.sight, board)
        if planned.asked is None or planned.source is None:
            return ""
        return plan_command(planned.source, planned.asked)
    if name == "bounds" and parse_measure(board.measure).definition.bounds == "none":
        return ""
    return (
        board_command(board, COMMANDS[name], _measures_for_command(board, name))
        if name in COMMANDS
        else ""
    )


def _measures_for_command(board: Board, name: str) -> list[str]:
    """Return the measures that the command of a statistic takes."""
    if name == "precision":
        return precision_measures(board.sight.track)
    return board.measures if name == "agreement" else [board.measure]


def _find_cost_command(board: Board, cost: str) -> str:
    """Return the command that compares all runs with the best run that states this cost."""
    best = build_cost_breakdown(board, cost).best
    if best is None:
        return ""
    return compare_command(board, AGAINST_ALL, best.standing.run)
