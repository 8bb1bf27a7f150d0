"""Contests: the rows of a board, compared with a baseline and with each other.

The board of a track is a contest of runs with one part.  That of a benchmark has a part for each
track, and its rows are systems: they are compared by the mean over tracks of their mean
differences.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.answers.any_measure import parse_measure
from evaluation.measures import Measure
from evaluation.significance import (
    Collected,
    Difference,
    Lead,
    LeadFamily,
    Loss,
    PairDecisions,
    Scale,
    compare_all_pairs,
    compare_losses,
    compare_over_collections,
    compare_with_baseline,
    compute_leads,
    decide_pairs,
    decide_pairs_of_unseen,
    decide_pairs_over_collections,
    decide_within_all_pairs,
    find_members,
    scale_of,
)
from leaderboard.models import Benchmark, Calculation, Edition, Track
from leaderboard.models.calculations import Owner
from leaderboard.models.tracks import settings_digest
from leaderboard.scoring.judgments import tested_groups
from leaderboard.scoring.scores import collect_scores, tested_scores

# The name of the test of all pairs, and what stands for a baseline there.
ALL_PAIRS, EACH_OTHER = "all_pairs", "each other"
# A new number makes all stored tests anew: those of tracks, and those of benchmarks.
METHOD, BENCHMARK_METHOD = 3, 5
# Pairs grow as the square of the runs: with more runs a job would take many minutes.
MOST_IN_ALL_PAIRS = 2_000


@dataclass(frozen=True)
class Part:
    """One column of a contest: an edition, and the measure that counts on it."""

    edition: Edition
    measure: str


@dataclass(frozen=True)
class Contest:
    """A family of rows that are compared, each with a run on every part.

    The family is never what a reader has filtered.  A row is known by its run on the first part;
    `baseline` is the one that the others are held against, if there is one, and `test` how.
    Several parts have measures of one scale, and are tested by the maximum t.

    On a track a contest asks one question: who differs from the baseline, or without one, which
    pairs differ.  In a `benchmark` it asks both.
    """

    parts: tuple[Part, ...]
    rows: tuple[tuple[str, ...], ...]
    baseline: str | None = None
    test: str = str(Track.Test.MAX_T)
    benchmark: Benchmark | None = None
    # Whether the parts are in the order of their dates: systems may lose from one to the next.
    in_order: bool = False

    @property
    def names(self) -> list[str]:
        """The run of each row on the first part, which stands for the row."""
        return [runs[0] for runs in self.rows]

    @property
    def columns(self) -> list[tuple[str, ...]]:
        """The runs of all rows on each part."""
        return list(zip(*self.rows, strict=True))

    @property
    def measure(self) -> Measure:
        """The measure of the first part, whose scale and direction are those of all."""
        return parse_measure(self.parts[0].measure)

    @property
    def scale(self) -> Scale:
        """How differences are tested."""
        return scale_of(self.measure)

    @property
    def direction(self) -> int:
        return self.measure.direction

    @property
    def num_scores(self) -> int:
        """Rows x topics, which decides who makes the tests: a request or a job."""
        return len(self.rows) * sum(part.edition.num_evaluated for part in self.parts)

    @property
    def is_too_large(self) -> bool:
        """Whether a track has too many runs to compare all their pairs."""
        compares_all = self.benchmark is None and self.baseline is None
        return compares_all and have_too_many_pairs(len(self.rows))

    @property
    def owner(self) -> Owner:
        """What its tests are kept for."""
        return self.benchmark or self.parts[0].edition

    @property
    def kind(self) -> Calculation.Kind:
        return Calculation.Kind.CONTEST if self.benchmark else Calculation.Kind.TESTS

    @property
    def key(self) -> str:
        """What its tests are kept under: the question by name, or everything as a SHA-256."""
        if self.benchmark is not None:
            return settings_digest(self.pack())
        measure, against = self.parts[0].measure, self.baseline or EACH_OTHER
        return f"{self.question} {METHOD} by {measure} against {against}"

    @property
    def question(self) -> str:
        """The name of the test that answers the question of a track's contest."""
        return ALL_PAIRS if self.baseline is None else self.test

    def pack(self) -> dict[str, Any]:
        """Return what is asked for as JSON stores it; the runs of a track follow from it."""
        if self.benchmark is None:
            measure, test = self.parts[0].measure, self.question
            return {"measure": measure, "baseline": self.baseline, "test": test}
        asked = {
            "method": BENCHMARK_METHOD,
            "parts": [[part.edition.pk, part.measure] for part in self.parts],
            "rows": [list(runs) for runs in self.rows],
            "baseline": self.baseline,
        }
        return asked | ({"in_order": True} if self.in_order else {})

    @classmethod
    def unpack(cls, benchmark: Benchmark, stored: Mapping[str, Any]) -> Contest:
        """Return the contest of a benchmark that a job is asked to test."""
        editions = Edition.objects.select_related("track__collection")
        found = editions.in_bulk([edition_id for edition_id, _ in stored["parts"]])
        return cls(
            parts=tuple(Part(found[edition_id], text) for edition_id, text in stored["parts"]),
            rows=tuple(map(tuple, stored["rows"])),
            baseline=stored["baseline"],
            benchmark=benchmark,
            in_order=stored.get("in_order", False),
        )

    @property
    def has_one_part(self) -> bool:
        return len(self.parts) == 1

    @cached_property
    def collected(self) -> list[Collected]:
        """The scores of the rows on each part, float64[rows, topics], with the topics' keys."""
        parts = zip(self.parts, self.columns, strict=True)
        return [collect_scores(part.edition, part.measure, runs) for part, runs in parts]

    @property
    def groups(self) -> NDArray[np.int64] | None:
        """The groups of the topics of the only part, which a test flips as a whole."""
        [part] = self.parts
        return tested_groups(part.edition)

    @property
    def has_topics(self) -> bool:
        """Whether each part has a topic with a score of every row."""
        return all(each.defined().topics for each in self.collected)


