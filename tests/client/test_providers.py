"""Rankfield in the real ir_measures, and ir_measures beside Rankfield."""

from __future__ import annotations

import ir_measures
import pytest
from ir_measures import (
    AP,
    RBP,
    RR,
    Bpref,
    IPrec,
    Judged,
    NumRel,
    NumRet,
    P,
    R,
    Rprec,
    SetF,
    Success,
    nDCG,
)

import evaluation
from evaluation.reading.objects import qrels_from, run_from
from leaderboard.models import Run
from rankfield.libraries.pyterrier import compare_experiment, submit_experiment
from rankfield.providers import experiment_measures, our_measure, provider

QRELS = {"7": {"d1": 2, "d2": 0, "d3": 1}, "8": {"d4": 1, "d5": 0}, "9": {"d6": 1}}
# Ties, unjudged documents, a missing topic and one that is not judged.
RUN = {"7": {"d2": 9, "d1": 9, "u1": 9, "d3": 8}, "8": {"d4": 3, "u2": 3, "u3": 3}, "10": {"d1": 1}}
BOTH = [
    *(AP, AP @ 2, AP(rel=2), AP(judged_only=True), Bpref, IPrec @ 0.5, nDCG, nDCG @ 2),
    *(nDCG(gains={1: 3, 2: 9}) @ 3, nDCG(judged_only=True) @ 2, NumRet, NumRet(rel=1)),
    *(P @ 2, P(rel=2) @ 5, R @ 2, R(rel=2) @ 3, Rprec, RR),
    *(RR(rel=2), ir_measures.SetAP, SetF, ir_measures.SetP, ir_measures.SetRelP, ir_measures.SetR),
    *(Success @ 1, Success(rel=2) @ 2, ir_measures.infAP),
]


def by_topic(metrics) -> dict:
    return {(metric.query_id, str(metric.measure)): metric.value for metric in metrics}


def theirs_by_topic(measures: list, qrels: dict, run: dict) -> dict:
    """Each measure is asked for alone.

    Together, ir_measures 0.4.3 may compute nDCG by the gains of another nDCG and NumRet without
    unjudged documents, as the order of a set of texts happens to be.
    """
    each = (ir_measures.iter_calc([measure], qrels, run) for measure in measures)
    return by_topic(metric for metrics in each for metric in metrics)


def assert_alike(ours: dict, theirs: dict) -> None:
    assert ours.keys() == theirs.keys()
    for key, value in theirs.items():
        assert ours[key] == pytest.approx(value, abs=1e-12), key


def test_the_provider_has_the_values_of_ir_measures_topic_by_topic():
    ours = by_topic(provider.iter_calc(BOTH, QRELS, RUN))
    assert_alike(ours, theirs_by_topic(BOTH, QRELS, RUN))


def test_the_means_are_those_of_ir_measures():
    ours = provider.calc_aggregate(BOTH, QRELS, RUN)
    for measure in BOTH:
        theirs = measure.calc_aggregate(QRELS, RUN)
        assert ours[measure] == pytest.approx(theirs, abs=1e-12), measure


def test_the_library_takes_measures_of_ir_measures_as_they_are():
    scores = evaluation.evaluate(QRELS, RUN, [AP, nDCG @ 2])
    assert scores[AP] == pytest.approx(ir_measures.calc_aggregate([AP], QRELS, RUN)[AP], abs=1e-12)


@pytest.mark.parametrize(
    "measure", [RBP, SetF(beta=2.0), Judged @ 10, RBP(rel=1) @ 5, NumRel, ir_measures.NumQ]
)
def test_a_measure_that_is_defined_otherwise_is_left_to_others(measure):
    assert not provider.supports(measure)


def test_all_that_is_supported_can_be_computed():
    for measure in BOTH:
        assert provider.supports(measure)
        assert our_measure(measure).scores(evaluation.measures.example_run()).shape == (1,)


