"""How fast differences are tested, beside loops over scipy.

    python -m benchmarks.significance

The loops are run over a part of the work and what they take is multiplied; the rest of their
hours is known.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from scipy import stats

from benchmarks import tables
from benchmarks.tables import seconds, times
from evaluation.ragged import FloatArray
from evaluation.significance import (
    Collected,
    all_paired_t,
    compare_all_pairs,
    compare_over_collections,
    compare_with_baseline,
    compute_lead,
    compute_leads,
    decide_pairs_over_collections,
    sign_flip,
    sign_flips,
)
from evaluation.significance.pairwise import PAIR_DRAWS

DRAWS = 100_000
# Of scipy's loops so much is run: pairs, and draws.
PAIRS = 200
SOME_DRAWS = 1_000


def main() -> None:
    print(tables.machine())
    tables.heading("Tests of differences")
    head = ("what", "loop over scipy", "of which run", "evaluation.significance", "faster")
    rows = (all_pairs(500, 7000), one_run(50), one_run(250), one_run(7000), many_runs(200, 250))
    tables.table(head, rows)
    family(200, 250)
    for runs, topics in ((500, 50), (100, 7000)):
        every_pair(runs, topics)
    tables.heading("Benchmarks")
    tables.table(("what", "systems", "collections", "topics of each", "processor"), benchmarks())


def all_pairs(runs: int, topics: int) -> tuple[str, ...]:
    scores = scores_of(runs, topics)
    p = all_paired_t(scores)
    first = [stats.ttest_rel(scores[0], scores[other]).pvalue for other in range(1, PAIRS + 1)]
    assert np.allclose(p[0, 1 : PAIRS + 1], first, rtol=1e-9, atol=1e-12)
    pairs = runs * (runs - 1) // 2
    loop = least(
        lambda: [stats.ttest_rel(scores[0], scores[other]) for other in range(1, PAIRS + 1)]
    )
    own = least(lambda: all_paired_t(scores))
    what = f"paired t of all pairs of {runs} runs, {topics:,} topics"
    return row(what, loop * pairs / PAIRS, f"{PAIRS} of {pairs:,} pairs", own)


def one_run(topics: int) -> tuple[str, ...]:
    difference = scores_of(1, topics)[0] - 0.4
    loop = scipy_flips(difference)
    own = least(lambda: sign_flip(difference, DRAWS))
    what = f"sign flips of one run, {DRAWS:,} draws, {topics:,} topics"
    return row(what, loop, f"{SOME_DRAWS:,} draws", own)


def many_runs(runs: int, topics: int) -> tuple[str, ...]:
    differences = scores_of(runs, topics) - 0.4
    loop = runs * scipy_flips(differences[0])
    own = least(lambda: sign_flips(differences, DRAWS))
    what = f"sign flips of {runs} runs, {DRAWS:,} draws, {topics:,} topics"
    return row(what, loop, f"one run, {SOME_DRAWS:,} draws", own)


def family(runs: int, topics: int) -> None:
    scores = scores_of(runs + 1, topics)
    start = time.process_time()
    compare_with_baseline(scores[1:], scores[0])
    print(
        f"\nA board of {runs} runs and {topics} topics against its baseline, with simultaneous"
        f" intervals and effect sizes: {seconds(time.process_time() - start)} of processor."
    )


def every_pair(runs: int, topics: int) -> None:
    """Half of the runs are near-duplicates of one, as the variants of a team are."""
    scores = scores_of(runs, topics)
    noise = np.random.default_rng(runs).normal(0, 0.01, (runs // 2, topics))
    scores[: runs // 2] = scores[0] + noise
    start = time.process_time()
    compare_all_pairs(scores)
    print(
        f"All pairs of {runs} runs and {topics:,} topics by the studentised maximum,"
        f" {PAIR_DRAWS:,} draws: {seconds(time.process_time() - start)} of processor."
    )


def benchmarks() -> Iterator[tuple[str, ...]]:
    """What a benchmark of many collections takes."""
    small, large = benchmark_of(100, 20, 50), benchmark_of(501, 100, 50)
    pairs = [(system, 0) for system in range(1, 501)]
    unknown = [None] * len(pairs)
    rows: tuple[tuple[str, list[Collected], Callable[[], object]], ...] = (
        ("all pairs", small, lambda: decide_pairs_over_collections(small)),
        ("against the baseline", large, lambda: compare_over_collections(large)),
        ("leads over the baseline", large, lambda: compute_leads(large, pairs, unknown)),
        ("one lead", large, lambda: compute_lead(large, 1, 0)),
    )
    for what, benchmark, work in rows:
        start = time.process_time()
        work()
        taken = seconds(time.process_time() - start)
        systems, topics = benchmark[0].scores.shape
        yield f"{what}, {PAIR_DRAWS:,} draws", str(systems), str(len(benchmark)), str(topics), taken


def benchmark_of(systems: int, collections: int, topics: int) -> list[Collected]:
    """Systems of unequal skill on topics of unequal difficulty; half are variants of the first."""
    draw = np.random.default_rng([systems, collections, topics])
    skill = draw.normal(0, 0.3, systems)
    benchmark = []
    for place in range(collections):
        difficulty, noise = draw.normal(0, 1.2, topics), draw.normal(0, 0.7, (systems, topics))
        noise[1 : systems // 2] = noise[0] + noise[1 : systems // 2] / 10
        scores = 1 / (1 + np.exp(difficulty - skill[:, np.newaxis] - noise))
        benchmark.append(Collected(scores.round(4), [(place, topic) for topic in range(topics)]))
    return benchmark


def scores_of(runs: int, topics: int) -> FloatArray:
    return np.random.default_rng([runs, topics]).beta(2, 3, (runs, topics))


def scipy_flips(difference: FloatArray) -> float:
    """What all draws take, told from some of them."""

    def flip() -> object:
        return stats.permutation_test(
            (difference,),
            np.mean,
            permutation_type="samples",
            n_resamples=SOME_DRAWS,
            vectorized=True,
            axis=0,
            batch=SOME_DRAWS,
            rng=np.random.default_rng(1),
        )

    return least(flip) * DRAWS / SOME_DRAWS


def least(work: Callable[[], object], rounds: int = 3) -> float:
    """The least seconds of so many rounds: what disturbs only ever adds."""
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def row(what: str, loop: float, part: str, own: float) -> tuple[str, ...]:
    return what, seconds(loop), part, seconds(own), times(loop / own)


if __name__ == "__main__":
    main()
