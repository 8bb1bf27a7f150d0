"""Effectiveness against cost: what the runs of a board that state a cost get for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.measures import parse_measure
from evaluation.significance import Difference, t_interval
from leaderboard.boards.standings import Board, Standing, verdict_of
from leaderboard.models import Run
from leaderboard.runs.facts import COSTS, Figure, find_figure
from leaderboard.runs.facts.figures import Cost
from leaderboard.scoring.comparisons import against_baseline, matrix_of


@dataclass(frozen=True)
class CostLine:
    """A run with its cost; `low` and `high` are the 95 % interval of its mean over topics."""

    standing: Standing
    figure: Figure
    # The figure in the unit of all lines.
    told: str
    mean: float
    low: float
    high: float
    # Held to the best of these runs, which itself has no verdict.
    against: Difference | None
    verdict: str
    # No run is as good for less, and none better for as much.
    on_front: bool

    @property
    def run(self) -> Run:
        return self.standing.run


@dataclass(frozen=True)
class CostBreakdown:
    """The runs that state a cost, the cheapest first; `costs` are those that any run states."""

    board: Board
    cost: Cost
    unit: str
    costs: list[Cost]
    lines: list[CostLine]

    @property
    def direction(self) -> int:
        return parse_measure(self.board.measure).direction

    @property
    def best(self) -> CostLine | None:
        """The best run; of equal ones the cheapest."""
        return max(self.lines, key=lambda each: self.direction * each.mean, default=None)

    @property
    def cheapest_good(self) -> CostLine | None:
        """The cheapest run that is not significantly worse than the best."""
        return next((each for each in self.lines if each.verdict != "worse"), None)

    @property
    def is_tested(self) -> bool:
        return any(each.verdict for each in self.lines)

    @property
    def num_held(self) -> int:
        """How many runs are held to the best of those that state a cost."""
        return len(self.board.standings) - 1

    @property
    def tests_follow(self) -> bool:
        """Whether a board of this size is tested by a job, and that has not been done."""
        differ = any(each.against is not None and each.against.p is None for each in self.lines)
        return differ and not self.is_tested and self.board.can_tell

    @property
    def num_silent(self) -> int:
        return len(self.board.ranked) - len(self.lines)

    @property
    def hardware(self) -> list[str]:
        """What the figures were measured on, each once."""
        stated = (each.run.facts.get("hardware", "") for each in self.lines)
        return sorted({words for words in stated if words})


def cost_breakdown(board: Board, asked: str = "") -> CostBreakdown:
    """The runs of the board by the cost that is asked for, or else by what most of them state."""
    stating = {
        name: [each for each in board.ranked if find_figure(each.run.facts, name)] for name in COSTS
    }
    most = max(COSTS, key=lambda name: len(stating[name]))
    name = asked if stating.get(asked) else most
    costs = [cost for cost in COSTS.values() if stating[cost.name]]
    unit = _unit_for(COSTS[name], [_figure(each, name).value for each in stating[name]])
    lines = _lines(board, stating[name], name, unit)
    return CostBreakdown(board, COSTS[name], unit, costs, lines)


def _unit_for(cost: Cost, values: Sequence[float]) -> str:
    """One unit for all of them: the one that fits the value in the middle."""
    return cost.unit_of(sorted(values)[len(values) // 2]) if values else cost.unit


def _lines(board: Board, standings: Sequence[Standing], cost: str, unit: str) -> list[CostLine]:
    if not standings:
        return []
    direction = parse_measure(board.measure).direction
    runs = [each.run.pk for each in standings]
    scores = matrix_of(board.edition, board.measure, runs)
    # The family stays that of the board: which runs state a cost is no reason to test fewer.
    family = sorted(each.run.pk for each in board.standings)
    best = max(
        standings,
        key=lambda each: (direction * _mean(board, each), -_figure(each, cost).value),
    )
    against = against_baseline(board.edition, board.measure, best.run.pk, family)
    front = pareto(
        [(_figure(each, cost).value, direction * _mean(board, each)) for each in standings]
    )
    lines = []
    for standing, row, on_front in zip(standings, scores, front, strict=True):
        interval, difference = t_interval(row), against.get(standing.run.pk)
        lines.append(
            CostLine(
                standing=standing,
                figure=_figure(standing, cost),
                told=_figure(standing, cost).words_in(unit),
                mean=_mean(board, standing),
                low=interval.low,
                high=interval.high,
                against=difference,
                verdict=verdict_of(difference, board.edition.num_evaluated, direction),
                on_front=on_front,
            )
        )
    return sorted(lines, key=lambda each: (each.figure.value, -direction * each.mean))


def _figure(standing: Standing, cost: str) -> Figure:
    figure = find_figure(standing.run.facts, cost)
    assert figure is not None
    return figure


def _mean(board: Board, standing: Standing) -> float:
    mean = standing.scores[board.measure]
    assert mean is not None
    return mean


def pareto(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Whether each point (cost, worth) is on the front: nothing else is as good and better in one.

    >>> pareto([(1, 0.2), (2, 0.3), (2, 0.25), (3, 0.3)])
    [True, True, False, False]
    """
    front = []
    for cost, worth in points:
        beaten = (
            (other[0] <= cost and other[1] >= worth and other != (cost, worth)) for other in points
        )
        front.append(not any(beaten))
    return front
