"""Analyses of a whole board: significance, agreement of measures, topic difficulty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET

from leaderboard.analysis.agreement import MeasureAgreement, RankedRun, compute_agreement
from leaderboard.analysis.matrices import SignificanceMatrix, build_significance_matrix
from leaderboard.analysis.topic_map import MappedTopic, TopicMap, build_topic_map
from leaderboard.boards.deferred_tests import request_all_pairs
from leaderboard.boards.disclosure import track_or_404
from leaderboard.boards.standings import Board, Standing
from leaderboard.display.charts.boxes import BOXES, Box, box_plot
from leaderboard.display.charts.bumps import RankLine, rank_chart
from leaderboard.display.charts.heat import (
    Difficulty,
    HeatColumn,
    HeatRow,
    difficulty_chart,
    heat_image,
    heat_map,
)
from leaderboard.display.charts.matrix import Pairs, agreement_cells, pair_cells, value_cells
from leaderboard.pages import wording
from leaderboard.pages.page_urls import page_url, topic_url_builder
from leaderboard.pages.views.lookups import board_or_404, page_number
from leaderboard.pages.views.tables import (
    agreement_csv,
    letters_csv,
    map_csv,
    pairs_csv,
    ranks_csv,
    wants_csv,
)

# A matrix shows up to this many runs; more would be unreadable.
RUNS = 40
# A map with more cells than this is an image instead of single shapes.
CELLS = 3000
# Topics per page of the table.
TOPICS = 100
# With more topics than this the box plot lists the values of one page only.
TABLED = 500


@dataclass(frozen=True)
class MatrixLine:
    """A run with its letters and its comparisons with all others."""

    standing: Standing
    mean: float | None
    letters: str
    cells: SafeString


@require_GET
def significance(request: HttpRequest, slug: str) -> HttpResponse:
    """Compare all ranked runs with each other, or the first ones of a long board."""
    sight = track_or_404(request.user, slug)
    board = board_or_404(sight, request)
    as_file = wants_csv(request)
    most = len(board.ranked) if as_file else RUNS
    matrix = build_significance_matrix(board, most) if len(board.ranked) > 1 else None
    if matrix is not None and as_file:
        if request.GET.get("table") == "runs":
            return letters_csv(f"{slug}-letters", matrix)
        return pairs_csv(f"{slug}-pairs", matrix)
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "power": wording.describe_power(board),
        "left_out": wording.describe_left_out(board),
        "tests_follow": board.awaits_pairs and request_all_pairs(board),
        "matrix": matrix,
        "lines": _matrix_lines(matrix, board.choice.carried) if matrix is not None else [],
    }
    return render(request, "significance.html", context)


def _matrix_lines(matrix: SignificanceMatrix, chosen: Mapping[str, str]) -> list[MatrixLine]:
    runs = [each.run for each in matrix.standings]
    pairs = Pairs(
        names=[str(run) for run in runs],
        differences=matrix.differences,
        p=matrix.p,
        hrefs=[
            [page_url("compare", chosen, a.track.slug, a=b.pk, b=a.pk) for b in runs] for a in runs
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
    """A measure with its agreement with all others."""

    measure: str
    cells: SafeString


@dataclass(frozen=True, slots=True)
class RankAndMean:
    rank: int | None
    mean: float | None


@dataclass(frozen=True)
class RunLine:
    """A run with its rank and mean for every measure."""

    ranked: RankedRun
    values: list[RankAndMean]


@require_GET
def measures_agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """Show how far the measures of the track agree on the order of the runs."""
    sight = track_or_404(request.user, slug)
    board = board_or_404(sight, request)
    found = compute_agreement(board)
    if wants_csv(request):
        if request.GET.get("table") == "agreement":
            return agreement_csv(f"{slug}-agreement", found)
        return ranks_csv(f"{slug}-ranks", found)
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
            RunLine(
                each, [_rank_and_mean(each, place, board) for place in range(len(found.measures))]
            )
            for each in found.runs
        ],
        "chart": _draw_bumps(found, board.choice.carried),
        "is_cut": len(found.runs) > RUNS,
        "num_drawn": RUNS,
    }
    return render(request, "measures_agreement.html", context)


def _rank_and_mean(ranked: RankedRun, place: int, board: Board) -> RankAndMean:
    return RankAndMean(ranked.ranks[place], ranked.standing.scores[board.measures[place]])


def _draw_bumps(agreement: MeasureAgreement, chosen: Mapping[str, str]) -> SafeString:
    drawn = agreement.runs[:RUNS]
    # Places count only the drawn runs, so that a long board leaves no gaps.
    columns = [sorted(column) for column in zip(*(each.places for each in drawn), strict=True)]
    climbers = [
        RankLine(
            name=str(each.run),
            places=[
                column.index(place) + 1 for column, place in zip(columns, each.places, strict=True)
            ],
            href=page_url("run", chosen, each.run.pk),
            kind="own" if each.standing.is_own else "asks" if each.is_short else "",
        )
        for each in drawn
    ]
    return rank_chart(agreement.measures, climbers, "Places of the runs by every measure")


@dataclass(frozen=True)
class MapLine:
    """A topic with the scores of the runs shown."""

    mapped: MappedTopic
    cells: SafeString


@require_GET
def all_topics(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the scores of every run on every topic as a map."""
    sight = track_or_404(request.user, slug)
    board = board_or_404(sight, request)
    found = build_topic_map(board)
    if wants_csv(request):
        return map_csv(f"{slug}-topics", found, sight.is_organiser)
    page = Paginator(range(len(found.topics)), TOPICS).get_page(page_number(request))
    topic_address = topic_url_builder("topic", board.choice.carried, slug)
    hrefs = [topic_address(each.topic.number) for each in found.topics]
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "map": found,
        "columns": found.standings[:RUNS],
        "page": page,
        "lines": _map_lines(found, slug, page),
        "chart": _draw_heat_map(found, hrefs, sight.is_organiser) if found.standings else "",
        "is_image": found.values.size > CELLS,
        "difficulties": difficulty_chart(_difficulties_of(found, hrefs), found.measure),
        **(_box_plot_context(found, hrefs, page) if found.standings else {}),
    }
    return render(request, "topic_map.html", context)


