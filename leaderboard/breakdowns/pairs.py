"""Two runs beside each other: what the test says of them, and every topic."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404

from evaluation.measures import parse_measure
from leaderboard.breakdowns.scores import read_scores
from leaderboard.comparing import AgainstBaseline, means_of, test_family
from leaderboard.disclosure import Sight
from leaderboard.models import Run, Topic
from leaderboard.standings import verdict_of


@dataclass(frozen=True)
class PairLine:
    topic: Topic
    a: float
    b: float

    @property
    def difference(self) -> float:
        return self.b - self.a


@dataclass(frozen=True)
class Pair:
    """Run `b` against run `a` on one measure: what the test says, and every topic."""

    a: Run
    b: Run
    measure: str
    mean_a: float
    mean_b: float
    against: AgainstBaseline
    test: str
    topics: list[PairLine]

    @property
    def verdict(self) -> str:
        return verdict_of(self.against, parse_measure(self.measure).direction)


def compare_runs(sight: Sight, a: Run, b: Run, measure: str) -> Pair:
    """One comparison that was planned: two runs make a family of their own."""
    edition = sight.edition
    if edition is None:
        raise Http404("nothing to compare")
    edition.track = sight.track
    scores = read_scores(edition, measure, [a, b])
    if len(scores.runs) < 2:
        raise Http404("both runs must be scored")
    means = means_of(edition, measure)
    tested = test_family(edition, measure, a.pk, [a.pk, b.pk])
    return Pair(
        a=a,
        b=b,
        measure=measure,
        mean_a=means[a.pk],
        mean_b=means[b.pk],
        against=tested[b.pk],
        test=sight.track.test,
        topics=[
            PairLine(topic, float(scores.of(a)[place]), float(scores.of(b)[place]))
            for place, topic in enumerate(scores.topics)
        ],
    )
