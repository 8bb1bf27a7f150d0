"""Tests of systems over the tracks of a benchmark: the mean over tracks of their mean differences.

What is compared is a `Contest`.  Small ones are tested at once; a job tests the others and stores
the results under a key that names everything they are made of.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.measures import parse_measure
from evaluation.significance import (
    Difference,
    Lead,
    PairDecisions,
    Scale,
    compute_leads,
    scale_of,
)
from evaluation.significance.across import (
    Collected,
    compare_over_collections,
    decide_pairs_over_collections,
)
from leaderboard.infrastructure.process_cache import ProcessCache
from leaderboard.models import Benchmark, Calculation, Edition, Score
from leaderboard.models.jobs import Progress, Publish
from leaderboard.models.tracks import settings_digest
from leaderboard.scoring.comparisons import Stamp, load_results, stack_scores
from leaderboard.scoring.judgments import load_topic_numbers, load_topics, topic_mask

# Systems x topics up to which a request makes the tests itself.
IMMEDIATE_SCORES = 3_000
CACHE_SIZE = 16
# A new number makes all tests anew.
METHOD = 3


@dataclass(frozen=True)
class Part:
    """One column of a contest: an edition and the measure that counts on it."""

    edition_id: int
    measure: str


@dataclass(frozen=True)
class Contest:
    """Systems that are compared over several tracks: the run of each on each part.

    `baseline` is the place of the system that the others are held against, if there is one.
    """

    parts: tuple[Part, ...]
    runs: tuple[tuple[str, ...], ...]
    baseline: int | None = None

    @property
    def key(self) -> str:
        """The SHA-256 of everything that the results depend on."""
        return settings_digest({"method": METHOD, **self.pack()})

    @property
    def scale(self) -> Scale:
        """How differences are tested; all parts have measures of one scale."""
        return scale_of(parse_measure(self.parts[0].measure))

    @property
    def direction(self) -> int:
        return parse_measure(self.parts[0].measure).direction

    def pack(self) -> dict[str, Any]:
        """Return the contest as JSON stores it."""
        return {
            "parts": [[part.edition_id, part.measure] for part in self.parts],
            "runs": [list(runs) for runs in self.runs],
            "baseline": self.baseline,
        }

    @classmethod
    def unpack(cls, stored: Mapping[str, Any]) -> Contest:
        parts = tuple(Part(*part) for part in stored["parts"])
        return cls(parts, tuple(map(tuple, stored["runs"])), stored["baseline"])


@dataclass(frozen=True)
class ContestLead:
    """The lead of one system of a contest over another, by their places."""

    system: int
    other: int
    lead: Lead

    @classmethod
    def unpack(cls, stored: Mapping[str, Any]) -> ContestLead:
        lead = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in stored["lead"].items()
        }
        return cls(stored["system"], stored["other"], Lead(**lead))


@dataclass(frozen=True)
class ContestTests:
    """The results of a contest, by the place of each system.

    `intervals` are the ranks that hold for all systems at once. `maxima` holds the largest t of
    each draw, float64[draws], and `critical` what a pair must exceed; without them there is no
    verdict. `sizes` are those of a difference on each part. `against` are the differences from
    the baseline, empty without one.
    """

    intervals: list[tuple[int, int]]
    maxima: NDArray[np.float64] = field(repr=False)
    critical: float | None = None
    sizes: list[float] = field(default_factory=list)
    against: list[Difference] = field(default_factory=list)
    # Of the system with the best mean: over the second, and over the baseline.
    leads: list[ContestLead] = field(default_factory=list)
    # The p of each system against the baseline on each part, adjusted for systems and parts.
    alone: list[list[float | None]] = field(default_factory=list)

    def pack(self) -> dict[str, Any]:
        """Return the results as JSON stores them."""
        return {
            "intervals": self.intervals,
            "maxima": b64encode(self.maxima.astype("<f8").tobytes()).decode(),
            "critical": self.critical,
            "sizes": self.sizes,
            "against": [asdict(difference) for difference in self.against],
            "leads": [asdict(lead) for lead in self.leads],
            "alone": self.alone,
        }

    @classmethod
    def unpack(cls, stored: Mapping[str, Any]) -> ContestTests:
        return cls(
            intervals=[(low, high) for low, high in stored["intervals"]],
            maxima=np.frombuffer(b64decode(stored["maxima"]), dtype="<f8"),
            critical=stored["critical"],
            sizes=stored["sizes"],
            against=[Difference(**difference) for difference in stored["against"]],
            leads=[ContestLead.unpack(lead) for lead in stored["leads"]],
            alone=stored.get("alone", []),
        )


tests_cache: ProcessCache[Stamp, ContestTests] = ProcessCache(CACHE_SIZE)


def load_contest_tests(benchmark: Benchmark, contest: Contest) -> ContestTests | None:
    """Return the tests, stored or made now; None if a job has yet to make them."""
    kept = Calculation.objects.of(Calculation.Kind.CONTEST, benchmark).filter(key=contest.key)
    made = load_results(kept, tests_cache, lambda row: ContestTests.unpack(row.results))
    if made:
        return made[0]
    if count_scores(contest) > IMMEDIATE_SCORES:
        return None
    return compute_contest_tests(contest)


def count_scores(contest: Contest) -> int:
    """Return systems x topics, which decides who makes the tests: a request or a job."""
    editions = Edition.objects.filter(pk__in=[part.edition_id for part in contest.parts])
    return len(contest.runs) * sum(editions.values_list("num_evaluated", flat=True))


def compute_contest_tests(contest: Contest) -> ContestTests:
    """Compare all pairs of systems, and each with the baseline if there is one."""
    collected = collect_scores(contest)
    pairs = decide_pairs_over_collections(
        collected, direction=contest.direction, scale=contest.scale
    )
    against = []
    if contest.baseline is not None:
        against = compare_over_collections(
            collected, contest.baseline, direction=contest.direction, scale=contest.scale
        )
    intervals = list(zip(pairs.rank_low.tolist(), pairs.rank_high.tolist(), strict=True))
    leads = _compute_leads(contest, collected, pairs, against)
    alone = _test_parts(contest, collected)
    return ContestTests(
        intervals, pairs.maxima, pairs.critical, list(pairs.sizes), against, leads, alone
    )


def _compute_leads(
    contest: Contest,
    collected: Sequence[Collected],
    pairs: PairDecisions,
    against: Sequence[Difference],
) -> list[ContestLead]:
    """Return the leads of the best system over the second and over the baseline.

    The best was chosen by its scores, so each part's own test is one of all pairs of systems.
    """
    if len(contest.runs) < 2 or np.isnan(pairs.means).any():
        return []
    first, second = pairs.order[:2].tolist()
    asked = {second: float(pairs.p[first, second])}
    if contest.baseline not in (None, first, second):
        asked[contest.baseline] = 0.0
    given = [
        against[first].p_adjusted if other == contest.baseline else p for other, p in asked.items()
    ]
    leads = compute_leads(
        collected,
        [(first, other) for other in asked],
        given,
        direction=contest.direction,
        scale=contest.scale,
        family="all",
    )
    return [ContestLead(first, other, lead) for other, lead in zip(asked, leads, strict=True)]


def _test_parts(contest: Contest, collected: Sequence[Collected]) -> list[list[float | None]]:
    """Return the p of each system against the baseline on each part.

    Adjusted for all systems on a part, and by Holm over the parts.
    """
    baseline = contest.baseline
    if baseline is None or not all(each.defined().topics for each in collected):
        return []
    pairs = [(system, baseline) for system in range(len(contest.runs))]
    leads = compute_leads(
        collected,
        pairs,
        [None] * len(pairs),
        direction=contest.direction,
        scale=contest.scale,
        family="asked",
    )
    return [list(lead.p_alone) for lead in leads]


def collect_scores(contest: Contest) -> list[Collected]:
    """Return the scores of the systems on each part, with the keys of its topics.

    A topic is known by collection and number: two tracks of one collection share it.
    """
    editions = Edition.objects.select_related("track__collection").in_bulk(
        [part.edition_id for part in contest.parts]
    )
    collected = []
    for part, runs in zip(contest.parts, zip(*contest.runs, strict=True), strict=True):
        edition = editions[part.edition_id]
        rows = Score.objects.filter(
            score_set__edition=edition, measure=part.measure, score_set__run__in=set(runs)
        )
        by_topic = dict(rows.values_list("score_set__run_id", "by_topic"))
        collection = edition.track.collection
        numbers = list(compress(load_topic_numbers(collection.pk), topic_mask(edition)))
        keys = [(collection.slug, number) for number in numbers]
        group_of = load_topics(collection.pk).group_of
        groups = [(collection.slug, group_of[number]) for number in numbers] if group_of else None
        collected.append(Collected(stack_scores(edition, by_topic, runs), keys, groups))
    return collected


def make_contest_tests(asked: Calculation, progress: Progress) -> Publish:
    """Make the tests of a contest; return the function that stores them."""
    tests = compute_contest_tests(Contest.unpack(asked.request))
    return partial(asked.keep, tests.pack())


@dataclass(frozen=True)
class Duel:
    """Two systems over all parts of a contest: `b` held against `a`."""

    contest: Contest
    a: int
    b: int

    @cached_property
    def collected(self) -> list[Collected]:
        """The scores of the two systems alone, float64[2, topics] of each part, `a` first."""
        two = Contest(self.contest.parts, (self.contest.runs[self.a], self.contest.runs[self.b]))
        return collect_scores(two)
