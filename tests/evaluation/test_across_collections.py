"""Systems compared over several collections, beside a plain reckoning flip by flip."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from pytest import approx

from evaluation.__main__ import main
from evaluation.measures import parse_measure
from evaluation.significance import (
    Collected,
    PairDecisions,
    compare_all_pairs,
    compare_over_collections,
    compare_with_baseline,
    decide_pairs_over_collections,
    scale_of,
)
from evaluation.significance.randomisation import sign_blocks
from tests.evaluation.plain_benchmarks import (
    PlainCollection,
    benchmark_mean,
    error_over_collections,
    p_of_pairs,
)

SIZES = (8, 12, 25)


def drawn_collections(seed: int, runs: int = 3) -> list[Collected]:
    """The first two share the topics 0 to 7."""
    draw = np.random.default_rng(seed)
    names = ("a", "a", "c")
    return [
        Collected(draw.normal(0.5, 0.1 * (k + 1), (runs, size)), [(name, n) for n in range(size)])
        for k, (name, size) in enumerate(zip(names, SIZES, strict=True))
    ]


def plain_t(rows: list[np.ndarray]) -> float:
    """The t of the mean of means, by the formula of one flip."""
    total = 0.0
    for row in rows:
        n = len(row)
        total += (np.square(row).sum() - n * row.mean() ** 2) / ((n - 1) * n)
    return abs(np.mean([row.mean() for row in rows])) / (total**0.5 / len(rows))


@pytest.mark.parametrize("family", ["baseline", "all"])
def test_p_counts_the_largest_t_of_every_flip(family):
    collections, draws = drawn_collections(4), 200
    keys = sorted({key for each in collections for key in each.topics})
    signs = np.concatenate(list(sign_blocks(len(keys), draws)))
    pairs = [(1, 0), (2, 0)] if family == "baseline" else list(combinations(range(3), 2))

    def rows_of(run: int, other: int) -> list[np.ndarray]:
        return [each.scores[run] - each.scores[other] for each in collections]

    maxima = []
    for sign in signs:
        flip = [[sign[keys.index(key)] for key in each.topics] for each in collections]
        maxima.append(
            max(
                plain_t([(row - row.mean()) * own for row, own in zip(rows, flip, strict=True)])
                for rows in (rows_of(*pair) for pair in pairs)
            )
        )
    found = compare_over_collections(collections, family=family, draws=draws)
    families = [[rows_of(*pair)[k].tolist() for pair in pairs] for k in range(3)]
    for run in (1, 2):
        rows = rows_of(run, 0)
        error = error_over_collections([row.tolist() for row in rows], families)
        t = abs(np.mean([row.mean() for row in rows])) / error
        reached = np.count_nonzero(np.array(maxima) >= t * (1 - 1e-9))
        assert found[run].p_adjusted == (1 + reached) / (1 + draws)


def test_the_difference_is_the_mean_of_mean_differences():
    collections = drawn_collections(2)
    means = [np.mean(each.scores[1] - each.scores[0]) for each in collections]
    found = compare_over_collections(collections)[1]
    assert found.difference == approx(np.mean(means))
    assert (found.topics, found.wins + found.losses) == (12 + 25, sum(SIZES))


@pytest.mark.parametrize("seed", range(3))
def test_one_collection_is_the_maximum_t_of_its_board(seed):
    scores = np.random.default_rng(seed).normal(0.5, 0.2, (4, 25))
    found = compare_over_collections([Collected(scores, range(25))])
    board = compare_with_baseline(scores, 0)
    for one, other in zip(found[1:], board[1:], strict=True):
        assert (one.p, one.p_adjusted) == (other.p, other.p_adjusted)
        assert (one.low, one.high) == (approx(other.low), approx(other.high))


@pytest.mark.parametrize("seed", range(20))
def test_p_and_interval_never_contradict_each_other(seed):
    for found in compare_over_collections(drawn_collections(seed), draws=999)[1:]:
        assert (found.p_adjusted <= 0.05) == (found.low > 0 or found.high < 0)


def test_a_collection_of_one_topic_carries_no_test():
    collections = [*drawn_collections(1), Collected(np.array([[0.1], [0.9], [0.2]]), [("d", 1)])]
    found = compare_over_collections(collections)[1]
    assert (found.p, found.p_adjusted, found.low) == (None, None, None)
    assert found.difference is not None


def set_apart(collections: list[Collected]) -> list[Collected]:
    """Each system is better than the one before it, beyond any doubt."""
    steps = np.arange(len(collections[0].scores))[:, np.newaxis]
    return [Collected(each.scores + steps, each.topics) for each in collections]


def decide(collections: list[Collected], draws: int = 200) -> PairDecisions:
    return decide_pairs_over_collections(collections, draws=draws)


@pytest.mark.parametrize("seed", range(3))
def test_all_pairs_have_the_means_errors_and_p_of_plain_loops(seed):
    collections, draws = drawn_collections(seed), 50
    plain = [PlainCollection(each.scores.tolist(), list(each.topics)) for each in collections]
    signs = np.concatenate(list(sign_blocks(12 + 25, draws))).tolist()
    pairs = decide(collections, draws)
    assert pairs.means == approx([benchmark_mean(plain, system) for system in range(3)])
    every = p_of_pairs(plain, signs)
    families = [[each.differences(*pair) for pair in every] for each in plain]
    for (system, other), p in every.items():
        rows = [each.differences(system, other) for each in plain]
        assert pairs.errors[system, other] == approx(error_over_collections(rows, families))
        assert pairs.p[system, other] == pairs.p[other, system] == p


@pytest.mark.parametrize("seed", range(3))
def test_a_pair_has_the_p_and_interval_of_its_comparison_among_all(seed):
    collections = drawn_collections(seed, runs=5)
    pairs = decide(collections)
    for baseline in range(5):
        compared = compare_over_collections(collections, baseline, family="all", draws=200)
        for system in {*range(5)} - {baseline}:
            found, interval = compared[system], pairs.interval(system, baseline)
            assert found.p_adjusted == max(found.p, pairs.p[system, baseline])
            assert (found.low, found.high) == (approx(interval.low), approx(interval.high))


@pytest.mark.parametrize("seed", range(3))
def test_one_collection_has_the_decisions_of_its_board(seed):
    scores = np.random.default_rng(seed).normal(0.5, 0.2, (6, 25))
    scores[1] = scores[0] + np.linspace(0.01, 0.02, 25)
    benchmark, board = decide([Collected(scores, range(25))], 10_000), compare_all_pairs(scores)
    assert benchmark.maxima == approx(board.maxima)
    assert benchmark.errors == approx(board.errors)
    assert (benchmark.p == board.p).all() and (benchmark.better == board.better).all()
    assert benchmark.better.any()


def test_equal_systems_never_differ_and_a_constant_difference_does():
    first, *others = drawn_collections(7)
    changed = [
        Collected(np.stack([rows[0], rows[0], rows[0] + 0.01, rows[2]]), each.topics)
        for each in (first, *others)
        for rows in [each.scores]
    ]
    pairs = decide(changed)
    assert (pairs.p[0, 1], pairs.p[0, 2]) == (1, 1 / 201)
    assert pairs.better[2, :2].all() and not pairs.better[0, 1]


def test_near_duplicates_are_told_apart_whatever_else_is_compared():
    """A Gram matrix would lose differences of a millionth among scores of about one."""
    draw, gain = np.random.default_rng(5), np.linspace(0.5e-6, 1.5e-6, 30)
    scores = draw.normal(1, 0.3, (3, 30))
    collections = [
        Collected(np.stack([*rows, rows[0] + gain]), [(n, topic) for topic in range(30)])
        for n, rows in enumerate((scores, scores[::-1]))
    ]
    assert decide(collections).p[3, 0] == 1 / 201


def test_lower_scores_are_better_where_the_measure_says_so():
    collections = drawn_collections(1)
    pairs = decide_pairs_over_collections(set_apart(collections), direction=-1, draws=200)
    assert pairs.rank_low.tolist() == pairs.rank_high.tolist() == [1, 2, 3]


def test_a_small_collection_leaves_the_benchmark_without_a_verdict():
    """Even where every other collection tells the systems apart."""
    pairs = decide(
        [*set_apart(drawn_collections(1)), Collected(np.array([[0.1], [0.9], [0.2]]), [("d", 1)])]
    )
    assert pairs.critical is None and (pairs.p == 1).all()
    assert pairs.rank_low.tolist() == [1, 1, 1] and pairs.rank_high.tolist() == [3, 3, 3]


def test_five_topics_in_total_allow_no_verdict():
    draw = np.random.default_rng(3)
    collections = [
        Collected(draw.normal(size=(2, size)) / 100, [(size, t) for t in range(size)])
        for size in (2, 3)
    ]
    pairs = decide(set_apart(collections))
    assert pairs.critical is None and pairs.p[0, 1] >= 2**-4


def test_a_topic_without_a_score_is_left_out_for_all():
    first, *others = drawn_collections(6)
    holed = first.scores.copy()
    holed[2, 0] = np.nan
    pairs = decide([Collected(holed, first.topics), *others])
    rest = decide([Collected(first.scores[:, 1:], first.topics[1:]), *others])
    assert (pairs.undefined, rest.undefined) == (1, 0)
    assert (pairs.p == rest.p).all()


def test_a_collection_without_any_score_leaves_no_difference():
    empty = Collected(np.full((3, 4), np.nan), [("d", topic) for topic in range(4)])
    collections = [*drawn_collections(1), empty]
    assert compare_over_collections(collections)[1].difference is None
    assert (decide(collections).p == 1).all()


def test_the_order_of_collections_and_topics_decides_nothing():
    collections = drawn_collections(8)
    turned = [Collected(each.scores[:, ::-1], each.topics[::-1]) for each in collections[::-1]]
    assert (decide(collections).p == decide(turned).p).all()


def test_maxima_drawn_for_more_systems_decide_about_fewer():
    collections = drawn_collections(9, runs=5)
    family = decide(collections)
    fewer = [Collected(each.scores[:2], each.topics) for each in collections]
    pairs = decide_pairs_over_collections(fewer, maxima=family.maxima, sizes=family.sizes)
    assert (pairs.p == family.p[:2, :2]).all()
    assert pairs.interval(0, 1) == family.interval(0, 1)


def test_blocks_of_draws_change_nothing(monkeypatch):
    collections = drawn_collections(10, runs=8)
    whole = decide(collections, 300).maxima
    monkeypatch.setattr("evaluation.significance.across.TOTALS", 1)
    assert decide(collections, 300).maxima == approx(whole)


def test_sums_have_no_mean_over_collections():
    with pytest.raises(ValueError, match="sums have no mean"):
        compare_over_collections(drawn_collections(1), scale=scale_of(parse_measure("NumRelRet")))


def test_boards_without_a_difference_seldom_show_one():
    """Three collections of unequal spread: at most .05 and 3.5 standard errors of 200 boards."""
    boards = (compare_over_collections(drawn_collections(s, 6), draws=499) for s in range(200))
    false = sum(any(each.p_adjusted <= 0.05 for each in board[1:]) for board in boards)
    assert false / 200 <= 0.05 + 3.5 * (0.05 * 0.95 / 200) ** 0.5


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two collections of six and eight topics; `new` ranks the relevant document first."""
    monkeypatch.chdir(tmp_path)
    for name, topics in (("one", 6), ("two", 8)):
        numbers = range(1, topics + 1)
        (tmp_path / f"{name}.qrels").write_text("".join(f"{n} 0 good{n} 1\n" for n in numbers))
        for tag, ranks in (("base", [2, 3]), ("new", [1, 2])):
            lines = [
                f"{n} Q0 {docno}{n} {place} {9 - place} {tag}\n"
                for n in numbers
                for place in range(1, ranks[n % 2] + 1)
                for docno in ["good" if place == ranks[n % 2] else f"other{place}-"]
            ]
            (tmp_path / f"{name}.{tag}").write_text("".join(lines))
    return tmp_path


