"""Measures as values: names, parameters, ranges, worked values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.judging import JudgedRun, prepare
from evaluation.measures import MEASURES, MeasureError, example, parse_measure, parse_measures
from evaluation.problems import Problems
from evaluation.reading.judging.qrels import Qrels


def record_of(grades: list[int]) -> JudgedRun:
    """A run of one topic that retrieved exactly the judged documents, with these grades."""
    docnos = [b"d%d" % i for i in range(len(grades))]
    judgments = prepare(Qrels({b"1": dict(zip(docnos, grades, strict=True))}, Problems()))
    rank = np.arange(1, len(grades) + 1, dtype=np.int32)
    topic, grade = np.zeros(len(grades), np.int32), np.array(grades, np.int32)
    return JudgedRun(topic, rank, grade, np.array([len(grades)]), judgments)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("AP", "AP"),
        ("AP(rel=2)@100", "AP(rel=2)@100"),
        ("AP( norm = cap , rel=2 )@10", "AP(rel=2,norm=cap)@10"),
        ("nDCG(discount=jk,gain=exp)@10", "nDCG(gain=exp,discount=jk)@10"),
        ("nDCG(discount=jk,base=2)", "nDCG(discount=jk)"),
        ("nDCG(gains={2:9,1:3,4:4})", "nDCG(gains={1:3,2:9})"),
        ("RBP(p=0.80)", "RBP"),
        ("RBP(gain=graded,p=.5)", "RBP(p=0.5,gain=graded)"),
        ("RprecMult(0.20)", "RprecMult(x=0.2)"),
        ("Utility(1,-1,0.5)", "Utility(c=0.5)"),
        ("IPrec@0.10", "IPrec@0.1"),
        ("AP(holes=condensed)", "AP(holes=condensed)"),
    ],
)
def test_a_measure_has_one_canonical_text_that_parses_back(text, canonical):
    assert str(parse_measure(text)) == canonical
    assert parse_measure(canonical) == parse_measure(text)


@pytest.mark.parametrize(
    ("alias", "canonical"),
    [
        ("map", "AP"),
        ("map_cut_100", "AP@100"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("ndcg.1=3,2=9", "nDCG(gains={1:3,2:9})"),
        ("ndcg_rel.1=3", "nDCGRel(gains={1:3})"),
        ("P_5", "P@5"),
        ("recip_rank", "RR"),
        ("recall_1000", "R@1000"),
        ("success_5", "Success@5"),
        ("iprec_at_recall_0.10", "IPrec@0.1"),
        ("iprec_at_recall..10", "IPrec@0.1"),
        ("relative_P_10", "RCap@10"),
        ("Rprec_mult.0.35", "RprecMult(x=0.35)"),
        ("set_F", "SetF"),
        ("set_F.4.0", "SetF(beta=2)"),
        ("utility.2,-1,0,0", "Utility(a=2)"),
        ("gm_map", "GMAP"),
        ("11pt_avg", "IPrec11"),
        ("unj_10", "Unjudged@10"),
        ("rbp.p=0.5", "RBP(p=0.5,gain=graded)"),
        ("MRR@10", "RR@10"),
        ("MAP", "AP"),
        ("HR@5", "Success@5"),
        ("F1@5", "F@5"),
        ("Precision@5", "P@5"),
        ("Precision", "SetP"),
        ("recall@5", "R@5"),
        ("R_cap@10", "RCap@10"),
        ("ndcg@10", "nDCG@10"),
        ("nDCG(dcg='exp-log2')@10", "nDCG(gain=exp)@10"),
        ("AP(judged_only=True)", "AP(holes=condensed)"),
        ("SetP(relative=True)", "SetRelP"),
        ("NumRet(rel=1)", "NumRelRet(rel=1)"),
        ("nDCG(cutoff=10)", "nDCG@10"),
        ("r-cap@10", "RCap@10"),
        ("AUC-ROC", "AUC"),
        ("F-measure(beta=2)", "SetF(beta=2)"),
        ("hit-rate@3", "Success@3"),
        ("F1", "SetF"),
        ("F2", "SetF(beta=2)"),
        ("MRR", "RR"),
        ("ERR", "ERR"),
        ("nERR", "nERR"),
        ("Hit@10", "Success@10"),
        ("Hits@1", "Success@1"),
        ("Hit", "Success"),
    ],
)
def test_other_names_are_understood(alias, canonical):
    assert str(parse_measure(alias)) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nDCG@0", "k is an integer of at least 1"),
        ("P", "write P@k"),
        ("P@5.5", "k is an integer"),
        ("P@1e3", "k is an integer"),
        ("IPrec@1.1", "r is a number from 0 to 1"),
        ("RBP(p=2)", "p is a number between 0 and 1"),
        ("RBP(p=0_5)", "p is a number between 0 and 1"),
        ("utility.rel=2", "not parameters of utility"),
        ("RBP(p=nan)", "p is a number between 0 and 1"),
        ("RBP(gain=graded,rel=2)", "takes no rel"),
        ("AP(norm=cap)", "needs a cutoff"),
        ("AP(rel=-1)", "rel is an integer of at least 0"),
        ("AP(rel=1,rel=2)", "given twice"),
        ("AP(depth=5)", "AP takes rel, norm, holes"),
        ("nDCG(rel=2)@10", "no parameter rel"),
        ("nDCG(base=3)@10", "base belongs to discount=jk"),
        ("nDCG(gain=exp,gains={1:2})@10", "exclude each other"),
        ("nDCG(gains={1:x})", "gains is a map"),
        ("nDCG(gains={1:2,1:3})", "gains is a map"),
        ("F(beta=0)@5", "beta is a number above 0"),
        ("Rprec@5", "takes no value after @"),
        ("RprecMult", "x is missing"),
        ("nosuch", "there are P, R, RCap"),
        ("P.0", "k is an integer of at least 1"),
        ("P.5,5", "given twice"),
        ("P.5,10", "names 2 measures"),
        ("map.", "takes no parameter"),
        ("ndcg.1", "not parameters of ndcg"),
        ("ndcg_cut.23.4", "k is an integer"),
        ("11pt_avg..25,.5", "takes no parameter"),
        ("runid", "not implemented"),
        ("", "a measure is written like"),
        ("AP)(", "a measure is written like"),
    ],
)
def test_a_text_that_names_no_measure_is_told_what_is_allowed(text, message):
    with pytest.raises(MeasureError, match=message):
        parse_measure(text)


@given(st.text("APRnDCGmapcutsetFGrbp(){}@.,=:_ 0123456789-", max_size=14))
def test_any_text_is_a_measure_or_is_told_why_not(text):
    try:
        measures = [asked.measure for asked in parse_measures(text)]
    except MeasureError as error:
        assert str(error)
    else:
        ours = [getattr(measure, "ours", measure) for measure in measures]
        assert [parse_measure(str(measure)) for measure in measures] == ours


def test_lists_are_sorted_and_named_as_trec_eval_prints_them():
    names = [asked.name for asked in parse_measures("Rprec_mult.5.0,0.2,0.35")]
    assert names == ["Rprec_mult_0.20", "Rprec_mult_0.35", "Rprec_mult_5.00"]


def test_all_trec_asks_for_all_of_them_but_runid_and_relstring():
    names = [asked.name for asked in parse_measures("all_trec")]
    assert len(names) == len(set(names)) == 98
    assert names[:3] == ["num_q", "num_ret", "num_rel"]


def test_a_threshold_of_the_track_fills_in_where_none_is_written():
    assert str(parse_measure("AP").resolved(2)) == "AP(rel=2)"
    assert str(parse_measure("AP(rel=1)").resolved(2)) == "AP"
    assert str(parse_measure("nDCG@10").resolved(2)) == "nDCG@10"
    assert str(parse_measure("RBP(gain=graded)").resolved(2)) == "RBP(gain=graded)"


def test_a_gain_map_with_negative_gains_opens_the_range_downwards():
    assert parse_measure("nDCG").range == (0, 1)
    assert parse_measure("nDCG(gains={1:-1})").range == (-float("inf"), 1)


def test_every_measure_is_described_with_source_and_parameters():
    for name, definition in MEASURES.items():
        text = definition.formula.__doc__
        assert definition.description.endswith((".", "k", "^top.")), name
        assert definition.source, name
        assert not [each.name for each in definition.parameters[:-1] if each.name not in text], name


def test_every_trec_name_is_read_back_as_its_measure():
    measures = [parse_measure(definition.example) for definition in MEASURES.values()]
    named = {each: parse_measure(each.trec_name) for each in measures if each.trec_name}
    assert len(named) > 20
    assert {each: read for each, read in named.items() if read != each} == {}


@pytest.mark.parametrize(("k", "value"), [(3, 0.969279), (5, 0.965863)])
def test_the_tutorial_ndcg_values_at_full_precision(k, value):
    # The tutorial prints 0.9694 and 0.9664, from terms rounded to two decimals.
    run = record_of([5, 2, 4, 0, 1])
    assert parse_measure(f"nDCG(ideal=retrieved)@{k}").scores(run)[0] == pytest.approx(
        value, abs=1e-6
    )


def test_the_worked_example_of_holes():
    assert [example(m) for m in ("AP", "P@5", "nDCG@5", "nDCG", "Bpref", "Rprec", "unj_5")] == [
        0.4821, 0.4, 0.5798, 0.6593, 0.375, 0.5, 0.4,
    ]  # fmt: skip


def test_err_may_take_the_highest_grade_of_each_topic():
    """Chapelle and others 2009, by hand: p = 1/2 at ranks 2 and 3, so 1/4 + 1/2 * 1/2 / 3."""
    low, high = {b"a": 0, b"b": 1, b"c": 1}, {b"a": 3}
    judgments = prepare(Qrels({b"1": low, b"2": high}, Problems()))
    rank, grade = np.array([1, 2, 3], np.int32), np.array([0, 1, 1], np.int32)
    judged = JudgedRun(np.zeros(3, np.int32), rank, grade, np.array([3, 0]), judgments)
    for text, value in (("ERR(top=topic)@3", 1 / 3), ("nERR(top=topic)@3", 8 / 15)):
        assert parse_measure(text).scores(judged)[0] == pytest.approx(value), text


@pytest.mark.parametrize(("target", "value"), [(1, 0.7547), (2, 0.5010), (3, 0.3804)])
def test_inst_is_that_of_cwl_eval(target, value):
    """cwl-eval 1.0.12, INST with T = 1, 2 and 3, on the first of its 1,000 ranks."""
    measure = parse_measure(f"INST(T={target})")
    assert round(float(measure.scores(record_of([1, 0, 1, 0, 1]))[0]), 4) == value
