"""What other judgments do to a board: who moves, which verdicts turn, which topics change it.

The old board is the reference.  Only runs that stand on both are compared, each with the topics
that its own edition evaluates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.agreement import BoardAgreement, VerdictChanges, compare_boards, ranks
from evaluation.agreement import verdict_changes as changes_of
from evaluation.measures import parse_measure
from leaderboard.comparing import against_baseline, all_pairs, matrix_of
from leaderboard.families import family_of
from leaderboard.models import Edition, Run, Topic
from leaderboard.scoring import mask_of
from leaderboard.standings import verdict_of

MOST_TOPICS = 20


@dataclass(frozen=True)
class Moved:
    """A run on both boards; `rose` counts ranks, negative for one that fell."""

    run: Run
    old_rank: int
    new_rank: int
    old: float
    new: float

    @property
    def rose(self) -> int:
        return self.old_rank - self.new_rank

    @property
    def change(self) -> float:
        return self.new - self.old


@dataclass(frozen=True)
class Turned:
    """A run whose verdict against the baseline is not the same on both boards."""

    run: Run
    before: str
    after: str


@dataclass(frozen=True)
class ChangedTopic:
    """How far the values of all runs moved on a topic, added up."""

    topic: Topic
    change: float


@dataclass(frozen=True)
class Impact:
    old: Edition
    new: Edition
    measure: str
    agreement: BoardAgreement
    moves: list[Moved]
    turned: list[Turned]
    # Those whose runs a job has still to test against the baseline: verdicts may turn yet.
    untested: list[Edition]
    pairs: VerdictChanges
    topics: list[ChangedTopic]
    added: list[Topic]
    removed: list[Topic]

    @property
    def leader(self) -> Moved:
        return min(self.moves, key=lambda each: each.new_rank)

    @property
    def num_moved(self) -> int:
        return sum(each.rose != 0 for each in self.moves)


def impact_of(old: Edition, new: Edition, measure: str) -> Impact | None:
    """What the new edition does to the old board; None below two runs on both."""
    family = sorted(set(family_of(old)) & set(family_of(new)))
    if len(family) < 2:
        return None
    before, after = matrix_of(old, measure, family), matrix_of(new, measure, family)
    old_means, new_means = np.nanmean(before, axis=1), np.nanmean(after, axis=1)
    direction = parse_measure(measure).direction
    runs = Run.objects.select_related("team").in_bulk(family)
    verdicts = {each.pk: _verdicts(each, measure, runs) for each in (old, new)}
    added, removed = _topics_between(old, new)
    return Impact(
        old=old,
        new=new,
        measure=measure,
        agreement=compare_boards(old_means, new_means, direction),
        moves=_moves([runs[each] for each in family], old_means, new_means, direction),
        turned=_turned(runs, verdicts[old.pk], verdicts[new.pk]),
        untested=[edition for edition in (old, new) if verdicts[edition.pk] is None],
        pairs=_pairs(family, (old, old_means), (new, new_means), measure),
        topics=_changed_topics(old, new, before, after),
        added=added,
        removed=removed,
    )


def _moves(
    runs: list[Run], old: NDArray[np.float64], new: NDArray[np.float64], direction: int
) -> list[Moved]:
    """The runs by how far they moved, the largest move first."""
    places = zip(runs, ranks(old, direction), ranks(new, direction), old, new, strict=True)
    moved = [Moved(run, int(a), int(b), float(x), float(y)) for run, a, b, x, y in places]
    return sorted(moved, key=lambda each: (-abs(each.rose), each.new_rank, each.run.pk))


def _turned(
    runs: dict[str, Run], before: dict[str, str] | None, after: dict[str, str] | None
) -> list[Turned]:
    """The runs whose verdict against the track's baseline changes; none before both are known."""
    if before is None or after is None:
        return []
    return [
        Turned(run, before.get(run_id, ""), after.get(run_id, ""))
        for run_id, run in runs.items()
        if before.get(run_id, "") != after.get(run_id, "")
    ]


def _verdicts(edition: Edition, measure: str, runs: dict[str, Run]) -> dict[str, str] | None:
    """By run what the test says of it; None where a job has still to test so many."""
    baseline = edition.track.baseline_id
    if baseline not in runs:
        return {}
    differences = against_baseline(edition, measure, baseline)
    known = [each for each in differences.values() if each.difference is not None]
    if known and all(each.p is None for each in known):
        return None
    direction = parse_measure(measure).direction
    return {
        run_id: verdict_of(difference, edition.num_evaluated, direction)
        for run_id, difference in differences.items()
    }


def _pairs(
    family: list[str],
    old: tuple[Edition, NDArray[np.float64]],
    new: tuple[Edition, NDArray[np.float64]],
    measure: str,
) -> VerdictChanges:
    """How many pairs of runs are told apart on one board and not on the other."""
    (away, apart), (now_away, now_apart) = (
        _apart(edition, means, family, measure) for edition, means in (old, new)
    )
    return changes_of(away, apart, now_away, now_apart)


def _apart(
    edition: Edition, means: NDArray[np.float64], family: list[str], measure: str
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The differences of all pairs, and which of them exceed the margin of Tukey's HSD."""
    margin = all_pairs(edition, measure, family).margin
    away = means[:, np.newaxis] - means
    return away, np.abs(away) > (np.inf if margin is None else margin)


def _changed_topics(
    old: Edition, new: Edition, before: NDArray[np.float64], after: NDArray[np.float64]
) -> list[ChangedTopic]:
    """The topics of both editions whose values moved most."""
    both = mask_of(old) & mask_of(new)
    moved = np.abs(after[:, both[mask_of(new)]] - before[:, both[mask_of(old)]])
    totals = np.nansum(moved, axis=0)
    positions = np.flatnonzero(both)
    first = [i for i in np.argsort(-totals, kind="stable")[:MOST_TOPICS] if totals[i] > 0]
    topics = _topics_at(old, positions[first])
    return [ChangedTopic(topics[int(positions[i])], float(totals[i])) for i in first]


def _topics_between(old: Edition, new: Edition) -> tuple[list[Topic], list[Topic]]:
    """The topics that only the new edition evaluates, and those that only the old one does."""
    before, after = mask_of(old), mask_of(new)
    added = _topics_at(old, np.flatnonzero(after & ~before))
    removed = _topics_at(old, np.flatnonzero(before & ~after))
    return list(added.values()), list(removed.values())


def _topics_at(edition: Edition, positions: NDArray[np.intp]) -> dict[int, Topic]:
    topics = Topic.objects.filter(
        collection=edition.track.collection_id, position__in=positions.tolist()
    )
    return {topic.position: topic for topic in topics}
