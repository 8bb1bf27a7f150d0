"""Rankings of systems beside the truth: taus with intervals, differences, errors of levels."""

import numpy as np
import pytest
from pytest import approx

from evaluation.__main__ import main
from evaluation.agreement.orders import (
    kendall_tau,
    tau_a_between,
    tau_ap,
    tau_ap_between,
    top_tau_b,
    top_tau_b_between,
)
from evaluation.agreement.system_rankings import RankedSystems, Truth, compare_rankings

QUALITIES = np.linspace(0.3, 0.5, 12)


def draw_truth(topics: int, seed: int = 3) -> np.ndarray:
    """float64[systems, topics]: systems of known quality on topics of unequal difficulty."""
    random = np.random.default_rng(seed)
    noise = random.normal(0, 0.15, (len(QUALITIES), topics))
    return QUALITIES[:, None] + random.normal(0, 0.15, topics) + noise


def truth_of(scores: np.ndarray, **more) -> Truth:
    return Truth(scores, scores.mean(axis=1), **more)


def slip(spread: float, seed: int = 5) -> RankedSystems:
    """A ranking made without the truth, that errs by this much."""
    return RankedSystems(QUALITIES + np.random.default_rng(seed).normal(0, spread, len(QUALITIES)))


def test_values_are_those_of_the_board():
    truth, entrant = truth_of(draw_truth(30)), slip(0.1)
    (found,) = compare_rankings(truth, {"one": entrant}).standings
    orders = entrant.values, truth.levels
    expected = [kendall_tau(*orders), tau_ap(*orders), top_tau_b(*orders)]
    assert [each.value for each in found.statistics.values()] == approx(expected)
    assert found.error == approx(np.abs(entrant.values - truth.levels).mean())
    assert all(each.low < each.value < each.high for each in found.statistics.values())


def test_many_orders_at_once_are_those_one_by_one():
    random = np.random.default_rng(2)
    rows, references = random.integers(0, 6, (3, 14)) / 2, random.integers(0, 6, (4, 14)) / 2
    for together, alone in (
        (tau_a_between, kendall_tau),
        (tau_ap_between, tau_ap),
        (top_tau_b_between, top_tau_b),
    ):
        one_by_one = [[alone(row, reference) for reference in references] for row in rows]
        assert together(rows, references) == approx(np.array(one_by_one))


def test_a_list_has_no_levels():
    (found,) = compare_rankings(
        truth_of(draw_truth(30)), {"list": RankedSystems(np.arange(12.0), has_levels=False)}
    ).standings
    assert (found.error, found.bias, found.named) == (None, None, 12)


def test_systems_that_are_not_ranked_are_tied_at_the_end():
    truth = truth_of(np.repeat([[4.0], [3.0], [2.0], [1.0]], 8, axis=1))
    some = RankedSystems(np.array([2.0, np.nan, 1.0, np.nan]), has_levels=False)
    (found,) = compare_rankings(truth, {"some": some}).standings
    # Of six pairs one is tied and one is in the other order.
    assert found.named == 2 and found.statistics["tau"].value == approx((4 - 1) / 6)


def test_the_better_of_two_entrants_is_told_with_its_difference():
    entrants = {"bad": slip(0.5), "good": slip(0.01)}
    board = compare_rankings(truth_of(draw_truth(60)), entrants)
    assert board.order == [1, 0] and board.pairs.better[1, 0]
    values = [each.statistics["tau"].value for each in board.standings]
    interval = board.pairs.interval(1, 0)
    assert 0 < interval.low < values[1] - values[0] < interval.high


def test_the_same_order_twice_cannot_be_told_apart():
    board = compare_rankings(truth_of(draw_truth(60)), {"one": slip(0.1), "two": slip(0.1)})
    assert board.pairs.letters == ("a", "a") and board.pairs.p[0, 1] == 1


