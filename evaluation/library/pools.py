"""The documents to judge, from the tops of runs."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.library.runs import Runs, read_runs
from evaluation.pooling import DepthStratum, Method, Pool, pool_runs
from evaluation.reading.objects import QrelsSource, qrels_from


def pool(
    runs: Runs,
    depth: int = 100,
    *,
    method: Method = "depth",
    size: int | None = None,
    strata: Sequence[tuple[int, float]] = (),
    seed: int = 0,
    without: QrelsSource | None = None,
    lenient: bool = False,
) -> Pool:
    """Pool the documents to judge, as the command `pool` does.

    `runs` is a list, or a mapping from names to runs. The methods are "depth", the first `depth`
    documents of every run; "take", "rrf" and "rbp", `size` documents per topic; "strata", a
    sample: (10, 1), (100, 0.2) are all documents with a best rank up to 10 and a fifth of those
    up to 100. Documents that have a grade in `without` are left out.

    Raises `Refused` for runs that cannot be used, ValueError for a method without what it needs.

    >>> ada, ben = {7: {"d1": 9, "d2": 8}}, {7: {"d3": 5, "d1": 4}}
    >>> found = pool({"ada": ada, "ben": ben}, 1, without={7: {"d3": 0}})
    >>> print(found, list(found.lines()))
    depth@1: 1 document of 1 topic (1 to 1 per topic, median 1) [b'7 d1\\n']
    """
    read = read_runs(runs, lenient=lenient)
    drawn = [DepthStratum(*each) for each in strata]
    found = pool_runs(read, method, depth, size, drawn, seed)
    return found if without is None else found.without(qrels_from(without, lenient=lenient).grades)
