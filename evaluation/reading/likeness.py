"""How alike two runs are: is this the run that the team handed in before?"""

from __future__ import annotations

from evaluation.agreement import rbo
from evaluation.reading.runs import Run

COMPARED = 100
NEARLY = 0.999


def nearly_equal(run: Run, other: Run, depth: int = COMPARED) -> float:
    """Mean rank-biased overlap (p = 0.9) of the first documents, over the topics of both runs.

    In [0, 1]; 1 for the same rankings, above `NEARLY` for runs that hardly differ. A topic that
    only one of them answers counts 0. Scores do not matter (Webber, Moffat and Zobel, TOIS 2010).

    >>> from io import BytesIO
    >>> from evaluation.reading.runs import read_run
    >>> one = read_run(BytesIO(b"7 Q0 d1 1 9 a\\n7 Q0 d2 2 8 a\\n"))
    >>> other = read_run(BytesIO(b"7 Q0 d1 1 2 b\\n7 Q0 d2 2 1 b\\n8 Q0 d1 1 9 b\\n"))
    >>> nearly_equal(one, one), nearly_equal(one, other)
    (1.0, 0.5)
    """
    topics = run.rankings.keys() | other.rankings.keys()
    overlaps = [rbo(_first(run, topic, depth), _first(other, topic, depth)) for topic in topics]
    return sum(overlaps) / len(overlaps) if overlaps else 1.0


def _first(run: Run, topic: bytes, depth: int) -> list[bytes]:
    ranking = run.rankings.get(topic)
    return [] if ranking is None else ranking.docnos[:depth]
