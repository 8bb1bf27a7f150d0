"""What a ranking gains rank by rank, and what its documents, or all judged ones, could gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, AnyStr

import numpy as np
from numpy.typing import NDArray

from evaluation.measures import parse_measure
from evaluation.measures.gains import GainScale
from leaderboard.models import Track

CUTOFFS = (10, 20, 100)

# With so large a share of what is lost, one of the two parts has lost it.
MAJORITY_SHARE = 0.8
# Losses below this are rounding.
ROUNDING_ERROR = 1e-9

Curve = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GainCurves:
    """DCG after each of the first `cutoff` ranks, float64[cutoff] each.

    `reordered` is the best order of the documents that the run retrieves anywhere, `ideal` that
    of all judged ones. So what the run lacks is in two parts: what a better order would give, and
    what it did not retrieve.
    """

    cutoff: int
    own: Curve
    reordered: Curve
    ideal: Curve

    @property
    def ndcg(self) -> float:
        return float(self.own[-1] / self.ideal[-1])

    @property
    def lost_by_ranking(self) -> float:
        """As a share of the ideal, like nDCG."""
        return float((self.reordered[-1] - self.own[-1]) / self.ideal[-1])

    @property
    def lost_by_retrieval(self) -> float:
        return float((self.ideal[-1] - self.reordered[-1]) / self.ideal[-1])

    @property
    def lost_by(self) -> str:
        """Which part lost most of it: `ranking`, `retrieval` or `both`; `nothing` is lost."""
        parts = {"ranking": self.lost_by_ranking, "retrieval": self.lost_by_retrieval}
        lost = sum(parts.values())
        if lost < ROUNDING_ERROR:
            return "nothing"
        return next((part for part in parts if parts[part] >= MAJORITY_SHARE * lost), "both")


def build_gain_curves(
    scale: GainScale, grades: Mapping[AnyStr, int], docnos: Sequence[AnyStr], cutoff: int
) -> GainCurves | None:
    """None where the topic has nothing to gain."""
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
    """How the track's own measures of gain count; grades as they are where it has none."""
    for text in track.measures:
        measure = parse_measure(text)
        if measure.definition.name in ("nDCG", "DCG"):
            given: dict[str, Any] = dict(measure.parameters)
            return GainScale(given["gain"], given["gains"], given["discount"], given["base"])
    return GainScale()