def explain_missing_mean(measures: Iterable[str]) -> str:
    """Return why values of these measures have no mean over parts: one word, or "" if they have.

    `sums` are totals over topics; `ranges` and `directions` differ between the measures.

    >>> explain_missing_mean(["AP", "nDCG@10"]), explain_missing_mean(["AP", "DCG@10"])
    ('', 'ranges')
    """
    parsed = [parse_measure(measure) for measure in measures]
    units = {scale_of(measure).unit for measure in parsed}
    if "total" in units:
        return "sums"
    if len(units) > 1 or len({measure.definition.range for measure in parsed}) > 1:
        return "ranges"
    return "directions" if len({measure.direction for measure in parsed}) > 1 else ""


def have_too_many_pairs(runs: int) -> bool:
    """Whether a track with this many runs has too many pairs to compare them all."""
    return runs > MOST_IN_ALL_PAIRS


def contest_on(
    edition: Edition, measure: str, family: Sequence[str], baseline: str | None = None
) -> Contest:
    """Return the contest of runs on one edition, tested as its track asks."""
    rows = tuple((run_id,) for run_id in family)
    return Contest((Part(edition, measure),), rows, baseline, edition.track.test)


@dataclass(frozen=True)
class AllPairs:
    """What decides about all pairs of a family: the largest t of each draw, float64[draws].

    Ranks are those of each row within the whole family; `critical` is the t that a pair must
    exceed, None if there are too few topics, and `sizes` are those of a difference in the family
    on each part.
    """

    maxima: NDArray[np.float64] = field(repr=False)
    sizes: tuple[float, ...]
    critical: float | None
    rank_low: dict[str, int]
    rank_high: dict[str, int]

    @classmethod
    def of(cls, names: Sequence[str], decided: PairDecisions) -> AllPairs:
        return cls(
            maxima=decided.maxima,
            sizes=decided.sizes,
            critical=decided.critical,
            rank_low=dict(zip(names, decided.rank_low.tolist(), strict=True)),
            rank_high=dict(zip(names, decided.rank_high.tolist(), strict=True)),
        )

    def interval(self, name: str) -> tuple[int, int] | None:
        """Return the ranks that a row can have, or None if it is not in the family."""
        if name not in self.rank_low:
            return None
        return self.rank_low[name], self.rank_high[name]

    def pack(self) -> dict[str, Any]:
        """Return the results as JSON stores them; one part has its size as a number."""
        return {
            "maxima": b64encode(self.maxima.astype("<f8").tobytes()).decode(),
            "size": self.sizes[0] if len(self.sizes) == 1 else list(self.sizes),
            "critical": self.critical,
            "rank_low": self.rank_low,
            "rank_high": self.rank_high,
        }

    @classmethod
    def unpack(cls, stored: Mapping[str, Any]) -> AllPairs:
        return cls(
            maxima=np.frombuffer(b64decode(stored["maxima"]), dtype="<f8"),
            sizes=tuple(np.atleast_1d(stored["size"]).tolist()),
            critical=stored["critical"],
            rank_low=stored["rank_low"],
            rank_high=stored["rank_high"],
        )


