"""How cost grows with size: seconds of the processor against size, and the exponent that fits them.

    python -m benchmarks.growth
    python -m benchmarks.growth depth judgments --quick
    python -m benchmarks.growth pages readers

An exponent of 1 is linear.  It is the slope of the logarithm of the seconds over that of the size,
by least squares over the largest sizes of a row, where fixed costs no longer decide.  Pages are
made anew for every view, with nothing remembered; those of readers are kept, as a site keeps them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO

import numpy as np

from benchmarks import tables
from benchmarks.generator import topics_of
from benchmarks.homes import own_home
from benchmarks.inputs import ROOT, Input
from benchmarks.reported import make_scene
from benchmarks.significance import benchmark_of
from benchmarks.tables import seconds
from evaluation import RunRules, judge, parse_measures, prepare, read_qrels, read_run
from evaluation.complete_cells import count_points, find_complete_part
from evaluation.significance import (
    compare_all_pairs,
    compare_over_collections,
    compare_with_baseline,
    decide_pairs_over_collections,
)

MEASURES = [
    asked.measure for text in ("nDCG@10", "AP", "R@100", "RR") for asked in parse_measures(text)
]
TOPICS, DEPTH, JUDGED = 50, 100, 50
# So many of the largest sizes decide an exponent.
FITTED = 3
# A size is tried again until it took this long, at most this often; the least counts.
LONG_ENOUGH, ROUNDS = 2.0, 3
# A size is left out once the one before took longer.
TOO_LONG = 60.0
HEAD = ("what grows", "size", "processor", "for each", "exponent so far")


@dataclass(frozen=True)
class Growth:
    """A size that grows: `prepare` makes of a size what is timed."""

    name: str
    what: str
    sizes: tuple[int, ...]
    prepare: Callable[[int], Callable[[], object]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [*dict.fromkeys(each.name for each in GROWTHS), *ON_A_SITE]
    parser.add_argument(
        "names", nargs="*", choices=[*names, []], metavar="NAME", help=", ".join(names)
    )
    parser.add_argument("--quick", action="store_true", help="without the largest sizes")
    options = parser.parse_args()
    wanted = options.names or names
    print(tables.machine(), flush=True)
    if chosen := [each for each in GROWTHS if each.name in wanted]:
        print_table("Where cost grows", chosen, options.quick)
    for name in filter(ON_A_SITE.__contains__, wanted):
        _measure_site(name, options.quick)


def print_table(heading: str, growths: Iterable[Growth], is_quick: bool) -> None:
    tables.heading(heading)
    tables.table(HEAD, (row for each in growths for row in measure(each, is_quick)))


def _measure_site(name: str, is_quick: bool) -> None:
    """In a process of its own, with a new site of its own."""
    words = [sys.executable, "-m", "benchmarks.page_growth", name, *["--quick"][: int(is_quick)]]
    with own_home() as variables:
        subprocess.run(words, cwd=ROOT, env={**os.environ, **variables}, check=True)


def measure(growth: Growth, is_quick: bool = False) -> Iterator[tuple[str, ...]]:
    """Yield a row for each size, with the exponent that fits the largest so far."""
    sizes = growth.sizes[: -len(growth.sizes) // 3] if is_quick else growth.sizes
    taken: list[float] = []
    for size in sizes:
        if taken and taken[-1] > TOO_LONG:
            yield f"{growth.name}: {growth.what}", f"{size:,}", tables.NOT_MEASURED, "", ""
            continue
        taken.append(least(growth.prepare(size)))
        fitted = exponent(sizes[: len(taken)], taken)
        yield (
            f"{growth.name}: {growth.what}",
            f"{size:,}",
            seconds(taken[-1]),
            seconds(taken[-1] / size),
            "" if fitted is None else f"{fitted:.2f}",
        )


def exponent(sizes: tuple[int, ...], taken: list[float]) -> float | None:
    """Fit the exponent of the largest sizes; None for fewer than two.

    >>> round(exponent((10, 100, 1000), [0.1, 0.2, 20.0]), 2), exponent((10,), [1.0])
    (1.15, None)
    """
    if len(taken) < 2:
        return None
    logs = np.log(np.array([sizes[-FITTED:], taken[-FITTED:]], dtype=float))
    slope, _ = np.polyfit(logs[0], logs[1], 1)
    return float(slope)


def least(work: Callable[[], object]) -> float:
    """Return the least seconds of the processor in a few rounds: what disturbs only ever adds."""
    taken: list[float] = []
    while len(taken) < ROUNDS and sum(taken) < LONG_ENOUGH:
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def input_of(topics: int, depth: int, judged: float = JUDGED) -> Input:
    return Input(f"{topics}x{depth}x{judged:g}", topics, depth, judged, 3, 1001, "six decimals")


def files_of(wanted: Input) -> tuple[bytes, bytes]:
    """Return a run and its judgments, as files are written."""
    pieces = list(topics_of(wanted))
    run, qrels = ("".join(part).encode() for part in zip(*pieces, strict=True))
    return run, qrels


def score(topics: int, depth: int, runs: int = 1) -> Callable[[], object]:
    """Read, judge and measure runs whose judgments are read already."""
    run, qrels = files_of(input_of(topics, depth))
    judgments = prepare(read_qrels(BytesIO(qrels)))

    def work() -> object:
        for _ in range(runs):
            judged = judge(read_run(BytesIO(run), RunRules(depth=depth)), judgments)
            values = [measure.scores(judged) for measure in MEASURES]
        return values

    return work


def read_judgments(lines: int) -> Callable[[], object]:
    """Read and prepare so many lines, a hundred of each topic."""
    grades = np.random.default_rng(lines).integers(0, 3, lines).tolist()
    text = "".join(
        f"{1001 + place // 100} 0 d{place * 7} {grade}\n" for place, grade in enumerate(grades)
    ).encode()
    return lambda: prepare(read_qrels(BytesIO(text)))


def scores_of(runs: int, topics: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.random.default_rng([runs, topics]).beta(2, 3, (runs, topics)).round(4)


def against_baseline(runs: int, topics: int = TOPICS) -> Callable[[], object]:
    scores = scores_of(runs + 1, topics)
    return lambda: compare_with_baseline(scores[1:], scores[0])


def all_pairs(runs: int, topics: int = TOPICS) -> Callable[[], object]:
    scores = scores_of(runs, topics)
    return lambda: compare_all_pairs(scores)


def collections_against_baseline(collections: int) -> Callable[[], object]:
    made = benchmark_of(50, collections, TOPICS)
    return lambda: compare_over_collections(made)


def collections_all_pairs(collections: int) -> Callable[[], object]:
    made = benchmark_of(50, collections, TOPICS)
    return lambda: decide_pairs_over_collections(made)


def rank_reported(collections: int) -> Callable[[], object]:
    scores = make_scene(700, collections).scores
    known = ~np.isnan(scores)
    return lambda: count_points(find_complete_part(known, "largest").of(scores))


GROWTHS = (
    Growth(
        "runs",
        f"read and score runs of {TOPICS} topics, {DEPTH} deep",
        (10, 30, 100, 300, 1_000),
        lambda runs: score(TOPICS, DEPTH, runs),
    ),
    Growth(
        "runs",
        f"compare with the baseline on {TOPICS} topics",
        (10, 100, 1_000, 5_000, 20_000),
        against_baseline,
    ),
    Growth(
        "runs",
        f"compare all pairs on {TOPICS} topics",
        (10, 30, 100, 300, 1_000),
        all_pairs,
    ),
    Growth(
        "topics",
        "read and score a run, 10 deep",
        (50, 500, 5_000, 20_000, 100_000),
        lambda topics: score(topics, 10),
    ),
    Growth(
        "topics",
        "compare 100 runs with the baseline",
        (50, 500, 5_000, 20_000, 100_000),
        lambda topics: against_baseline(100, topics),
    ),
    Growth(
        "depth",
        f"read and score a run of {TOPICS} topics",
        (10, 100, 1_000, 3_000, 10_000),
        lambda depth: score(TOPICS, depth),
    ),
    Growth(
        "judgments",
        "read and prepare them",
        (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
        read_judgments,
    ),
    Growth(
        "collections",
        f"50 systems against the baseline, {TOPICS} topics each",
        (1, 5, 20, 100, 500, 1_500),
        collections_against_baseline,
    ),
    Growth(
        "collections",
        f"all pairs of 50 systems, {TOPICS} topics each",
        (1, 5, 20, 100, 300),
        collections_all_pairs,
    ),
    Growth(
        "reported",
        "collections of 700 systems: the complete part and its points",
        (10, 50, 150, 500, 1_500),
        rank_reported,
    ),
)
# Those of `benchmarks.page_growth`, which want a site.
ON_A_SITE = ("pages", "readers")


if __name__ == "__main__":
    main()
