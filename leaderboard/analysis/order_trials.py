"""Which order of judging finds most, tried on the judgments of a board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.answers.any_measure import is_of_rankings
from leaderboard.boards.standings import Board
from leaderboard.display.csv_tables import CsvTable, tabulate
from leaderboard.jobs import calculations
from leaderboard.jobs.calculations import Awaited, Wanted
from leaderboard.models import Calculation
from leaderboard.scoring.judge_boards import family_by_judge
from leaderboard.scoring.order_trials import BUDGETS, TriedOrder

NAMES = {
    "depth": "By depth",
    "fusion": "By reciprocal rank fusion",
    "mtf": "Move to front",
    "maxmean": "MaxMean",
    "hedge": "Hedge",
    "thompson": "Thompson sampling",
}


@dataclass(frozen=True)
class OrderTrials:
    """The orders tried on a version of judgments, or what becomes of them."""

    version: str
    measure: str
    lines: Sequence[TriedOrder]
    awaited: Awaited = Awaited.NOTHING

    budgets = BUDGETS

    @property
    def rows(self) -> list[tuple[str, list[TriedOrder]]]:
        """The name of each order with its line for each budget."""
        return [
            (NAMES[name], [line for line in self.lines if line.order == name])
            for name in NAMES
            if self.lines
        ]

    @property
    def table(self) -> CsvTable:
        names = ("order", "budget", "found", "tau_ap", "tau")
        return tabulate(self.lines, [(name, name) for name in names])


def find_order_trials(board: Board) -> OrderTrials | None:
    """Return the trials on a board for its organisers; a job computes what is missing."""
    family = family_by_judge(board.sight.track)
    is_tried = board.sight.is_organiser and is_of_rankings(board.measure)
    if not is_tried or len(family) < 2:
        return None
    asked = {"measure": board.measure}
    wanted = Wanted(Calculation.Kind.ORDERS, board.edition, board.measure, asked)
    known = wanted.find()
    version = board.edition.judgment_set.version
    if known is None or known.results.get("family") != family:
        return OrderTrials(version, board.measure, [], calculations.request(wanted))
    lines = [TriedOrder(**line) for line in known.results["lines"]]
    return OrderTrials(version, board.measure, lines)