def test_the_command_compares_over_collections(folder, capfd):
    words = ["compare", "one.qrels", "one.base", "one.new", "-m", "AP", "--format", "json"]
    assert main([*words, "--and", "two.qrels", "two.base", "two.new"]) == 0
    document = json.loads(capfd.readouterr().out)
    base, new = document["comparisons"]
    gains = [[1 / 2 - 1 / 3, 1 - 1 / 2] * (n // 2) for n in (6, 8)]
    found = compare_over_collections(
        [
            Collected(np.array([np.zeros(len(row)), row]), [(n, t) for t in range(len(row))])
            for n, row in enumerate(gains)
        ]
    )[1]
    assert document["collections"] == 2
    assert new["outcome"]["difference"] == approx(1 / 3) == approx(found.difference)
    assert (new["outcome"]["topics"], new["outcome"]["wins"]) == (14, 14)
    assert new["verdict"] == "better"
    assert base["mean"] == approx((1 / 2 + 1 / 3) / 2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--and", "two.qrels", "two.base"], "as many RUNs"),
        (["--and", "two.qrels", "two.base", "two.new", "--test", "t"], "--test max_t"),
        (["--and", "two.qrels", "two.base", "two.new", "-m", "NumRelRet"], "is a sum"),
    ],
)
def test_collections_that_cannot_be_compared_are_refused(words, message, folder, capfd):
    with pytest.raises(SystemExit):
        main(["compare", "one.qrels", "one.base", "one.new", *words])
    assert message in capfd.readouterr().err
