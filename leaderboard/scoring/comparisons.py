"""Which differences are real: the runs of a board against a baseline, and against each other.

The family is never what a reader has filtered.  What a job has computed is kept with its family,
and serves only while the family is still the same.
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
from leaderboard.scoring.families import family_of, means_of
from leaderboard.scoring.judgments import mask_of

HSD = "tukey_hsd"
# Runs x topics up to which a comparison is made while the reader waits: 40 ms.
AT_ONCE = 5_000
# Comparisons that a process remembers; one of 500 runs takes half a megabyte.
REMEMBERED = 32


@dataclass(frozen=True)
class AllPairs:
    """Tukey's HSD over a family: what two runs must differ by, and where each may stand."""

    margin: float | None
    rank_low: dict[str, int]
    rank_high: dict[str, int]
    letters: dict[str, str]
    residual_variance: float | None

    def interval(self, run_id: str) -> tuple[int, int] | None:
        if run_id not in self.rank_low:
            return None
        return self.rank_low[run_id], self.rank_high[run_id]


@dataclass(frozen=True)
class Kept:
    """What a job has computed of a family: its runs against a baseline, or all pairs of them."""

    edition_id: int
    family: list[str]
    pairs: AllPairs | None = None
    against: dict[str, Difference] = field(default_factory=dict)


# By the number of a comparison and when it was made.
tests_remembered: ProcessCache[tuple[int, datetime], Kept] = ProcessCache(REMEMBERED)


def kept_among(comparisons: QuerySet[Comparison]) -> list[Kept]:
    """What these comparisons say; a process reads the results of each once."""

    def read(stamps: Sequence[tuple[int, datetime]]) -> dict[tuple[int, datetime], Kept]:
        rows = Comparison.objects.filter(pk__in=[number for number, _ in stamps])
        return {(row.pk, row.created_at): _understood(row) for row in rows}

    stamps = comparisons.values_list("pk", "created_at")
    return list(tests_remembered.get_many(list(stamps), read).values())


def _understood(row: Comparison) -> Kept:
    if not row.family:
        return Kept(row.edition_id, [])
    if row.baseline_id is None:
        return Kept(row.edition_id, row.family, pairs=AllPairs(**row.results))
    against = {run_id: Difference(**result) for run_id, result in row.results.items()}
    return Kept(row.edition_id, row.family, against=against)


def matrix_of(edition: Edition, measure: str, run_ids: Sequence[str]) -> NDArray[np.float64]:
    """Scores of these runs, float64 [runs, evaluated topics], topics in the order of positions."""
    rows = Score.objects.filter(score_set__edition=edition, measure=measure)
    return stacked(edition, dict(rows.values_list("score_set__run_id", "by_topic")), run_ids)


def stacked(
    edition: Edition, by_topic: Mapping[str, bytes], run_ids: Sequence[str]
) -> NDArray[np.float64]:
    """The same of scores as they are kept, by run; nobody may write into it."""
    mask = mask_of(edition)
    every = np.frombuffer(b"".join(by_topic[run_id] for run_id in run_ids), dtype="<f8")
    values = every.reshape(len(run_ids), mask.size)
    return values if mask.all() else values[:, mask]


def against_baseline(
    edition: Edition,
    measure: str,
    baseline: str,
    family: list[str] | None = None,
) -> dict[str, Difference]:
    """Each run of the family against the baseline: as kept, or made now.

    In a family too large to test at once the differences and wins show, and p does not.
    """
    family = family_of(edition) if family is None else family
    kept = _kept(edition, measure, baseline, edition.track.test, family)
    if kept is not None:
        return kept.against
    return test_family(edition, measure, baseline, family, AT_ONCE)


def tested_against(
    edition: Edition, measure: str, baseline: str, family: list[str]
) -> dict[str, Difference] | None:
    """The same, or None at once where a job has still to test so large a family."""
    kept = _kept(edition, measure, baseline, edition.track.test, family)
    if kept is not None:
        return kept.against
    if len(family) * edition.num_evaluated > AT_ONCE:
        return None
    return test_family(edition, measure, baseline, family)


