"""What holds for all measures, whatever the run.

Before you test a measure for one of these, see whether its text stands in MEASURES_TRIED.
"""

import math
import random
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest

from evaluation.judging import JudgedRun, judge, prepare
from evaluation.measures import MEASURES, parse_measure
from evaluation.problems import Problems
from evaluation.reading.judging.qrels import Qrels, read_qrels_leniently
from evaluation.reading.runs.rankings import Ranking
from evaluation.reading.runs.reader import Run
from tests.evaluation.random_runs import MEASURES_TRIED, Sample, sample

SEEDS = range(8)
MORE = """
AP(norm=cap)@1000 nDCG(gain=exp) nDCG(discount=jk,base=3)@20 nDCG(ideal=retrieved)@5 nERR@1000
IPrec@0 IPrec@1 binG G nDCGRel Rndcg AUC Bpref RR MR AP nDCG nDCG@10 Rprec IPrec11 R@1000 RCap@5
"""
# Exactly at the best value where the ranking is ideal and some grade is relevant.
PERFECT = MORE.split()
# Never lower when a document moves up past one of a lower grade.
MONOTONE = """
P@3 R@3 RCap@3 F@3 Success@3 AP AP@5 AP(norm=cap)@5 RR MR Rprec RprecMult(x=0.6) IPrec@0.3 IPrec11
binG yaap CG@3 DCG DCG(gain=exp)@5 DCG(discount=jk)@4 nDCG nDCG@3 nDCG(gain=exp)@5
nDCG(ideal=retrieved)@4 nDCGRel ERR@10 nERR@3 RBP RBP(p=0.5) RBP(gain=graded) Bpref AUC
"""


@pytest.fixture(scope="module", params=SEEDS)
def drawn(request) -> Sample:
    return sample(request.param)


def scores_of(text: str, judged: JudgedRun) -> np.ndarray:
    return parse_measure(text).scores(judged)


def same_bits(one: np.ndarray, other: np.ndarray) -> bool:
    return one.tobytes() == other.tobytes()


def test_every_value_is_in_the_range_of_its_measure(drawn):
    judged = drawn.judged()
    for text in MEASURES_TRIED:
        measure = parse_measure(text)
        low, high = measure.range
        values = measure.scores(judged)
        defined = values[~np.isnan(values)]
        assert np.all((defined >= low) & (defined <= high + 1e-12)), text


def test_only_auc_and_grade_are_ever_undefined(drawn):
    judged = drawn.judged()
    for text in MEASURES_TRIED:
        if not text.startswith(("AUC", "Grade")):
            assert not np.isnan(scores_of(text, judged)).any(), text


def test_the_order_of_lines_changes_no_bit(drawn):
    again = replace(drawn, qrels_lines=drawn.qrels_lines[::-1], run_lines=drawn.run_lines[::-1])
    straight, reverse = drawn.judged(), again.judged()
    for text in MEASURES_TRIED:
        assert same_bits(scores_of(text, straight), scores_of(text, reverse)), text


def test_the_order_of_topics_changes_no_bit(drawn):
    qrels, run = drawn.qrels(), drawn.run()
    topics = sorted(qrels.grades)
    shuffled = random.Random(0).sample(topics, len(topics))
    place = [shuffled.index(topic) for topic in topics]
    straight, mixed = judge(run, prepare(qrels, topics)), judge(run, prepare(qrels, shuffled))
    for text in MEASURES_TRIED:
        measure, values = parse_measure(text), scores_of(text, mixed)
        assert same_bits(scores_of(text, straight), values[place]), text
        both = measure.aggregate(values), measure.aggregate(values[place])
        assert both[0] == both[1] or math.isnan(both[0]), text


def test_other_topics_change_no_bit(drawn):
    qrels, run = drawn.qrels(), drawn.run()
    topics = sorted(qrels.grades)[::7]
    whole, part = judge(run, prepare(qrels)), judge(run, prepare(qrels, topics, qrels.top_grade))
    for text in MEASURES_TRIED:
        assert same_bits(scores_of(text, whole)[::7], scores_of(text, part)), text


def test_other_measures_change_no_bit(drawn):
    forwards, backwards = drawn.judged(), drawn.judged()
    together = {text: scores_of(text, forwards) for text in MEASURES_TRIED}
    for text in reversed(MEASURES_TRIED):
        assert same_bits(scores_of(text, backwards), together[text]), text


def test_a_packed_record_scores_the_same_to_the_bit(drawn):
    judged = drawn.judged(depth=9)
    again = JudgedRun.unpack(judged.pack(), judged.judgments)
    for text in MEASURES_TRIED:
        assert same_bits(scores_of(text, judged), scores_of(text, again)), text


