"""How often each claim of a board is false: python -m tests.evaluation.simulations --help.

A board is drawn whose true means are known; a claim is false if it says of any run or pair what
is not true of them. Each cell is one structure, number of runs and number of topics, without true
differences and with some. A cell holds where its share of false boards is at most .05 and 3.5
standard errors; one that exceeds is drawn again, from other seeds, with four thousand boards.

Boards of cell (structure s, R runs, T topics) number b come from the seed [SEED, s, R, T, b].
Collections are read from RANKFIELD_DATA: normal boards with the covariance of their runs.

With --coverage, topics are drawn with replacement from those of a population, whose means are the
truth: the scores of the runs of a collection, or of a model with 20,000 topics. A cell is one
population, measure, number of differences and of topics. It holds where all intervals of a board
cover the truth at once on .93 of the boards, .90 below 25 topics, less 3.5 standard errors. Boards
come from the seed [20261, cell] against the baseline, and [20262, cell] for all pairs.
"""

from __future__ import annotations

import argparse
import gzip
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.random import Generator

from evaluation.judging import judge, prepare
from evaluation.measures import parse_measure
from evaluation.ragged import FloatArray
from evaluation.reading.judging.qrels import read_qrels
from evaluation.reading.runs.reader import read_run_leniently
from evaluation.significance import PairDecisions, compare_all_pairs, decide_pairs
from evaluation.significance.baseline import max_t
from evaluation.significance.pairwise import draw_maxima

SEED = 20_261_123
AGAIN = 4_000
RUNS = (12, 40)
TOPICS = (6, 10, 25, 50)
PROMISED = 0.05
# True differences are this share of the deviation of one topic.
EFFECT = 0.5

Noise = Callable[[Generator, int, int], FloatArray]


def draw_alike(generator: Generator, runs: int, topics: int) -> FloatArray:
    return generator.normal(size=(runs, topics))


def draw_skewed(generator: Generator, runs: int, topics: int) -> FloatArray:
    return generator.exponential(size=(runs, topics)) - 1


def draw_unequally_skewed(generator: Generator, runs: int, topics: int) -> FloatArray:
    """Exponential scores of scales from 1/4 to 4, so differences of two runs are skewed too."""
    scales = np.geomspace(0.25, 4, runs)[:, np.newaxis]
    return scales * draw_skewed(generator, runs, topics)


def draw_duplicates(share: float) -> Noise:
    """This share of the runs is one run, with a twentieth of its deviation added."""

    def draw(generator: Generator, runs: int, topics: int) -> FloatArray:
        scores = generator.normal(size=(runs, topics))
        first = runs - round(share * runs)
        scores[first:] = scores[first] + scores[first:] / 20
        return scores

    return draw


def draw_two_variable(generator: Generator, runs: int, topics: int) -> FloatArray:
    """Two runs with eight times the deviation of the others."""
    scores = generator.normal(size=(runs, topics))
    scores[:2] *= 8
    return scores


STRUCTURES: dict[str, Noise] = {
    "alike": draw_alike,
    "skewed": draw_skewed,
    "unequally skewed": draw_unequally_skewed,
    "60 % near-duplicates": draw_duplicates(0.6),
    "90 % near-duplicates": draw_duplicates(0.9),
    "two very variable": draw_two_variable,
}


def collected(scores: FloatArray) -> Noise:
    """Normal boards with the covariance of the runs of a collection, float64[R, T]."""
    rows = scores - scores.mean(axis=1, keepdims=True)
    rows /= np.sqrt(np.square(rows).mean())

    def draw(generator: Generator, runs: int, topics: int) -> FloatArray:
        factors = generator.normal(size=(rows.shape[1], topics))
        noise: FloatArray = rows[:runs] @ factors / np.sqrt(rows.shape[1])
        return noise

    return draw


def read_collection(folder: Path, text: str = "nDCG@10") -> FloatArray:
    """The scores of all runs of a folder by one measure, float64[R, T]."""
    with next(folder.glob("*qrels*")).open("rb") as qrels:
        judgments = prepare(read_qrels(qrels))
    measure = parse_measure(text)
    rows = []
    for path in sorted(folder.glob("runs/*")):
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            rows.append(measure.scores(judge(read_run_leniently(file), judgments)))
    return np.stack(rows)


