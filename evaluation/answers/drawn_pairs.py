"""Means of runs of answers, estimated from pairs that were drawn with known probabilities.

The mean of a run is a weighted sum over its pairs. Within each stratum the drawn pairs stand for
all: the sum is expanded by the size of the stratum over the number of its judged pairs. Errors and
degrees of freedom are those of corrected means, with a machine that says 0 of every pair.

>>> rows = [FrameRow(b"t1", b"p%d" % number, 1, 1, number < 40) for number in range(80)]
>>> labels = {("t1", f"p{number}"): 2 * (number % 2) for number in range(40)}
>>> sample = PairSample.of(rows, ["t1"], labels | {("t1", "known"): 2})
>>> weights = {("t1", f"p{number}"): 0.01 for number in range(80)} | {("t1", "known"): 0.2}
>>> found = sample.estimate(weights, lambda codes: codes / 2)
>>> round(found.value, 3), round(found.margin, 3)
(0.6, 0.092)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # type: ignore[import-untyped]

from evaluation.answers.labels import UNJUDGED
from evaluation.answers.marks import Codes
from evaluation.correction.frames import FrameRow, SampleFrame
from evaluation.correction.means import MOST_UNCOVERED, Correction, join_strata
from evaluation.ragged import FloatArray, IntArray

# A topic and the name of a pair in the frame.
PairKey = tuple[str, str]
# The share of the drawn pairs that may be without a label.
MOST_MISSING = 0.1
# Of fewer labels of a run, fewer than 95 % of its intervals would cover.
FEWEST_LABELS = 30


class NoEstimateError(Exception):
    """There is no honest number; the text says why."""


@dataclass(frozen=True)
class PairEstimate:
    """The estimated mean of a run with half of the lengths of its 95 % intervals.

    `margin` is for these topics: chance is which pairs were drawn. `over_topics` is for topics like
    these; None where too few topics give none.
    """

    value: float
    margin: float
    over_topics: float | None = None


@dataclass(frozen=True, eq=False)
class PairSample:
    """Drawn pairs with their labels, for all runs.

    `codes` uint8[N] are of the pairs of the frame, 255 where there is no label or none was drawn.
    `known` has the codes of pairs that were judged before, and are not in the frame. `stratum`
    int[N] has at least two judged pairs each.
    """

    frame: SampleFrame
    places: Mapping[PairKey, int]
    codes: Codes
    known: Mapping[PairKey, int]
    stratum: IntArray

    @classmethod
    def of(
        cls, rows: Iterable[FrameRow], topics: Sequence[str], codes: Mapping[PairKey, int]
    ) -> PairSample:
        """Match the rows of a frame on these topics with labels.

        Raises NoEstimateError where too few drawn pairs have a label.
        """
        frame = SampleFrame.of_rows(rows, [topic.encode() for topic in topics])
        names = zip(frame.topic.tolist(), frame.docnos, strict=True)
        places = {(topics[topic], name.decode()): n for n, (topic, name) in enumerate(names)}
        given = np.full(len(places), UNJUDGED, np.uint8)
        for pair, place in places.items():
            if frame.is_drawn[place]:
                given[place] = codes.get(pair, UNJUDGED)
        sampled, drawn = np.flatnonzero(given != UNJUDGED), int(frame.is_drawn.sum())
        if len(sampled) < max(2, (1 - MOST_MISSING) * drawn):
            raise NoEstimateError(f"{len(sampled):,} of {drawn:,} drawn pairs have a label")
        strata = int(frame.stratum.max(initial=-1)) + 1
        # Strata are in the order of their cover.
        keys = np.stack([np.zeros(strata), np.arange(strata, dtype=np.float64)], axis=1)
        stratum, _ = join_strata(keys, frame.stratum, sampled)
        known = {pair: code for pair, code in codes.items() if pair not in places}
        return cls(frame, places, given, known, stratum)

    def estimate(
        self,
        weights: Mapping[PairKey, float],
        value: Callable[[Codes], FloatArray],
        groups: IntArray | None = None,
    ) -> PairEstimate:
        """Estimate the mean of a run: the sum of weight times value over its pairs.

        `groups` int[T] number the groups of topics, where there are some. Raises NoEstimateError
        where more than 5 % of the weight is on pairs that nobody drew from, and where fewer than
        thirty pairs of the run were drawn, unless all were.
        """
        inside = {pair: weight for pair, weight in weights.items() if pair in self.places}
        known = {pair: weight for pair, weight in weights.items() if pair in self.known}
        total = sum(weights.values())
        uncovered = total - sum(inside.values()) - sum(known.values())
        if uncovered > MOST_UNCOVERED * total:
            share = f"{uncovered / total:.0%} of its weight is on pairs outside of the sample"
            raise NoEstimateError(share)
        labels = sum(self.codes[self.places[pair]] != UNJUDGED for pair in inside)
        if labels < min(FEWEST_LABELS, len(inside)):
            raise NoEstimateError(f"{labels} labels of its pairs, and {FEWEST_LABELS} are needed")
        correction = self._correct(inside, known, value)
        here, topics = correction.by_labels, correction.over_topics(groups)
        over_topics = float(topics.margin[0])
        return PairEstimate(
            float(here.value[0]),
            float(here.margin[0]),
            None if np.isnan(over_topics) else over_topics,
        )

    def _correct(
        self,
        inside: Mapping[PairKey, float],
        known: Mapping[PairKey, float],
        value: Callable[[Codes], FloatArray],
    ) -> Correction:
        """Put the pairs that were judged before into a stratum of their own, judged in full."""
        size, place_of = len(self.places), {t.decode(): n for n, t in enumerate(self.frame.topics)}
        own = [(pair, weight) for pair, weight in known.items() if pair[0] in place_of]
        columns = [*(self.places[pair] for pair in inside), *range(size, size + len(own))]
        each = [*inside.values(), *(weight for _, weight in own)]
        row = np.zeros(len(columns), np.int64)
        matrix = scipy.sparse.csr_array((each, (row, columns)), (1, size + len(own)))
        codes = np.array([*self.codes, *(self.known[pair] for pair, _ in own)], np.uint8)
        last = int(self.stratum.max(initial=-1)) + 1
        sampled = np.flatnonzero(codes != UNJUDGED)
        return Correction.of(
            matrix,
            np.zeros(len(codes)),
            np.array([*self.frame.topic, *(place_of[topic] for (topic, _), _ in own)], np.int64),
            np.array([*self.stratum, *[last] * len(own)], np.int64),
            sampled,
            value(codes[sampled]),
            topics=len(self.frame.topics),
            slope=0.0,
        )
