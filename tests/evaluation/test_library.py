"""The library in Python: every source of judgments and runs, and results beside the commands."""

from __future__ import annotations

import gzip
import json
import sys
from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import pytest

import evaluation
from evaluation.__main__ import main

Qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")
ScoredDoc = namedtuple("ScoredDoc", "query_id doc_id score")

QRELS = {"7": {"d1": 2, "d2": 0, "d3": 1}, "8": {"d4": 1, "d5": -1}, "9": {"d6": 1}}
RUN = {"7": {"d2": 9.5, "d1": 9, "d4": 9}, "8": {"d4": 3, "d5": 3, "d9": 3}, "10": {"d1": 1}}
MEASURES = ["AP", "nDCG@10", "P_5", "RR(rel=2)", "num_ret"]
EXPECTED = evaluation.evaluate(QRELS, RUN, MEASURES)


def qrels_lines() -> str:
    return "".join(f"{t} 0 {d} {g}\n" for t, judged in QRELS.items() for d, g in judged.items())


def run_lines(run: dict = RUN, tag: str = "bm25") -> str:
    return "".join(
        f"{t} Q0 {d} 1 {s} {tag}\n" for t, found in run.items() for d, s in found.items()
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(qrels_lines())
    (tmp_path / "bm25").write_text(run_lines())
    better = {topic: {docno: grade for docno, grade in QRELS[topic].items()} for topic in QRELS}
    (tmp_path / "dense").write_text(run_lines(better, "dense"))
    return tmp_path


def rows(named: type, table: dict) -> list:
    extra = ["0"] * (len(named._fields) - 3)
    return [named(t, d, v, *extra) for t, values in table.items() for d, v in values.items()]


def frame(table: dict, *columns: str):
    pandas = pytest.importorskip("pandas")
    found = [(t, d, v) for t, values in table.items() for d, v in values.items()]
    return pandas.DataFrame(found, columns=list(columns))


def assert_as_expected(scores: evaluation.scoring.RunScores) -> None:
    assert scores.by_topic == EXPECTED.by_topic
    assert scores.means == EXPECTED.means


def test_scores_are_those_of_the_definitions():
    # Equal scores are in descending order of docnos: d4 d1, and d9 d5 d4.
    assert EXPECTED["AP"] == pytest.approx((1 / 3 / 2 + 1 / 3 + 0) / 3, abs=1e-15)
    assert EXPECTED.of_topic("9") == dict.fromkeys(MEASURES, 0.0)


def test_files_give_the_same_packed_or_not(folder):
    (folder / "bm25.gz").write_bytes(gzip.compress(run_lines().encode()))
    assert_as_expected(evaluation.evaluate("qrels", "bm25", MEASURES))
    assert_as_expected(evaluation.evaluate(folder / "qrels", folder / "bm25.gz", MEASURES))


def test_a_run_in_json_is_read_as_it_is_and_named_by_its_file(folder):
    meta = {"mteb_model_meta": {"model_name": "oak"}, "default": {"test": RUN}}
    for name, content in (("oak.json", RUN), ("predictions.json", meta)):
        (folder / name).write_text(json.dumps(content))
        scores = evaluation.evaluate("qrels", name, MEASURES)
        assert_as_expected(scores)
        assert scores.tag == name.removesuffix(".json")


def test_the_commands_read_a_run_in_json_as_the_library_does(folder, capfd):
    (folder / "oak.json").write_text(json.dumps(RUN))
    assert main(["compare", "qrels", "bm25", "oak.json", "-m", "AP"]) == 0
    assert "oak" in capfd.readouterr().out


def test_check_which_stands_for_a_track_names_the_option_for_json(folder, capfd):
    (folder / "oak.json").write_text(json.dumps(RUN))
    assert main(["check", "oak.json"]) == 2
    assert "Option: --takes FORMAT" in capfd.readouterr().out


def test_named_tuples_and_their_generators_give_the_same():
    qrels, run = rows(Qrel, QRELS), rows(ScoredDoc, RUN)
    assert_as_expected(evaluation.evaluate(qrels, iter(run), MEASURES))


def test_a_dataset_gives_the_same():
    dataset = SimpleNamespace(
        qrels_iter=lambda: iter(rows(Qrel, QRELS)),
        scoreddocs_iter=lambda: iter(rows(ScoredDoc, RUN)),
    )
    assert_as_expected(evaluation.evaluate(dataset, dataset, MEASURES))


@pytest.mark.parametrize(
    ("of_qrels", "of_run"),
    [
        (("query_id", "doc_id", "relevance"), ("query_id", "doc_id", "score")),
        (("qid", "docno", "label"), ("qid", "docno", "score")),
        (("topic", "docno", "grade"), ("q_id", "doc_id", "score")),
    ],
)
def test_frames_give_the_same_under_the_names_of_every_library(of_qrels, of_run):
    qrels, run = frame(QRELS, *of_qrels), frame(RUN, *of_run)
    assert_as_expected(evaluation.evaluate(qrels, run, MEASURES))


@pytest.mark.parametrize("kind", [object, str])
def test_arrays_of_three_columns_give_the_same(kind):
    qrels, run = (
        np.array([(t, d, v) for t, values in each.items() for d, v in values.items()], kind)
        for each in (QRELS, RUN)
    )
    assert_as_expected(evaluation.evaluate(qrels, run, MEASURES))


def test_an_array_with_named_fields_gives_the_same():
    run = np.array(
        [(t, d, v) for t, values in RUN.items() for d, v in values.items()],
        [("qid", "U4"), ("docno", "U4"), ("score", "f8")],
    )
    assert_as_expected(evaluation.evaluate(QRELS, run, MEASURES))


def test_objects_of_ranx_are_known_by_what_they_have():
    qrels, run = (SimpleNamespace(to_dict=lambda each=each: each) for each in (QRELS, RUN))
    run.name = "bm25"
    scores = evaluation.evaluate(qrels, run, MEASURES)
    assert_as_expected(scores)
    assert scores.tag == "bm25"


@pytest.mark.night
def test_the_objects_of_ranx_itself_give_the_same():
    ranx = pytest.importorskip("ranx")
    # Without ties, which it orders otherwise.
    qrels = ranx.Qrels({"7": {"d1": 2, "d3": 1}, "8": {"d4": 1}})
    run = ranx.Run({"7": {"d2": 9.5, "d1": 9, "d4": 8}, "8": {"d4": 3, "d5": 2}}, name="bm25")
    found = evaluation.evaluate(qrels, run, ["P@2", "R@10", "nDCG@10", "AP"])
    theirs = ranx.evaluate(qrels, run, ["precision@2", "recall@10", "ndcg@10", "map"])
    assert list(found.means.values()) == pytest.approx(list(theirs.values()), abs=1e-12)


@pytest.mark.night
@pytest.mark.parametrize(
    "endings",
    [("json", "json"), ("gz", "trec"), ("trec", "lz4"), ("parquet", "parquet")],
)
def test_the_files_of_ranx_itself_give_the_same(endings, tmp_path):
    ranx = pytest.importorskip("ranx")
    qrels = ranx.Qrels({"7": {"d1": 2, "d3": 1}, "8": {"d4": 1}})
    run = ranx.Run({"7": {"d2": 9.5, "d1": 9, "d4": 8}, "8": {"d4": 3, "d5": 2}}, name="bm25")
    places = [str(tmp_path / f"{n}.{ending}") for n, ending in enumerate(endings)]
    for each, place in zip((qrels, run), places, strict=True):
        each.save(place)
    found = evaluation.evaluate(*places, ["P@2", "nDCG@10", "AP"])
    theirs = ranx.evaluate(qrels, run, ["precision@2", "ndcg@10", "map"])
    assert list(found.means.values()) == pytest.approx(list(theirs.values()), abs=1e-12)


@pytest.mark.night
def test_tables_of_polars_give_the_same():
    polars = pytest.importorskip("polars")
    qrels, run = (
        polars.DataFrame(
            [(t, d, v) for t, values in each.items() for d, v in values.items()],
            schema={"qid": str, "docno": str, name: float},
            orient="row",
        )
        for each, name in ((QRELS, "grade"), (RUN, "score"))
    )
    assert_as_expected(evaluation.evaluate(qrels, run, MEASURES))


def test_topics_may_be_numbers_on_one_side():
    qrels = {int(topic): judged for topic, judged in QRELS.items()}
    assert_as_expected(evaluation.evaluate(qrels, RUN, MEASURES))


def test_the_library_gives_the_values_of_the_command(folder, capfd):
    names = [word for name in MEASURES for word in ("-m", name)]
    main(["score", "qrels", "bm25", "-q", "--format", "json", *names])
    [printed] = json.loads(capfd.readouterr().out)["runs"]
    for name, values in EXPECTED.by_topic.items():
        topics = printed["scores"][name]["topics"]
        assert (topics, printed["scores"][name]["all"]) == (values, EXPECTED[name])


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"rel": 2}, ["-l", "2"]),
        ({"depth": 2}, ["-M", "2"]),
        ({"judged_only": True}, ["-J"]),
        ({"answered_only": True}, ["--intersection"]),
        ({"ties": "expected"}, ["--ties", "expected"]),
        ({"topics": ["7", 8]}, ["--without-topics", "9"]),
        ({"convention": "trec_eval-9"}, ["--convention", "trec_eval-9"]),
    ],
)
def test_each_setting_is_the_option_of_the_command(chosen, words, folder, capfd):
    main(["score", "qrels", "bm25", "-m", "AP", "--digits", "17", *words])
    printed = float(capfd.readouterr().out.split()[-1])
    assert evaluation.evaluate(QRELS, RUN, "AP", **chosen)["AP"] == printed


