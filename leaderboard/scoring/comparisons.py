"""Significance tests: the runs of a board against a baseline, and all pairs of runs.

The family is never what a reader has filtered.  A job stores its results with their family, and
they count only while the family is still the same.
"""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from django.db.models import F, Q, Value
from django.db.models.functions import Concat
from numpy.typing import NDArray

from evaluation.measures import parse_measure
from evaluation.significance import (
    Difference,
    PairDecisions,
    Scale,
    compare_all_pairs,
    compare_with_baseline,
    decide_pairs,
    decide_within_all_pairs,
    find_members,
    scale_of,
    topic_order,
)
from leaderboard.infrastructure.process_cache import ProcessCache
from leaderboard.models import Calculation, Edition, Job, Score
from leaderboard.models.calculations import CalculationQuerySet
from leaderboard.models.jobs import Progress, Publish
from leaderboard.scoring.families import family_of, load_measure_means, with_values
from leaderboard.scoring.judgments import load_topic_numbers, tested_groups, topic_mask

# The name under which the comparison of all pairs is stored.
ALL_PAIRS = "all_pairs"
# What stands for a baseline where there is none.
EACH_OTHER = "each other"
# A new number makes all stored comparisons anew.
METHOD = 3
# Runs x topics up to which a request computes a comparison itself: 40 ms.
IMMEDIATE_SCORES = 5_000
# Runs up to which a request compares all pairs itself: 40 ms.
IMMEDIATE_RUNS = 40
# How many comparisons a process caches; one of 500 runs takes half a megabyte.
CACHE_SIZE = 32


@dataclass(frozen=True)
class AllPairs:
    """What decides about all pairs of a family: the largest t of each draw.

    `family` holds the ids of its runs.  Ranks are those within the whole family;
    `critical` is the t that a pair must exceed, None if there are too few topics, and
    `size` that of a difference in the family.
    """

    family: list[str]
    maxima: NDArray[np.float64]
    size: float
    critical: float | None
    rank_low: dict[str, int]
    rank_high: dict[str, int]

    def interval(self, run_id: str) -> tuple[int, int] | None:
        """Return the rank interval of a run, or None if it is not in the family."""
        if run_id not in self.rank_low:
            return None
        return self.rank_low[run_id], self.rank_high[run_id]

    def pack(self) -> dict[str, Any]:
        """Return the results as JSON stores them."""
        maxima = b64encode(self.maxima.astype("<f8").tobytes()).decode()
        ranks = {"rank_low": self.rank_low, "rank_high": self.rank_high}
        return {"maxima": maxima, "size": self.size, "critical": self.critical, **ranks}

    @classmethod
    def unpack(cls, family: list[str], results: Mapping[str, Any]) -> AllPairs:
        maxima = np.frombuffer(b64decode(results["maxima"]), dtype="<f8")
        return cls(family, **{**results, "maxima": maxima})


@dataclass(frozen=True)
class RunPairs:
    """Decisions about the pairs of some runs of a family, by run id.

    `outside` has the runs with far fewer topics than the others, and how many they have.
    """

    run_ids: list[str]
    decisions: PairDecisions
    scale: Scale
    outside: dict[str, int] = field(default_factory=dict)

    @cached_property
    def places(self) -> dict[str, int]:
        return {run_id: place for place, run_id in enumerate(self.run_ids)}

    def decide(self, alone: Difference, run_id: str, other_id: str) -> Difference:
        """Return the difference of two runs with the p and interval of all pairs, if both count."""
        if not {run_id, other_id} <= self.places.keys():
            return alone
        run, other = self.places[run_id], self.places[other_id]
        return decide_within_all_pairs(alone, self.decisions, run, other, self.scale)

    def is_better(self, run_id: str, other_id: str) -> bool:
        """Whether one run is significantly better than another; not where one has no value."""
        if not {run_id, other_id} <= self.places.keys():
            return False
        return bool(self.decisions.better[self.places[run_id], self.places[other_id]])

    def different_among(self, run_ids: Sequence[str]) -> NDArray[np.bool_]:
        """Return which pairs of these runs differ; none of a run without a value."""
        known = [place for place, run_id in enumerate(run_ids) if run_id in self.places]
        own = [self.places[run_ids[place]] for place in known]
        different = np.zeros((len(run_ids), len(run_ids)), dtype=bool)
        different[np.ix_(known, known)] = self.decisions.different[np.ix_(own, own)]
        return different