@dataclass(frozen=True)
class Board:
    """What is true of the runs, and what is said of them."""

    truth: FloatArray
    pairs: PairDecisions
    # The interval of every run but the first against the first; none where there is no verdict.
    against: list[tuple[float, float]]

    @property
    def ahead(self) -> FloatArray:
        """float64[R, R]: how far the row's run is truly better than the column's."""
        ahead: FloatArray = self.truth[:, np.newaxis] - self.truth
        return ahead


def says_false_pair(board: Board) -> bool:
    """A run is called better than one that is at least as good."""
    return bool((board.pairs.better & (board.ahead <= 0)).any())


def has_false_interval(board: Board) -> bool:
    """The simultaneous interval of a pair does not hold the true difference."""
    if board.pairs.critical is None:
        return False
    away = np.abs(board.pairs.differences - board.ahead)
    return bool((away > board.pairs.critical * board.pairs.errors + 1e-12).any())


def says_false_against_baseline(board: Board) -> bool:
    """A run is called better or worse than the baseline, and is not."""
    ahead = board.truth[1:] - board.truth[0]
    pairs = zip(board.against, ahead, strict=True) if board.against else ()
    return any((low > 0 and true <= 0) or (high < 0 and true >= 0) for (low, high), true in pairs)


def has_false_interval_of_baseline(board: Board) -> bool:
    """The interval against the baseline does not hold the true difference."""
    ahead = board.truth[1:] - board.truth[0]
    pairs = zip(board.against, ahead, strict=True) if board.against else ()
    return any(not low <= true <= high for (low, high), true in pairs)


def has_false_rank(board: Board) -> bool:
    """A rank that a run truly has, or shares, is outside its interval."""
    best = 1 + np.count_nonzero(board.ahead < 0, axis=1)
    worst = len(board.truth) - np.count_nonzero(board.ahead > 0, axis=1)
    return bool(((board.pairs.rank_low > best) | (board.pairs.rank_high < worst)).any())


def names_false_leader(board: Board) -> bool:
    """The first run is called better than the second, and is not."""
    first, second = board.pairs.order[:2]
    return bool(board.pairs.better[first, second] and board.ahead[first, second] <= 0)


def says_false_of_best_before(board: Board) -> bool:
    """The last run is worse than some of the five before it, or better than all, and is not."""
    earlier = slice(-6, -1)
    worse, better = board.pairs.better[earlier, -1], board.pairs.better[-1, earlier]
    ahead = board.ahead[-1, earlier]
    return bool((worse.any() and ahead.min() >= 0) or (better.all() and ahead.min() <= 0))


def passes_over_a_cheaper_run(board: Board) -> bool:
    """A run cheaper than the cheapest good enough is called worse than the first, and is not.

    The later a run was made, the more it costs.
    """
    first = int(board.pairs.order[0])
    worse = board.pairs.better[first]
    cheapest = int(np.flatnonzero(~worse)[0])
    return bool((board.ahead[first, :cheapest] <= 0).any())


CLAIMS: dict[str, Callable[[Board], bool]] = {
    "pair differs": says_false_pair,
    "interval of a pair": has_false_interval,
    "against baseline": says_false_against_baseline,
    "its interval": has_false_interval_of_baseline,
    "rank interval": has_false_rank,
    "leader": names_false_leader,
    "best before": says_false_of_best_before,
    "cheapest": passes_over_a_cheaper_run,
}


