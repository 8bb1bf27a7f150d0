"""Significance tests: the runs of a board against a baseline, and all pairs of runs.

The family is never what a reader has filtered.  A job stores its results with their family, and
they count only while the family is still the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import QuerySet
from django.utils import timezone
from numpy.typing import NDArray

from evaluation.measures import parse_measure
from evaluation.significance import Difference, compare_with_baseline, tukey_hsd
from leaderboard.infrastructure.process_cache import ProcessCache
from leaderboard.models import Comparison, Edition, Job, Score
from leaderboard.models.jobs import Progress, Publish
from leaderboard.scoring.families import family_of, load_measure_means
from leaderboard.scoring.judgments import topic_mask

HSD = "tukey_hsd"
# Runs x topics up to which a request computes a comparison itself: 40 ms.
IMMEDIATE_SCORES = 5_000
# How many comparisons a process caches; one of 500 runs takes half a megabyte.
CACHE_SIZE = 32


@dataclass(frozen=True)
class AllPairs:
    """Tukey's HSD over a family: the margin between two runs, and each run's rank interval."""

    margin: float | None
    rank_low: dict[str, int]
    rank_high: dict[str, int]
    letters: dict[str, str]
    residual_variance: float | None

    def interval(self, run_id: str) -> tuple[int, int] | None:
        """Return the rank interval of a run, or None if it is not in the family."""
        if run_id not in self.rank_low:
            return None
        return self.rank_low[run_id], self.rank_high[run_id]


@dataclass(frozen=True)
class StoredComparison:
    """A result that a job stored for a family: differences from a baseline, or all pairs."""

    edition_id: int
    family: list[str]
    pairs: AllPairs | None = None
    against: dict[str, Difference] = field(default_factory=dict)


# The key is the id of a comparison and the time it was made.
comparison_cache: ProcessCache[tuple[int, datetime], StoredComparison] = ProcessCache(CACHE_SIZE)


def load_comparisons(comparisons: QuerySet[Comparison]) -> list[StoredComparison]:
    """Return the results of these comparisons; a process reads each of them once."""

    def read(
        stamps: Sequence[tuple[int, datetime]],
    ) -> dict[tuple[int, datetime], StoredComparison]:
        rows = Comparison.objects.filter(pk__in=[number for number, _ in stamps])
        return {(row.pk, row.created_at): _parse_comparison(row) for row in rows}

    stamps = comparisons.values_list("pk", "created_at")
    return list(comparison_cache.get_many(list(stamps), read).values())


def _parse_comparison(row: Comparison) -> StoredComparison:
    if not row.family:
        return StoredComparison(row.edition_id, [])
    if row.baseline_id is None:
        return StoredComparison(row.edition_id, row.family, pairs=AllPairs(**row.results))
    against = {run_id: Difference(**result) for run_id, result in row.results.items()}
    return StoredComparison(row.edition_id, row.family, against=against)


def score_matrix(edition: Edition, measure: str, run_ids: Sequence[str]) -> NDArray[np.float64]:
    """Return the scores of these runs as float64[runs, evaluated topics], topics by position."""
    rows = Score.objects.filter(score_set__edition=edition, measure=measure)
    return stack_scores(edition, dict(rows.values_list("score_set__run_id", "by_topic")), run_ids)


def stack_scores(
    edition: Edition, by_topic: Mapping[str, bytes], run_ids: Sequence[str]
) -> NDArray[np.float64]:
    """Return the same matrix from the stored scores of each run; the array is read-only."""
    mask = topic_mask(edition)
    every = np.frombuffer(b"".join(by_topic[run_id] for run_id in run_ids), dtype="<f8")
    values = every.reshape(len(run_ids), mask.size)
    return values if mask.all() else values[:, mask]


def load_differences(
    edition: Edition,
    measure: str,
    baseline: str,
    family: list[str] | None = None,
) -> dict[str, Difference]:
    """Return each run's difference from the baseline, stored or computed now.

    For a family too large to test in a request, the differences and wins are set but p is not.
    """
    family = family_of(edition) if family is None else family
    kept = _find_stored(edition, measure, baseline, edition.track.test, family)
    if kept is not None:
        return kept.against
    return compute_differences(edition, measure, baseline, family, IMMEDIATE_SCORES)


def load_tested_differences(
    edition: Edition, measure: str, baseline: str, family: list[str]
) -> dict[str, Difference] | None:
    """Return the same with tests, or None if a job has yet to test so large a family."""
    kept = _find_stored(edition, measure, baseline, edition.track.test, family)
    if kept is not None:
        return kept.against
    if len(family) * edition.num_evaluated > IMMEDIATE_SCORES:
        return None
    return compute_differences(edition, measure, baseline, family)


def compute_differences(
    edition: Edition,
    measure: str,
    baseline: str,
    family: list[str],
    most_scores: float = math.inf,
) -> dict[str, Difference]:
    """Compare each run with the baseline; leave out p if there are more scores than allowed."""
    others = [run_id for run_id in family if run_id != baseline]
    scores = score_matrix(edition, measure, [baseline, *others])
    is_tested = scores.size <= most_scores
    differences = compare_with_baseline(
        scores[1:],
        scores[0],
        test=edition.track.test if is_tested else "t",
        direction=parse_measure(measure).direction,
    )
    if not is_tested:
        differences = [replace(found, p=None, p_adjusted=None) for found in differences]
    return dict(zip(others, differences, strict=True))


def load_all_pairs(edition: Edition, measure: str, family: list[str] | None = None) -> AllPairs:
    """Return Tukey's HSD over the family, stored or computed now."""
    family = family_of(edition) if family is None else family
    kept = _find_stored(edition, measure, None, HSD, family)
    pairs = kept.pairs if kept is not None else None
    return compute_all_pairs(edition, measure, family) if pairs is None else pairs


