"""Holes: retrieved documents that are unjudged, and the verdicts that depend on them.

Grade -1 counts as unjudged. `worth` is what a document of the top grade adds to a measure
at each rank, computed with the formula of the measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.conventions import POOLED
from evaluation.judging import DEPTH, JudgedRun, Judgments, judge
from evaluation.measures import Measure, MeasureError, parse_measure
from evaluation.ragged import FloatArray, IntArray
from evaluation.reading.runs.reader import Run

ADDITIVE = ("P", "CG", "DCG", "RBP")


@dataclass(frozen=True)
class Holes:
    """The holes of a run.

    judged_at: for each cutoff k the mean over topics of Judged@k.
    unjudged: int64[T], the number of holes.
    """

    judged_at: dict[int, float]
    unjudged: IntArray


def holes(run: JudgedRun, cutoffs: Sequence[int] = (5, 10, 20, 100)) -> Holes:
    """Count the holes of a run.

    Judged@k = 1 - (unjudged in the first k) / k; ranks that a short ranking lacks are not
    unjudged.

    >>> from evaluation.measures import example_run
    >>> found = holes(example_run(), cutoffs=(5,))
    >>> found.judged_at, found.unjudged.tolist()
    ({5: 0.6}, [2])
    """
    measures = {k: parse_measure(f"Judged@{k}") for k in cutoffs}
    return Holes(
        judged_at={k: m.aggregate(m.scores(run)) for k, m in measures.items()},
        unjudged=run.retrieved - run.rows.count(run.judged),
    )


@dataclass(frozen=True, slots=True)
class Swing:
    """How much one unjudged document can change the difference of a topic, run minus other."""

    topic: bytes
    docno: bytes
    swing: float


@dataclass(frozen=True)
class PairBounds:
    """Bounds of the difference of two runs over all missing judgments.

    difference, low, high: float64[T], as scored and at the extremes.
    swings: the unjudged documents that matter, largest first.
    needed, among: how many of the documents that favour the run behind, judged at the top grade,
    make a tie or a reversal; None if all are not enough, or no run is ahead.
    """

    difference: FloatArray
    low: FloatArray
    high: FloatArray
    swings: tuple[Swing, ...]
    needed: int | None
    among: int

    @property
    def robust(self) -> bool:
        """Whether the same run is ahead in the mean for all possible missing judgments."""
        return bool(self.low.sum() > 0 or self.high.sum() < 0)


def worth(measure: Measure, top_grade: int, depth: int, grade: int | None = None) -> FloatArray:
    """float64[depth]: what a document of a grade adds to an additive measure at each rank.

    The grade is the highest of the scale by default. MeasureError for a measure that is not a sum
    over documents by rank and grade.

    >>> worth(parse_measure("P@2"), top_grade=1, depth=3).tolist()
    [0.5, 0.5, 0.0]
    """
    if measure.name not in ADDITIVE or measure.parameters["holes"] == "condensed":
        raise MeasureError(f"{measure} is not a sum over documents; {', '.join(ADDITIVE)} are")
    # One topic per rank, with a single document at that rank.
    numbers = np.arange(depth, dtype=np.int32)
    given = np.full(depth, top_grade if grade is None else grade, dtype=np.int32)
    judgments = Judgments((b"",) * depth, [{}] * depth, top_grade, numbers, given)
    retrieved = np.arange(1, depth + 1)
    return measure.scores(JudgedRun(numbers, numbers + 1, given, retrieved, judgments))


def compare_with_holes(
    measure: Measure, run: Run, other: Run, judgments: Judgments, depth: int = DEPTH
) -> PairBounds:
    """Bound the difference of two runs on P@k, CG@k, DCG or RBP over all missing judgments.

    A document that both runs retrieve counts with the difference of its two worths. So these
    bounds are narrower than the bounds of the two runs compared. For RBP the ranks after the
    end of a ranking add up to p^n. Source: Moffat and Zobel, TOIS 2008.
    """
    one, two = judge(run, judgments, depth), judge(other, judgments, depth)
    difference = measure.scores(one) - measure.scores(two)
    gains = worth(measure, judgments.top_grade, depth)
    swings = _swings(run, other, judgments, gains)
    low, high = difference.copy(), difference.copy()
    place = {topic: number for number, topic in enumerate(judgments.topics)}
    for hole in swings:
        (high if hole.swing > 0 else low)[place[hole.topic]] += hole.swing
    if measure.name == "RBP":
        p = float(measure.parameters["p"])  # type: ignore[arg-type]
        low, high = low - p**two.retrieved, high + p**one.retrieved
    needed, among = _needed(float(difference.sum()), swings)
    return PairBounds(difference, low, high, swings, needed, among)


def _swings(run: Run, other: Run, judgments: Judgments, gains: FloatArray) -> tuple[Swing, ...]:
    found: list[Swing] = []
    for topic, graded in zip(judgments.topics, judgments.grades, strict=True):
        sizes: dict[bytes, float] = {}
        for ranked, sign in ((run, 1.0), (other, -1.0)):
            for docno, gain in _unjudged(ranked, topic, graded, gains):
                sizes[docno] = sizes.get(docno, 0.0) + sign * gain
        found += [Swing(topic, docno, size) for docno, size in sizes.items() if size]
    return tuple(sorted(found, key=lambda hole: (-abs(hole.swing), hole.topic, hole.docno)))


def _unjudged(
    run: Run, topic: bytes, graded: dict[bytes, int], gains: FloatArray
) -> list[tuple[bytes, float]]:
    """The unjudged documents of a ranking with the score that each could add."""
    docnos = run.rankings[topic].docnos if topic in run.rankings else []
    pairs = zip(docnos, gains.tolist(), strict=False)
    return [(docno, gain) for docno, gain in pairs if gain and graded.get(docno, POOLED) == POOLED]


def _needed(lead: float, swings: Sequence[Swing]) -> tuple[int | None, int]:
    """Count the documents against the run ahead that bring the total to 0 or beyond."""
    against = [abs(hole.swing) for hole in swings if hole.swing * lead < 0]
    if not lead:
        return None, 0
    enough = np.flatnonzero(np.cumsum(against) >= abs(lead) - 1e-12)
    return (int(enough[0]) + 1 if len(enough) else None), len(against)
