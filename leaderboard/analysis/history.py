"""The best score of a track over time, and a run compared with its team's earlier ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from evaluation.measures import parse_measure
from leaderboard.analysis.pairs import RunPair, compare_runs
from leaderboard.boards.disclosure import Sight
from leaderboard.boards.standings import AGAINST_ALL, Board, BoardChoice, find_board_with
from leaderboard.display.charts.drawing import Kind
from leaderboard.display.csv_tables import TEAM_COLUMNS, CsvTable, tabulate
from leaderboard.models import Edition, Run
from leaderboard.runs.facts import OF_COMMITS
from leaderboard.scoring.branches import BranchComparison, check_main, compare_with_main
from leaderboard.scoring.families import load_measure_means

# Characters of a commit that tables print.
SHORT_COMMIT = 10


@dataclass(frozen=True)
class HistoryLine:
    """A run with its mean and the best mean so far; `leads` if the run raised it."""

    run: Run
    mean: float
    best: float
    leads: bool
    is_own: bool

    @property
    def name(self) -> str:
        return str(self.run)

    @property
    def commit(self) -> str:
        return str(self.run.facts.get("commit", ""))

    @property
    def branch(self) -> str:
        return str(self.run.facts.get("branch", ""))

    @property
    def commit_link(self) -> str:
        return self.run.track.link_of_commit(self.commit)

    @property
    def label(self) -> str:
        """The name of the run, with branch and commit where it states them."""
        made_by = " ".join(filter(None, (self.branch, self.commit[:SHORT_COMMIT])))
        return f"{self.name}, {made_by}" if made_by else self.name

    @property
    def at(self) -> datetime:
        return self.run.received_at

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
    """Every run on the board in the order received, with scores under the shown judgments."""

    edition: Edition
    measure: str
    lines: list[HistoryLine]
    changes: list[JudgmentsChange]

    @property
    def has_commits(self) -> bool:
        """Whether the runs of the track carry commits."""
        return bool(self.edition.track.main_branch)

    @property
    def leaders(self) -> list[HistoryLine]:
        """The runs that raised the best score, the latest first."""
        return [line for line in reversed(self.lines) if line.leads]

    @property
    def table(self) -> CsvTable:
        version = self.edition.judgment_set.version
        columns = [
            ("received_at", lambda line: line.at.isoformat()),
            *TEAM_COLUMNS,
            *((name, name) for name in OF_COMMITS[:2] if self.has_commits),
            (self.measure, "mean"),
            ("best", "best"),
            ("judgments", lambda _: version),
        ]
        return tabulate(self.lines, columns)


def build_history(sight: Sight, asked: str = "") -> History | None:
    """Build the history by the requested or primary measure; None if scores are hidden."""
    edition = sight.edition
    if edition is None:
        return None
    measure = sight.measure_or_primary(asked)
    return History(edition, measure, _lines(sight, edition, measure), _changes(sight, edition))


def _lines(sight: Sight, edition: Edition, measure: str) -> list[HistoryLine]:
    means, direction = _defined_means(edition, measure), parse_measure(measure).direction
    runs = sight.with_arrival(sight.runs().on_the_board().filter(pk__in=means))
    lines: list[HistoryLine] = []
    for run in runs.order_by("arrival", "pk"):
        mean = means[run.pk]
        leads = not lines or direction * mean > direction * lines[-1].best
        best = mean if leads else lines[-1].best
        lines.append(HistoryLine(sight.with_shown_name(run), mean, best, leads, sight.owns(run)))
    return lines


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