@dataclass(frozen=True)
class StoredComparison:
    """A result that a job stored for a family: differences from a baseline, or all pairs."""

    edition_id: int
    family: list[str]
    pairs: AllPairs | None = None
    against: dict[str, Difference] = field(default_factory=dict)


# The id of a calculation and the time it was made.
Stamp = tuple[int, datetime]
R = TypeVar("R")
comparison_cache: ProcessCache[Stamp, StoredComparison] = ProcessCache(CACHE_SIZE)


def name_tests(measure: str, baseline: str | None, test: str) -> str:
    """Return the key of the tests by a measure: of a family against a baseline, or all pairs.

    Results of an earlier method have other keys.
    """
    return f"{test} {METHOD} by {measure} against {baseline or EACH_OTHER}"


def tests_on_first_sight(editions: Sequence[Edition]) -> CalculationQuerySet:
    """Return the tests by the primary measure: against the track's baseline, and of all pairs."""
    measure, against = F("edition__track__primary_measure"), Value(" against ")
    baseline, test = F("edition__track__baseline"), F("edition__track__test")
    all_pairs = Concat(Value(f"{ALL_PAIRS} {METHOD} by "), measure, against, Value(EACH_OTHER))
    with_baseline = Concat(test, Value(f" {METHOD} by "), measure, against, baseline)
    tests = Calculation.objects.filter(kind=Calculation.Kind.TESTS, edition__in=editions)
    return tests.filter(Q(key=all_pairs) | Q(key=with_baseline))


def load_comparisons(comparisons: CalculationQuerySet) -> list[StoredComparison]:
    """Return the results of these tests; a process reads each of them once."""

    return load_results(comparisons, comparison_cache, _parse_comparison)


def load_results(
    kept: CalculationQuerySet, cache: ProcessCache[Stamp, R], parse: Callable[[Calculation], R]
) -> list[R]:
    """Return the results of these calculations that are made; a process reads each once."""

    def read(stamps: Sequence[Stamp]) -> dict[Stamp, R]:
        rows = Calculation.objects.made().filter(pk__in=[number for number, _ in stamps])
        return {(row.pk, row.computed_at): parse(row) for row in rows}

    stamps = kept.made().values_list("pk", "computed_at")
    return list(cache.get_many(list(stamps), read).values())


def _parse_comparison(row: Calculation) -> StoredComparison:
    assert row.edition_id is not None
    family, results = row.results["family"], row.results["tests"]
    if row.request["baseline"] is None:
        return StoredComparison(row.edition_id, family, pairs=AllPairs.unpack(family, results))
    unit = scale_of(parse_measure(row.request["measure"])).unit
    against = {run_id: Difference(**result, unit=unit) for run_id, result in results.items()}
    return StoredComparison(row.edition_id, family, against=against)


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
    scores = tested_scores(edition, measure, [baseline, *others])
    asked = parse_measure(measure)
    differences = compare_with_baseline(
        scores[1:],
        scores[0],
        test=edition.track.test if scores.size <= most_scores else None,
        direction=asked.direction,
        scale=scale_of(asked),
        groups=tested_groups(edition),
    )
    return dict(zip(others, differences, strict=True))


def tested_scores(edition: Edition, measure: str, run_ids: Sequence[str]) -> NDArray[np.float64]:
    """Return the score matrix with the topics in the order of draws, so that p is the same."""
    numbers = np.array(load_topic_numbers(edition.track.collection_id), dtype=object)
    order = topic_order(numbers[topic_mask(edition)].tolist())
    return score_matrix(edition, measure, run_ids)[:, order]


def load_all_pairs(
    edition: Edition, measure: str, family: list[str] | None = None
) -> AllPairs | None:
    """Return what decides about all pairs, stored or computed now.

    Runs without a value are left out.  None if fewer than two remain, or too many for a request
    and no job has compared them yet.
    """
    family = family_of(edition) if family is None else family
    family = with_values(family, load_measure_means(edition, measure))
    kept = _find_stored(edition, measure, None, ALL_PAIRS, family)
    if kept is not None:
        return kept.pairs
    is_large = len(family) > IMMEDIATE_RUNS or (
        len(family) * edition.num_evaluated > IMMEDIATE_SCORES
    )
    return None if is_large or len(family) < 2 else compute_all_pairs(edition, measure, family)