def test_the_default_of_ir_measures_still_takes_its_own_providers_first():
    assert ir_measures.DefaultPipeline.providers[-1] is provider
    assert ir_measures.providers.registry["rankfield"] is provider


def test_measures_that_ir_measures_lacks_come_with_its_own():
    [inst, rate] = experiment_measures("INST(T=2)", "Unjudged@3")
    values = ir_measures.calc_aggregate([inst, AP, rate], QRELS, RUN)
    expected = evaluation.evaluate(QRELS, RUN, ["INST(T=2)", "AP", "Unjudged@3"])
    assert list(values.values()) == pytest.approx(
        [expected[str(m).removeprefix("rankfield:")] for m in values], abs=1e-12
    )


def test_a_measure_of_ours_is_never_taken_for_theirs_of_the_same_name():
    [ours] = experiment_measures("nDCG@10")
    assert ours != nDCG @ 10
    assert str(ours) == "rankfield:nDCG@10"


@pytest.mark.parametrize("name", ["NumRet", "GMAP"])
def test_what_an_experiment_cannot_average_is_refused(name):
    with pytest.raises(evaluation.MeasureError, match="an Experiment averages"):
        experiment_measures(name)


def test_a_document_that_is_judged_twice_is_refused():
    twice = [ir_measures.Qrel("7", "d1", 1), ir_measures.Qrel("7", "d1", 0)]
    with pytest.raises(evaluation.Refused, match="judged twice"):
        provider.calc_aggregate([AP], twice, RUN)


@pytest.mark.data
@pytest.mark.parametrize(
    ("qrels", "runs"),
    [
        ("cranfield/clean/qrels.graded.txt", "cranfield/runs"),
        ("acordar/qrels.txt", "acordar/runs"),
        ("dl19/nist.qrels", "dl19/runs"),
    ],
)
def test_real_runs_score_as_in_ir_measures(qrels, runs, data):
    """These runs have equal scores and unjudged documents."""
    judgments = qrels_from(data / "data" / qrels, lenient=True)
    grades = {
        topic.decode(): {docno.decode(): grade for docno, grade in judged.items()}
        for topic, judged in judgments.grades.items()
    }
    path = sorted((data / "data" / runs).glob("*"))[0]
    read = run_from(path, lenient=True)
    rankings = {
        topic.decode(): dict(
            zip(map(bytes.decode, ranking.docnos), ranking.scores.tolist(), strict=True)
        )
        for topic, ranking in read.rankings.items()
    }
    measures = [measure for measure in BOTH if str(measure) != "infAP"]
    ours = by_topic(provider.iter_calc(measures, grades, rankings))
    assert_alike(ours, theirs_by_topic(measures, grades, rankings))
    assert len(ours) == len(measures) * len(grades)


def experiment():
    """Return pyterrier, which needs no Java for frames, and a run, judgments and topics."""
    pyterrier = pytest.importorskip("pyterrier", reason="no python-terrier installed")
    pandas = pytest.importorskip("pandas")
    run = [(t, d, float(s), 0) for t, found in RUN.items() for d, s in found.items()]
    qrels = [(t, d, g) for t, judged in QRELS.items() for d, g in judged.items()]
    topics = pandas.DataFrame(
        [("7", "tides"), ("8", "light"), ("9", "fog")], columns=["qid", "query"]
    )
    return (
        pyterrier,
        pyterrier.Transformer.from_df(
            pandas.DataFrame(run, columns=["qid", "docno", "score", "rank"])
        ),
        topics,
        pandas.DataFrame(qrels, columns=["qid", "docno", "label"]),
    )


