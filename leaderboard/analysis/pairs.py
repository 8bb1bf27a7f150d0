"""Two runs compared: the test of their difference, and their scores on every topic."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from django.http import Http404

from evaluation.agreement import rbo
from evaluation.answers.any_measure import parse_measure
from evaluation.significance import Difference, Posterior, posterior_of_pair, topic_order
from leaderboard.analysis.rankings import open_rankings
from leaderboard.analysis.scores import Scores, read_scores
from leaderboard.analysis.topic_choice import EVERY_TOPIC, ChosenTopics
from leaderboard.boards.standings import Board, decide_pair
from leaderboard.display.csv_tables import TOPIC_COLUMNS, CsvTable, tabulate
from leaderboard.models import Run, Topic
from leaderboard.scoring.judgments import number_topic_groups
from leaderboard.scoring.scores import load_measure_means
from leaderboard.scoring.verdicts import verdict_of

# Overlap weights the document at rank r by p^r; the first twenty have 97 % of the weight.
PERSISTENCE = 0.9


@dataclass(frozen=True)
class PairLine:
    """The scores of two runs on a topic."""

    topic: Topic
    a: float
    b: float
    # +1 where higher is better, -1 where lower is.
    direction: int

    @property
    def difference(self) -> float:
        return self.b - self.a

    @property
    def side(self) -> str | None:
        """Which run is better here: `better` means `b`, `worse` means `a`, None neither."""
        gain = self.direction * self.difference
        return "better" if gain > 0 else "worse" if gain < 0 else None


@dataclass(frozen=True)
class RunPair:
    """Run `b` compared with run `a` on one measure: the test, and every chosen topic.

    Topics are loaded when they are first asked for; many only ask for the test.
    """

    a: Run
    b: Run
    measure: str
    mean_a: float
    mean_b: float
    against: Difference
    verdict: str
    # The question whose family decides: "baseline" or "all".
    question: str
    # Whether the reader asked about the baseline only, and this pair is without it.
    is_outside: bool
    scores: Scores
    chosen: ChosenTopics = EVERY_TOPIC

    @cached_property
    def topics(self) -> list[PairLine]:
        direction = parse_measure(self.measure).direction
        both = zip(*(self.scores.of(run).tolist() for run in (self.a, self.b)), strict=True)
        return [
            PairLine(topic, a, b, direction)
            for topic, (a, b) in zip(self.scores.topics, both, strict=True)
            if self.chosen.has(topic)
        ]

    @cached_property
    def falling(self) -> list[PairLine]:
        """The topics on which both have a score, the largest gain of `b` first."""
        both = [line for line in self.topics if math.isfinite(line.difference)]
        return sorted(both, key=lambda line: -line.difference)

    @cached_property
    def by_size(self) -> list[PairLine]:
        """The topics on which both have a score, the largest difference first."""
        return sorted(self.falling, key=lambda line: -abs(line.difference))

    def in_order(self, order: str) -> list[PairLine]:
        """Return the lines in topic order, or with the largest gain of `b` first."""
        return self.topics if order == "topic" else self.falling

    def of(self, chosen: ChosenTopics) -> RunPair:
        """Return the same on the chosen topics; means and the test are those of all topics."""
        return replace(self, chosen=chosen)

    def line_of(self, number: str) -> PairLine | None:
        return next((line for line in self.topics if line.topic.number == number), None)

    @property
    def table(self) -> CsvTable:
        """A line for each topic, the largest difference of `b` minus `a` first."""
        known = compute_overlaps(self.a, self.b, self.topics)
        columns = [
            *TOPIC_COLUMNS,
            (f"{self.measure} of {self.b}", "b"),
            (f"{self.measure} of {self.a}", "a"),
            ("difference", "difference"),
            ("overlap_rbo_.9", lambda line: known[line.topic.number]),
        ]
        return tabulate(self.by_size, columns)


def compare_runs(board: Board, a: Run, b: Run) -> RunPair:
    """Compare two runs of a board, with the verdict that the board gives about them."""
    edition, measure = board.edition, board.measure
    scores = read_scores(edition, measure, [a, b])
    if a == b or len(scores.runs) < 2:
        raise Http404("two scored runs are needed")
    means, direction = load_measure_means(edition, measure), parse_measure(measure).direction
    tested = decide_pair(board, a, b)
    return RunPair(
        a=a,
        b=b,
        measure=measure,
        mean_a=_or_nan(means[a.pk]),
        mean_b=_or_nan(means[b.pk]),
        against=tested.against,
        verdict=verdict_of(tested.against, board.num_units, direction),
        question=tested.question,
        is_outside=tested.is_outside,
        scores=scores,
    )


@dataclass(frozen=True)
class RunAhead:
    """The run of a pair that is ahead, with the probabilities that it is better, or is not.

    Differences up to `region`, in the unit of the measure, count as equivalent.
    """

    run: Run
    other: Run
    region: float
    unit: str
    probability: Posterior


def find_run_ahead(pair: RunPair, region: float = 0.0) -> RunAhead | None:
    """Return the run that is ahead; None below six topics or where neither is.

    The probability is for a pair that was named before its results were seen.
    """
    found = compute_probability(pair, region)
    if found is None or (found.better == found.worse and not region):
        return None
    if found.better >= found.worse:
        return RunAhead(pair.b, pair.a, region, pair.against.unit, found)
    turned = Posterior(found.worse, found.within, found.better)
    return RunAhead(pair.a, pair.b, region, pair.against.unit, turned)


def compute_probability(pair: RunPair, region: float = 0.0) -> Posterior | None:
    """Return how probable it is that `b` is better than `a`, equivalent or worse."""
    numbers = [line.topic.number.encode() for line in pair.topics]
    order = topic_order(numbers)
    of_a, of_b = np.array([[line.a, line.b] for line in pair.topics]).reshape(-1, 2)[order].T
    groups = number_topic_groups(pair.a.track.collection_id, [numbers[place] for place in order])
    return posterior_of_pair(of_b, of_a, parse_measure(pair.measure), region, groups)


def _or_nan(mean: float | None) -> float:
    return math.nan if mean is None else mean


def compute_overlaps(a: Run, b: Run, lines: Iterable[PairLine]) -> dict[str, float]:
    """Compute the rank-biased overlap (p = .9) of two runs on these topics, by topic number.

    It is extrapolated from the first twenty documents, and 1 if both rankings are identical.
    """
    with open_rankings(a) as of_a, open_rankings(b) as of_b:
        tops_a, tops_b = of_a.tops, of_b.tops
    return {
        number: rbo(tops_a.get(number, []), tops_b.get(number, []), PERSISTENCE)
        for number in (line.topic.number for line in lines)
    }