def test_subtopics_are_read_where_a_measure_of_diversity_asks():
    rows = [Qrel("7", "d1", 1, "a"), Qrel("7", "d1", 1, "b"), Qrel("7", "d2", 1, "b")]
    scores = evaluation.evaluate(rows, {"7": {"d2": 2, "d1": 1}}, ["strec@1", "strec@2"])
    assert scores.means == {"strec@1": 0.5, "strec@2": 1.0}


@pytest.mark.parametrize(
    ("qrels", "code"),
    [
        ({"7": {"d1": 1.5}}, "E_REL"),
        ({"7": {"d1": float("nan")}}, "E_REL"),
        ({"7": {"d1": "1"}}, "E_REL"),
        ({"7": {"d1": 128}}, "E_REL"),
        ([*rows(Qrel, QRELS), Qrel("7", "d1", 0, "0")], "E_DUP_QREL"),
        ([], "E_EMPTY"),
    ],
)
def test_judgments_that_no_file_may_have_are_refused(qrels, code):
    with pytest.raises(evaluation.Refused, match=code):
        evaluation.evaluate(qrels, RUN)


@pytest.mark.parametrize(
    ("run", "code"),
    [
        ({"7": {"d1": float("nan")}}, "E_SCORE"),
        ({"7": {"d1": float("-inf")}}, "E_SCORE"),
        ({"7": {"d1": None}}, "E_SCORE"),
        (np.array([["7", "d1", "x"]]), "E_SCORE"),
        ([ScoredDoc("7", "d1", 1), ScoredDoc("7", "d1", 2)], "E_DUP_DOC"),
    ],
)
def test_runs_that_no_file_may_be_are_refused(run, code):
    with pytest.raises(evaluation.Refused, match=code):
        evaluation.evaluate(QRELS, run)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (7, "a run may be a path"),
        (np.zeros((2, 2)), "an array has the columns topic, docno and value; a run is 2 by 2"),
        ([("7", "d1", 1.0)], "not rows such as"),
        ({7.5: {"d1": 1}}, "a topic is a text or an integer, not 7.5"),
        ({"7": ["d1"]}, "topic 7 has no {docno: value}"),
    ],
)
def test_an_object_that_is_no_run_is_told_what_may_be_one(run, message):
    with pytest.raises(TypeError, match=message):
        evaluation.evaluate(QRELS, run)


