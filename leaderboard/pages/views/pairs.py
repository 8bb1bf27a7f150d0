"""The comparison of two runs: the test, every topic, and both rankings of one topic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET

from evaluation.answers.any_measure import parse_measure
from leaderboard.analysis import RunPair, compare_runs
from leaderboard.analysis.origins import standing_or_404
from leaderboard.analysis.pairs import PairLine, compute_overlaps, find_run_ahead
from leaderboard.analysis.rankings import UnseenDocument
from leaderboard.analysis.sides import (
    DEPTHS,
    Card,
    Side,
    SideBySide,
    build_side_by_side,
    tabulate_sides,
)
from leaderboard.boards.disclosure import Sight, track_at_or_404
from leaderboard.boards.standings import Board
from leaderboard.display import charts
from leaderboard.display.charts import Bar, Point, RankPair
from leaderboard.display.numbers import count, counted
from leaderboard.models import Run, Topic
from leaderboard.pages import wording
from leaderboard.pages.forms.regions import RegionForm
from leaderboard.pages.page_urls import (
    CARRIED_PARAMETERS,
    TOPIC_FIELDS,
    carried_parameters,
    topic_url_builder,
)
from leaderboard.pages.views.lookups import (
    TopicChoice,
    board_with_runs_or_404,
    page_number,
    requested_topics,
)
from leaderboard.pages.views.tables import csv_file, wants_csv

# Query parameters that links to topics keep.
KEPT = (*CARRIED_PARAMETERS, "order", "depth", "region", *TOPIC_FIELDS)
# Those that the form of the region keeps.
REGION_KEPT = (*CARRIED_PARAMETERS, "a", "b", "order", "depth", "number", *TOPIC_FIELDS)
# The number of largest differences listed beside the chart.
LARGEST = 11
# Topics per page of the table.
TABLED = 500
# The number of hidden relevant documents that are named.
NAMED = 12


@require_GET
def compare(request: HttpRequest, address: str) -> HttpResponse:
    """Compare run `b` with run `a`; by default the best run with the baseline."""
    sight = track_at_or_404(request.user, address)
    board = board_with_runs_or_404(
        sight, request, request.GET.get("a", ""), request.GET.get("b", "")
    )
    pair, choice = _requested_pair_or_404(request, board), requested_topics(request, sight)
    line = _requested_topic_or_404(request, pair, choice) if pair is not None else None
    if pair is not None and wants_csv(request):
        by_document = request.GET.get("table") == "documents"
        name = f"compare-{pair.a.pk}-{pair.b.pk}"
        if by_document and line is not None:
            return csv_file(f"{name}-topic", *tabulate_sides(sight, pair, line.topic))
        return csv_file(name, *pair.of(choice.chosen).table)
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "pair": pair,
        "kept": carried_parameters(
            request.GET, ("baseline", "family", "order", "depth", "number", "region", *TOPIC_FIELDS)
        ),
        "topic_choice": choice,
        **(_pair_context(request, board, pair, line, choice) if pair is not None else {}),
        **(
            _topic_context(request, sight, pair.of(choice.chosen), line)
            if pair is not None and line is not None
            else {}
        ),
    }
    return render(request, "board/compare.html", context)


def _requested_pair_or_404(request: HttpRequest, board: Board) -> RunPair | None:
    """Return the requested pair; None if both are the same run or the board has only one."""
    runs = [standing.run for standing in board.ranked]
    a, b = request.GET.get("a", ""), request.GET.get("b", "")
    if (a and a == b) or (not (a or b) and len(runs) < 2):
        return None
    held_to = standing_or_404(board, a).run if a else _first_other(runs, board.baseline, b)
    looked_at = standing_or_404(board, b).run if b else _first_other(runs, None, held_to.pk)
    return compare_runs(board, held_to, looked_at)


def _first_other(runs: list[Run], wanted: Run | None, than: str) -> Run:
    """Return the wanted run or else the best one, but not the run `than`."""
    for run in [wanted, *runs]:
        if run is not None and run.pk != than:
            return run
    raise Http404("no second run")


def _requested_topic_or_404(
    request: HttpRequest, pair: RunPair, choice: TopicChoice
) -> PairLine | None:
    """Return the requested topic, by default the chosen one with the largest difference."""
    number = request.GET.get("number")
    if number is None:
        shown = pair.of(choice.chosen)
        return next(iter(shown.by_size or shown.topics), None)
    line = pair.line_of(number)
    if line is None:
        raise Http404("no such topic among those compared")
    return line


def _requested_order(request: HttpRequest) -> str:
    return "topic" if request.GET.get("order") == "topic" else "difference"


@dataclass(frozen=True)
class PairRow:
    """A topic with the URLs of its rankings and of the explanations of both scores.

    `overlap` is None if it is not computed.
    """

    line: PairLine
    href: str
    explained_a: str
    explained_b: str
    overlap: float | None


def _pair_context(
    request: HttpRequest, board: Board, pair: RunPair, line: PairLine | None, choice: TopicChoice
) -> dict[str, object]:
    order, shown = _requested_order(request), pair.of(choice.chosen)
    current = line.topic.number if line else ""
    drawn = PairCharts(shown, shown.in_order(order), current, carried_parameters(request.GET, KEPT))
    page = Paginator(drawn.lines, TABLED).get_page(page_number(request))
    largest = shown.by_size[:LARGEST]
    known = compute_overlaps(pair.a, pair.b, [*largest, *page])
    is_named = request.GET.get("a") and request.GET.get("b")
    form = RegionForm(request.GET)
    ahead = find_run_ahead(pair, form.read()) if is_named else None
    return {
        "order": order,
        "drawing": drawn,
        "shown": shown,
        "largest": drawn.rows(largest, known),
        "page": page,
        "rows": drawn.rows(list(page), known),
        "verdict": wording.pair_verdict(pair),
        "test": wording.describe_pair_test(board, pair),
        "ahead": ahead,
        "region_form": form,
        "region_kept": carried_parameters(request.GET, REGION_KEPT),
        "probability": wording.describe_probability(ahead) if ahead is not None else [],
    }


@dataclass(frozen=True)
class PairCharts:
    """The charts of a pair, with its topics in the reader's order."""

    pair: RunPair
    lines: Sequence[PairLine]
    current: str
    # The query parameters that links keep.
    kept: Mapping[str, str]

    @property
    def title(self) -> str:
        return f"{self.pair.measure} of {self.pair.b} minus {self.pair.a}"

    @property
    def interval(self) -> SafeString | None:
        against = self.pair.against
        known = (against.difference, against.low, against.high)
        if against.unit == "ratio" or any(value is None for value in known):
            return None
        return charts.difference_interval(
            against.difference, against.low, against.high, f"{self.title}, 95 % interval"
        )

    @property
    def bars(self) -> SafeString:
        bars = [Bar(each.topic.number, each.difference, each.topic.title) for each in self.lines]
        above, below = map(charts.cut_name, (str(self.pair.b), str(self.pair.a)))
        if parse_measure(self.pair.measure).direction < 0:
            above, below = below, above
        title = f"{self.title}, by topic"
        sides = f"{above} better", f"{below} better"
        return charts.difference_bars(bars, title, *sides, link=self.rankings_of)

    @cached_property
    def scatter(self) -> SafeString | None:
        """Draw both scores of each topic; only for measures from 0 up where higher is better."""
        measure = parse_measure(self.pair.measure)
        if measure.direction < 0 or measure.range[0] < 0:
            return None
        points = [
            Point(each.topic.number, each.b, each.a)
            for each in self.lines
            if np.isfinite(each.difference)
        ]
        title = f"{self.pair.measure} of both runs, by topic"
        runs = str(self.pair.b), str(self.pair.a)
        return charts.scatter(points, title, *runs, self.current, self.rankings_of)

    def rows(self, lines: Sequence[PairLine], known: dict[str, float]) -> list[PairRow]:
        a, b = self._explained(self.pair.a), self._explained(self.pair.b)
        return [
            PairRow(each, self.rankings_of(each.topic), a(number), b(number), known.get(number))
            for each, number in ((line, line.topic.number) for line in lines)
        ]

    def _explained(self, run: Run) -> Callable[[str], str]:
        """Return a function that builds the URL which explains a topic score of the run."""
        measure = self.pair.measure
        return topic_url_builder("computed", {}, run.track.address, measure=measure, run=run.pk)

    def rankings_of(self, mark: Bar | Point | Topic) -> str:
        """Return the link to both rankings of a topic on this page."""
        return self._topic_address(mark.number) + "#topic"

    @cached_property
    def _topic_address(self) -> Callable[[str], str]:
        a, b = self.pair.a.pk, self.pair.b.pk
        return topic_url_builder("compare", self.kept, self.pair.b.track.address, a=a, b=b)


