"""Cranfield, ACORDAR and DL19 as one benchmark, beside means, points and p in plain Python."""

from __future__ import annotations

import gzip
import math
from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import mul
from pathlib import Path

import pytest
from pytest import approx

from evaluation.significance.pairwise import PAIR_DRAWS
from evaluation.significance.randomisation import sign_blocks
from leaderboard.actions import people, uploads
from leaderboard.boards.benchmark_boards import (
    BenchmarkBoard,
    BenchmarkChoice,
    find_benchmark_board,
)
from leaderboard.boards.deferred_tests import request_tests
from leaderboard.boards.disclosure import benchmark_sight_of
from leaderboard.models import Benchmark, Collection, Run, System, SystemVersion, Team
from tests.benchmark_scene import join_tracks
from tests.builders import make_run, make_track, upload, work
from tests.evaluation.plain_benchmarks import mean_of

pytestmark = [pytest.mark.data, pytest.mark.night]

DEPTH = 100
QRELS = {
    "cranfield": "cranfield/clean/qrels.binary.txt",
    "acordar": "acordar/qrels.txt",
    "dl19": "dl19/nist.qrels",
}
# Each system is a strong, a middling or a weak run on each collection.
RUNS = {
    "amber": ("rrf.run.gz", "LMD.txt", "p_bert.run.gz"),
    "birch": ("minilm.run.gz", "BM25F.txt", "idst_bert_p1.run.gz"),
    "cedar": ("bm25-porter.run.gz", "TF-IDF.txt", "bm25tuned_p.run.gz"),
    "delta": ("lm-dirichlet.run.gz", "FSDM.txt", "ms_duet_passage.run.gz"),
    "ember": ("title-bm25.run.gz", "LMD [m].txt", "test1.run.gz"),
}
NAMES, BASELINE = list(RUNS), "cedar"
Rankings = dict[str, list[str]]


def read_text(path: Path) -> str:
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode()


def read_rankings(text: str, judged: Container[str]) -> Rankings:
    """The first documents of each judged topic: by score, equal ones by docno, from above."""
    scored: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for line in text.splitlines():
        topic, _, docno, _, score = line.split()[:5]
        if topic in judged:
            scored[topic].append((float(score), docno))
    return {
        topic: [docno for _, docno in sorted(rows, reverse=True)[:DEPTH]]
        for topic, rows in scored.items()
    }


def read_grades(text: str) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in text.splitlines():
        topic, _, docno, grade = line.split()
        grades[topic][docno] = int(grade)
    return grades


def discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:10], 1))


def ndcg_at_10(ranking: Sequence[str], grades: dict[str, int]) -> float:
    ideal = discounted(sorted(grades.values(), reverse=True))
    return discounted([grades.get(docno, 0) for docno in ranking]) / ideal if ideal else 0.0


@dataclass(frozen=True)
class PlainBenchmark:
    """The scores of each system on each collection, topic by topic: `scores[system][k]`."""

    scores: dict[str, list[list[float]]]
    topics: list[list[tuple[str, str]]]

    def values(self, system: str) -> list[float]:
        return [mean_of(row) for row in self.scores[system]]

    def points(self, system: str) -> float:
        """Borda: on each collection how many systems it beats, and half of those it equals."""
        total = 0.0
        for k, value in enumerate(self.values(system)):
            others = [self.values(other)[k] for other in self.scores if other != system]
            total += sum(other < value for other in others)
            total += sum(other == value for other in others) / 2
        return total

    def p_values(self, pairs: list[tuple[str, str]]) -> dict[tuple[str, str], float]:
        """The p of each pair, adjusted for all of them by the largest t of every draw."""
        maxima = self._draw_maxima(pairs)
        found = {}
        family = [self._differences(*pair) for pair in pairs]
        for (one, other), rows in zip(pairs, family, strict=True):
            t = t_of(rows, family)
            reached = sum(largest >= t * (1 - 1e-9) for largest in maxima)
            found[one, other] = (1 + reached) / (1 + len(maxima))
        return found

    def _differences(self, one: str, other: str) -> list[list[float]]:
        pairs = zip(self.scores[one], self.scores[other], strict=True)
        return [[a - b for a, b in zip(*rows, strict=True)] for rows in pairs]

    def _draw_maxima(self, pairs: list[tuple[str, str]]) -> list[float]:
        """The largest t over the pairs in each draw of signs, one sign per topic."""
        keys = sorted(key for own in self.topics for key in own)
        places = [[keys.index(key) for key in own] for own in self.topics]
        centred = {
            system: [[value - mean_of(row) for value in row] for row in rows]
            for system, rows in self.scores.items()
        }
        differences = {pair: self._differences(*pair) for pair in pairs}
        sums = {pair: [squares(row) for row in rows] for pair, rows in differences.items()}
        maxima = []
        for block in sign_blocks(len(keys), PAIR_DRAWS):
            for signs in block.tolist():
                flips = [[signs[place] for place in own] for own in places]
                flipped = {
                    system: [
                        sum(map(mul, flip, row)) / len(row)
                        for flip, row in zip(flips, rows, strict=True)
                    ]
                    for system, rows in centred.items()
                }
                maxima.append(
                    max(
                        abs(sum(flipped[one]) - sum(flipped[other]))
                        / error_of(
                            [a - b for a, b in zip(flipped[one], flipped[other], strict=True)],
                            [len(own) for own in places],
                            sums[one, other],
                        )
                        for one, other in pairs
                    )
                )
        return maxima


