"""The cumulated gain of a ranking, compared with the best order of its documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, AnyStr

import numpy as np
from numpy.typing import NDArray

from evaluation.answers.any_measure import parse_measure
from evaluation.measures.gains import GainScale
from leaderboard.display.csv_tables import CsvTable
from leaderboard.models import Track

CUTOFFS = (10, 20, 100)

# A part with at least this share of the loss counts as its cause.
MAJORITY_SHARE = 0.8
# Losses below this are rounding.
ROUNDING_ERROR = 1e-9

GAIN_HEADS = ("dcg", "dcg_reordered", "dcg_ideal")

Curve = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GainCurves:
    """DCG after each of the first `cutoff` ranks, float64[cutoff] each.

    `reordered` is the best order of all documents that the run retrieves, `ideal` that of all
    judged ones.  So the loss has two parts: the order, and the documents not retrieved.
    """

    cutoff: int
    own: Curve
    reordered: Curve
    ideal: Curve

    @property
    def table(self) -> CsvTable:
        """The gains by rank, also where the run retrieves no document any more."""
        curves = (curve.tolist() for curve in (self.own, self.reordered, self.ideal))
        ranks = range(1, self.cutoff + 1)
        return CsvTable(["rank", *GAIN_HEADS], list(zip(ranks, *curves, strict=True)))

    @property
    def ndcg(self) -> float:
        return float(self.own[-1] / self.ideal[-1])

    @property
    def lost_by_ranking(self) -> float:
        """The loss by the order, as a share of the ideal like nDCG."""
        return float((self.reordered[-1] - self.own[-1]) / self.ideal[-1])

    @property
    def lost_by_retrieval(self) -> float:
        return float((self.ideal[-1] - self.reordered[-1]) / self.ideal[-1])

    @property
    def lost_by(self) -> str:
        """The cause of most of the loss: `ranking`, `retrieval`, `both` or `nothing`."""
        parts = {"ranking": self.lost_by_ranking, "retrieval": self.lost_by_retrieval}
        lost = sum(parts.values())
        if lost < ROUNDING_ERROR:
            return "nothing"
        return next((part for part in parts if parts[part] >= MAJORITY_SHARE * lost), "both")


def build_gain_curves(
    scale: GainScale, grades: Mapping[AnyStr, int], docnos: Sequence[AnyStr], cutoff: int
) -> GainCurves | None:
    """Build the gain curves of a ranking; None if the topic has no gain."""
    judged = np.array(list(grades.values()), dtype=np.int32)
    gains = dict(zip(grades, np.where(judged < 0, 0.0, scale.gain_of(judged)), strict=True))
    own = np.array([gains.get(docno, 0.0) for docno in docnos], dtype=np.float64)
    ideal = np.sort(np.array(list(gains.values()), dtype=np.float64))[::-1]
    if not ideal.any():
        return None
    return GainCurves(
        cutoff=cutoff,
        own=_cumulate(own, scale, cutoff),
        reordered=_cumulate(np.sort(own)[::-1], scale, cutoff),
        ideal=_cumulate(ideal, scale, cutoff),
    )


def _cumulate(gains: Curve, scale: GainScale, cutoff: int) -> Curve:
    first = np.zeros(cutoff)
    first[: len(gains)] = gains[:cutoff]
    return np.cumsum(first / scale.discount_at(np.arange(1, cutoff + 1)))


def find_gain_scale(track: Track) -> GainScale:
    """Return the gain scale of the track's own measures, or the default one."""
    for text in track.measures:
        measure = parse_measure(text)
        if measure.definition.name in ("nDCG", "DCG"):
            given: dict[str, Any] = dict(measure.parameters)
            return GainScale(given["gain"], given["gains"], given["discount"], given["base"])
    return GainScale()