def _topic_context(
    request: HttpRequest, sight: Sight, pair: RunPair, line: PairLine
) -> dict[str, object]:
    """Return both rankings of a topic and the previous and next topic."""
    asked = request.GET.get("depth", "")
    depth = next((depth for depth in DEPTHS if str(depth) == asked), DEPTHS[0])
    found = build_side_by_side(sight, pair, line, depth)
    lines = pair.in_order(_requested_order(request))
    place = lines.index(line) if line in lines else len(lines)
    return {
        "sides": found,
        "left": _card_column(found.left, ("↗", "→", "↘")),
        "right": _card_column(found.right, ("↖", "←", "↙")),
        "joints": _draw_connections(found, depth),
        "depth": depth,
        "depths": DEPTHS,
        "previous": lines[place - 1] if place else None,
        "next": lines[place + 1] if place + 1 < len(lines) else None,
        "top_grade": sight.edition.judgment_set.top_grade if sight.edition is not None else None,
    }


# Arrows up, level and down, which point to the other run.
Arrows = tuple[str, str, str]


@dataclass(frozen=True)
class CardLine:
    """A document with an arrow to its rank in the other run and the text for it."""

    card: Card
    arrow: str
    where: str
    told: str


@dataclass(frozen=True)
class CardColumn:
    side: Side
    lines: list[CardLine]

    @property
    def further(self) -> list[UnseenDocument]:
        return self.side.further[:NAMED]

    @property
    def num_unnamed(self) -> int:
        return len(self.side.further[NAMED:])


