"""Topics in groups: whole groups are flipped, and the page of few groups says so."""

import numpy as np
import pytest
from pytest import approx

from evaluation import compare, rank_intervals
from evaluation.__main__ import main
from evaluation.agreement import count_opinions
from evaluation.significance import (
    Collected,
    Scale,
    compare_all_pairs,
    compare_over_collections,
    compare_with_baseline,
    compute_lead,
    decide_pairs_over_collections,
    posterior_of,
    variances_of,
)
from evaluation.significance.baseline import max_t
from evaluation.significance.units import Units
from evaluation.significance.widening import Spread

# Conversations of 1, 2, 3, 1, 2 and 1 topics.
WORKED = np.array([[0.1, 0.3, 0.2, 0, -0.1, 0.1, 0.2, 0.1, 0.4, 0]])
CONVERSATIONS = np.array([0, 1, 1, 2, 2, 2, 3, 4, 4, 5])


def test_the_error_of_six_conversations():
    units = Units.of(WORKED, CONVERSATIONS)
    spread = Spread.of(units)
    expected = [-0.017321, 0.146969, -0.255315, 0.040415, 0.146969, -0.075056]
    assert units.centred[0] == approx(expected, abs=5.1e-7)
    assert np.sqrt(spread.squares / 30) == approx([0.062170], abs=5.1e-7)
    assert units.degrees == approx([4.053619], abs=5.1e-7)
    assert spread.family_size(0.5) == approx(0.235908, abs=5.1e-7)
    assert spread.errors(spread.family_size(0.5)) == approx([0.067118], abs=5.1e-7)


def test_the_interval_is_at_least_that_of_the_degrees_that_are_left():
    [found] = max_t(WORKED, half_range=0.5, groups=CONVERSATIONS)
    half = (found.interval.high - found.interval.low) / 2
    assert half >= 2.762021 * 0.067118 - 1e-6
    assert (found.interval.high + found.interval.low) / 2 == approx(0.13)


def test_groups_of_one_topic_each_are_topics():
    scores = np.random.default_rng(1).normal(0.5, 0.2, (3, 12))
    by_topic = compare_with_baseline(scores, 0)
    assert compare_with_baseline(scores, 0, groups=np.arange(12)) == by_topic
    pairs = [compare_all_pairs(scores, groups=groups).p for groups in (None, np.arange(12))]
    assert pairs[0].tolist() == pairs[1].tolist()


def test_a_pair_has_the_same_error_in_both_families():
    scores = np.random.default_rng(2).normal(0.5, 0.2, (2, 14))
    groups = np.repeat(np.arange(7), [1, 2, 3, 2, 2, 2, 2])
    pairs = compare_all_pairs(scores, groups=groups, half_range=0.5)
    spread = Spread.of(Units.of(scores[:1] - scores[1:], groups))
    assert pairs.errors[0, 1] == approx(spread.errors(spread.family_size(0.5))[0])
    assert (pairs.units, pairs.topics) == (7, 14)


@pytest.mark.parametrize("sizes", [(4, 4, 4, 4, 4), (20,), (30, 1, 1, 1, 1, 1)])
def test_few_groups_or_very_unequal_ones_give_no_verdict(sizes):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    scores = np.random.default_rng(3).normal(0, 0.01, (2, len(groups)))
    scores[1] += 1
    found = compare_with_baseline(scores, 0, groups=groups)[1]
    assert (found.low, found.high) == (None, None) and found.p_adjusted > 0.05
    assert not compare_all_pairs(scores, groups=groups).different.any()


def test_other_tests_do_not_know_groups():
    with pytest.raises(ValueError, match="require the test max_t"):
        compare_with_baseline(np.zeros((2, 4)), 0, "t", groups=np.arange(4))


def test_false_alarms_of_correlated_topics_are_rare_by_group_only():
    """Twelve conversations of four turns; a correlation of one half within them."""
    draw, groups = np.random.default_rng(4), np.repeat(np.arange(12), 4)
    alarms = np.zeros(2)
    for _ in range(200):
        row = np.repeat(draw.normal(size=12), 4) + draw.normal(size=48)
        for place, grouped in enumerate((None, groups)):
            [found] = max_t(row[np.newaxis], draws=299, groups=grouped)
            alarms[place] += found.p_adjusted <= 0.05
    assert alarms[0] >= 30 and alarms[1] <= 16


QRELS = {f"{n}_{turn}": {"d1": 1} for n in range(7) for turn in (1, 2)}
FIRST = {topic: {"d1": 2, "d2": 1} for topic in QRELS}
SECOND = {topic: {"d1": 1, "d2": 2} for topic in QRELS}
GROUPS = {topic: topic.split("_")[0] for topic in QRELS}


def test_the_library_says_how_many_groups_there_are():
    runs = {"first": FIRST, "second": SECOND}
    found = compare(QRELS, runs, "RR", groups=GROUPS)
    assert "14 topics in 7 groups: few differences can be seen" in str(found)
    assert found["RR", "second"].verdict == "worse"
    assert "14 topics in 7 groups" in str(rank_intervals(QRELS, runs, "RR", groups=GROUPS))


def test_a_topic_without_a_group_is_an_error():
    with pytest.raises(ValueError, match="no group for the topic 6_2"):
        compare(QRELS, {"a": FIRST, "b": SECOND}, "RR", groups=dict(list(GROUPS.items())[:-1]))


