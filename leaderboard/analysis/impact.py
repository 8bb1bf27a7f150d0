"""Effects of other judgments on a board, by each of its measures.

The old board is the reference.  Only runs on both boards are compared, each on the topics that its
own edition evaluates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evaluation.agreement import VerdictChanges, verdict_changes
from evaluation.answers.any_measure import parse_measure
from leaderboard.analysis.shifts import Placing, Shift, find_shift, place_runs
from leaderboard.analysis.topic_choice import ChosenTopics
from leaderboard.boards.disclosure import Sight
from leaderboard.display.csv_tables import RUN_COLUMNS, Columns, CsvTable, tabulate
from leaderboard.models import Edition, JudgmentSet, Run, Topic
from leaderboard.models.collections import ImportState
from leaderboard.scoring.contest_tests import load_pairs, load_tests
from leaderboard.scoring.contests import contest_on, have_too_many_pairs
from leaderboard.scoring.families import (
    family_of,
    match_measure,
    with_values,
)
from leaderboard.scoring.judgments import count_units, topic_mask
from leaderboard.scoring.scores import load_measure_means, score_matrix
from leaderboard.scoring.verdicts import verdict_of


def find_other_versions(sight: Sight) -> list[tuple[JudgmentSet, Edition | None]]:
    """Return the other judgments, latest first, each with its edition if it has a board.

    Only organisers see those that were never on the board.
    """
    boards: dict[JudgmentSet, Edition] = {}
    for edition in sight.other_editions:
        boards.setdefault(edition.judgment_set, edition)
    seen = list(boards)
    if sight.is_organiser:
        ready = sight.track.collection.judgment_sets.filter(state=ImportState.READY)
        seen = list(ready.order_by("-ready_at"))
    current = sight.track.edition
    return [
        (judgment_set, boards.get(judgment_set))
        for judgment_set in seen
        if current is None or judgment_set != current.judgment_set
    ]


# How many of the most changed topics are listed.
MOST_TOPICS = 20


@dataclass(frozen=True)
class ChangedTopic:
    """A topic and the sum of the changes of all runs' scores on it."""

    topic: Topic
    change: float


@dataclass(frozen=True)
class MeasureImpact:
    """Effects on the board by one measure; verdicts turn once both editions are tested."""

    shift: Shift
    # Editions that a job has yet to test against the baseline, so verdicts may still change.
    untested: list[Edition]
    # None where there are too many runs to compare all pairs.
    pairs: VerdictChanges | None
    # Every topic whose scores change, the largest change first.
    topics: list[ChangedTopic]

    @property
    def measure(self) -> str:
        return self.shift.measure

    def on(self, chosen: ChosenTopics) -> MeasureImpact:
        """Return the same with the chosen topics alone among those that change."""
        return replace(self, topics=[each for each in self.topics if chosen.has(each.topic)])

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

    def on(self, chosen: ChosenTopics) -> Impact:
        """Return the same with the chosen topics alone among those that change."""
        return replace(self, measures=[each.on(chosen) for each in self.measures])

    @property
    def table(self) -> CsvTable:
        """A line for each measure and run on both boards, with the old and new judgments."""
        columns = [
            *RUN_COLUMNS,
            *(("old_rank", "before.rank"), ("new_rank", "after.rank")),
            *(("old", "before.mean"), ("new", "after.mean")),
            *(("old_verdict", "before.verdict"), ("new_verdict", "after.verdict")),
        ]
        return self._tabulate({by.measure: by.shift.by_size for by in self.measures}, columns)

    @property
    def topic_table(self) -> CsvTable:
        """A line for each measure and topic whose scores change, summed over all runs."""
        lines = {by.measure: by.topics for by in self.measures}
        return self._tabulate(lines, [("topic", "topic.number"), ("change", "change")])

    def _tabulate(self, lines: Mapping[str, Sequence[object]], columns: Columns) -> CsvTable:
        """Return a table of the lines of every measure."""
        every = {measure: tabulate(of, columns).rows for measure, of in lines.items()}
        head = ["measure", *(head for head, _ in columns)]
        return CsvTable(head, [[measure, *row] for measure, rows in every.items() for row in rows])


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
    editions = (boards.old, boards.new)
    verdicts = [_verdicts(boards, edition, measure) for edition in editions]
    untested = [edition for edition, said in zip(editions, verdicts, strict=True) if said is None]
    # With the verdicts of one board alone every run would seem to turn.
    known = [{}, {}] if untested else [said or {} for said in verdicts]
    before, after = (
        _placings(boards, edition, measure, said)
        for edition, said in zip(editions, known, strict=True)
    )
    return MeasureImpact(
        shift=find_shift(measure, list(boards.runs.values()), before, after),
        untested=untested,
        pairs=_pairs(boards, measure),
        topics=_changed_topics(boards, measure),
    )


