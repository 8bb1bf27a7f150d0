"""Effectiveness against cost, for the runs of a board that state a cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evaluation.answers.any_measure import parse_measure
from evaluation.significance import Difference, Interval, interval_of_score
from leaderboard.boards.standings import Board, Standing
from leaderboard.display.charts.drawing import Kind
from leaderboard.display.csv_tables import TEAM_COLUMNS, CsvTable, tabulate
from leaderboard.models import Run
from leaderboard.runs.facts import COSTS, Figure, find_figure
from leaderboard.runs.facts.figures import Cost
from leaderboard.scoring.contests import compare_within, contest_on
from leaderboard.scoring.scores import score_matrix
from leaderboard.scoring.verdicts import verdict_of


@dataclass(frozen=True)
class PlacedRun:
    """A run in a plot: what stands across as a number and in words, and its mean above that.

    `low` and `high` are the 95 % interval of its mean over topics.
    """

    standing: Standing
    cost: float
    cost_text: str
    mean: float
    low: float
    high: float

    @property
    def run(self) -> Run:
        return self.standing.run

    @property
    def name(self) -> str:
        return self.standing.name

    @property
    def kind(self) -> Kind:
        return self.standing.kind


@dataclass(frozen=True)
class CostLine(PlacedRun):
    """A run with its cost, in the unit of all lines."""

    figure: Figure
    # Compared with the best of these runs by all pairs; the best has no verdict itself.
    against: Difference | None
    verdict: str
    # Whether no run is as good at a lower cost, or better at the same cost.
    on_front: bool
    # Whether it is the best run, or the cheapest that is not significantly worse.
    is_named: bool = False

    @property
    def left(self) -> float:
        return self.cost

    right = left

    @property
    def is_measured(self) -> bool:
        return self.figure.is_measured

    @property
    def hardware(self) -> str:
        return str(self.run.facts.get("hardware", ""))


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
        """The best run, or the cheapest of equally good ones."""
        return max(self.lines, key=lambda line: self.direction * line.mean, default=None)

    @property
    def cheapest_good(self) -> CostLine | None:
        """The cheapest run that is not significantly worse than the best."""
        return next((line for line in self.lines if line.verdict != "worse"), None)

    @property
    def is_tested(self) -> bool:
        return any(line.verdict for line in self.lines)

    @property
    def awaits_tests(self) -> bool:
        """Whether a job has yet to test a board of this size."""
        return len(self.lines) > 1 and self.board.awaits_pairs

    @property
    def num_without_cost(self) -> int:
        return len(self.board.ranked) - len(self.lines)

    @property
    def hardware(self) -> list[str]:
        """The hardware on which the costs were measured, each once."""
        return sorted({line.hardware for line in self.lines if line.hardware})

    @property
    def table(self) -> CsvTable:
        columns = [
            *TEAM_COLUMNS,
            ("cost", "figure.what"),
            ("value", "figure.value"),
            ("unit", "figure.unit"),
            ("origin", "figure.origin"),
            ("hardware", "hardware"),
            ("measure", lambda _: self.board.measure),
            ("mean", "mean"),
            ("low", "low"),
            ("high", "high"),
            ("difference_from_best", "against.difference"),
            ("p_adjusted", "against.p_adjusted"),
            ("on_front", lambda line: int(line.on_front)),
        ]
        return tabulate(self.lines, columns)


def build_cost_breakdown(board: Board, asked: str = "") -> CostBreakdown:
    """Return the runs of the board by the requested cost, or by the one that most runs state."""
    stating = {
        name: [standing for standing in board.ranked if find_figure(standing.run.facts, name)]
        for name in COSTS
    }
    most = max(COSTS, key=lambda name: len(stating[name]))
    name = asked if stating.get(asked) else most
    costs = [cost for cost in COSTS.values() if stating[cost.name]]
    unit = _unit_for(COSTS[name], [_figure(standing, name).value for standing in stating[name]])
    found = CostBreakdown(board, COSTS[name], unit, costs, _lines(board, stating[name], name, unit))
    named = (found.best, found.cheapest_good)
    lines = [replace(line, is_named=line in named) for line in found.lines]
    return replace(found, lines=lines)


def _unit_for(cost: Cost, values: Sequence[float]) -> str:
    """Return one unit for all values: the one that suits the median."""
    return cost.unit_of(sorted(values)[len(values) // 2]) if values else cost.unit


def _lines(board: Board, standings: Sequence[Standing], cost: str, unit: str) -> list[CostLine]:
    if not standings:
        return []
    measure = parse_measure(board.measure)
    runs = [standing.run.pk for standing in standings]
    intervals = find_intervals(board, board.measure, standings)
    best = max(
        standings,
        key=lambda standing: (
            measure.direction * mean_of(standing, board.measure),
            -_figure(standing, cost).value,
        ),
    )
    against = _compare_with_best(board, best.run, runs)
    front = find_pareto_front(
        [
            (_figure(standing, cost).value, measure.direction * mean_of(standing, board.measure))
            for standing in standings
        ]
    )
    lines = []
    for standing, interval, on_front in zip(standings, intervals, front, strict=True):
        difference = against.get(standing.run.pk)
        lines.append(
            CostLine(
                standing=standing,
                figure=_figure(standing, cost),
                cost=_figure(standing, cost).value / COSTS[cost].units[unit],
                cost_text=_figure(standing, cost).words_in(unit),
                mean=mean_of(standing, board.measure),
                low=interval.low,
                high=interval.high,
                against=difference,
                verdict=verdict_of(difference, board.num_units, measure.direction),
                on_front=on_front,
            )
        )
    return sorted(lines, key=lambda line: (line.figure.value, -measure.direction * line.mean))


def _compare_with_best(board: Board, best: Run, runs: Sequence[str]) -> dict[str, Difference]:
    """Compare the runs with the best one, chosen by its score, by the test of all pairs."""
    return compare_within(contest_on(board.edition, board.measure, runs, best.pk), board.decisions)


def _figure(standing: Standing, cost: str) -> Figure:
    figure = find_figure(standing.run.facts, cost)
    assert figure is not None
    return figure


def find_intervals(board: Board, measure: str, standings: Sequence[Standing]) -> list[Interval]:
    """Return the 95 % interval of the mean of each run; the mean alone where there is none."""
    scores = score_matrix(board.edition, measure, [each.run.pk for each in standings])
    means = [mean_of(each, measure) for each in standings]
    parsed = parse_measure(measure)
    return [
        interval_of_score(row, parsed) or Interval(mean, mean)
        for row, mean in zip(scores, means, strict=True)
    ]


def mean_of(standing: Standing, measure: str) -> float:
    """Return the mean of a run that has one."""
    mean = standing.scores[measure]
    assert mean is not None
    return mean


def find_pareto_front(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return whether each point (cost, worth) is on the Pareto front: no other point is better.

    >>> find_pareto_front([(1, 0.2), (2, 0.3), (2, 0.25), (3, 0.3)])
    [True, True, False, False]
    """
    front = []
    for cost, worth in points:
        beaten = (
            (other[0] <= cost and other[1] >= worth and other != (cost, worth)) for other in points
        )
        front.append(not any(beaten))
    return front
