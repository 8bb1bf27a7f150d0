"""The mean of a benchmark over time: its versions of main, in the order in which they were made."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from leaderboard.analysis.history import SHORT_COMMIT
from leaderboard.boards.benchmark_boards import (
    EVERY_VERSION,
    BenchmarkBoard,
    BenchmarkChoice,
    find_benchmark_board,
)
from leaderboard.boards.disclosure import BenchmarkSight
from leaderboard.display.charts.drawing import Kind
from leaderboard.display.csv_tables import CsvTable, tabulate
from leaderboard.models import SystemVersion


@dataclass(frozen=True)
class VersionLine:
    """A complete version with its mean over the tracks, and the best mean so far."""

    version: SystemVersion
    team: str
    mean: float
    best: float
    leads: bool
    is_own: bool

    @property
    def commit(self) -> str:
        return self.version.commit

    @property
    def commit_link(self) -> str:
        return self.version.system.benchmark.link_of_commit(self.version.commit)

    @property
    def label(self) -> str:
        """The name of the version, with branch and commit where it states them."""
        stated = (self.version.branch, self.commit[:SHORT_COMMIT])
        made_by = " ".join(word for word in stated if word and word != self.version.label)
        return f"{self.version}, {made_by}" if made_by else str(self.version)

    @property
    def at(self) -> datetime:
        return self.version.created_at

    @property
    def kind(self) -> Kind:
        return "own" if self.is_own else "other"


@dataclass(frozen=True)
class BenchmarkHistory:
    """The complete versions of main on the columns that a viewer sees, the first one first."""

    board: BenchmarkBoard
    lines: list[VersionLine]

    @property
    def measure(self) -> str:
        """The measure of all columns, or "mean" where they differ."""
        measures = {column.measure for column in self.board.columns}
        return measures.pop() if len(measures) == 1 else "mean"

    @property
    def leaders(self) -> list[VersionLine]:
        """The versions that raised the best mean, the latest first."""
        return [line for line in reversed(self.lines) if line.leads]

    @property
    def table(self) -> CsvTable:
        columns = [
            ("made_at", lambda line: line.at.isoformat()),
            ("system", lambda line: str(line.version.system)),
            ("version", lambda line: line.version.label),
            ("team", "team"),
            ("commit", "commit"),
            ("branch", lambda line: line.version.branch),
            ("mean", "mean"),
            ("best", "best"),
        ]
        return tabulate(self.lines, columns)


def build_benchmark_history(sight: BenchmarkSight) -> BenchmarkHistory:
    """Build the history of the benchmark's main branch; without one, of all versions.

    A version counts if it is complete on the tracks whose means the viewer sees.
    """
    board = find_benchmark_board(sight, BenchmarkChoice(versions=EVERY_VERSION), tested=False)
    branch = sight.benchmark.main_branch
    rows = [row for row in board.rows if not branch or row.version.branch == branch]
    direction = board.columns[0].direction if board.columns else 1
    lines: list[VersionLine] = []
    for row in sorted(rows, key=lambda row: (row.version.created_at, row.version.pk)):
        if row.mean is None:
            continue
        leads = not lines or direction * row.mean > direction * lines[-1].best
        best = row.mean if leads else lines[-1].best
        row.version.system.benchmark = sight.benchmark
        lines.append(VersionLine(row.version, row.team, row.mean, best, leads, row.is_own))
    return BenchmarkHistory(board, lines)