@dataclass(frozen=True)
class RowPairs:
    """Decisions about the pairs of some rows of a family, by name.

    `outside` has the rows with far fewer topics than the others, and how many they have.
    """

    names: list[str]
    decisions: PairDecisions
    scale: Scale
    outside: dict[str, int] = field(default_factory=dict)

    @cached_property
    def places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def decide(self, alone: Difference, row: str, other: str) -> Difference:
        """Return the difference of two rows with the p and interval of all pairs, if both count."""
        if not {row, other} <= self.places.keys():
            return alone
        return decide_within_all_pairs(
            alone, self.decisions, self.places[row], self.places[other], self.scale
        )

    def is_better(self, row: str, other: str) -> bool:
        """Whether one row is significantly better than another; not where one has no value."""
        if not {row, other} <= self.places.keys():
            return False
        return bool(self.decisions.better[self.places[row], self.places[other]])

    def different_among(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return which pairs of these rows differ; none of a row without a value."""
        known = [place for place, name in enumerate(names) if name in self.places]
        own = [self.places[names[place]] for place in known]
        different = np.zeros((len(names), len(names)), dtype=bool)
        different[np.ix_(known, known)] = self.decisions.different[np.ix_(own, own)]
        return different


@dataclass(frozen=True)
class UnseenRanks:
    """The ranks by the mean over collections of the kind of a benchmark's, by name.

    They come from all pairs, with collections as units; `apart` of the pairs differ, and
    `is_decided` is false where there are too few collections for a verdict.
    """

    collections: int
    is_decided: bool
    apart: int
    rank_low: dict[str, int]
    rank_high: dict[str, int]

    @classmethod
    def of(cls, names: Sequence[str], decided: PairDecisions) -> UnseenRanks:
        return cls(
            collections=decided.units,
            is_decided=decided.critical is not None,
            apart=decided.num_different,
            rank_low=dict(zip(names, decided.rank_low.tolist(), strict=True)),
            rank_high=dict(zip(names, decided.rank_high.tolist(), strict=True)),
        )

    def interval(self, name: str) -> tuple[int, int]:
        """Return the ranks that a row of the contest can have."""
        return self.rank_low[name], self.rank_high[name]


@dataclass(frozen=True)
class ContestLead:
    """The lead of one row of a contest over another, by name."""

    row: str
    other: str
    lead: Lead

    @classmethod
    def unpack(cls, stored: Mapping[str, Any]) -> ContestLead:
        lead = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in stored["lead"].items()
        }
        return cls(stored["row"], stored["other"], Lead(**lead))


def compute_differences(contest: Contest, *, is_tested: bool = True) -> dict[str, Difference]:
    """Compare each other row with the baseline, by name; without a test of one part p is None."""
    baseline = contest.baseline
    assert baseline is not None
    others = [name for name in contest.names if name != baseline]
    if contest.has_one_part:
        scores = _tested_scores(contest, [baseline, *others])
        found = compare_with_baseline(
            scores[1:],
            scores[0],
            test=contest.test if is_tested else None,
            direction=contest.direction,
            scale=contest.scale,
            groups=contest.groups,
        )
    else:
        place = contest.names.index(baseline)
        found = compare_over_collections(
            contest.collected, place, direction=contest.direction, scale=contest.scale
        )
        del found[place]
    return dict(zip(others, found, strict=True))


def compare_within(contest: Contest, pairs: RowPairs | None) -> dict[str, Difference]:
    """Compare each other run with the baseline, with the p of all pairs where they are decided."""
    against = compute_differences(contest, is_tested=False)
    if pairs is None or contest.baseline is None:
        return against
    return {name: pairs.decide(alone, name, contest.baseline) for name, alone in against.items()}


def compare_pair(edition: Edition, measure: str, a: str, b: str) -> Difference:
    """Return the difference of run `b` from run `a`, with no p but that of the pair alone."""
    [found] = compute_differences(Contest((Part(edition, measure),), ((a,), (b,)), a)).values()
    return replace(found, p_adjusted=None, low=None, high=None)


def _tested_scores(contest: Contest, names: Sequence[str]) -> NDArray[np.float64]:
    """Return the scores of these runs on the only part, in the order of draws."""
    [part] = contest.parts
    return tested_scores(part.edition, part.measure, names)


def decide_all_pairs(contest: Contest) -> PairDecisions:
    """Decide about all pairs of the family by the studentised maximum, by place."""
    if not contest.has_one_part:
        return _decide_over_parts(contest)
    scale = contest.scale
    tested = scale.tested(_tested_scores(contest, contest.names))
    return compare_all_pairs(
        tested,
        direction=contest.direction,
        half_range=scale.half_range,
        groups=contest.groups,
    )


def _decide_over_parts(
    contest: Contest,
    maxima: NDArray[np.float64] | None = None,
    sizes: Sequence[float] | None = None,
) -> PairDecisions:
    return decide_pairs_over_collections(
        contest.collected,
        direction=contest.direction,
        scale=contest.scale,
        maxima=maxima,
        sizes=sizes,
    )


def rank_for_unseen(contest: Contest) -> UnseenRanks | None:
    """Return the ranks by the mean over collections of this kind; None without several tracks.

    Tracks on one collection are no two collections, so they are flipped together.
    """
    if contest.has_one_part or not contest.has_topics:
        return None
    collections = [part.edition.track.collection_id for part in contest.parts]
    decided = decide_pairs_of_unseen(
        contest.collected, collections, contest.direction, contest.scale
    )
    return UnseenRanks.of(contest.names, decided)


# The losses of all rows but the baseline, by name, on each part after the first.
Losses = list[dict[str, Loss]]


def find_losses(contest: Contest) -> Losses:
    """Test whether each row loses more than the baseline from the first part to each later one.

    Empty unless the parts are in order and there is a baseline.
    """
    if not contest.in_order or contest.baseline is None or not contest.has_topics:
        return []
    names = contest.names
    found = compare_losses(contest.collected, names.index(contest.baseline), scale=contest.scale)
    return [
        {name: loss for name, loss in zip(names, later, strict=True) if loss is not None}
        for later in found
    ]


def decide_between(contest: Contest, pairs: AllPairs, names: Sequence[str]) -> RowPairs:
    """Decide about the pairs of these rows of the family.

    On one part they are decided on the topics that all of the family has.  Rows that are not in
    it, since the measure is undefined for them, are left out, and those with far fewer topics
    than the others stand outside.  On several parts the contest has these rows alone.
    """
    direction, scale = contest.direction, contest.scale
    if not contest.has_one_part:
        runs_of = dict(zip(contest.names, contest.rows, strict=True))
        few = replace(contest, rows=tuple(runs_of[name] for name in names))
        return RowPairs(few.names, _decide_over_parts(few, pairs.maxima, pairs.sizes), scale)
    scores = scale.tested(_tested_scores(contest, contest.names))
    places = {name: place for place, name in enumerate(contest.names)}
    names = [name for name in names if name in places]
    own = [places[name] for name in names]
    members, topics = find_members(scores), np.count_nonzero(~np.isnan(scores), axis=1)
    chosen = scores[own].copy()
    chosen[:, np.isnan(scores[members]).any(axis=0)] = np.nan
    chosen[~members[own]] = np.nan
    [size] = pairs.sizes
    outside = {
        name: int(topics[place])
        for name, place in zip(names, own, strict=True)
        if not members[place]
    }
    decided = decide_pairs(chosen, pairs.maxima, direction, size=size, groups=contest.groups)
    return RowPairs(names, decided, scale, outside)


def find_leads(
    contest: Contest, decided: PairDecisions, against: Mapping[str, Difference]
) -> list[ContestLead]:
    """Return the leads of the best row over the second and over the baseline.

    The best was chosen by its scores, so each part's own test is one of all pairs of rows.
    """
    if len(contest.rows) < 2 or not contest.has_topics:
        return []
    first, second = (contest.names[place] for place in decided.order[:2].tolist())
    p_of: dict[str, float | None] = {second: float(decided.p[tuple(decided.order[:2])])}
    if contest.baseline not in (None, first):
        p_of[contest.baseline] = against[first].p_adjusted
    leads = lead_of_each(contest, [(first, other) for other in p_of], list(p_of.values()), "all")
    return [ContestLead(first, other, lead) for other, lead in zip(p_of, leads, strict=True)]


def compute_p_alone(contest: Contest) -> dict[str, list[float | None]]:
    """Return the p of each row against the baseline on each part; none without a baseline.

    It is adjusted for all rows on a part, and by Holm over the parts.
    """
    names, baseline = contest.names, contest.baseline
    if baseline is None or not contest.has_topics:
        return {}
    pairs = [(name, baseline) for name in names]
    leads = lead_of_each(contest, pairs, [None] * len(pairs), "asked")
    return {name: list(lead.p_alone) for name, lead in zip(names, leads, strict=True)}


def lead_of_each(
    contest: Contest,
    pairs: Sequence[tuple[str, str]],
    p: Sequence[float | None],
    family: LeadFamily = "alone",
) -> list[Lead]:
    """Return the lead of the first row of each pair over the second, with its p over all parts."""
    places = {name: place for place, name in enumerate(contest.names)}
    return compute_leads(
        contest.collected,
        [(places[row], places[other]) for row, other in pairs],
        p,
        direction=contest.direction,
        scale=contest.scale,
        family=family,
    )