def simulate(
    structure: str, noise: Noise, runs: int, topics: int, boards: range, draws: int
) -> dict[str, dict[str, float]]:
    """The share of boards with a false claim, for "equal" and "different" true means."""
    found = {truth: dict.fromkeys(CLAIMS, 0) for truth in ("equal", "different")}
    name = int.from_bytes(structure.encode(), "little")
    for number in boards:
        generator = np.random.default_rng([SEED, name, runs, topics, number])
        scores = noise(generator, runs, topics)
        effects = EFFECT * noise(generator, runs, 1)
        # Maxima are drawn from centred scores, so true differences leave them alone.
        maxima = draw_maxima(scores, draws)
        for truth, means in (("equal", 0 * effects), ("different", effects)):
            board = build_board(scores + means, means[:, 0], maxima, draws)
            for claim, is_false in CLAIMS.items():
                found[truth][claim] += is_false(board)
    return {
        truth: {claim: count / len(boards) for claim, count in counts.items()}
        for truth, counts in found.items()
    }


def build_board(scores: FloatArray, truth: FloatArray, maxima: FloatArray, draws: int) -> Board:
    outcomes = max_t(scores[1:] - scores[0], draws=draws)
    intervals = [outcome.interval for outcome in outcomes]
    against = [(interval.low, interval.high) for interval in intervals if interval]
    return Board(truth, decide_pairs(scores, maxima), against)


def limit_of(boards: int) -> float:
    """The promised share and 3.5 of its standard errors.

    >>> round(limit_of(1000), 4)
    0.0741
    """
    return PROMISED + 3.5 * (PROMISED * (1 - PROMISED) / boards) ** 0.5


def structures_of(data: str) -> Iterator[tuple[str, Noise, tuple[int, ...]]]:
    """The structures with their numbers of runs, those of collections where there is data."""
    yield from ((name, noise, RUNS) for name, noise in STRUCTURES.items())
    for name in ("acordar", "dl19"):
        folder = Path(data) / "data" / name
        if data and folder.exists():
            scores = read_collection(folder)
            yield name, collected(scores), (len(scores),)


COVERAGE_SEEDS = {"baseline": 20261, "all": 20262}
MEASURES = ("RR", "AP", "nDCG@10", "P@10", "Success@1")
COVERED_TOPICS = (10, 25, 50, 150)
MODEL_TOPICS = 20_000
# Of the topics of a variant, so many differ from the run that it is made from.
CHANGED = (0.03, 0.35)


def draw_like(measure: str, generator: Generator, runs: int) -> FloatArray:
    """Scores of independent runs of a model, float64[runs, 20,000], as a measure has them."""
    shape = (runs, MODEL_TOPICS)
    levels = generator.uniform(0.3, 0.6, (runs, 1))
    if measure == "RR":
        ranks: FloatArray = generator.geometric(np.broadcast_to(levels, shape))
        return np.where(ranks > 10, 0.0, 1 / ranks)
    if measure == "Success@1":
        return (generator.random(shape) < levels).astype(np.float64)
    scores = generator.beta(4 * levels, 4 * (1 - levels), shape)
    return np.round(scores, 1) if measure == "P@10" else scores


