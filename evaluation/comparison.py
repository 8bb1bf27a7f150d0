"""Runs compared with a baseline or with each other, measure by measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np

from evaluation.judging import JudgedRun, Judgments
from evaluation.measures import Asked, Measure
from evaluation.phrases import counted
from evaluation.ragged import FloatArray, IntArray
from evaluation.reading.groups import number_groups
from evaluation.reading.runs.reader import Run
from evaluation.scoring import ScoringRules, build_record, values_by_topic
from evaluation.significance import (
    TESTS,
    AllPairs,
    Averaged,
    Collected,
    Difference,
    PairDecisions,
    Posterior,
    Risk,
    compare_all_pairs,
    compare_over_collections,
    compare_with_baseline,
    decide_within_all_pairs,
    describe_risk,
    geo_risks,
    has_values,
    posterior_of_pair,
    randomised_tukey,
    scale_of,
    topic_order,
    tukey_hsd,
)
from evaluation.significance.baseline import Correction, Test
from evaluation.significance.units import FEWEST_TOPICS

Family: TypeAlias = Literal["baseline", "all"]
Method: TypeAlias = Literal["maximum", "hsd", "randomised"]
Pairs: TypeAlias = PairDecisions | AllPairs

# With fewer groups of topics a verdict holds, but few differences can be seen.
FEW_GROUPS = 10
CORRECTIONS = {
    "holm": "Holm",
    "benjamini_hochberg": "Benjamini-Hochberg",
    "max_t": "by the largest t of each flip",
    "none": "not adjusted",
}


@dataclass(frozen=True)
class Design:
    """How runs are tested against the baseline, which is the first.

    test: one of `TESTS`. correction: one of `CORRECTIONS`, by default that of the test. family:
    p is adjusted for the comparisons with the baseline, or for all pairs of runs. alpha: the level
    of significance. region: for one pair named in advance, the difference that does not matter.
    """

    test: Test = "max_t"
    correction: Correction | None = None
    family: Family = "baseline"
    alpha: float = 0.05
    region: float | None = None

    @property
    def adjustment(self) -> Correction:
        """The correction, or that of the test where none is named."""
        return self.correction or ("max_t" if self.test == "max_t" else "holm")

    @property
    def is_flipped(self) -> bool:
        """Whether signs of centred differences are flipped, which needs enough topics."""
        return self.family == "all" or self.test == "max_t"

    def check(self, runs: int) -> None:
        """Raises ValueError for what cannot be combined; `runs` counts those with the baseline."""
        if self.test not in TESTS or self.adjustment not in CORRECTIONS:
            raise ValueError(f"no such test or correction: {self.test}, {self.adjustment}")
        if self.family not in get_args(Family):
            raise ValueError(f"no such family: {self.family}; there are baseline and all")
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha is a number between 0 and 1, not {self.alpha}")
        if runs < 2:
            raise ValueError("a comparison needs two runs or more")
        matches = (self.test == "max_t") == (self.adjustment == "max_t")
        if not matches and self.adjustment != "none":
            raise ValueError("the test max_t adjusts p itself: its correction is max_t or none")
        if self.family == "all" and self.adjustment != "max_t":
            raise ValueError("the family all requires the test max_t")
        if self.region is not None and runs > 2:
            raise ValueError("a region takes one run: the pair is named in advance")

    def describe(self, runs: int) -> str:
        """Return what is below a table of this many runs."""
        if self.family == "all":
            return (
                f"studentised maximum over all pairs of {runs} runs (sign flips); "
                f"alpha {self.alpha:g}"
            )
        return (
            f"{TESTS[self.test]}; p adjusted: {CORRECTIONS[self.adjustment]}, over "
            f"{counted(runs - 1, 'comparison')}; alpha {self.alpha:g}"
        )


@dataclass(frozen=True, eq=False)
class ScoredRuns:
    """Runs by one measure, of rankings or of answers, on the same topics.

    `scores` is float64[runs, topics], the topics in the order of draws, NaN where the measure is
    undefined. `groups` has the group of each topic, None if there are none.
    """

    name: str
    measure: Averaged
    tags: Sequence[str]
    topics: Sequence[bytes]
    scores: FloatArray
    groups: IntArray | None = None


def describe_groups(groups: IntArray | None) -> str:
    """Return what a table says of the groups of topics; empty without.

    >>> describe_groups(np.array([0, 0, 1, 2]))
    '; 4 topics in 3 groups: verdicts need six of similar length'
    """
    if groups is None:
        return ""
    number = len(np.unique(groups))
    words = f"; {counted(len(groups), 'topic')} in {counted(number, 'group')}"
    if number < FEWEST_TOPICS:
        return f"{words}: verdicts need six of similar length"
    return words + (": few differences can be seen" if number < FEW_GROUPS else "")


@dataclass(frozen=True)
class Records:
    """Runs on the same topics, with what computes the scores of each.

    `grouping` has the group of each topic, such as its conversation; None if there are none.
    """

    tags: list[str]
    judged: list[JudgedRun]
    values: list[Callable[[Measure], FloatArray]]
    grouping: Mapping[bytes, bytes] | None = None

    @property
    def topics(self) -> list[bytes]:
        """The topics of the columns of `scores`."""
        topics = self.judged[0].judgments.topics
        return [topics[place] for place in topic_order(topics).tolist()]

    def scores(self, measure: Measure) -> FloatArray:
        """float64[runs, topics] in the order of draws, NaN where the measure is undefined."""
        scores = np.stack([values(measure) for values in self.values])
        return scores[:, topic_order(self.judged[0].judgments.topics)]

    def scored(self, asked: Asked) -> ScoredRuns:
        """Return the runs by one measure."""
        scores = self.scores(asked.measure)
        return ScoredRuns(asked.name, asked.measure, self.tags, self.topics, scores, self.groups)

    def of(self, runs: Sequence[int]) -> Records:
        """The same for some of the runs, by their places."""
        return Records(
            [self.tags[run] for run in runs],
            [self.judged[run] for run in runs],
            [self.values[run] for run in runs],
            self.grouping,
        )

    @cached_property
    def groups(self) -> IntArray | None:
        """The group of each topic, from 0 in the order of their names; None if there are none.

        ValueError where a topic has no group.
        """
        return None if self.grouping is None else number_groups(self.topics, self.grouping)

    @property
    def note(self) -> str:
        """What a table says of the groups; empty without."""
        return describe_groups(self.groups)


@dataclass(frozen=True)
class Comparison:
    """One run beside the baseline on one measure."""

    measure: str
    run: str
    mean: float
    outcome: Difference | None
    verdict: str
    probability: Posterior | None = None


def build_records(
    runs: Sequence[Run],
    judgments: Judgments,
    rules: ScoringRules,
    grouping: Mapping[bytes, bytes] | None = None,
) -> Records:
    """Judge runs on the same topics: those that all of them answer, if the rules say so."""
    if rules.answered_only:
        answered = [t for t in judgments.topics if all(t in each.rankings for each in runs)]
        judgments = judgments.of(answered)
    judged = [build_record(run, judgments, rules) for run in runs]
    values = [values_by_topic(*pair, rules) for pair in zip(runs, judged, strict=True)]
    return Records([run.tag for run in runs], judged, values, grouping)


def compare_over(
    runs: Sequence[ScoredRuns], names: Sequence[str], design: Design
) -> list[Comparison]:
    """Compare systems by the mean over collections, under the tags of the first."""
    measure, tags = runs[0].measure, runs[0].tags
    collections = [
        Collected(each.scores, [(name, topic) for topic in each.topics])
        for name, each in zip(names, runs, strict=True)
    ]
    outcomes = compare_over_collections(
        collections,
        level=1 - design.alpha,
        direction=measure.direction,
        scale=scale_of(measure),
        family=design.family,
    )
    by_collection = [[measure.aggregate(row) for row in each.scores] for each in runs]
    means = np.mean(by_collection, axis=0).tolist()
    verdicts = [
        verdict_of(outcome, measure.direction, design.alpha, is_flipped=True)
        for outcome in outcomes
    ]
    return list_beside_baseline(runs[0].name, tags, means, outcomes, verdicts)


def compare_on_measure(runs: ScoredRuns, design: Design) -> list[Comparison]:
    """Compare runs with the first of them by one measure; the baseline comes first."""
    measure, scores = runs.measure, runs.scores
    scale, level = scale_of(measure), 1 - design.alpha
    if design.family == "all":
        kept = np.flatnonzero(has_values(scores)).tolist()
        places = {run: place for place, run in enumerate(kept)}
        pairs = compare_all_pairs(
            scale.tested(scores[kept]),
            level,
            measure.direction,
            half_range=scale.half_range,
            groups=runs.groups,
        )
        alone = compare_with_baseline(
            scores,
            0,
            level=level,
            correction="none",
            direction=measure.direction,
            scale=scale,
            groups=runs.groups,
        )
        outcomes = [
            decide_within_all_pairs(found, pairs, places[run], places[0], scale)
            if {run, 0} <= places.keys()
            else replace(found, p_adjusted=None, low=None, high=None)
            for run, found in enumerate(alone)
        ]
    else:
        outcomes = compare_with_baseline(
            scores,
            0,
            design.test,
            level=level,
            correction=design.adjustment,
            direction=measure.direction,
            scale=scale,
            groups=runs.groups,
        )
    means = [measure.aggregate(row) for row in scores]
    verdicts = [
        verdict_of(outcome, measure.direction, design.alpha, design.is_flipped)
        for outcome in outcomes
    ]
    found = list_beside_baseline(runs.name, runs.tags, means, outcomes, verdicts)
    if design.region is not None:
        [baseline, pair] = found
        probability = posterior_of_pair(scores[1], scores[0], measure, design.region, runs.groups)
        return [baseline, replace(pair, probability=probability)]
    return found


@dataclass(frozen=True)
class ComparedRisk:
    """What one run risks beside the baseline on one measure; `geo_risk` is beside all runs."""

    measure: str
    run: str
    risk: Risk
    geo_risk: float | None


def describe_risks(runs: ScoredRuns, alpha: float) -> list[ComparedRisk]:
    """Describe the risk of every run but the first, which is the baseline.

    GeoRisk is None where lower scores are better, or some score is negative.
    """
    measure, scores = runs.measure, runs.scores
    geo = geo_risks(scores, alpha) if measure.direction > 0 else np.full(len(scores), np.nan)
    found = []
    for run in range(1, len(scores)):
        risk = describe_risk(measure.direction * (scores[run] - scores[0]), alpha)
        if risk is not None:
            value = None if np.isnan(geo[run]) else float(geo[run])
            found.append(ComparedRisk(runs.name, runs.tags[run], risk, value))
    return found


def list_beside_baseline(
    measure: str,
    tags: Sequence[str],
    means: Sequence[float],
    outcomes: Sequence[Difference],
    verdicts: Sequence[str],
) -> list[Comparison]:
    """Return the baseline, which is the first, and the others beside it."""
    rows = zip(tags[1:], means[1:], outcomes[1:], verdicts[1:], strict=True)
    baseline = Comparison(measure, tags[0], means[0], None, "baseline")
    return [baseline, *(Comparison(measure, *row) for row in rows)]


def verdict_of(outcome: Difference, direction: int, alpha: float, is_flipped: bool) -> str:
    """better, worse or not significant, by the adjusted p; flips need enough topics as well."""
    if is_flipped and outcome.low is None:
        return "not significant"
    if outcome.p_adjusted is None or outcome.p_adjusted > alpha or not outcome.gain:
        return "not significant"
    return "better" if outcome.gain * direction > 0 else "worse"


@dataclass(frozen=True)
class DecidedPairs:
    """All pairs of the runs that have a score by a measure; `left_out` names the others.

    `short` has the runs that stand outside, since they have far fewer topics than the others, and
    how many they have.
    """

    runs: ScoredRuns
    pairs: Pairs
    left_out: list[str]
    short: dict[str, int]

    @property
    def note(self) -> str:
        """What a table says of the runs that are not compared; empty if all are."""
        words = ""
        if self.left_out:
            words += f"; excluded, undefined on every topic: {', '.join(self.left_out)}"
        if self.short:
            named = (f"{tag} ({counted(topics, 'topic')})" for tag, topics in self.short.items())
            words += f"; not compared, too few topics: {', '.join(named)}"
        return words

    @property
    def order(self) -> list[int]:
        """The runs from the best mean to the worst; equal ones in their given order."""
        found = -self.runs.measure.direction * self.pairs.means
        return [int(run) for run in np.argsort(found, kind="stable")]

    def value(self, run: int) -> float:
        """Return what the board prints of a run."""
        return self.runs.measure.aggregate(self.runs.scores[run])


def decide_all_pairs(
    runs: ScoredRuns, alpha: float = 0.05, method: Method = "maximum"
) -> DecidedPairs:
    """Test all pairs of runs by one measure."""
    has_scores = has_values(runs.scores)
    left_out = [runs.tags[run] for run in np.flatnonzero(~has_scores).tolist()]
    tags = [runs.tags[run] for run in np.flatnonzero(has_scores).tolist()]
    kept = replace(runs, tags=tags, scores=runs.scores[has_scores])
    scale, direction = scale_of(runs.measure), runs.measure.direction
    tested, level = scale.tested(kept.scores), 1 - alpha
    if method != "maximum":
        tukey = tukey_hsd if method == "hsd" else randomised_tukey
        return DecidedPairs(kept, tukey(tested, level, direction=direction), left_out, {})
    pairs = compare_all_pairs(
        tested, level, direction, half_range=scale.half_range, groups=runs.groups
    )
    topics = np.count_nonzero(~np.isnan(tested), axis=1).tolist()
    short = {tags[run]: topics[run] for run in np.flatnonzero(~pairs.members).tolist()}
    return DecidedPairs(kept, pairs, left_out, short)
