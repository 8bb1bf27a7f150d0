"""The best mean of a board over time, and a run compared with its team's earlier ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from evaluation.answers.any_measure import parse_measure
from leaderboard.analysis.pairs import RunPair, compare_runs
from leaderboard.boards.benchmark_boards import BenchmarkBoard
from leaderboard.boards.columns import PAPER_DECIMALS
from leaderboard.boards.disclosure import Sight
from leaderboard.boards.rows import AGAINST_ALL
from leaderboard.boards.standings import Board, BoardChoice, find_board_with
from leaderboard.display.charts.drawing import Kind
from leaderboard.display.csv_tables import Columns, CsvTable, tabulate
from leaderboard.models import Edition, Run
from leaderboard.runs.facts import OF_COMMITS
from leaderboard.scoring.branches import BranchComparison, check_main, compare_with_main
from leaderboard.scoring.scores import load_measure_means

# Characters of a commit that tables print.
SHORT_COMMIT = 10
# What a line of a history is, in a file.
NAMES: dict[str, Columns] = {
    "run": [("run", "key"), ("tag", "name")],
    "version": [("system", "name"), ("version", "version")],
}


@dataclass(frozen=True)
class HistoryLine:
    """A run or a version of a system with its mean, and the best mean until then.

    `key` is the id of the run, or of the system. `leads` if the mean is better than all before.
    """

    key: str
    name: str
    team: str
    commit: str
    branch: str
    commit_link: str
    at: datetime
    mean: float
    is_own: bool
    # Of a system alone.
    version: str = ""
    # Whether it has a pseudonym, so that only the day of `at` is told.
    has_pseudonym: bool = False
    best: float = math.nan
    leads: bool = False

    @property
    def full_name(self) -> str:
        return f"{self.name} {self.version}".rstrip()

    @property
    def label(self) -> str:
        """Its name, with branch and commit where it states them."""
        stated = (self.branch, self.commit[:SHORT_COMMIT])
        made_by = " ".join(word for word in stated if word and word != self.version)
        return f"{self.full_name}, {made_by}" if made_by else self.full_name

    @property
    def kind(self) -> Kind:
        return "own" if self.is_own else "other"


@dataclass(frozen=True)
class JudgmentsChange:
    """The time when these judgments, possibly with other settings, came on the board."""

    at: datetime
    version: str


@dataclass(frozen=True)
class History:
    """Every run or version in the order in which it came, with its mean on the board of today.

    `value` names the mean: a measure, or "mean" over tracks.
    """

    noun: str
    value: str
    measure: str
    lines: list[HistoryLine]
    # Whether they carry commits.
    has_commits: bool
    decimals: int
    # The judgments of the board of a track, and when they changed.
    judgments: str = ""
    changes: list[JudgmentsChange] = field(default_factory=list)

    @property
    def leaders(self) -> list[HistoryLine]:
        """The lines that raised the best mean, the latest first."""
        return [line for line in reversed(self.lines) if line.leads]

    @property
    def table(self) -> CsvTable:
        commits = [(name, name) for name in OF_COMMITS[:2] if self.has_commits]
        judged: list[Any] = [("judgments", lambda _: self.judgments)] if self.judgments else []
        columns = [
            ("received_at", lambda line: line.at.isoformat()),
            *NAMES[self.noun],
            ("team", "team"),
            *commits,
            (self.value, "mean"),
            ("best", "best"),
            *judged,
        ]
        return tabulate(self.lines, columns)


def build_history(sight: Sight, asked: str = "") -> History | None:
    """Build the history by the requested or primary measure; None if scores are hidden."""
    edition = sight.edition
    if edition is None:
        return None
    measure = sight.measure_or_primary(asked)
    return History(
        "run",
        measure,
        measure,
        _lines_of_runs(sight, edition, measure),
        has_commits=bool(sight.track.benchmark.main_branch),
        decimals=PAPER_DECIMALS,
        judgments=edition.judgment_set.version,
        changes=_changes(sight, edition),
    )


def build_benchmark_history(board: BenchmarkBoard) -> History:
    """Build the history of a board with all versions: those of the main branch, or all without one.

    A version counts if it is complete on the tracks whose means the viewer sees.
    """
    measures = {column.measure for column in board.columns}
    return History(
        "version",
        "mean",
        measures.pop() if len(measures) == 1 else "mean",
        _lines_of_versions(board),
        has_commits=True,
        decimals=board.decimals,
    )


def _lines_of_runs(sight: Sight, edition: Edition, measure: str) -> list[HistoryLine]:
    means, direction = _defined_means(edition, measure), parse_measure(measure).direction
    runs = sight.with_arrival(sight.runs().on_the_board().filter(pk__in=means))
    lines = []
    for run in map(sight.with_shown_name, runs.order_by("arrival", "pk")):
        commit, branch = (str(run.facts.get(name, "")) for name in OF_COMMITS[:2])
        lines.append(
            HistoryLine(
                run.pk,
                str(run),
                str(run.team),
                commit,
                branch,
                sight.track.benchmark.link_of_commit(commit),
                run.received_at,
                means[run.pk],
                sight.owns(run),
                has_pseudonym=run.has_pseudonym,
            )
        )
    return _climb(lines, direction)


def _lines_of_versions(board: BenchmarkBoard) -> list[HistoryLine]:
    benchmark, lines = board.sight.benchmark, []
    branch = benchmark.main_branch
    for row in sorted(board.rows, key=lambda row: (row.at, row.version.pk)):
        version = row.version
        if row.mean is None or (branch and version.branch != branch):
            continue
        lines.append(
            HistoryLine(
                str(version.system_id),
                row.name,
                row.team,
                version.commit,
                version.branch,
                benchmark.link_of_commit(version.commit),
                row.at,
                row.mean,
                row.is_own,
                version=version.label,
            )
        )
    return _climb(lines, board.columns[0].direction if board.columns else 1)


def _climb(lines: list[HistoryLine], direction: int) -> list[HistoryLine]:
    """Return the lines with the best mean until each."""
    climbed: list[HistoryLine] = []
    for line in lines:
        leads = not climbed or direction * line.mean > direction * climbed[-1].best
        best = line.mean if leads else climbed[-1].best
        climbed.append(replace(line, best=best, leads=leads))
    return climbed


def _defined_means(edition: Edition, measure: str) -> dict[str, float]:
    means = load_measure_means(edition, measure)
    return {run_id: mean for run_id, mean in means.items() if mean is not None}


def _changes(sight: Sight, edition: Edition) -> list[JudgmentsChange]:
    """Return the changes of the board, the earliest first."""
    shown = {shown_edition.pk: shown_edition for shown_edition in [edition, *sight.other_editions]}
    changes = [
        JudgmentsChange(shown_edition.shown_at, shown_edition.judgment_set.version)
        for shown_edition in shown.values()
        if shown_edition.shown_at is not None
    ]
    return sorted(changes, key=lambda change: change.at)


def compare_with_previous_best(sight: Sight, run: Run) -> RunPair | None:
    """Compare a run with its team's best earlier run on the board; None if there is none."""
    edition, measure = sight.edition, sight.track.primary_measure
    if edition is None or not sight.can_see_scores_of(run):
        return None
    means, direction = _defined_means(edition, measure), parse_measure(measure).direction
    before = (
        sight.runs()
        .on_the_board()
        .filter(team=run.team_id, received_at__lt=run.received_at, pk__in=means)
    )
    earlier = list(before)
    best = max(earlier, key=lambda run: direction * means[run.pk], default=None)
    if best is None or run.pk not in means:
        return None
    # The other run is chosen because it is the best, so all pairs count.
    choice = BoardChoice(measure=measure, family=AGAINST_ALL)
    board = find_board_with(sight, choice, run.pk, *(one.pk for one in earlier))
    if board is None or board.standing_of(run) is None:
        return None
    pair = compare_runs(board, sight.with_shown_name(best), run)
    return replace(pair, verdict=_compare_with_earlier(board, run, earlier))


def compare_with_main_branch(
    sight: Sight, run: Run, edition: Edition, measure: str
) -> BranchComparison | None:
    """Compare a run with the main branch of its team, under the names that this viewer may see."""
    found = compare_with_main(run, edition, measure, sight.runs())
    if found is None:
        return None
    return check_main(replace(found, other=sight.with_shown_name(found.other)), edition)


def compare_with_branch(sight: Sight, found: BranchComparison) -> RunPair | None:
    """Compare a run with that of the main branch by all pairs of the board."""
    choice = BoardChoice(measure=found.measure, family=AGAINST_ALL)
    board = find_board_with(sight, choice, found.run.pk, found.other.pk)
    if board is None or board.standing_of(found.run) is None:
        return None
    return compare_runs(board, found.other, found.run)


def _compare_with_earlier(board: Board, run: Run, earlier: list[Run]) -> str:
    """Return `worse` if a run before is significantly better, `better` if none reaches it."""
    if board.pairs is None:
        return "" if board.has_enough_topics else "not significant"
    if any(board.pairs.is_better(before.pk, run.pk) for before in earlier):
        return "worse"
    beats_all = all(board.pairs.is_better(run.pk, before.pk) for before in earlier)
    return "better" if beats_all else "not significant"