def test_a_frame_without_scores_is_told_their_names():
    with pytest.raises(ValueError, match="no column score or similarity"):
        evaluation.evaluate(QRELS, frame(RUN, "qid", "docno", "rank"))


def test_a_setting_that_is_not_there_is_told():
    with pytest.raises(TypeError, match="no setting dept; there are rel, depth"):
        evaluation.evaluate(QRELS, RUN, dept=10)


def test_an_empty_run_scores_nothing():
    assert evaluation.evaluate(QRELS, {}, "AP").means == {"AP": 0.0}
    assert evaluation.evaluate(QRELS, [], "AP").means == {"AP": 0.0}
    answered = evaluation.evaluate(QRELS, {"7": {}}, "AP", answered_only=True)
    assert answered.topics == ("7",)


def test_frames_of_scores_have_topics_and_measures():
    pytest.importorskip("pandas")
    assert EXPECTED.topic_frame().to_dict() == EXPECTED.by_topic
    assert EXPECTED.frame().loc["run"].to_dict() == EXPECTED.means


def test_without_pandas_a_frame_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="pip install pandas"):
        EXPECTED.topic_frame()


def runs_of(tmp_path) -> dict:
    """Return two runs that differ on each of ten topics, and judgments in a file."""
    lines = "".join(f"{topic} 0 d1 1\n" for topic in range(10))
    (tmp_path / "ten").write_text(lines)
    worse = {t: {"d0": 3, "d2": 2, "d1": 1 + 1.5 * (t % 3 == 0)} for t in range(10)}
    return {"worse": worse, "better": {t: {"d1": 2, "d0": 1} for t in range(10)}}


def test_compare_gives_the_values_of_the_command(folder, capfd):
    runs = runs_of(folder)
    for name, run in runs.items():
        (folder / name).write_text(run_lines(run, name))
    main(["compare", "ten", "worse", "better", "-m", "RR", "--format", "json"])
    printed = json.loads(capfd.readouterr().out)["comparisons"]
    found = evaluation.compare("ten", runs, "RR")
    assert [row.verdict for row in found] == [row["verdict"] for row in printed]
    outcome = found["RR", "better"].outcome
    for name, value in printed[1]["outcome"].items():
        assert getattr(outcome, name) == value
    again = evaluation.compare("ten", ["worse", "better"], "RR")
    assert str(again) == str(found)


