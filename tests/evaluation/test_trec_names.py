"""Measures asked for by trec_eval's names: its values to the last bit, and its sums."""

import json
import math
from io import BytesIO

import pytest

from evaluation import TREC_EVAL_9, JudgedRun, judge, parse_measure, parse_measures, prepare
from evaluation.__main__ import main
from evaluation.conventions import HOUSE
from evaluation.reading.judging.qrels import read_qrels_leniently
from evaluation.reading.runs.reader import read_run_leniently


def judged(grades: list[list[int | None]], more: str = "", convention=HOUSE) -> JudgedRun:
    """One topic for each list of grades by rank, None where unjudged; and `more` judgments."""
    qrels, run = more, ""
    for topic, ranking in enumerate(grades, 1):
        for rank, grade in enumerate(ranking, 1):
            run += f"{topic} Q0 d{rank} {rank} {-rank} ada\n"
            qrels += "" if grade is None else f"{topic} 0 d{rank} {grade}\n"
    judgments = prepare(read_qrels_leniently(BytesIO(qrels.encode())))
    return judge(read_run_leniently(BytesIO(run.encode())), judgments, convention=convention)


def values(name: str, run: JudgedRun) -> list[float]:
    (asked,) = parse_measures(name)
    return asked.measure.scores(run).tolist()


def mean(name: str, run: JudgedRun) -> float:
    (asked,) = parse_measures(name)
    return asked.measure.aggregate(asked.measure.scores(run))


@pytest.mark.parametrize(
    ("theirs", "ours", "grades", "printed"),
    [
        ("P_1000", "P@1000", [[1] * n for n in (4, 2, 3, 2)], ("0.0028", "0.0027")),
        (
            "set_P",
            "SetP",
            [[1], [1] + [0] * 7, [1, 1, 0, 0, 0], [1, 1] + [0] * 8],
            ("0.4312", "0.4313"),
        ),
    ],
)
def test_a_half_in_the_last_digit_is_rounded_as_trec_eval_rounds_it(theirs, ours, grades, printed):
    run = judged(grades)
    assert (f"{mean(theirs, run):.4f}", f"{mean(ours, run):.4f}") == printed


def test_topics_are_added_one_after_the_other():
    run = judged([[1] + [0] * 9] * 10)
    assert mean("P_10", run) == 0.09999999999999999
    assert mean("P@10", run) == 0.1


def test_geometric_means_add_logarithms_one_after_the_other():
    run = judged([[0] * n + [1] for n in range(12)])
    total = 0.0
    for precision in values("map", run):
        total += math.log(precision)
    assert mean("gm_map", run) == math.exp(total / 12)


def test_rbp_divides_by_the_highest_grade_of_the_topic():
    run = judged([[2, 0, 1], [4, 2], [1, 1]])
    powers = [1.0, 0.9, 0.9 * 0.9]
    one_less = 1.0 - 0.9
    assert values("rbp", run) == [
        one_less * (1.0 + 0.5 * powers[2]),
        one_less * (1.0 + 0.5 * powers[1]),
        one_less * (1.0 + powers[1]),
    ]
    assert values("RBP(p=0.9,gain=graded)", run)[0] == pytest.approx(0.1 * (0.5 + 0.25 * 0.81))


def test_rbp_of_a_topic_without_a_positive_grade_is_0():
    assert values("rbp.p=0.5", judged([[0, -1, None], [1]])) == [0.0, 0.5]


def test_rbp_resid_has_no_tail_where_nothing_is_unjudged():
    run = judged([[1, 0], [1, None, -1]])
    tail = 0.9 * 0.9 * 0.9
    assert values("rbp_resid", run) == [0.0, tail + (1 - 0.9) * (0.9 + 0.9 * 0.9)]
    assert values("RBPResidual(p=0.9)", run)[0] == pytest.approx(0.81)