def _map_lines(found: TopicMap, slug: str, page: Page) -> list[MapLine]:
    explained = topic_url_builder("computed", {}, slug, measure=found.measure)
    lines = []
    for place in page:
        mapped, values = found.topics[place], found.values[:RUNS, place].tolist()
        topic = explained(mapped.topic.number)
        hrefs = [f"{topic}&run={each.run.pk}" for each in found.standings[:RUNS]]
        lines.append(MapLine(mapped, value_cells(values, hrefs)))
    return lines


def _box_plot_context(found: TopicMap, hrefs: list[str], page: Page) -> dict[str, object]:
    """Return the box plot of every topic and the values below it."""
    boxes = [
        Box(each.topic.number, *values, href)
        for each, values, href in zip(found.topics, found.spread.T.tolist(), hrefs, strict=True)
    ]
    title = f"{found.measure} of all runs on every topic"
    return {
        "box_plot": box_plot(boxes, title, found.measure),
        "has_boxes": len(boxes) <= BOXES,
        "boxes": boxes if len(boxes) <= TABLED else [boxes[place] for place in page],
    }


def _draw_heat_map(found: TopicMap, hrefs: list[str], marks: bool) -> SafeString:
    """Draw the map, or nothing if it is too large; `marks` marks inverted topics."""
    if found.values.size > CELLS:
        return SafeString()
    rows = [HeatRow(str(each.run), each.is_own) for each in found.standings]
    columns = [
        HeatColumn(
            number=each.topic.number,
            median=each.summary.median,
            href=href,
            is_marked=marks and each.is_inverted,
        )
        for each, href in zip(found.topics, hrefs, strict=True)
    ]
    return heat_map(rows, columns, found.shares, f"{found.measure} of every run on every topic")


def _difficulties_of(found: TopicMap, hrefs: list[str]) -> list[Difficulty]:
    return [
        Difficulty(
            number=each.topic.number,
            relevant=each.summary.relevant,
            median=each.summary.median,
            href=href,
        )
        for each, href in zip(found.topics, hrefs, strict=True)
    ]


@require_GET
def topic_map_image(request: HttpRequest, slug: str) -> HttpResponse:
    """Return a large map as an image."""
    board = board_or_404(track_or_404(request.user, slug), request)
    return HttpResponse(heat_image(build_topic_map(board).shares), content_type="image/png")
