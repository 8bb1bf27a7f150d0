"""Which depth of pool would have been enough: boards by the judgments of shallower pools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.agreement import kendall_tau_b, tau_ap
from evaluation.pooling.pools import gathered, is_judged
from evaluation.pooling.reusability import Rescore
from evaluation.ragged import FloatArray
from evaluation.reading.judging.qrels import Qrels
from evaluation.reading.runs.reader import Run


@dataclass(frozen=True)
class PoolDepth:
    """The board of a pool of one depth, beside that of all judgments.

    `documents` are in the pool, `judged` of them have a grade, `relevant` are relevant. `scores`
    is float64[runs]. `tau` is Kendall's tau_b with the board of all judgments, `tau_ap` with that
    board as the reference; None where undefined.
    """

    depth: int
    documents: int
    judged: int
    relevant: int
    scores: FloatArray
    tau: float | None
    tau_ap: float | None

    def hours(self, seconds: float) -> float:
        """The hours to judge the whole pool at a speed of `seconds` per document."""
        return self.documents * seconds / 3600


def compare_depths(
    qrels: Qrels,
    runs: Sequence[Run],
    depths: Sequence[int],
    rescore: Rescore,
    rel: int = 1,
    direction: int = 1,
) -> list[PoolDepth]:
    """Score all runs again on the judgments of a depth pool of each depth, ascending.

    `rescore` scores runs, by number, with judgments; it must keep the topics and the top grade of
    `qrels`. Only topics of `qrels` are pooled.
    """
    everyone = range(len(runs))
    full = rescore(qrels, everyone)
    found = gathered(runs, max(depths), qrels.grades)
    best = {
        topic: {docno: min(place.rank for place in places) for docno, places in documents.items()}
        for topic, documents in found.items()
    }
    boards = []
    for depth in sorted(set(depths)):
        pooled = {t: {d for d, rank in ranks.items() if rank <= depth} for t, ranks in best.items()}
        grades = {
            topic: {docno: grade for docno, grade in graded.items() if docno in pooled[topic]}
            for topic, graded in qrels.grades.items()
        }
        scores = rescore(replace(qrels, grades=grades), everyone)
        boards.append(
            PoolDepth(
                depth=depth,
                documents=sum(map(len, pooled.values())),
                judged=sum(is_judged(grades, topic, d) for topic in grades for d in grades[topic]),
                relevant=sum(grade >= rel for g in grades.values() for grade in g.values()),
                scores=scores,
                tau=kendall_tau_b(scores, full),
                tau_ap=tau_ap(direction * np.asarray(scores), direction * full),
            )
        )
    return boards