def _placings(
    boards: Boards, edition: Edition, measure: str, verdicts: Mapping[str, str]
) -> list[Placing]:
    said = [verdicts.get(run_id, "") for run_id in boards.family]
    means = _means(edition, measure, boards.family)
    return place_runs(means, parse_measure(measure).direction, said)


def _means(edition: Edition, measure: str, family: list[str]) -> NDArray[np.float64]:
    """Return the means on the board as float64[runs]; NaN if undefined."""
    means = load_measure_means(edition, measure)
    return np.array([means[run_id] for run_id in family], dtype=np.float64)


def _verdicts(boards: Boards, edition: Edition, measure: str) -> dict[str, str] | None:
    """Return the verdict of each run; None if a job has yet to test them."""
    baseline = edition.track.baseline_id
    if baseline not in boards.runs:
        return {}
    tests = load_tests(contest_on(edition, measure, boards.families[edition.pk], baseline))
    if tests is None:
        return None
    direction = parse_measure(measure).direction
    return {
        run_id: verdict_of(difference, count_units(edition), direction)
        for run_id, difference in tests.against.items()
    }


def _pairs(boards: Boards, measure: str) -> VerdictChanges | None:
    """Count the pairs of runs that differ significantly on only one board; None if too many."""
    valued = [
        with_values(boards.families[edition.pk], load_measure_means(edition, measure))
        for edition in (boards.old, boards.new)
    ]
    if any(have_too_many_pairs(len(family)) for family in valued):
        return None
    old, new = (
        _significant_pairs(boards, edition, measure, family)
        for edition, family in zip((boards.old, boards.new), valued, strict=True)
    )
    return verdict_changes(*old, *new)


def _significant_pairs(
    boards: Boards, edition: Edition, measure: str, family: list[str]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the differences of all pairs, and which its board tells apart; none if untested."""
    means = _means(edition, measure, boards.family)
    away = means[:, np.newaxis] - means
    pairs = load_pairs(contest_on(edition, measure, family), boards.family)
    if pairs is None:
        return away, np.zeros(away.shape, dtype=bool)
    return away, pairs.different_among(boards.family)


def _changed_topics(boards: Boards, measure: str) -> list[ChangedTopic]:
    """Return the topics of both editions whose scores change, the largest change first."""
    before, after = (
        score_matrix(edition, measure, boards.family) for edition in (boards.old, boards.new)
    )
    old, new = topic_mask(boards.old), topic_mask(boards.new)
    both = old & new
    was, now = before[:, both[old]], after[:, both[new]]
    # A score that is undefined in one edition changes, but adds nothing to the total.
    totals = np.nansum(np.abs(now - was), axis=0)
    changed = (totals > 0) | (np.isnan(was) != np.isnan(now)).any(axis=0)
    positions = np.flatnonzero(both)
    order = [i for i in np.argsort(-totals, kind="stable").tolist() if changed[i]]
    return [ChangedTopic(boards.topics[int(positions[i])], float(totals[i])) for i in order]
