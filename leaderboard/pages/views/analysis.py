"""Analyses of a whole board: significance, agreement of measures, topics, costs."""

from __future__ import annotations

from collections.abc import Mapping

from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET

from leaderboard.analysis.costs import build_cost_breakdown
from leaderboard.analysis.matrices import SignificanceMatrix, build_significance_matrix
from leaderboard.analysis.measure_correlation import compute_correlation
from leaderboard.analysis.parameters import ParameterPlot, build_parameter_plot
from leaderboard.analysis.topic_map import MappedTopic, TopicMap, build_topic_map
from leaderboard.boards.deferred_tests import request_all_pairs
from leaderboard.boards.disclosure import track_at_or_404
from leaderboard.boards.kept_pages import kept
from leaderboard.boards.page_keys import find_seen_track_at
from leaderboard.boards.standings import Board, Standing
from leaderboard.display.charts.boxes import BOXES, box_plot
from leaderboard.display.charts.costs import axis_across, cost_chart
from leaderboard.display.charts.drawing import Link
from leaderboard.display.charts.heat import difficulty_chart, heat_image, heat_map
from leaderboard.display.charts.matrix import agreement_cells, number_cells, pair_cells, value_cells
from leaderboard.display.charts.slopes import rank_chart
from leaderboard.models import Run
from leaderboard.pages import wording
from leaderboard.pages.page_urls import (
    TOPIC_FIELDS,
    carried_parameters,
    page_url,
    topic_url_builder,
)
from leaderboard.pages.views.lookups import board_or_404, page_number, requested_topics
from leaderboard.pages.views.tables import csv_file, wants_csv

# A matrix shows up to this many runs; more would be unreadable.
RUNS = 40
# A map with more cells than this is an image instead of single shapes.
CELLS = 3000
# Two chosen runs are compared on a page of their own.
PAIR = 2
# Topics per page of the table.
TOPICS = 100


@require_GET
def significance(request: HttpRequest, address: str) -> HttpResponse:
    """Compare all ranked runs with each other, or the first ones of a long board."""
    sight = track_at_or_404(request.user, address)
    board = board_or_404(sight, request)
    as_file = wants_csv(request)
    most = len(board.ranked) if as_file and not board.has_too_many_runs else RUNS
    matrix = build_significance_matrix(board, most) if len(board.ranked) > 1 else None
    if matrix is not None and as_file:
        if request.GET.get("table") == "runs":
            return csv_file(f"{sight.track.slug}-letters", *matrix.run_table)
        return csv_file(f"{sight.track.slug}-pairs", *matrix.table)
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "power": wording.describe_power(board),
        "too_many": wording.describe_too_many(board),
        "left_out": wording.describe_left_out(board),
        "tests_follow": request_all_pairs(board) if board.awaits_pairs else "",
        "matrix": matrix,
        "lines": _matrix_lines(matrix, board.choice.carried) if matrix is not None else [],
    }
    return render(request, "analysis/significance.html", context)


def _matrix_lines(
    matrix: SignificanceMatrix, chosen: Mapping[str, str]
) -> list[tuple[Standing, float | None, str, SafeString]]:
    """Return each run with its mean, its letters and its comparisons with all others."""
    runs = [standing.run for standing in matrix.standings]

    def cells(row: int, a: Run) -> SafeString:
        address = a.track.address
        return pair_cells(
            matrix, row, lambda at: page_url("compare", chosen, address, a=runs[at].pk, b=a.pk)
        )

    return [
        (standing, standing.scores[matrix.measure], letters, cells(row, standing.run))
        for row, (standing, letters) in enumerate(
            zip(matrix.standings, matrix.letters, strict=True)
        )
    ]


@require_GET
def measures_correlation(request: HttpRequest, address: str) -> HttpResponse:
    """Show how far the measures of the track agree on the order of the runs."""
    sight = track_at_or_404(request.user, address)
    board = board_or_404(sight, request)
    found = compute_correlation(board)
    if wants_csv(request):
        if request.GET.get("table") == "agreement":
            return csv_file(f"{sight.track.slug}-agreement", *found.measure_table)
        return csv_file(f"{sight.track.slug}-ranks", *found.table)
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "agreement": found,
        "lines": [
            (measure, agreement_cells(found.tau, found.tau_ap, row))
            for row, measure in enumerate(found.measures)
        ],
        "chart": rank_chart(
            found.measures,
            found.drawn(RUNS),
            "Places of the runs by every measure",
            _run_link(board),
        ),
        "is_cut": len(found.runs) > RUNS,
        "num_drawn": RUNS,
    }
    return render(request, "analysis/measures_correlation.html", context)


def _run_link(board: Board) -> Link:
    """Return a function that has the address of the run of a row."""
    return lambda row: page_url("run", board.choice.carried, row.run.pk)


