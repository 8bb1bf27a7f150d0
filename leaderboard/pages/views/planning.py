"""How many topics and how deep a pool the next collection needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET

from evaluation.significance import Variances
from leaderboard.analysis.order_trials import find_order_trials
from leaderboard.analysis.planning import (
    CostTable,
    DepthLine,
    DesignLine,
    DetectableCurves,
    PlanRequest,
    compute_detectable,
    find_detectable,
    find_source_board,
    find_sources,
    find_variances,
    plan_costs,
    plan_depths,
    plan_topics,
    tabulate_depths,
    tabulate_topics,
    typed_variances,
)
from leaderboard.boards.disclosure import Sight, track_at_or_404
from leaderboard.boards.standings import Board
from leaderboard.display import charts
from leaderboard.display.charts import DetectableCurve, PlannedDot
from leaderboard.display.numbers import counted, score
from leaderboard.pages.forms.planning import PlanForm
from leaderboard.pages.page_urls import carried_parameters, page_url
from leaderboard.pages.views.lookups import board_or_404
from leaderboard.pages.views.tables import csv_file, wants_csv


@require_GET
def plan(request: HttpRequest, address: str) -> HttpResponse:
    """Plan from the variance of a board, or from a typed one, also before there is a board."""
    sight = track_at_or_404(request.user, address)
    if sight.edition is None and not sight.is_organiser:
        raise Http404("no board to plan from")
    board = board_or_404(sight, request) if sight.edition is not None else None
    planned = read_plan(request, sight, board)
    trials = find_order_trials(planned.source) if planned.source is not None else None
    if wants_csv(request) and request.GET.get("table") == "orders" and trials is not None:
        return csv_file(f"{sight.track.slug}-orders", *trials.table)
    if wants_csv(request):
        return _plan_csv(sight.track.slug, request.GET.get("table", ""), planned)
    context = {
        "sight": sight,
        "track": sight.track,
        "board": board,
        "kept": carried_parameters(request.GET),
        "plan": planned,
        "trials": trials,
    }
    return render(request, "analysis/plan.html", context)


def read_plan(request: HttpRequest, sight: Sight, board: Board | None) -> Plan:
    """Read what is asked, from the board of the track or from another that the reader may see."""
    sources = find_sources(sight)
    form = PlanForm(request.GET, [(each.track.slug, str(each.track)) for each in sources])
    asked = form.read()
    measure = board.measure if board is not None else sight.track.primary_measure
    source = find_source_board(sources, form.source, measure) if form.source else board
    return Plan(board, source, form, asked)


@dataclass(frozen=True)
class Plan:
    """A plan: what is asked of which board, the topics it takes, and what they cost.

    `board` is that of the track; `source` is the one that is learnt from, which may be another.
    """

    board: Board | None
    source: Board | None
    form: PlanForm
    asked: PlanRequest | None

    @property
    def parameters(self) -> dict[str, object]:
        """What the explanation of the plan needs to know."""
        assert self.asked is not None
        names = ("difference", "width", "runs", "alpha", "power", "seconds", "variance")
        known = {name: getattr(self.asked, name) for name in names}
        return {**known, "variance": known["variance"] or "", "board": self.form.source}

    @property
    def is_own(self) -> bool:
        """Whether the board of the track itself is learnt from."""
        return self.source is self.board

    @cached_property
    def variances(self) -> Variances | None:
        if self.asked is not None and self.asked.variance is not None:
            return typed_variances(self.asked.variance)
        return find_variances(self.source) if self.source is not None else None

    @cached_property
    def topics(self) -> list[DesignLine]:
        if self.asked is None or self.variances is None:
            return []
        return plan_topics(self.asked, self.variances)

    @property
    def costs_too_much(self) -> bool:
        """Whether no pool that is compared can be judged within the hours there are."""
        within = self.asked is None or not self.asked.hours or self.needed is None
        return not within and self.costs is not None and self.costs.planned is None

    @property
    def could_compare_pools(self) -> bool:
        """Whether there is a board of two runs to learn from."""
        return self.asked is not None and self.source is not None and len(self.source.ranked) > 1

    @property
    def needed(self) -> int | None:
        """The topics that find the difference of two runs."""
        return self.topics[0].topics if self.topics else None

    @cached_property
    def depths(self) -> list[DepthLine]:
        if self.source is None or self.asked is None:
            return []
        return plan_depths(self.source, self.asked.seconds)

    @property
    def deepest(self) -> int:
        """The depth of the deepest pool."""
        return self.depths[-1].pool.depth if self.depths else 0

    @cached_property
    def costs(self) -> CostTable | None:
        if self.source is None or self.asked is None or self.variances is None:
            return None
        return plan_costs(self.asked, self.variances, self.needed, self.depths, self.source)

    @cached_property
    def detectable(self) -> float | None:
        """The smallest difference that the topics of the source find."""
        if self.source is None or self.asked is None or self.variances is None:
            return None
        return find_detectable(self.source, self.asked, self.variances)

    @cached_property
    def curves(self) -> DetectableCurves | None:
        if self.asked is None or self.variances is None:
            return None
        return compute_detectable(self.asked, self.variances, self.needed or 0, self.source)

    @property
    def chart(self) -> SafeString | None:
        if self.curves is None or self.asked is None:
            return None
        curve = DetectableCurve(
            self.curves.topics, self.curves.difference, self.curves.low, self.curves.high
        )
        title = f"Topics and detectable difference at a power of {self.asked.power:g}"
        return charts.detectable_chart(curve, self._dots, title)

    @property
    def _dots(self) -> list[PlannedDot]:
        """What is planned, and what the topics of the boards at hand find."""
        assert self.asked is not None
        dots = []
        if self.needed is not None:
            words = f"{counted(self.needed, 'topic')} detect {score(self.asked.difference, 3)}"
            dots.append(PlannedDot(self.needed, self.asked.difference, words, is_plan=True))
        if self.source is not None and self.detectable is not None:
            track = self.source.sight.track
            href = page_url("board", {}, track.address)
            topics = self.source.edition.num_evaluated
            dots.append(PlannedDot(topics, self.detectable, str(track), href=href))
        return dots

    @property
    def curve_lines(self) -> list[tuple[float, ...]]:
        """The values of the chart: topics, difference, and those of the middle half of pairs."""
        if self.curves is None:
            return []
        columns = [self.curves.topics, self.curves.difference]
        if self.curves.low is not None and self.curves.high is not None:
            columns += [self.curves.low, self.curves.high]
        return list(zip(*(column.tolist() for column in columns), strict=True))


def _plan_csv(slug: str, table: str, planned: Plan) -> HttpResponse:
    if table == "pools":
        return csv_file(f"{slug}-pools", *tabulate_depths(planned.depths))
    if table == "curve":
        columns = ("topics", "difference", "quarter", "three_quarters")
        lines: Sequence[Sequence[float]] = planned.curve_lines
        return csv_file(f"{slug}-curve", columns[: len(lines[0]) if lines else 2], lines)
    if table == "costs" and planned.costs is not None:
        head = ["depth", *(f"{n} topics" for n in planned.costs.topics)]
        rows = [
            [line.pool.depth, *(cost.hours for cost in line.costs)] for line in planned.costs.lines
        ]
        return csv_file(f"{slug}-costs", head, rows)
    return csv_file(f"{slug}-plan", *tabulate_topics(planned.topics))
