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
    compare_over_collections,
    compare_with_baseline,
    scale_of,
)
from evaluation.significance.randomisation import sign_blocks

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
    for run in (1, 2):
        t = plain_t(rows_of(run, 0))
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