def compute_all_pairs(edition: Edition, measure: str, family: list[str]) -> AllPairs:
    """Compute Tukey's HSD over the family."""
    if len(family) < 2:
        return AllPairs(None, {}, {}, {}, None)
    scores = score_matrix(edition, measure, family)
    pairs = tukey_hsd(scores, direction=parse_measure(measure).direction)
    return AllPairs(
        margin=pairs.margin,
        rank_low=dict(zip(family, map(int, pairs.rank_low), strict=True)),
        rank_high=dict(zip(family, map(int, pairs.rank_high), strict=True)),
        letters=dict(zip(family, pairs.letters, strict=True)),
        residual_variance=pairs.residual_variance,
    )


def _find_stored(
    edition: Edition, measure: str, baseline: str | None, test: str, family: list[str]
) -> StoredComparison | None:
    """Return the stored result for exactly this family, if there is one."""
    made = Comparison.objects.filter(edition=edition, measure=measure, baseline=baseline, test=test)
    return next((stored for stored in load_comparisons(made) if stored.family == family), None)


def compare_edition(edition_id: str, progress: Progress) -> Publish:
    """Run the tests of an edition and return the function that stores them.

    These are all pairs by every measure, the track's baseline by the primary measure, and the
    comparisons that readers asked for.
    """
    edition = Edition.objects.select_related("track").get(pk=edition_id)
    track, family = edition.track, family_of(edition)
    measure = track.primary_measure
    if not family:
        return lambda: None
    scored = [
        name for name in track.measures if load_measure_means(edition, name).keys() >= set(family)
    ]
    writes = [_prepare_all_pairs(edition, name, family) for name in scored]
    if track.baseline_id in load_measure_means(edition, measure):
        writes.append(_prepare_differences(edition, measure, track.baseline_id, family))
    for asked in edition.comparisons.pending().exclude(baseline=None):
        scored_runs = load_measure_means(edition, asked.measure)
        if asked.test == track.test and asked.baseline_id in scored_runs:
            writes.append(_prepare_differences(edition, asked.measure, asked.baseline_id, family))
        else:
            writes.append(asked.delete)
    return lambda: _publish(edition, family, writes)


def _prepare_all_pairs(edition: Edition, measure: str, family: list[str]) -> Callable[[], object]:
    """Test all pairs of a family and return the function that stores the result."""
    pairs = compute_all_pairs(edition, measure, family)
    return lambda: _store(edition, measure, None, HSD, family, asdict(pairs))


def _prepare_differences(
    edition: Edition, measure: str, baseline: str, family: list[str]
) -> Callable[[], object]:
    """Test a family against a baseline and return the function that stores the result."""
    tested = compute_differences(edition, measure, baseline, family)
    results = {run_id: asdict(difference) for run_id, difference in tested.items()}
    return lambda: _store(edition, measure, baseline, edition.track.test, family, results)


def _publish(edition: Edition, family: list[str], writes: list[Callable[[], object]]) -> None:
    for write in writes:
        write()
    # A run scored in the meantime changes the family, and its job found this one still open.
    if family_of(edition) != family:
        Job.objects.enqueue("compare", edition)


def _store(
    edition: Edition,
    measure: str,
    baseline: str | None,
    test: str,
    family: list[str],
    results: dict[str, Any],
) -> None:
    Comparison.objects.update_or_create(
        edition=edition,
        measure=measure,
        baseline_id=baseline,
        test=test,
        defaults={"family": family, "results": results, "created_at": timezone.now()},
    )