def squares(row: Sequence[float]) -> float:
    """The sum of squares around the mean."""
    mean = mean_of(list(row))
    return sum((value - mean) ** 2 for value in row)


def error_of(means: Sequence[float], sizes: Sequence[int], sums: Sequence[float]) -> float:
    """The standard error of the sum of means in a draw, from the sums of squares before it."""
    parts = zip(means, sizes, sums, strict=True)
    return math.sqrt(sum((q - n * m * m) / ((n - 1) * n) for m, n, q in parts))


def t_of(rows: Sequence[Sequence[float]], family: Sequence[Sequence[Sequence[float]]]) -> float:
    """The sum of the means over its widened error: that of each collection, squared and added."""
    squared = sum(
        widened_error(row, [others[k] for others in family]) ** 2 for k, row in enumerate(rows)
    )
    return abs(sum(mean_of(list(row)) for row in rows)) / math.sqrt(squared)


def widened_error(row: Sequence[float], family: Sequence[Sequence[float]]) -> float:
    """The error that two more topics would give, at the size of a difference from the mean."""
    n, (size, changed) = len(row), sizes_of(row)
    parts = [sizes_of(other) for other in family]
    typical = math.sqrt((sum(s for s, _ in parts) + 0.25) / (sum(k for _, k in parts) + 1))
    own = math.sqrt(size / changed) if changed else 0.0
    one = min(max(typical, own), own * (1 + 30 / changed)) if changed else typical
    far = one * min(2.0, (n / 4) ** 0.25)
    return math.sqrt((squares(row) + 2 * far**2) / ((n + 1) * (n + 2)))


def sizes_of(row: Sequence[float]) -> tuple[float, int]:
    """The squared sizes of the differences that are none of 0, and how many there are."""
    half = mean_of(list(row)) / 2
    changed = [value for value in row if abs(value) > 1e-12]
    return sum((value - half) ** 2 for value in changed), len(changed)


@pytest.fixture(scope="module")
def texts(data: Path, grades) -> dict[str, dict[str, Rankings]]:
    """The rankings of each system on each collection."""
    return {
        slug: {
            name: read_rankings(read_text(data / "data" / slug / "runs" / files[k]), grades[slug])
            for name, files in RUNS.items()
        }
        for k, slug in enumerate(QRELS)
    }


@pytest.fixture(scope="module")
def grades(data: Path) -> dict[str, dict[str, dict[str, int]]]:
    return {slug: read_grades(read_text(data / "data" / path)) for slug, path in QRELS.items()}


@pytest.fixture(scope="module")
def plain(texts, grades) -> PlainBenchmark:
    topics = {slug: list(judged) for slug, judged in grades.items()}
    scores = {
        name: [
            [
                ndcg_at_10(texts[slug][name].get(topic, []), grades[slug][topic])
                for topic in topics[slug]
            ]
            for slug in QRELS
        ]
        for name in NAMES
    }
    return PlainBenchmark(scores, [[(slug, topic) for topic in topics[slug]] for slug in QRELS])


