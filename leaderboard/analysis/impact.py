"""Effects of other judgments on a board, by each of its measures.

The old board is the reference.  Only runs on both boards are compared, each on the topics that its
own edition evaluates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.agreement import BoardAgreement, VerdictChanges, compare_boards, ranks
from evaluation.agreement import verdict_changes as changes_of
from evaluation.measures import parse_measure
from leaderboard.boards.disclosure import Sight
from leaderboard.display.csv_tables import RUN_COLUMNS, Columns, CsvTable, tabulate
from leaderboard.models import Edition, JudgmentSet, Run, Topic
from leaderboard.models.collections import ImportState
from leaderboard.scoring.comparisons import (
    decide_between,
    load_all_pairs,
    load_tested_differences,
    score_matrix,
)
from leaderboard.scoring.families import family_of, load_measure_means, match_measure
from leaderboard.scoring.judgments import topic_mask
from leaderboard.scoring.verdicts import verdict_of


@dataclass(frozen=True)
class ImpactVersion:
    """Other judgments, and their edition if they have a board."""

    judgments: JudgmentSet
    edition: Edition | None


def find_other_versions(sight: Sight) -> list[ImpactVersion]:
    """Return the other judgments, latest first; only organisers see those never on the board."""
    boards: dict[JudgmentSet, Edition] = {}
    for edition in sight.other_editions:
        boards.setdefault(edition.judgment_set, edition)
    seen = list(boards)
    if sight.is_organiser:
        ready = sight.track.collection.judgment_sets.filter(state=ImportState.READY)
        seen = list(ready.order_by("-ready_at"))
    current = sight.track.edition
    beside = [
        judgment_set
        for judgment_set in seen
        if current is None or judgment_set != current.judgment_set
    ]
    return [ImpactVersion(judgment_set, boards.get(judgment_set)) for judgment_set in beside]


# How many of the most changed topics are listed.
MOST_TOPICS = 20

Verdicts = Mapping[str, str]


@dataclass(frozen=True)
class Move:
    """A run on both boards: its ranks, its means and its verdicts against the baseline.

    A mean is None if the measure is undefined on every topic.
    """

    run: Run
    old_rank: int
    new_rank: int
    old: float | None
    new: float | None
    before: str = ""
    after: str = ""

    @property
    def rose(self) -> int:
        """How many ranks the run gained; negative if it lost ranks."""
        return self.old_rank - self.new_rank

    @property
    def change(self) -> float | None:
        return None if self.old is None or self.new is None else self.new - self.old


@dataclass(frozen=True)
class ChangedTopic:
    """A topic and the sum of the changes of all runs' scores on it."""

    topic: Topic
    change: float


@dataclass(frozen=True)
class MeasureImpact:
    """Effects on the board by one measure."""

    measure: str
    agreement: BoardAgreement
    moves: list[Move]
    # Editions that a job has yet to test against the baseline, so verdicts may still change.
    untested: list[Edition]
    pairs: VerdictChanges
    # Every topic whose scores change, the largest change first.
    topics: list[ChangedTopic]

    @property
    def leader(self) -> Move:
        return min(self.moves, key=lambda move: move.new_rank)

    @property
    def num_moved(self) -> int:
        return sum(move.rose != 0 for move in self.moves)

    @property
    def turned(self) -> list[Move]:
        """The runs whose verdict against the baseline changes; none until both are known."""
        return [move for move in self.moves if move.before != move.after]

    @property
    def first_topics(self) -> list[ChangedTopic]:
        return self.topics[:MOST_TOPICS]


@dataclass(frozen=True)
class Impact:
    """Effects of the judgments of `new` on the board of `old`; the ranking measure comes first."""

    old: Edition
    new: Edition
    measures: list[MeasureImpact]
    added: list[Topic]
    removed: list[Topic]

    @property
    def has_same_makers(self) -> bool:
        """Whether the same people or machine judged both, so that scores can be subtracted."""
        return self.old.judgment_set.has_same_makers(self.new.judgment_set)

    def by(self, measure: str) -> MeasureImpact:
        """Return the effects by this measure, or by the first if the board does not have it."""
        name = match_measure(measure, [found.measure for found in self.measures])
        found = (found for found in self.measures if found.measure == name)
        return next(found, self.measures[0])

    @property
    def table(self) -> CsvTable:
        """A line for each measure and run on both boards, with the old and new judgments."""
        columns = [
            *RUN_COLUMNS,
            ("old_rank", "old_rank"),
            ("new_rank", "new_rank"),
            ("old", "old"),
            ("new", "new"),
            ("old_verdict", "before"),
            ("new_verdict", "after"),
        ]
        return self._by_measure(columns, "moves")

    @property
    def topic_table(self) -> CsvTable:
        """A line for each measure and topic whose scores change, summed over all runs."""
        return self._by_measure([("topic", "topic.number"), ("change", "change")], "topics")

    def _by_measure(self, columns: Columns, name: str) -> CsvTable:
        found = [(by.measure, tabulate(getattr(by, name), columns)) for by in self.measures]
        head = ["measure", *(head for head, _ in columns)]
        return CsvTable(head, [[measure, *row] for measure, table in found for row in table.rows])


@dataclass(frozen=True)
class Boards:
    """Two editions with the runs and topics to compare."""

    old: Edition
    new: Edition
    # The runs on both boards, and the family of each by the id of its edition.
    runs: dict[str, Run]
    families: dict[int, list[str]]
    topics: dict[int, Topic]

    @property
    def family(self) -> list[str]:
        return list(self.runs)

    def topics_at(self, chosen: NDArray[np.bool_]) -> list[Topic]:
        return [self.topics[position] for position in np.flatnonzero(chosen).tolist()]


