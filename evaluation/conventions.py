"""The two sets of conventions under which a run can be scored.

They differ where versions of trec_eval differ: in the precision of scores and in the rounding of
recall levels. The name of the convention is stored with every score.

    >>> CONVENTIONS["trec_eval-9"].documents_at(0.5, np.array([1, 2, 3])).tolist()
    [1, 1, 2]
    >>> HOUSE.documents_at(0.4, np.array([1, 2, 3])).tolist()
    [0, 1, 1]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

SCORING_VERSION = 2
"""Increased only when a change can alter the value of a score."""

POOLED = -1
"""The grade of a document in the pool that is not judged; lower ones, such as -2, mean junk."""


@dataclass(frozen=True, slots=True)
class Convention:
    """A named set of conventions.

    `float32_scores`: scores are compared as 32-bit floats, as trec_eval up to 9.0.8 does.
    `recall_points`: the recall level r of R relevant documents is floor(r R + 0.5) documents
    (`round`) or floor(r R + 0.9) (`floor`).
    """

    name: str
    float32_scores: bool
    recall_points: Literal["round", "floor"]

    def documents_at(self, level: float, relevant: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return for every topic the number of relevant documents at the recall level."""
        added = 0.5 if self.recall_points == "round" else 0.9
        documents: npt.NDArray[np.float64] = np.floor(level * relevant + added)
        return documents.astype(np.int64)


HOUSE = Convention("house", float32_scores=False, recall_points="round")
TREC_EVAL_9 = Convention("trec_eval-9", float32_scores=True, recall_points="floor")
CONVENTIONS = {convention.name: convention for convention in (HOUSE, TREC_EVAL_9)}
