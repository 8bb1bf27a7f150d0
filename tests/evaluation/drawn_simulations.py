"""How often estimates from drawn pairs cover: python -m tests.evaluation.drawn_simulations --help.

Twenty runs answer topics of ten nuggets; a third of the answers of a family of four runs are equal,
so strata by cover matter. Labels are full, partial or none, as runs, topics and chance have it.
The truth is the mean by all labels; each sample is drawn anew from the seed [SEED, number].

labels: the share of means that the intervals for these topics cover, and their median half-width.
topics: the same for topics like these: the topics are drawn from 400, over which the truth is.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.answers.drawn_pairs import NoEstimateError, PairEstimate, PairKey, PairSample
from evaluation.answers.labels import NONE, PARTIAL, SUPPORT
from evaluation.correction import draw_sample
from evaluation.correction.frames import FrameRow
from evaluation.pooling import Place, Pool, Pooled

SEED = 20_264
RUNS, FAMILY, NUGGETS, POPULATION = 20, 4, 10, 400
CODES = np.array([NONE, PARTIAL, SUPPORT], np.uint8)


@dataclass(frozen=True)
class Labels:
    """Which answer each run gives, int[topics, runs], and its codes, uint8[topics, runs, nuggets].

    Equal answers have one number, that of the first run that gives them.
    """

    answer: NDArray[np.int64]
    codes: NDArray[np.uint8]

    def means(self, topics: Sequence[int]) -> NDArray[np.float64]:
        """Return the mean credit of every run over topics, with half for partial support."""
        return self.codes[topics].astype(np.float64).mean(axis=(0, 2)) / 2


def label_answers(random: np.random.Generator) -> Labels:
    """Label every answer of every run."""
    own = np.arange(RUNS)
    first = own - own % FAMILY
    is_shared = random.random((POPULATION, RUNS)) < 1 / 3
    answer = np.where(is_shared, first, own)
    quality = np.linspace(-1, 1, RUNS) + random.normal(0, 1, (POPULATION, 1))
    level = quality[:, :, None] + random.normal(0, 1, (POPULATION, RUNS, NUGGETS))
    codes = CODES[np.digitize(level, [0.0, 0.8])]
    return Labels(answer, codes[np.arange(POPULATION)[:, None], answer])


def estimate_runs(
    labels: Labels, topics: Sequence[int], size: int, seed: int
) -> dict[int, PairEstimate]:
    """Draw a sample of the pairs of all runs on topics, and estimate the means of runs.

    A run with too few labels has none.
    """
    pool = pool_pairs(labels, topics)
    drawn, _ = draw_sample(pool, {}, size, seed)
    rows = [
        FrameRow(topic, pair.docno, len(pair.places), pair.stratum, is_drawn)
        for is_drawn, of in ((True, drawn.topics), (False, drawn.undrawn))
        for topic, pairs in of.items()
        for pair in pairs
    ]
    sample = PairSample.of(rows, [name_topic(n) for n in range(len(topics))], read(labels, topics))
    weight = 1 / (len(topics) * NUGGETS)
    found = {}
    for run in range(RUNS):
        weights = {
            (name_topic(number), f"{labels.answer[topic, run]}:{place}"): weight
            for number, topic in enumerate(topics)
            for place in range(NUGGETS)
        }
        with suppress(NoEstimateError):
            found[run] = sample.estimate(weights, lambda codes: codes / 2)
    return found


def pool_pairs(labels: Labels, topics: Sequence[int]) -> Pool:
    """Return the pairs of all runs; a topic that was drawn twice is two topics."""
    pooled = {}
    for number, topic in enumerate(topics):
        runs_of: dict[int, list[Place]] = {}
        for run, answer in enumerate(labels.answer[topic].tolist()):
            runs_of.setdefault(answer, []).append(Place(run, 1))
        pooled[name_topic(number).encode()] = tuple(
            Pooled(f"{answer}:{place}".encode(), tuple(places))
            for answer, places in runs_of.items()
            for place in range(NUGGETS)
        )
    return Pool("answers", tuple(f"run{run}" for run in range(RUNS)), pooled)


def read(labels: Labels, topics: Sequence[int]) -> dict[PairKey, int]:
    return {
        (name_topic(number), f"{labels.answer[topic, run]}:{place}"): int(
            labels.codes[topic, run, place]
        )
        for number, topic in enumerate(topics)
        for run in range(RUNS)
        for place in range(NUGGETS)
    }


def name_topic(number: int) -> str:
    return f"t{number:03}"


def measure_coverage(size: int, topics: int, samples: int) -> dict[str, Any]:
    """Return the share of means covered, and the median half-width, of both intervals."""
    labels = label_answers(np.random.default_rng(SEED))
    everywhere = labels.means(range(POPULATION))
    covered: dict[str, list[bool]] = {"labels": [], "topics": []}
    widths: dict[str, list[float]] = {"labels": [], "topics": []}
    for number in range(samples):
        random = np.random.default_rng([SEED, number])
        chosen = random.integers(0, POPULATION, topics).tolist()
        here = labels.means(chosen)
        for run, found in estimate_runs(labels, chosen, size, number).items():
            assert found.over_topics is not None
            for name, truth, margin in (
                ("labels", here[run], found.margin),
                ("topics", everywhere[run], found.over_topics),
            ):
                covered[name].append(abs(found.value - truth) <= margin)
                widths[name].append(margin)
    return {
        name: (float(np.mean(each)), float(np.median(widths[name]))) if each else (np.nan, np.nan)
        for name, each in covered.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=150)
    parser.add_argument("--topics", type=int, nargs="+", default=[25, 50])
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 500, 1000, 2000])
    options = parser.parse_args()
    for topics in options.topics:
        for size in options.sizes:
            found = measure_coverage(size, topics, options.samples)
            cells = ", ".join(f"{name} {c:.3f} ± {w:.3f}" for name, (c, w) in found.items())
            print(f"{topics} topics, {size:,} pairs: {cells}", flush=True)


if __name__ == "__main__":
    main()