def test_a_missing_topic_has_a_residual_only_with_parameters():
    run = judged([[1]], more="9 0 d1 1\n")
    assert values("rbp_resid", run) == [0.0, 0.0]
    assert values("rbp_resid.p=0.5", run) == [0.0, 1.0]
    assert values("rbp_resid.p=0.5", run.condensed()) == [0.0, 0.0]


def test_a_missing_topic_counts_in_utility_as_each_version_counts_it():
    missing = "9 0 d1 1\n9 0 d2 1\n"
    assert values("utility", judged([[1, 0]], missing)) == [0.0, 0.0]
    assert values("utility.1,-1,-0.5,0", judged([[1]], missing)) == [1.0, -2.0]
    assert values("utility.1,-1,-0.5,0", judged([[1]], missing, TREC_EVAL_9)) == [1.0, 0.0]
    assert values("Utility(1,-1,-0.5,0)", judged([[1]], missing)) == [1.0, -1.0]


def test_set_f_takes_the_square_of_beta_as_it_is_written():
    precision, recall = 1 / 2, 1.0
    expected = (3 + 1.0) * precision * recall / (3 * precision + recall)
    assert values("set_F.3", judged([[1, 0]])) == [expected]


def test_eleven_points_are_added_from_the_last():
    run = judged([[1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1]])
    levels = [asked.measure.scores(run)[0] for asked in parse_measures("iprec_at_recall")]
    total = 0.0
    for level in reversed(levels):
        total += level
    assert values("11pt_avg", run) == [total / 11]


def test_ndcg_rel_multiplies_before_it_divides():
    run = judged([[0, 0, 0, 1]], more="".join(f"1 0 m{i} 1\n" for i in range(6)))
    dcg, best = values("dcg", run)[0], values("ideal_dcg", run)[0]
    at_rank_4 = dcg / (1 + 1 / math.log2(3) + 1 / 2 + 1 / math.log2(5))
    assert values("ndcg_rel", run) == [(at_rank_4 + 6 * dcg / best) / 7]


def test_negative_gains_count_in_g_and_bring_ndcg_rel_to_0():
    run = judged([[1, 2]])
    gained = -4 / math.log2(2 + 5 + 4) + 5 / math.log2(2 + 6 - 1)
    assert values("G.1=-4,2=5", run) == [pytest.approx(gained / 5)]
    assert values("ndcg_rel.1=-9,2=1", run) == [0.0]


def test_a_board_asks_for_our_measure_by_either_name():
    assert parse_measure("map") == parse_measure("AP")
    assert parse_measures("map")[0].measure != parse_measure("AP")
    assert parse_measures("map")[0].measure.ours == parse_measure("AP")


def test_a_threshold_reaches_trec_evals_names_too():
    (asked,) = parse_measures("P_2")
    measure = asked.measure.resolved(2)
    assert str(measure) == "P(rel=2)@2"
    assert measure.scores(judged([[2, 1]])).tolist() == [0.5]


def test_bounds_of_rbp_add_the_whole_residual():
    (asked,) = parse_measures("rbp")
    low, high = asked.measure.bounds(judged([[1, 0]]))
    assert high - low == pytest.approx([0.81])


def test_json_says_which_measures_are_computed_as_trec_eval_does(tmp_path, capfd):
    for name, text in (("qrels", b"1 0 d1 1\n"), ("run", b"1 Q0 d1 1 9 ada\n")):
        (tmp_path / name).write_bytes(text)
    paths = [str(tmp_path / "qrels"), str(tmp_path / "run")]
    main(["score", *paths, "-m", "map", "-m", "AP", "--format", "json"])
    scores = json.loads(capfd.readouterr().out)["runs"][0]["scores"]
    assert scores["map"] == {"measure": "AP", "computed_as": "trec_eval", "all": 1.0}
    assert scores["AP"] == {"measure": "AP", "all": 1.0}


def test_measures_tells_what_trec_eval_computes_in_another_way(capfd):
    main(["measures", "RBP"])
    assert "As trec_eval computes it: rbp: (1 - p) times the sum" in capfd.readouterr().out