def write_files(folder):
    (folder / "qrels").write_text("".join(f"{topic} 0 d1 1\n" for topic in QRELS))
    for name, run in (("first", FIRST), ("second", SECOND)):
        lines = [
            f"{topic} Q0 {docno} 1 {score} {name}\n"
            for topic, scores in run.items()
            for docno, score in scores.items()
        ]
        (folder / name).write_text("".join(lines))
    (folder / "groups").write_text("".join(f"{topic} {group}\n" for topic, group in GROUPS.items()))


def test_commands_take_a_file_of_groups(tmp_path, monkeypatch, capfd):
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    for command in ("compare", "pairs"):
        words = [command, "qrels", "first", "second", "-m", "RR", "--groups", "groups"]
        assert main([*words, "--format", "md"]) == 0
        assert "14 topics in 7 groups: few differences can be seen" in capfd.readouterr().out


def test_a_line_of_groups_has_two_columns(tmp_path, monkeypatch, capfd):
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "groups").write_text("0_1 0\n0_2\n0_1 1\n")
    assert main(["compare", "qrels", "first", "second", "--groups", "groups"]) == 2
    said = capfd.readouterr().err
    assert "expected 2 columns (topic group) but found 1" in said
    assert "the topic already has a group" in said


def test_agreement_leaves_out_whole_groups(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ada").write_text(
        "".join(f"{n} 0 d{d} {d % 2}\n" for n in range(6) for d in (1, 2))
    )
    (tmp_path / "ben").write_text(
        "".join(f"{n} 0 d{d} {n % 2}\n" for n in range(6) for d in (1, 2))
    )
    (tmp_path / "groups").write_text("".join(f"{n} {n // 2}\n" for n in range(6)))
    assert main(["kappa", "ada", "ben", "--groups", "groups"]) == 0
    assert "jackknife over 3 groups of topics" in capfd.readouterr().out


def test_groups_over_one_collection_are_those_of_its_board():
    scores = np.random.default_rng(6).random((4, 24)) / 10 + np.arange(4)[:, np.newaxis] / 30
    groups = np.repeat(np.arange(9), [3, 3, 2, 2, 3, 3, 2, 3, 3])
    whole = compare_all_pairs(scores, groups=groups, half_range=0.5)
    over = decide_pairs_over_collections(
        [Collected(scores, range(24), groups.tolist())], scale=Scale("mean", 0.5)
    )
    np.testing.assert_allclose(over.p, whole.p)
    np.testing.assert_allclose(over.errors, whole.errors)
    assert over.critical == pytest.approx(whole.critical)
    assert (over.topics, over.units) == (24, 9)


def test_groups_over_one_collection_are_compared_as_on_its_board():
    scores = np.random.default_rng(7).random((3, 24)) / 10 + np.arange(3)[:, np.newaxis] / 30
    groups, scale = np.repeat(np.arange(8), 3), Scale("mean", 0.5)
    over = compare_over_collections([Collected(scores, range(24), groups.tolist())], scale=scale)
    whole = compare_with_baseline(scores, 0, scale=scale, groups=groups)
    assert [each.p_adjusted for each in over] == [each.p_adjusted for each in whole]
    assert over[1].low == pytest.approx(whole[1].low)


def test_a_lead_has_no_test_on_a_collection_with_few_groups():
    scores = np.random.default_rng(8).random((2, 24))
    few, many = (np.repeat(np.arange(number), 24 // number) for number in (4, 8))
    topics = [[(name, topic) for topic in range(24)] for name in ("few", "many")]
    collections = [
        Collected(scores, keys, groups.tolist())
        for keys, groups in zip(topics, (few, many), strict=True)
    ]
    [tested] = max_t(scores[1:] - scores[:1], groups=many)
    assert compute_lead(collections, 1, 0).p_alone == (None, tested.p)


def test_a_region_counts_whole_groups():
    gains = np.repeat(np.random.default_rng(9).normal(0.02, 0.05, 10), 4)
    by_topic = posterior_of(gains, 0.05, 0.5)
    by_group = posterior_of(gains, 0.05, 0.5, np.repeat(np.arange(10), 4))
    assert by_group.within < by_topic.within
    alone = posterior_of(gains, 0.05, 0.5, np.arange(40))
    assert (alone.better, alone.within) == approx((by_topic.better, by_topic.within))


def test_a_plan_is_of_whole_groups():
    scores = np.random.default_rng(10).random((3, 24))
    groups = np.repeat(np.arange(8), 3)
    found, single = variances_of(scores, groups), variances_of(scores, np.arange(24))
    means = scores.reshape(3, 8, 3).mean(axis=2)
    assert found.paired == approx(variances_of(means).paired)
    assert (found.per_group, found.topics_of(10), found.units_of(32)) == (3.0, 30, 10)
    assert single.paired == approx(variances_of(scores).paired)


def test_the_command_plans_whole_groups(tmp_path, monkeypatch, capfd):
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = ["plan", "qrels", "first", "second", "-m", "RR", "--groups", "groups"]
    assert main([*words, "--effect", ".5"]) == 0
    assert "of whole groups of 2 topics on average" in capfd.readouterr().out
    for wrong in ([*words, "--difference", ".1"], ["plan", "--effect", ".5", "--groups", "groups"]):
        with pytest.raises(SystemExit):
            main(wrong)


def test_kappa_is_over_whole_groups():
    opinions = np.random.default_rng(11).integers(0, 2, (2, 120)).astype(float)
    topics = np.repeat(np.arange(12), 10)
    pairs, groups = count_opinions(opinions, topics), np.repeat(np.arange(4), 3)
    whole = count_opinions(opinions, groups[topics])
    assert pairs.kappa(groups=groups) == whole.kappa() != pairs.kappa()