def compute_all_pairs(edition: Edition, measure: str, family: list[str]) -> AllPairs:
    """Compare all pairs of a family by the studentised maximum."""
    asked = parse_measure(measure)
    scale = scale_of(asked)
    tested = scale.tested(tested_scores(edition, measure, family))
    pairs = compare_all_pairs(
        tested,
        direction=asked.direction,
        half_range=scale.half_range,
        groups=tested_groups(edition),
    )
    [size] = pairs.sizes
    return AllPairs(
        family=family,
        maxima=pairs.maxima,
        size=size,
        critical=pairs.critical,
        rank_low=dict(zip(family, pairs.rank_low.tolist(), strict=True)),
        rank_high=dict(zip(family, pairs.rank_high.tolist(), strict=True)),
    )


def decide_between(
    edition: Edition, measure: str, pairs: AllPairs, run_ids: Sequence[str]
) -> RunPairs:
    """Decide about the pairs of these runs of the family, on the topics that all of it has.

    Runs that are not in it, since the measure is undefined for them, are left out.  Those with
    far fewer topics than the others stand outside.
    """
    asked = parse_measure(measure)
    scale = scale_of(asked)
    scores = scale.tested(tested_scores(edition, measure, pairs.family))
    places = {run_id: place for place, run_id in enumerate(pairs.family)}
    run_ids = [run_id for run_id in run_ids if run_id in places]
    own = [places[run_id] for run_id in run_ids]
    members, topics = find_members(scores), np.count_nonzero(~np.isnan(scores), axis=1)
    chosen = scores[own].copy()
    chosen[:, np.isnan(scores[members]).any(axis=0)] = np.nan
    chosen[~members[own]] = np.nan
    groups = tested_groups(edition)
    decisions = decide_pairs(chosen, pairs.maxima, asked.direction, size=pairs.size, groups=groups)
    outside = {
        run_id: int(topics[place])
        for run_id, place in zip(run_ids, own, strict=True)
        if not members[place]
    }
    return RunPairs(run_ids, decisions, scale, outside)


def compare_pair(edition: Edition, measure: str, a: str, b: str) -> Difference:
    """Return the difference of run `b` from run `a`, with no p but that of the pair alone."""
    asked = parse_measure(measure)
    scores = tested_scores(edition, measure, [a, b])
    _, found = compare_with_baseline(
        scores,
        0,
        correction="none",
        direction=asked.direction,
        scale=scale_of(asked),
        groups=tested_groups(edition),
    )
    return replace(found, p_adjusted=None, low=None, high=None)


def _find_stored(
    edition: Edition, measure: str, baseline: str | None, test: str, family: list[str]
) -> StoredComparison | None:
    """Return the stored result for exactly this family, if there is one."""
    made = tests_of(edition).filter(key=name_tests(measure, baseline, test))
    return next((stored for stored in load_comparisons(made) if stored.family == family), None)


def tests_of(edition: Edition) -> CalculationQuerySet:
    return Calculation.objects.of(Calculation.Kind.TESTS, edition)


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
    scored.sort(key=lambda name: name != measure)
    writes: list[Callable[[], object]] = []
    if track.baseline_id in load_measure_means(edition, measure):
        writes.append(_prepare_differences(edition, measure, track.baseline_id, family))
    writes += [_prepare_all_pairs(edition, name, family) for name in scored]
    for asked in tests_of(edition).waiting():
        name, baseline = asked.request["measure"], asked.request["baseline"]
        if baseline is None and name in scored:
            continue
        if asked.request["test"] == track.test and baseline in load_measure_means(edition, name):
            writes.append(_prepare_differences(edition, name, baseline, family))
        else:
            writes.append(asked.delete)
    return lambda: _publish(edition, family, writes)


def _prepare_all_pairs(edition: Edition, measure: str, family: list[str]) -> Callable[[], object]:
    """Test all pairs of a family and return the function that stores the result."""
    family = with_values(family, load_measure_means(edition, measure))
    if len(family) < 2:
        return lambda: None
    pairs = compute_all_pairs(edition, measure, family)
    return lambda: _store(edition, measure, None, ALL_PAIRS, family, pairs.pack())


def _prepare_differences(
    edition: Edition, measure: str, baseline: str, family: list[str]
) -> Callable[[], object]:
    """Test a family against a baseline and return the function that stores the result."""
    tested = compute_differences(edition, measure, baseline, family)
    results = {run_id: asdict(difference) for run_id, difference in tested.items()}
    for result in results.values():
        # The measure decides the unit, and code of the version before knows none.
        del result["unit"]
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
    stored, _ = Calculation.objects.get_or_create(
        edition=edition,
        kind=Calculation.Kind.TESTS,
        key=name_tests(measure, baseline, test),
        defaults={"request": {"measure": measure, "baseline": baseline, "test": test}},
    )
    stored.keep({"family": family, "tests": results})