def draw_population(structure: str, measure: str, generator: Generator, runs: int) -> FloatArray:
    """A model: independent runs, variants of one run, or half of each."""
    scores = draw_like(measure, generator, runs)
    first = {"independent": runs, "variants": 1, "half and half": (runs + 1) // 2}[structure]
    for run in range(first, runs):
        kept = generator.random(MODEL_TOPICS) >= generator.uniform(*CHANGED)
        scores[run, kept] = scores[0, kept]
    return scores


def populations(data: str, measure: str, generator: Generator) -> Iterator[tuple[str, FloatArray]]:
    """The names and the scores of everything that topics are drawn from."""
    for structure in ("independent", "variants", "half and half"):
        yield structure, draw_population(structure, measure, generator, max(RUNS) + 1)
    for name in ("acordar", "dl19"):
        folder = Path(data) / "data" / name
        if data and folder.exists():
            scores = read_collection(folder, measure)
            yield name, scores[:, ~np.isnan(scores).any(axis=0)]


def covers(scores: FloatArray, truth: FloatArray, family: str, draws: int) -> bool:
    """Whether all intervals of a board hold the truth; those of six topics or more are there."""
    if family == "baseline":
        outcomes = max_t(scores[1:] - scores[0], draws=draws, half_range=0.5)
        ends = [outcome.interval for outcome in outcomes]
        pairs = zip(ends, truth[1:] - truth[0], strict=True)
        return all(end is None or end.low <= true <= end.high for end, true in pairs)
    pairs = compare_all_pairs(scores, draws=draws, half_range=0.5)
    if pairs.critical is None:
        return True
    away = np.abs(pairs.differences - (truth[:, np.newaxis] - truth))
    return bool((away <= pairs.critical * pairs.errors + 1e-12).all())


def coverage_of(
    scores: FloatArray, topics: int, family: str, boards: int, draws: int, generator: Generator
) -> float:
    truth = scores.mean(axis=1)
    found = 0
    for _ in range(boards):
        drawn = generator.integers(scores.shape[1], size=topics)
        found += covers(scores[:, drawn], truth, family, draws)
    return found / boards


def print_coverage(options: argparse.Namespace, data: str) -> None:
    goals = {topics: 0.93 if topics >= 25 else 0.9 for topics in options.topics}
    print("\t".join(["population", "measure", "differences", "topics", "coverage", "verdict"]))
    for place, measure in enumerate(options.measures):
        source = np.random.default_rng([COVERAGE_SEEDS[options.family], place])
        for name, scores in populations(data, measure, source):
            if options.structures and name not in options.structures:
                continue
            for size, topics in product(options.runs or (5, 12, 40), options.topics):
                if size >= len(scores):
                    continue
                number = int.from_bytes(f"{name} {measure} {size} {topics}".encode(), "little")
                generator = np.random.default_rng([COVERAGE_SEEDS[options.family], number])
                chosen = scores[generator.permutation(len(scores))[: size + 1]]
                share = coverage_of(
                    chosen, topics, options.family, options.boards, options.draws, generator
                )
                goal = goals[topics] - 3.5 * (0.05 * 0.95 / options.boards) ** 0.5
                verdict = "holds" if share >= goal else "falls short"
                cells = [name, measure, str(size), str(topics), f"{share:.4f}", verdict]
                print("\t".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.evaluation.simulations")
    parser.add_argument("--boards", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=999)
    parser.add_argument("--structures", nargs="+", help="only these structures")
    parser.add_argument("--runs", type=int, nargs="+", help="only these numbers of runs")
    parser.add_argument("--topics", type=int, nargs="+")
    parser.add_argument("--coverage", action="store_true", help="of intervals, see above")
    parser.add_argument("--family", choices=COVERAGE_SEEDS, default="baseline")
    parser.add_argument("--measures", nargs="+", default=MEASURES)
    parser.add_argument("--again", type=int, default=AGAIN, help="boards of a second drawing")
    options = parser.parse_args()
    data = os.environ.get("RANKFIELD_DATA", "")
    options.topics = options.topics or (COVERED_TOPICS if options.coverage else TOPICS)
    if options.coverage:
        print_coverage(options, data)
        return
    print("\t".join(["structure", "runs", "topics", "truth", "boards", *CLAIMS, "verdict"]))
    for structure, noise, sizes in structures_of(data):
        for runs, topics in product(sizes, options.topics):
            if options.structures and structure not in options.structures:
                continue
            if options.runs and runs not in options.runs:
                continue
            first = range(options.boards)
            fresh = range(options.boards, options.boards + options.again)
            cell = simulate(structure, noise, runs, topics, first, options.draws)
            print_cell([structure, str(runs), str(topics)], cell, len(first))
            worst = max(max(shares.values()) for shares in cell.values())
            if worst > limit_of(len(first)) and fresh:
                cell = simulate(structure, noise, runs, topics, fresh, options.draws)
                print_cell([structure, str(runs), str(topics)], cell, len(fresh))


def print_cell(head: list[str], cell: dict[str, dict[str, float]], boards: int) -> None:
    for truth, shares in cell.items():
        verdict = "holds" if max(shares.values()) <= limit_of(boards) else "exceeds"
        numbers = [f"{share:.4f}" for share in shares.values()]
        print("\t".join([*head, truth, str(boards), *numbers, verdict]), flush=True)


if __name__ == "__main__":
    main()