@pytest.mark.parametrize("text", MEASURES_TRIED)
def test_the_canonical_text_parses_back(text):
    measure = parse_measure(text)
    assert parse_measure(str(measure)) == measure
    assert hash(parse_measure(str(measure))) == hash(measure)


def test_a_perfect_run_has_the_best_value():
    qrels = Qrels({b"1": {b"a": 3, b"b": 1, b"c": 2, b"d": 0, b"e": 0, b"f": 1}}, Problems())
    judged = judge(run_of({b"1": [b"a", b"c", b"b", b"f", b"d", b"e"]}), prepare(qrels))
    for text in PERFECT:
        assert scores_of(text, judged).tolist() == [1.0], text


def run_of(rankings: dict[bytes, list[bytes]]) -> Run:
    ranked = {
        topic: Ranking(docnos, -np.arange(len(docnos), dtype=np.float64))
        for topic, docnos in rankings.items()
    }
    return Run("tag", ranked, 0, Problems())


@pytest.mark.parametrize("text", MONOTONE.split())
def test_a_document_that_moves_up_past_a_worse_one_never_lowers_the_score(text):
    measure = parse_measure(text)
    for seed in SEEDS:
        drawn = sample(seed)
        judgments = prepare(drawn.qrels())
        before = {t: r.docnos for t, r in drawn.run().rankings.items()}
        after = {t: moved_up(docnos, drawn.grades[t]) for t, docnos in before.items()}
        rise = measure.scores(judge(run_of(after), judgments)) - measure.scores(
            judge(run_of(before), judgments)
        )
        assert np.nanmin(rise * measure.direction) >= -1e-12, seed


def moved_up(docnos: list[bytes], grades: dict[bytes, int]) -> list[bytes]:
    """The ranking after the first document that stands right below a worse one has passed it."""
    value = [max(0, grades.get(docno, 0)) for docno in docnos]
    for place in range(1, len(docnos)):
        if value[place] > value[place - 1]:
            upper, lower = docnos[place - 1 : place + 1]
            return [*docnos[: place - 1], lower, upper, *docnos[place + 1 :]]
    return docnos


EMPTY = {
    "NumQ": 1,
    "NumRel": 2,
    "MR": 1001,
    "Judged": 1,
    "Grade": math.nan,
    "AUC": 0.5,
    "RBPResidual": 1,
    "IDCG": 2 + 1 / math.log2(3),
    "yaap": math.log(1 / 3),
}


@pytest.mark.parametrize("name", MEASURES)
def test_an_absent_topic_scores_as_an_empty_ranking(name):
    qrels = read_qrels_leniently(BytesIO(b"1 0 a 2\n1 0 b 1\n1 0 c 0\n1 0 d -1\n"))
    judged = judge(run_of({}), prepare(qrels))
    measure = parse_measure(MEASURES[name].example.replace("Utility(1,-0.5)", "Utility"))
    assert measure.scores(judged)[0] == pytest.approx(EMPTY.get(name, 0), abs=1e-15, nan_ok=True)


def test_the_depth_of_the_run_is_that_of_the_mean_rank():
    judged = judge(run_of({b"1": [b"x", b"a"]}), prepare(Qrels({b"1": {b"a": 1}}, Problems())), 1)
    assert scores_of("MR", judged).tolist() == [2.0]
    assert scores_of("MR", replace(judged, depth=50)).tolist() == [51.0]


def test_a_topic_without_relevant_documents_is_zero_and_stays_in_the_mean():
    qrels = Qrels({b"1": {b"a": 1}, b"2": {b"a": 0}}, Problems())
    judged = judge(run_of({b"1": [b"a"], b"2": [b"a"]}), prepare(qrels))
    for text in ("AP", "R@5", "Rprec", "nDCG", "Bpref", "infAP", "RCap@5", "Rndcg"):
        measure = parse_measure(text)
        assert measure.scores(judged).tolist() == [1.0, 0.0], text
        assert measure.aggregate(measure.scores(judged)) == 0.5, text


def test_undefined_topics_are_left_out_of_the_mean():
    measure = parse_measure("AUC")
    assert measure.aggregate(np.array([1.0, math.nan, 0.5])) == 0.75
    assert math.isnan(measure.aggregate(np.array([math.nan])))


@pytest.mark.parametrize("text", ["AP", "GMAP", "NumRet", "AUC"])
def test_no_topic_at_all_is_zero(text):
    assert parse_measure(text).aggregate(np.array([])) == 0.0


def test_the_mean_is_the_correctly_rounded_sum():
    values = np.array([0.1] * 10)
    assert parse_measure("AP").aggregate(values) == 0.1


def test_the_geometric_mean_has_a_floor():
    assert parse_measure("GMAP").aggregate(np.array([0.0, 1.0])) == pytest.approx(0.00001**0.5)