def test_few_topics_give_no_interval_and_no_verdict():
    board = compare_rankings(truth_of(draw_truth(5)), {"bad": slip(0.5), "good": slip(0.01)})
    assert {each.statistics["tau"].low for each in board.standings} == {None}
    assert board.pairs.critical is None and not board.pairs.different.any()


def test_low_values_can_be_good():
    scores = draw_truth(30)
    truth = Truth(-scores, -scores.mean(axis=1), direction=-1)
    entrants = {"levels": RankedSystems(-QUALITIES), "list": RankedSystems(QUALITIES, False)}
    levels, listed = compare_rankings(truth, entrants).standings
    assert levels.statistics == listed.statistics and levels.statistics["tau"].value > 0.5


def test_topics_of_a_group_are_drawn_together():
    scores = np.repeat(draw_truth(10), 6, axis=1)
    alone = compare_rankings(truth_of(draw_truth(10)), {"one": slip(0.1)})
    groups = np.repeat(np.arange(10), 6)
    grouped = compare_rankings(truth_of(scores, groups=groups), {"one": slip(0.1)})
    assert grouped.standings[0].statistics["tau"].low == approx(
        alone.standings[0].statistics["tau"].low
    )
    whole = compare_rankings(truth_of(scores), {"one": slip(0.1)})
    assert whole.standings[0].statistics["tau"].low > grouped.standings[0].statistics["tau"].low


def test_a_system_without_a_score_on_some_topics_has_the_mean_of_the_others():
    scores = draw_truth(30)
    scores[0, :10] = np.nan
    assert truth_of(scores).order[0] == approx(np.nanmean(scores[0]))
    board = compare_rankings(Truth(scores, np.nanmean(scores, axis=1)), {"one": slip(0.1)})
    assert board.standings[0].statistics["tau"].low is not None


def test_another_statistic_is_refused():
    with pytest.raises(ValueError, match="kappa"):
        compare_rankings(truth_of(draw_truth(10)), {"one": slip(0.1)}, "kappa")


@pytest.mark.long
@pytest.mark.parametrize("topics", [10, 25])
def test_intervals_cover_the_mean_tau_and_all_differences_at_once(topics):
    entrants = {str(seed): slip(0.02 * seed, seed) for seed in range(1, 6)}
    rows = np.array([entrant.values for entrant in entrants.values()])
    many = np.array([draw_truth(topics, seed).mean(axis=1) for seed in range(5_000, 8_000)])
    mean = tau_a_between(rows, many).mean(axis=1)
    covered, together = [], []
    for seed in range(120):
        board = compare_rankings(truth_of(draw_truth(topics, seed)), entrants, draws=300)
        found = [each.statistics["tau"] for each in board.standings]
        covered += [each.low <= tau <= each.high for each, tau in zip(found, mean, strict=True)]
        ends = {(a, b): board.pairs.interval(a, b) for a in range(5) for b in range(a)}
        together.append(
            all(each.low <= mean[a] - mean[b] <= each.high for (a, b), each in ends.items())
        )
    assert np.mean(covered) > 0.92 and np.mean(together) > 0.93


def test_the_command_compares_judges_by_the_values_of_systems(tmp_path, capfd):
    files = {"people": draw_truth(20), "good": draw_truth(20, seed=4), "bad": -draw_truth(20)}
    for name, scores in files.items():
        lines = [f"s{s:02} t{t} MAP {scores[s, t]}\n" for s, t in np.ndindex(scores.shape)]
        (tmp_path / name).write_text("".join(lines))
    paths = [str(tmp_path / name) for name in files]
    assert main(["judges", *paths, "--values", "MAP", "--format", "tsv"]) == 0
    head, good, bad = (line.split("\t") for line in capfd.readouterr().out.splitlines()[:3])
    assert head[-4:] == ["letters", "low", "high", "systems"]
    assert (good[0], good[-4], bad[2], bad[-4], bad[-1]) == ("good", "a", "-1.0000", "b", "12")