def test_family(
    edition: Edition,
    measure: str,
    baseline: str,
    family: list[str],
    at_once: float = math.inf,
) -> dict[str, Difference]:
    others = [run_id for run_id in family if run_id != baseline]
    scores = matrix_of(edition, measure, [baseline, *others])
    tested = scores.size <= at_once
    differences = compare_with_baseline(
        scores[1:],
        scores[0],
        test=edition.track.test if tested else "t",
        direction=parse_measure(measure).direction,
    )
    if not tested:
        differences = [replace(each, p=None, p_adjusted=None) for each in differences]
    return dict(zip(others, differences, strict=True))


def all_pairs(edition: Edition, measure: str, family: list[str] | None = None) -> AllPairs:
    """Tukey's HSD over the family: as kept, or made now."""
    family = family_of(edition) if family is None else family
    kept = _kept(edition, measure, None, HSD, family)
    pairs = kept.pairs if kept is not None else None
    return test_all_pairs(edition, measure, family) if pairs is None else pairs


def test_all_pairs(edition: Edition, measure: str, family: list[str]) -> AllPairs:
    if len(family) < 2:
        return AllPairs(None, {}, {}, {}, None)
    scores = matrix_of(edition, measure, family)
    pairs = tukey_hsd(scores, direction=parse_measure(measure).direction)
    return AllPairs(
        margin=pairs.margin,
        rank_low=dict(zip(family, map(int, pairs.rank_low), strict=True)),
        rank_high=dict(zip(family, map(int, pairs.rank_high), strict=True)),
        letters=dict(zip(family, pairs.letters, strict=True)),
        residual_variance=pairs.residual_variance,
    )


def _kept(
    edition: Edition, measure: str, baseline: str | None, test: str, family: list[str]
) -> Kept | None:
    made = Comparison.objects.filter(edition=edition, measure=measure, baseline=baseline, test=test)
    return next((kept for kept in kept_among(made) if kept.family == family), None)


def compare_edition(edition_id: str, progress: Progress) -> Publish:
    """All pairs by every measure of an edition, the primary one against the track's baseline,
    and what readers of its board asked for."""
    edition = Edition.objects.select_related("track").get(pk=edition_id)
    track, family = edition.track, family_of(edition)
    measure = track.primary_measure
    if not family:
        return lambda: None
    scored = [each for each in track.measures if means_of(edition, each).keys() >= set(family)]
    made = [_paired(edition, each, family) for each in scored]
    if track.baseline_id in means_of(edition, measure):
        made.append(_tested(edition, measure, track.baseline_id, family))
    for asked in edition.comparisons.pending().exclude(baseline=None):
        known = asked.test == track.test and asked.baseline_id in means_of(edition, asked.measure)
        made.append(
            _tested(edition, asked.measure, asked.baseline_id, family) if known else asked.delete
        )
    return lambda: _publish(edition, family, made)


def _paired(edition: Edition, measure: str, family: list[str]) -> Callable[[], object]:
    """All pairs of a family, to be kept."""
    pairs = test_all_pairs(edition, measure, family)
    return lambda: _keep(edition, measure, None, HSD, family, asdict(pairs))


def _tested(
    edition: Edition, measure: str, baseline: str, family: list[str]
) -> Callable[[], object]:
    """A family tested against a baseline, to be kept."""
    tested = test_family(edition, measure, baseline, family)
    results = {run_id: asdict(each) for run_id, each in tested.items()}
    return lambda: _keep(edition, measure, baseline, edition.track.test, family, results)


def _publish(edition: Edition, family: list[str], made: list[Callable[[], object]]) -> None:
    for keep in made:
        keep()
    # A run that was scored meanwhile changed the family: its job found this one still open.
    if family_of(edition) != family:
        Job.objects.enqueue("compare", edition)


def _keep(
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