def compute_impact(old: Edition, new: Edition, measures: Sequence[str]) -> Impact | None:
    """Compute the effects of the new edition on the old board; None below two shared runs."""
    families = {edition.pk: family_of(edition) for edition in (old, new)}
    family = sorted(set(families[old.pk]) & set(families[new.pk]))
    if len(family) < 2:
        return None
    found = Run.objects.select_related("team").in_bulk(family)
    topics = {topic.position: topic for topic in old.track.collection.topics.all()}
    boards = Boards(old, new, {run_id: found[run_id] for run_id in family}, families, topics)
    before, after = topic_mask(old), topic_mask(new)
    return Impact(
        old=old,
        new=new,
        measures=[_by_measure(boards, measure) for measure in measures],
        added=boards.topics_at(after & ~before),
        removed=boards.topics_at(before & ~after),
    )


def _by_measure(boards: Boards, measure: str) -> MeasureImpact:
    old, new, family = boards.old, boards.new, boards.family
    direction = parse_measure(measure).direction
    before, after = score_matrix(old, measure, family), score_matrix(new, measure, family)
    verdicts = {edition.pk: _verdicts(boards, edition, measure) for edition in (old, new)}
    old_means, new_means = (_means(edition, measure, family) for edition in (old, new))
    # Two runs on which a measure is undefined are tied.
    with np.errstate(invalid="ignore"):
        agreement = compare_boards(*_fill_undefined(direction, old_means, new_means), direction)
        moves = _moves(boards, (old_means, new_means), direction, verdicts)
    return MeasureImpact(
        measure=measure,
        agreement=agreement,
        moves=moves,
        untested=[edition for edition in (old, new) if verdicts[edition.pk] is None],
        pairs=_pairs(boards, measure),
        topics=_changed_topics(boards, before, after),
    )


def _means(edition: Edition, measure: str, family: list[str]) -> NDArray[np.float64]:
    """Return the means on the board as float64[runs]; NaN if undefined."""
    means = load_measure_means(edition, measure)
    return np.array([means[run_id] for run_id in family], dtype=np.float64)


def _fill_undefined(direction: int, *boards: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return the means with undefined ones replaced so that they rank last."""
    return [np.where(np.isnan(board), -direction * np.inf, board) for board in boards]


def _moves(
    boards: Boards,
    means: tuple[NDArray[np.float64], NDArray[np.float64]],
    direction: int,
    verdicts: Mapping[int, Verdicts | None],
) -> list[Move]:
    """Return the runs on both boards, the largest move first."""
    before, after = verdicts[boards.old.pk], verdicts[boards.new.pk]
    if before is None or after is None:
        before = after = {}
    old_ranks, new_ranks = (
        ranks(placed, direction) for placed in _fill_undefined(direction, *means)
    )
    moved = [
        Move(
            run,
            int(old_ranks[i]),
            int(new_ranks[i]),
            *(None if np.isnan(mean[i]) else float(mean[i]) for mean in means),
            before.get(run_id, ""),
            after.get(run_id, ""),
        )
        for i, (run_id, run) in enumerate(boards.runs.items())
    ]
    return sorted(moved, key=lambda move: (-abs(move.rose), move.new_rank, move.run.pk))


def _verdicts(boards: Boards, edition: Edition, measure: str) -> Verdicts | None:
    """Return the verdict of each run; None if a job has yet to test them."""
    baseline = edition.track.baseline_id
    if baseline not in boards.runs:
        return {}
    differences = load_tested_differences(edition, measure, baseline, boards.families[edition.pk])
    if differences is None:
        return None
    direction = parse_measure(measure).direction
    return {
        run_id: verdict_of(difference, edition.num_evaluated, direction)
        for run_id, difference in differences.items()
    }


def _pairs(boards: Boards, measure: str) -> VerdictChanges:
    """Count the pairs of runs that differ significantly on only one board."""
    old, new = (
        _significant_pairs(boards, edition, measure) for edition in (boards.old, boards.new)
    )
    return changes_of(*old, *new)


def _significant_pairs(
    boards: Boards, edition: Edition, measure: str
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the differences of all pairs, and which its board tells apart; none if untested."""
    means = _means(edition, measure, boards.family)
    away = means[:, np.newaxis] - means
    pairs = load_all_pairs(edition, measure, boards.families[edition.pk])
    if pairs is None:
        return away, np.zeros(away.shape, dtype=bool)
    return away, decide_between(edition, measure, pairs, boards.family).different_among(
        boards.family
    )


def _changed_topics(
    boards: Boards, before: NDArray[np.float64], after: NDArray[np.float64]
) -> list[ChangedTopic]:
    """Return the topics of both editions whose scores change, the largest change first."""
    old, new = topic_mask(boards.old), topic_mask(boards.new)
    both = old & new
    was, now = before[:, both[old]], after[:, both[new]]
    # A score that is undefined in one edition changes, but adds nothing to the total.
    totals = np.nansum(np.abs(now - was), axis=0)
    changed = (totals > 0) | (np.isnan(was) != np.isnan(now)).any(axis=0)
    positions = np.flatnonzero(both)
    order = [i for i in np.argsort(-totals, kind="stable").tolist() if changed[i]]
    return [ChangedTopic(boards.topics[int(positions[i])], float(totals[i])) for i in order]