def import_judged(slug: str, grades: dict[str, dict[str, int]], owner) -> Collection:
    lines = [f"{t} 0 {docno} {g}\n" for t, of in grades.items() for docno, g in of.items()]
    collection = Collection(slug=slug, name=slug.title(), owner=owner, asks_first=False)
    topics = upload("topics.tsv", "".join(f"{topic}\ttopic {topic}\n" for topic in grades))
    files = uploads.CollectionFiles(topics, None, upload("qrels", "".join(lines)))
    uploads.accept_collection(collection, files)
    work()
    collection.refresh_from_db()
    assert collection.state == "ready", collection.problems
    return collection


def as_run(rankings: Rankings, tag: str) -> str:
    """A run file of these rankings, with plain scores and a tag of one word."""
    return "".join(
        f"{topic} Q0 {docno} {rank} {DEPTH - rank} {tag}\n"
        for topic, ranking in rankings.items()
        for rank, docno in enumerate(ranking, 1)
    )


def make_system(benchmark: Benchmark, team: Team, name: str, user) -> SystemVersion:
    system = System.objects.create(benchmark=benchmark, team=team, name=name)
    return SystemVersion.objects.create(system=system, label="1", created_by=user)


@pytest.fixture
def benchmark(texts, grades, ada, ben) -> Benchmark:
    measures = {"measures": ["nDCG@10"], "primary_measure": "nDCG@10"}
    made = [
        make_track(import_judged(slug, grades[slug], ada), slug, **measures, depth=DEPTH)
        for slug in QRELS
    ]
    benchmark = join_tracks(made, slug="three", name="Three collections")
    team = people.create_team(benchmark, ben, "ben")
    versions = {name: make_system(benchmark, team, name, ben) for name in NAMES}
    for track in benchmark.tracks.in_order():
        for name in NAMES:
            run = make_run(track, ben, as_run(texts[track.slug][name], name))
            assert run.state == "scored", run.problems
            Run.objects.filter(pk=run.pk).update(version=versions[name])
    Benchmark.objects.filter(pk=benchmark.pk).update(baseline=versions[BASELINE].system)
    return Benchmark.objects.get()


def board_of(benchmark: Benchmark, viewer, **choice: str) -> BenchmarkBoard:
    """The board once a worker has compared the systems."""
    sight = benchmark_sight_of(benchmark, viewer)
    untested = find_benchmark_board(sight, BenchmarkChoice(**choice))
    assert untested.contest is not None
    request_tests(untested.contest)
    work()
    return find_benchmark_board(sight, BenchmarkChoice(**choice))


def rank_of(values: dict[str, float], name: str) -> int:
    return 1 + sum(other > values[name] for other in values.values())


def test_the_board_is_what_plain_python_finds(benchmark, plain, cat):
    board = board_of(benchmark, cat)
    assert [column.sight.track.slug for column in board.columns] == list(QRELS)
    means = {name: mean_of(plain.values(name)) for name in NAMES}
    points = {name: plain.points(name) for name in NAMES}
    for row in board.rows:
        assert row.values == approx(plain.values(row.name), abs=1e-12)
        assert (row.mean, row.borda) == (approx(means[row.name], abs=1e-12), points[row.name])
        assert row.rank == rank_of(means, row.name)
        assert row.borda_rank == rank_of(points, row.name)
    assert len(board.rows) == 5 and sum(points.values()) == 3 * 10
    against = plain.p_values([(name, BASELINE) for name in NAMES if name != BASELINE])
    for row in board.rows:
        if not row.is_baseline:
            assert row.against.p_adjusted == approx(against[row.name, BASELINE], abs=1e-12)
            assert row.against.difference == approx(means[row.name] - means[BASELINE], abs=1e-12)
    pairs = plain.p_values(list(combinations(NAMES, 2)))
    for row in board_of(benchmark, cat, family="all").rows:
        apart = {
            other for pair, p in pairs.items() if row.name in pair and p <= 0.05 for other in pair
        }
        better = sum(means[other] > means[row.name] for other in apart)
        worse = sum(means[other] < means[row.name] for other in apart)
        assert row.interval == (1 + better, 5 - worse)
