"""The similarity of two runs, to find a run that a team submitted before."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from evaluation.agreement import rbo

NEARLY = 0.999


def likeness(
    one: Mapping[Hashable, Sequence[Hashable]],
    other: Mapping[Hashable, Sequence[Hashable]],
    at_least: float = 0.0,
) -> float | None:
    """Mean rank-biased overlap (p = 0.9) of the first documents, over the topics of both runs.

    In [0, 1]; 1 for the same rankings, above `NEARLY` for runs that hardly differ; None as soon as
    it is certain to be below `at_least`, for most pairs after a few topics. A topic that
    only one of them answers counts 0 (Webber, Moffat and Zobel, TOIS 2010).

    >>> likeness({"7": "ABC"}, {"7": "ABC"}), likeness({"7": "ABC"}, {"7": "ABC", "8": "A"})
    (1.0, 0.5)
    >>> likeness({"7": "ABC"}, {"7": "CBA"}, at_least=NEARLY)
    """
    topics = one.keys() | other.keys()
    bearable, lost = (1 - at_least) * len(topics), 0.0
    for topic in topics:
        first, second = one.get(topic, ()), other.get(topic, ())
        if first != second:
            lost += 1 - rbo(first, second)
            if lost > bearable:
                return None
    return 1 - lost / len(topics) if topics else 1.0
