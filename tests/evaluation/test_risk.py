"""Risk of a run beside a baseline, beside plain loops and on input that allows no number."""

import json

import numpy as np
import pytest
from pytest import approx
from scipy import stats

from evaluation.__main__ import main
from evaluation.significance import describe_risk, geo_risks
from tests.evaluation.test_groups import write_files


def drawn(runs, topics, seed=1):
    return np.random.default_rng(seed).beta(2, 3, (runs, topics)).round(2)


def test_losses_count_more_than_gains():
    one, other = drawn(2, 25).tolist()
    gains = [x - y for x, y in zip(one, other, strict=True)]
    plain = [gain if gain > 0 else 3 * gain for gain in gains]
    found = describe_risk(np.array(gains), alpha=2)
    assert found.urisk == approx(sum(plain) / 25)
    assert found.trisk == approx(stats.ttest_1samp(plain, 0).statistic)
    assert found.p == approx(stats.binomtest(found.wins, found.wins + found.losses).pvalue)


def test_without_extra_weight_it_is_the_mean_and_its_t():
    gains = drawn(1, 30)[0] - 0.4
    found = describe_risk(gains, alpha=0)
    assert (found.urisk, found.trisk) == (
        approx(gains.mean()),
        approx(stats.ttest_1samp(gains, 0)[0]),
    )


def test_geo_risk_is_that_of_a_plain_loop():
    scores, alpha = drawn(3, 8), 2.0
    total = scores.sum()
    for run, found in zip(scores, geo_risks(scores, alpha), strict=True):
        z = 0.0
        for topic, score in enumerate(run):
            expected = run.sum() * scores[:, topic].sum() / total
            part = (score - expected) / expected**0.5
            z += part if part > 0 else (1 + alpha) * part
        assert found == approx((run.mean() * stats.norm.cdf(z / 8)) ** 0.5)


def test_the_worst_tenth_counts_part_of_a_topic():
    found = describe_risk(np.arange(25.0))
    # Two and a half topics: 0, 1, and half of 2.
    assert (found.worst, found.threshold) == (approx(2 / 2.5), 2)
    assert found.threshold_interval is None
    many = describe_risk(np.arange(50.0))
    assert (many.threshold_interval.low, many.threshold_interval.high) == (0, 9)


def test_the_interval_of_a_tenth_holds_for_discrete_scores():
    values = np.array([-0.5, -0.2, 0, 0, 0, 0, 0, 0.1, 0.3, 0.5])
    draw = np.random.default_rng(2)
    ends = [describe_risk(draw.choice(values, 50)).threshold_interval for _ in range(300)]
    assert np.mean([end.low <= -0.2 and end.high >= -0.5 for end in ends]) >= 0.95


def test_input_without_a_number_has_none():
    assert describe_risk(np.full(4, np.nan)) is None
    same = describe_risk(np.zeros(9))
    assert (same.urisk, same.trisk, same.ties, same.p) == (0, None, 9, 1)
    assert describe_risk(np.array([0.2])).trisk is None
    assert np.isnan(geo_risks(np.array([[0.5, -0.1], [0.2, 0.3]]))).all()
    assert np.isnan(geo_risks(np.zeros((2, 3)))).all()
    with pytest.raises(ValueError, match="negative"):
        describe_risk(np.zeros(3), alpha=-1)


def test_compare_prints_a_table_of_risks(tmp_path, monkeypatch, capfd):
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = ["compare", "qrels", "first", "second", "-m", "RR", "--risk", "2"]
    assert main(words) == 0
    assert "losses count 3 times" in capfd.readouterr().out
    assert main([*words, "--format", "json"]) == 0
    [found] = json.loads(capfd.readouterr().out)["risks"]
    assert (found["risk"]["urisk"], found["risk"]["losses"]) == (-1.5, 14)