@pytest.mark.night
def test_an_experiment_of_pyterrier_takes_measures_of_rankfield():
    pyterrier, system, topics, qrels = experiment()
    ours = experiment_measures("nDCG@10", "INST(T=2)", "Unjudged@3")
    table = pyterrier.Experiment([system], topics, qrels, ["ndcg_cut_10", *ours], names=["a"])
    expected = evaluation.evaluate(QRELS, RUN, ["nDCG@10", "INST(T=2)", "Unjudged@3"])
    for name, value in expected.means.items():
        assert table[f"rankfield:{name}"][0] == pytest.approx(value, abs=1e-12)
    assert table["ndcg_cut_10"][0] == pytest.approx(expected["nDCG@10"], abs=1e-12)


@pytest.mark.night
def test_an_experiment_compares_systems_by_measures_of_rankfield():
    pyterrier, system, topics, qrels = experiment()
    ours = experiment_measures("RR")
    ideal = system(topics).assign(score=lambda frame: frame.docno.isin(["d1", "d4"]) * 1.0)
    systems = {"a": system, "b": pyterrier.Transformer.from_df(ideal)}
    table = pyterrier.Experiment(systems, topics, qrels, ours, baseline="a")
    assert table["rankfield:RR"][1] == pytest.approx(2 / 3, abs=1e-12)
    assert table["rankfield:RR +"][1] == 2
    assert table["rankfield:RR p-value"][1] > 0


@pytest.mark.night
def test_the_topics_of_an_experiment_are_compared_as_its_rankings_are():
    pyterrier, system, topics, qrels = experiment()
    ideal = system(topics).assign(score=lambda frame: frame.docno.isin(["d1", "d4"]) * 1.0)
    systems = {"a": system, "b": pyterrier.Transformer.from_df(ideal)}
    table = pyterrier.Experiment(
        systems, topics, qrels, ["recip_rank", *experiment_measures("RR")], perquery=True
    )
    found = compare_experiment(table)
    ours = evaluation.compare(QRELS, {"a": RUN, "b": ideal}, "RR")["RR", "b"]
    for name in ("recip_rank", "rankfield:RR"):
        assert found[name, "b"].outcome == ours.outcome


@pytest.mark.night
def test_what_pyterrier_ranks_and_writes_is_submitted(track, ben, bens_site, tmp_path):
    pyterrier, *_ = experiment()
    pandas = pytest.importorskip("pandas")
    ranked = pandas.DataFrame(
        [("1", "d1", 2.0, 0), ("1", "d2", 1.0, 1), ("2", "d2", 1.0, 0)],
        columns=["qid", "docno", "score", "rank"],
    )
    topics = pandas.DataFrame([("1", "rye"), ("2", "yeast")], columns=["qid", "query"])
    system = pyterrier.Transformer.from_df(ranked)
    [sent] = submit_experiment(bens_site, "bread", {"bm25": system % 1}, topics)
    pyterrier.io.write_results(ranked, str(tmp_path / "a.res.gz"), run_name="bm25")
    written = bens_site.wait(bens_site.submit("bread", tmp_path / "a.res.gz"))
    assert [bens_site.wait(sent).tag, written.tag] == ["bm25", "bm25"]
    assert {Run.objects.get(pk=run.id).state for run in (sent, written)} == {"scored"}


@pytest.mark.night
def test_frames_of_pyterrier_are_read_as_they_are():
    _, system, topics, qrels = experiment()
    scores = evaluation.evaluate(qrels, system(topics), ["AP"])
    assert scores["AP"] == evaluation.evaluate(QRELS, RUN, ["AP"])["AP"]


def test_datasets_of_ir_datasets_are_read_as_they_are(tmp_path):
    datasets = pytest.importorskip("ir_datasets")
    lines = "".join(f"{t} 0 {d} {g}\n" for t, judged in QRELS.items() for d, g in judged.items())
    (tmp_path / "qrels").write_text(lines)
    dataset = datasets.create_dataset(qrels_trec=str(tmp_path / "qrels"))
    assert evaluation.evaluate(dataset, RUN)["AP"] == evaluation.evaluate(QRELS, RUN)["AP"]
