"""Runs by what they state: scores against a parameter or a second measure, groups of values, and
in what chosen runs differ."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from evaluation.answers.any_measure import parse_measure
from evaluation.significance import Interval
from leaderboard.analysis.costs import PlacedRun, find_intervals, find_pareto_front, mean_of
from leaderboard.boards.rows import OF_PARAMETERS
from leaderboard.boards.standings import Board, Standing
from leaderboard.display.csv_tables import TEAM_COLUMNS, CsvTable, tabulate
from leaderboard.display.numbers import score
from leaderboard.runs.facts import Parameter

# How many runs a plot has: the best ones, besides those that the reader chose.
MOST_DRAWN = 300
# More different values make no groups.
MOST_GROUPS = 30
# How many differing parameters of chosen runs the table has.
MOST_DIFFERENT = 12


@dataclass(frozen=True)
class PlottedRun(PlacedRun):
    """A run by a number, by the number of a value in the order of values, or by another mean."""

    # The interval across; the value itself for a parameter.
    left: float
    right: float
    on_front: bool
    is_named: bool
    is_measured: bool = True


@dataclass(frozen=True)
class ChosenRun:
    """A run that the reader chose, with what it states where the chosen runs differ."""

    standing: Standing
    mean: float | None
    words: list[str]


@dataclass(frozen=True)
class ValueGroup:
    """The runs that state the same value: how many, and the spread of their means."""

    value: str
    means: list[float]
    best: Standing

    @property
    def runs(self) -> int:
        return len(self.means)

    @property
    def median(self) -> float:
        return statistics.median(self.means)

    @property
    def least(self) -> float:
        return min(self.means)

    @property
    def most(self) -> float:
        return max(self.means)


@dataclass(frozen=True)
class ParameterPlot:
    """The runs of a board against a parameter, or against a second measure.

    Exactly one of `parameter` and `other` says what stands across.
    """

    board: Board
    parameter: Parameter | None
    other: str
    # The ranked runs that state the parameter, or have the other measure; the best first.
    stating: list[Standing]
    chosen: list[Standing]

    @property
    def across(self) -> str:
        """The name of what stands across, as the address has it."""
        return f"{OF_PARAMETERS}{self.parameter.name}" if self.parameter else self.other

    @property
    def label(self) -> str:
        if self.parameter is None:
            return self.other
        unit = f", {self.parameter.unit}" if self.parameter.unit else ""
        return f"{self.parameter.label}{unit}"

    @property
    def has_front(self) -> bool:
        """Whether each side has a better end, so that runs can beat others on both."""
        return self.parameter is None or bool(self.parameter.cost)

    @cached_property
    def places(self) -> dict[str, float]:
        """The place of each value across, where values are words."""
        if self.parameter is None or self.parameter.is_number:
            return {}
        words = sorted({self.parameter.words(each.facts) for each in self.stating})
        return {word: float(place) for place, word in enumerate(words)}

    @cached_property
    def drawn(self) -> list[PlottedRun]:
        """The runs of the chart: the chosen and the best ones."""
        rest = [each for each in self.stating if each not in self.chosen]
        first = [each for each in self.stating if each in self.chosen]
        return _plot(self, [*first, *rest][:MOST_DRAWN])

    @property
    def is_cut(self) -> bool:
        return len(self.stating) > MOST_DRAWN

    @cached_property
    def groups(self) -> list[ValueGroup]:
        """The runs by value, in the order of values; none for a measure or too many values."""
        parameter = self.parameter
        if parameter is None:
            return []
        found: dict[str, list[Standing]] = defaultdict(list)
        for standing in self.stating:
            found[parameter.words(standing.facts)].append(standing)
        if len(found) > MOST_GROUPS:
            return []
        ordered = sorted(found.values(), key=lambda runs: parameter.order(runs[0].facts))
        return [
            ValueGroup(
                parameter.words(runs[0].facts),
                [mean_of(each, self.board.measure) for each in runs],
                runs[0],
            )
            for runs in ordered
        ]

    @cached_property
    def tied(self) -> list[str]:
        """Other parameters of which each value here has one value alone: no group tells the two
        apart."""
        if self.parameter is None or len(self.groups) < 2:
            return []
        own = [self.parameter.words(each.facts) for each in self.stating]
        return [
            other.label
            for other in self.board.parameters
            if other != self.parameter
            and _goes_with(own, (other.words(each.facts) for each in self.stating))
        ]

    @cached_property
    def differing(self) -> list[Parameter]:
        """The parameters in which the chosen runs differ."""
        facts = [standing.facts for standing in self.chosen]
        return [
            each for each in self.board.parameters if len({each.words(one) for one in facts}) > 1
        ][:MOST_DIFFERENT]

    @property
    def chosen_runs(self) -> list[ChosenRun]:
        return [
            ChosenRun(
                standing,
                self.board.value_of(standing),
                [parameter.words(standing.facts) for parameter in self.differing],
            )
            for standing in self.chosen
        ]

    @property
    def table(self) -> CsvTable:
        """The runs that state the parameter, as the file of the page has them."""
        columns = [
            *TEAM_COLUMNS,
            ("across", lambda _: self.across),
            ("value", self._value),
            ("measure", lambda _: self.board.measure),
            ("mean", lambda each: each.scores[self.board.measure]),
        ]
        return tabulate(self.stating, columns)

    def _value(self, standing: Standing) -> object:
        if self.parameter is None:
            return standing.scores[self.other]
        return self.parameter.value(standing.facts)

    @property
    def table_of_groups(self) -> CsvTable:
        names = ("value", "runs", "median", "least", "most")
        columns = [(name, name) for name in names]
        return tabulate(self.groups, [*columns, ("best", "best.run.tag")])


def build_parameter_plot(board: Board, across: str, chosen: Sequence[str]) -> ParameterPlot | None:
    """Return the runs against what was asked for, or against the first parameter with groups.

    None on a board without parameters and without a second measure.
    """
    named = {f"{OF_PARAMETERS}{each.name}": each for each in board.parameters}
    others = [measure for measure in board.measures if measure != board.measure]
    keys = set(chosen)
    runs = [standing for standing in board.standings if standing.key in keys]
    if across in others:
        return ParameterPlot(board, None, across, _with_value(board, across), runs)
    parameter = named.get(across) or _find_telling(board)
    if parameter is None:
        if not others:
            return None
        return ParameterPlot(board, None, others[0], _with_value(board, others[0]), runs)
    stating = [each for each in board.ranked if parameter.words(each.facts)]
    return ParameterPlot(board, parameter, "", stating, runs)


def _with_value(board: Board, measure: str) -> list[Standing]:
    return [each for each in board.ranked if each.scores[measure] is not None]


def _find_telling(board: Board) -> Parameter | None:
    """Return the first parameter of at least two values, or the first of all."""
    for parameter in board.parameters:
        if len({parameter.words(each.facts) for each in board.ranked} - {""}) > 1:
            return parameter
    return next(iter(board.parameters), None)


def _goes_with(own: Sequence[str], other: Iterable[str]) -> bool:
    """Whether each value here comes with one of the other, which has several.

    Of the other no more is read than it takes, since a board has thousands of runs.

    >>> _goes_with(["1", "8", "8"], ["small", "large", "large"])
    True
    >>> _goes_with(["1", "8", "8"], ["small", "large", "small"])
    False
    """
    pairs: dict[str, str] = {}
    for value, word in zip(own, other, strict=True):
        if pairs.setdefault(value, word) != word:
            return False
    return len(set(pairs.values())) > 1


def _plot(plot: ParameterPlot, standings: Sequence[Standing]) -> list[PlottedRun]:
    """Return these runs with their places and intervals."""
    if not standings:
        return []
    board, parameter = plot.board, plot.parameter
    up = find_intervals(board, board.measure, standings)
    if parameter is None:
        across = find_intervals(board, plot.other, standings)
        at = [mean_of(each, plot.other) for each in standings]
        texts = [score(value, 3) for value in at]
    else:
        at = [_place(plot, parameter, each) for each in standings]
        across = [Interval(value, value) for value in at]
        texts = [parameter.words(each.facts) for each in standings]
    means = [mean_of(each, board.measure) for each in standings]
    front = find_pareto_front(_sides(plot, at, means)) if plot.has_front else [True] * len(at)
    chosen = {each.key for each in plot.chosen}
    return [
        PlottedRun(
            *(standing, at[place], texts[place], means[place], up[place].low, up[place].high),
            *(across[place].low, across[place].high, front[place]),
            is_named=standing.key in chosen,
        )
        for place, standing in enumerate(standings)
    ]


def _sides(
    plot: ParameterPlot, at: Sequence[float], means: Sequence[float]
) -> list[tuple[float, float]]:
    """Return each run as cost and worth: what is across costs, or is worth if it is a measure."""
    across = 1 if plot.parameter is not None else -parse_measure(plot.other).direction
    up = parse_measure(plot.board.measure).direction
    return [(across * x, up * mean) for x, mean in zip(at, means, strict=True)]


def _place(plot: ParameterPlot, parameter: Parameter, standing: Standing) -> float:
    number = parameter.number(standing.facts)
    return plot.places[parameter.words(standing.facts)] if number is None else number