@require_GET
def all_topics(request: HttpRequest, address: str) -> HttpResponse:
    """Show the scores of every run on every topic as a map."""
    sight = track_at_or_404(request.user, address)
    board = board_or_404(sight, request)
    choice = requested_topics(request, sight)
    found = build_topic_map(board, choice.chosen)
    if wants_csv(request):
        return csv_file(
            f"{sight.track.slug}-topics", *found.table(with_correlation=sight.is_organiser)
        )
    page = Paginator(range(len(found.topics)), TOPICS).get_page(page_number(request))
    asked = carried_parameters(request.GET, TOPIC_FIELDS)
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "map": found,
        "image": page_url("topic_map_image", asked, address, measure=found.measure),
        "topic_choice": choice,
        "columns": found.standings[:RUNS],
        "page": page,
        "lines": _map_lines(found, address, page),
        "is_image": found.values.size > CELLS,
        **(_map_charts(found, board) if found.standings and found.topics else {}),
    }
    return render(request, "analysis/topic_map.html", context)


def _map_lines(found: TopicMap, address: str, page: Page) -> list[tuple[MappedTopic, SafeString]]:
    """Return the topics of a page, each with its spread and the scores of the runs shown."""
    explained = topic_url_builder("computed", {}, address, measure=found.measure)
    lines = []
    for place in page:
        topic, values = found.topics[place], found.values[:RUNS, place].tolist()
        # Once a topic: to escape the address of each cell would take longer than the cells.
        start = escape(explained(topic.number))
        hrefs = [f"{start}&amp;run={standing.run.pk}" for standing in found.standings[:RUNS]]
        lines.append((topic, number_cells(topic.spread) + value_cells(values, hrefs)))
    return lines


def _map_charts(found: TopicMap, board: Board) -> dict[str, object]:
    """Return the map, the spread and the difficulty of every topic, each linked to its topic."""
    address = topic_url_builder("topic", board.choice.carried, board.sight.track.address)
    topics, measure = found.topics, found.measure

    def link(topic: MappedTopic) -> str:
        return address(topic.number)

    title = f"{measure} of every run on every topic"
    marks = board.sight.is_organiser
    return {
        "chart": heat_map(found.standings, topics, found.shares, title, link, marks=marks)
        if found.values.size <= CELLS
        else "",
        "difficulties": difficulty_chart(topics, measure, link),
        "box_plot": box_plot(topics, f"{measure} of all runs on every topic", measure, link),
        "has_boxes": len(topics) <= BOXES,
    }


@require_GET
def topic_map_image(request: HttpRequest, address: str) -> HttpResponse:
    """Return a large map as an image."""
    sight = track_at_or_404(request.user, address)
    board, chosen = board_or_404(sight, request), requested_topics(request, sight).chosen
    return HttpResponse(heat_image(build_topic_map(board, chosen).shares), content_type="image/png")


@require_GET
def cost(request: HttpRequest, address: str) -> HttpResponse:
    """Show effectiveness against cost, with tests against the best run."""
    sight = track_at_or_404(request.user, address)
    found = build_cost_breakdown(board_or_404(sight, request), request.GET.get("cost", ""))
    if wants_csv(request):
        return csv_file(f"{sight.track.slug}-{found.cost.name}", *found.table)
    board, asks_tests = found.board, found.best is not None and found.awaits_tests
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "found": found,
        "tests_follow": request_all_pairs(board) if asks_tests else "",
        "verdict": wording.cost_verdict(found),
        "stating": wording.count_runs_with_cost(found),
        "chart": cost_chart(
            found.lines,
            f"{found.cost.label}, {found.unit}",
            board.measure,
            f"{board.measure} against {found.cost.label.lower()}",
            _run_link(board),
        )
        if found.lines
        else "",
    }
    return render(request, "analysis/cost.html", context)


@require_GET
@kept(find_seen_track_at)
def parameters(request: HttpRequest, address: str) -> HttpResponse:
    """Show scores against a parameter or another measure, and in what chosen runs differ."""
    sight = track_at_or_404(request.user, address)
    asked, chosen = request.GET, request.GET.getlist("run")
    if "compare" in asked and len(chosen) == PAIR:
        carried = carried_parameters(asked)
        return redirect(page_url("compare", carried, address, a=chosen[0], b=chosen[1]))
    board = board_or_404(sight, request)
    found = build_parameter_plot(board, asked.get("across", ""), chosen)
    if found is not None and wants_csv(request):
        if asked.get("table") == "groups":
            return csv_file(f"{sight.track.slug}-groups", *found.table_of_groups)
        return csv_file(f"{sight.track.slug}-parameters", *found.table)
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "found": found,
        "kept": carried_parameters(asked, ("baseline", "family")),
        "said": wording.describe_parameter(found) if found is not None else "",
        "chart": _parameter_chart(found) if found is not None and found.drawn else "",
    }
    return render(request, "analysis/parameters.html", context)


def _parameter_chart(found: ParameterPlot) -> SafeString:
    ends = [end for each in found.drawn for end in (each.left, each.right)]
    measure = found.board.measure
    return cost_chart(
        found.drawn,
        found.label,
        measure,
        f"{measure} against {found.label}",
        _run_link(found.board),
        axis_across(ends, list(found.places), is_measure=found.parameter is None),
        joins_front=found.parameter is not None and found.has_front,
    )
