"""The gate of a new run in words and tables: the answer, what moved, and what is not judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.comparison import Records
from evaluation.measures import Asked, Measure, parse_measure
from evaluation.phrases import counted
from evaluation.ragged import FloatArray, IntArray
from evaluation.significance import Gate, GateOutcome, decide_gate, scale_of
from evaluation.significance.differences import EQUAL
from evaluation.significance.scales import Unit
from evaluation.significance.units import FEWEST_TOPICS

# How many of the topics that moved most are named, in each direction.
MOST_MOVED = 5
FIRST = 10
JUDGED = parse_measure(f"Judged@{FIRST}")


@dataclass(frozen=True)
class MovedTopic:
    """A topic on which the new run and the reference differ, the scores of both."""

    topic: str
    reference: float
    new: float
    difference: float


@dataclass(frozen=True)
class GateReport:
    """What the gate says of a new run by one measure.

    `difference` is new minus reference in the unit of the measure, `low` and `high` are its
    bounds: the one on the side of a loss has the confidence with which a run passes, the other
    that with which it is worse. `moved` has the topics that lost most, then those that gained
    most. `unjudged` is the mean number of unjudged documents in the first ten of the new run, and
    `unjudged_reference` that of the reference.
    """

    measure: str
    run: str
    reference: str
    gate: Gate
    outcome: GateOutcome
    difference: float | None
    low: float | None
    high: float | None
    unit: Unit
    moved: tuple[MovedTopic, ...]
    unjudged: float
    unjudged_reference: float

    @property
    def answer(self) -> str:
        return self.outcome.answer

    @property
    def sentences(self) -> list[str]:
        """Why the gate answers so, for a reader who does not know it."""
        found, margin = self.outcome, f"{self.gate.margin:g}"
        said = [f"{counted(found.topics, 'topic')}; they differ on {found.changed:,}."]
        if found.changed == 0 and found.topics:
            said = [f"No topic of {found.topics:,} differs."]
        if found.answer == "worse":
            said.append(f"{self.run} is worse than {self.reference}.")
        elif found.is_within:
            said.append(f"{self.run} is worse than {self.reference}, but within the margin.")
        elif found.answer == "pass":
            said.append(f"{self.run} does not lose {margin} or more.")
        elif found.low is None and found.topics < FEWEST_TOPICS:
            said.append("An answer needs six topics.")
        elif found.low is None and found.needed is None:
            said.append("Too little is known for an answer.")
        elif not found.helps:
            said.append("More topics would not make it pass.")
        elif found.needed is not None:
            what = "a run that changes nothing" if found.changed == 0 else "an equal run"
            said.append(f"{counted(found.needed, 'topic')} are needed to let {what} pass.")
        if found.is_notice:
            said.append("Notice: it looks worse, as one build in forty does by luck.")
        return said


@dataclass(frozen=True, eq=False)
class ScoredPair:
    """A reference and a new run by one measure, on the same topics in the order of their numbers.

    `scores` is float64[2, T], the reference first; `unjudged` the mean number of unjudged
    documents in the first ten of each.
    """

    measure: Measure
    name: str
    tags: tuple[str, str]
    topics: Sequence[bytes]
    scores: FloatArray
    unjudged: tuple[float, float]
    groups: IntArray | None = None

    @classmethod
    def of(cls, asked: Asked, records: Records) -> ScoredPair:
        """The first two runs of the records."""
        judged = 1 - records.scores(JUDGED)
        unjudged = [FIRST * float(np.nanmean(row)) if row.size else 0.0 for row in judged]
        return cls(
            measure=asked.measure,
            name=asked.name,
            tags=(records.tags[0], records.tags[1]),
            topics=records.topics,
            scores=records.scores(asked.measure)[:2],
            unjudged=(unjudged[0], unjudged[1]),
            groups=records.groups,
        )


def check_gate(pair: ScoredPair, gate: Gate) -> GateReport:
    """Hold a new run against a reference by one measure.

    The margin is in the unit of the measure: for a geometric mean a share r, so that a ratio of
    1 / (1 + r) is the largest loss accepted.
    """
    measure, scale = pair.measure, scale_of(pair.measure)
    reference, new = pair.scores
    defined = int(np.count_nonzero(~np.isnan(new - reference)))
    tested = replace(gate, margin=scale.tested_region(gate.margin, max(defined, 1)))
    gains = measure.direction * (scale.tested(new) - scale.tested(reference))
    outcome = decide_gate(gains, tested, scale.half_range, _is_binary(pair.scores), pair.groups)

    def printed(gain: float | None) -> float | None:
        if gain is None:
            return None
        return float(scale.printed(np.array([measure.direction * gain]), outcome.topics)[0])

    low, high = printed(outcome.low), printed(outcome.high)
    if measure.direction < 0:
        low, high = high, low
    return GateReport(
        measure=pair.name,
        run=pair.tags[1],
        reference=pair.tags[0],
        gate=gate,
        outcome=outcome,
        difference=printed(outcome.gain),
        low=low,
        high=high,
        unit=scale.unit,
        moved=tuple(_find_moved(pair, gains)),
        unjudged=pair.unjudged[1],
        unjudged_reference=pair.unjudged[0],
    )


def _is_binary(scores: FloatArray) -> bool:
    return bool(np.isin(scores[~np.isnan(scores)], (0, 1)).all())


def _find_moved(pair: ScoredPair, gains: FloatArray) -> list[MovedTopic]:
    """The topics that lost most, then those that gained most; ties in the order of topics."""
    order = np.argsort(gains, kind="stable").tolist()
    lost = [place for place in order if gains[place] < -EQUAL][:MOST_MOVED]
    gained = [place for place in order[::-1] if gains[place] > EQUAL][:MOST_MOVED]
    reference, new = pair.scores.tolist()
    return [
        MovedTopic(
            topic=pair.topics[place].decode("utf-8", "surrogateescape"),
            reference=reference[place],
            new=new[place],
            difference=new[place] - reference[place],
        )
        for place in [*lost, *gained]
    ]
