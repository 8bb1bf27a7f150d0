"""Which reported systems can be told apart: tests of all pairs with collections as the units.

No scores by topic are reported, so nothing is known of chance within a collection. What can be
asked is whether the order would be the same on other collections of this kind. What ranks is
tested: the share of the other systems that a system is ahead of on each collection, of which its
Borda points are the sum.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np

from evaluation.complete_cells import CompletePart, points_on_each
from evaluation.ragged import FloatArray
from evaluation.significance import compare_all_pairs
from leaderboard.collections.reported_scores import unpack_table
from leaderboard.models import Calculation, ReportedScores
from leaderboard.models.jobs import Progress, Publish

# Systems and cells up to which a request makes the tests itself.
IMMEDIATE_SYSTEMS, IMMEDIATE_CELLS = 20, 2_000
# Half of the range of a share.
HALF_RANGE = 0.5
# Changes with what is computed.
LAYOUT = 1


@dataclass(frozen=True)
class ReportedRanks:
    """The possible ranks of the systems of a part, and how many neighbours differ.

    Without enough collections for a verdict every rank is possible, and `decides` is False.
    """

    low: list[int]
    high: list[int]
    # Of the systems in the order of their points, how many differ from the next.
    told_apart: int
    decides: bool

    @property
    def intervals(self) -> list[tuple[int, int]]:
        """The lowest and highest rank of each system; none without a verdict."""
        return list(zip(self.low, self.high, strict=True)) if self.decides else []


def rank_part(scores: FloatArray) -> ReportedRanks:
    """Return the ranks that systems can have, from float64[systems, collections]."""
    points = points_on_each(scores)
    pairs = compare_all_pairs(points / max(len(scores) - 1, 1), half_range=HALF_RANGE)
    order = np.argsort(-points.sum(axis=1), kind="stable")
    apart = pairs.better[order[:-1], order[1:]]
    return ReportedRanks(
        low=pairs.rank_low.tolist(),
        high=pairs.rank_high.tolist(),
        told_apart=int(np.count_nonzero(apart)),
        decides=pairs.critical is not None,
    )


def request_of(version: ReportedScores, part: CompletePart) -> dict[str, Any]:
    """Return what a job is asked for."""
    return {
        "version": version.pk,
        "systems": part.systems.tolist(),
        "collections": part.collections.tolist(),
        "layout": LAYOUT,
    }


def key_of(request: dict[str, Any]) -> str:
    return sha256(repr(sorted(request.items())).encode()).hexdigest()


def load_ranks(
    version: ReportedScores, part: CompletePart, scores: FloatArray
) -> ReportedRanks | None:
    """Return the ranks, stored or made now; None if a job has yet to make them."""
    if len(part.systems) <= IMMEDIATE_SYSTEMS and part.num_cells <= IMMEDIATE_CELLS:
        return rank_part(scores)
    kept = Calculation.objects.of(Calculation.Kind.REPORTED, version.benchmark).made()
    found = kept.filter(key=key_of(request_of(version, part))).first()
    return None if found is None else ReportedRanks(**found.results)


def compute_reported_ranks(asked: Calculation, progress: Progress) -> Publish:
    """Test the systems of a part; return the function that stores their ranks."""
    version = ReportedScores.objects.filter(pk=asked.request["version"]).first()
    if version is None:
        return lambda: None
    places = (np.array(asked.request[name]) for name in ("systems", "collections"))
    ranks = rank_part(CompletePart(*places).of(unpack_table(version).scores))
    return partial(asked.keep, asdict(ranks))