def test_the_baseline_is_the_named_run(folder):
    runs = runs_of(folder)
    found = evaluation.compare("ten", runs, "RR", baseline="better")
    assert (found.baseline, found["RR", "worse"].verdict) == ("better", "worse")
    with pytest.raises(ValueError, match="no run is named best"):
        evaluation.compare("ten", runs, "RR", baseline="best")


def test_one_run_is_not_taken_for_several():
    with pytest.raises(TypeError, match="this is one run"):
        evaluation.compare(QRELS, RUN)
    with pytest.raises(TypeError, match="give several runs"):
        evaluation.compare(QRELS, "bm25")
    with pytest.raises(ValueError, match="two runs or more"):
        evaluation.compare(QRELS, [RUN])


def test_comparisons_are_a_frame(folder):
    pytest.importorskip("pandas")
    runs = runs_of(folder)
    found = evaluation.compare("ten", runs, ["RR", "AP"]).frame()
    assert found.loc["AP", "better"].verdict == "better"
    assert found.index.tolist()[:2] == [("RR", "worse"), ("RR", "better")]


def test_rank_intervals_are_those_of_the_command(folder, capfd):
    runs = runs_of(folder)
    for name, run in runs.items():
        (folder / name).write_text(run_lines(run, name))
    main(["pairs", "ten", "worse", "better", "-m", "RR", "--ranks", "--format", "tsv"])
    printed = [line.split("\t") for line in capfd.readouterr().out.splitlines()[1:3]]
    found = evaluation.rank_intervals("ten", runs, "RR")
    assert {row[1]: (int(row[4]), int(row[5])) for row in printed} == found.places
    assert found.places == {"better": (1, 1), "worse": (2, 2)}


def test_a_pool_has_the_lines_of_the_command(folder, capfdbinary):
    main(["pool", "bm25", "dense", "--depth", "1", "--qrels", "qrels"])
    found = evaluation.pool(["bm25", "dense"], 1, without="qrels")
    assert b"".join(found.lines()) == capfdbinary.readouterr().out
    assert repr(found) == "Pool(method='depth@1', runs=('bm25', 'dense'))"


def test_a_pool_is_a_frame():
    pytest.importorskip("pandas")
    found = evaluation.pool({"bm25": RUN, "again": RUN}, method="take", size=1).frame()
    assert found.runs.tolist()[0] == ["bm25", "again"]
    assert found.best_rank.tolist() == [1, 1, 1]


def test_kappa_has_the_values_of_the_command(folder, capfd):
    (folder / "ben").write_text(qrels_lines().replace("7 0 d2 0", "7 0 d2 1"))
    main(["kappa", "qrels", "ben", "--format", "tsv", "--digits", "9"])
    printed = [line.split("\t") for line in capfd.readouterr().out.splitlines()[1:-1]]
    found = evaluation.kappa({"ada": "qrels", "ben": "ben"})
    assert {row[1]: row[3] for row in printed} == {r.statistic: f"{r.value:.9f}" for r in found}
    assert found["kappa", "ada", "ben"] == found["kappa"]


def test_one_file_may_name_its_assessors(folder):
    (folder / "both").write_text("7 ada d1 1\n7 ben d1 1\n7 ada d2 0\n7 ben d2 1\n")
    assert evaluation.kappa("both").assessors == ("ada", "ben")
    with pytest.raises(ValueError, match="two assessors are needed"):
        evaluation.kappa(["qrels"])


def test_a_topic_that_is_named_twice_counts_once():
    twice = evaluation.evaluate(QRELS, RUN, ["AP"], topics=["7", "8", 8, "7"])
    assert twice["AP"] == evaluation.evaluate(QRELS, RUN, ["AP"], topics=["7", "8"])["AP"]


@pytest.mark.parametrize("setting", [{"depth": 0}, {"depth": -1}, {"rel": -1}])
def test_a_setting_without_a_meaning_is_refused(setting):
    with pytest.raises(ValueError, match="cannot be"):
        evaluation.evaluate(QRELS, RUN, ["AP"], **setting)


@pytest.mark.parametrize("run", [{"q1": {"d1": 1.0}}, "run"])
def test_a_run_without_a_judged_topic_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").write_text("q1 Q0 d1 1 1 t\n")
    with pytest.raises(evaluation.Refused, match='the run has "q1", the judgments "7"'):
        evaluation.evaluate(QRELS, run, "AP")
    with pytest.raises(evaluation.Refused, match="no topic of the run is judged"):
        evaluation.compare(QRELS, [run, run], "AP")
    assert evaluation.evaluate(QRELS, {"9": {"d1": 1.0}}, "AP", topics=["7"])["AP"] == 0