def _card_column(side: Side, arrows: Arrows) -> CardColumn:
    return CardColumn(side, [_card_line(card, arrows) for card in side.cards])


def _card_line(card: Card, arrows: Arrows) -> CardLine:
    if card.twin is None:
        return CardLine(card, "✕", "missed", "missed by the other run")
    up, level, down = arrows
    places = counted(abs(card.lower), "place")
    how = f"{places} lower" if card.lower > 0 else f"{places} higher"
    told = f"rank {count(card.twin)} in the other run"
    arrow = down if card.lower > 0 else up if card.lower < 0 else level
    return CardLine(card, arrow, count(card.twin), f"{told}, {how}" if card.lower else told)


def _draw_connections(found: SideBySide, depth: int) -> SafeString:
    """Draw lines between the two columns, one for each document."""

    def below(rank: int | None) -> int | None:
        return rank if rank is not None and rank <= depth else None

    joined = [
        RankPair(card.document.rank, below(card.twin), card.document.look == "relevant")
        for card in found.left.cards
    ]
    joined += [
        RankPair(None, card.document.rank, card.document.look == "relevant")
        for card in found.right.cards
        if below(card.twin) is None
    ]
    cards = max(len(found.left.cards), len(found.right.cards))
    return charts.rank_lines(joined, cards) if cards else SafeString()
