"""Rankfield beside sentence-transformers, MTEB, PyTerrier, MLflow and Weights & Biases.

The real libraries are asked by night, where they are installed; by day models of a few lines stand
for those that need PyTorch.
"""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import evaluation
from evaluation.library.comparisons import Comparisons
from leaderboard.models import Run
from rankfield.errors import SiteError
from rankfield.libraries import mteb, tracking
from rankfield.libraries.pyterrier import compare_experiment, submit_experiment
from rankfield.libraries.sentence_transformers import RetrievalEvaluator, submit_callback
from tests.builders import make_run

QUERIES = {"1": "sour dough", "2": "rye bread", "3": "yeast"}
CORPUS = {
    "d1": "sour dough needs time",
    "d2": "rye bread without yeast",
    "d3": "dry yeast",
    "d4": "a bread of rye and rye",
}
RELEVANT = {"1": {"d1"}, "2": {"d2", "d4"}, "3": {"d3"}}
WORDS = sorted({word for text in CORPUS.values() for word in text.split()})


class WordCounter:
    """A model that counts words, with a card that keeps what it is given."""

    def __init__(self) -> None:
        self.model_card_data = SimpleNamespace(
            model_id="bakery/words",
            set_evaluation_metrics=lambda *given, **named: setattr(self, "kept", given),
        )

    def encode(self, texts: list[str], **options) -> np.ndarray:
        return np.array([[text.split().count(word) for word in WORDS] for text in texts], float)


def test_a_model_is_scored_by_any_measure():
    evaluator = RetrievalEvaluator(QUERIES, CORPUS, RELEVANT, ["nDCG@10", "RR"], name="bread")
    means = evaluator(WordCounter())
    assert means == {"bread_nDCG@10": 1.0, "bread_RR": 1.0}
    assert evaluator.primary_metric == "bread_nDCG@10"


def test_the_card_of_a_model_gets_the_means():
    evaluator, model = RetrievalEvaluator(QUERIES, CORPUS, RELEVANT, "RR"), WordCounter()
    evaluator(model)
    assert model.kept == (evaluator, {"RR": 1.0})


def test_a_corpus_in_pieces_is_ranked_as_one(monkeypatch):
    evaluator = RetrievalEvaluator(QUERIES, CORPUS, RELEVANT, depth=1)
    whole = evaluator.rank(WordCounter())
    monkeypatch.setattr("rankfield.libraries.sentence_transformers.CHUNK", 1)
    again = evaluator.rank(WordCounter())
    assert [*map(list, again.values())] == [*map(list, whole.values())] == [["d1"], ["d4"], ["d3"]]


def test_graded_judgments_count_as_they_are():
    graded = {"2": {"d2": 1, "d4": 2}}
    evaluator = RetrievalEvaluator(QUERIES, CORPUS, graded, "P(rel=2)@1")
    assert evaluator(WordCounter()) == {"P(rel=2)@1": 1.0}


def test_a_trainer_submits_the_ranking_of_what_it_trained(track, ben, bens_site, monkeypatch):
    transformers = SimpleNamespace(TrainerCallback=object)
    monkeypatch.setitem(sys.modules, "transformers", transformers)
    evaluator = RetrievalEvaluator(QUERIES, CORPUS, RELEVANT)
    callback = submit_callback(bens_site, "bread", evaluator, "words", description="tuned")
    callback.on_train_end(None, SimpleNamespace(is_world_process_zero=True), None, WordCounter())
    run = Run.objects.get(pk=callback.run.id)
    assert (run.tag, run.description, run.facts["models"]) == ("words", "tuned", "bakery/words")


PREDICTIONS = {
    "mteb_model_meta": {"model_name": "bakery/words", "revision": "a1"},
    "default": {"test": {"1": {"d1": 2.0, "d2": 1.0}, "2": {"d1": 3.0, "d2": 2.0}}},
}
# As mteb 2 writes it: nDCG@10 of the rankings above is (1 + 1 / log2(3)) / 2.
RESULT = {
    "task_name": "Bread",
    "scores": {"test": [{"hf_subset": "default", "main_score": 0.81546, "ndcg_at_10": 0.81546}]},
}
QRELS = {"1": {"d1": 1}, "2": {"d2": 1}, "3": {"d3": 1}}


@pytest.fixture
def files_of_mteb(tmp_path):
    for name, content in (("predictions", PREDICTIONS), ("result", RESULT)):
        (tmp_path / name).write_text(json.dumps(content))
    return mteb.read_predictions(tmp_path / "predictions"), mteb.read_result(tmp_path / "result")


def test_the_main_score_of_mteb_is_that_of_its_predictions(files_of_mteb):
    [found] = mteb.check_main_scores(QRELS, *files_of_mteb)
    assert (found.theirs, found.is_equal) == (0.81546, True)


def test_other_judgments_give_another_score_than_mteb(files_of_mteb):
    [found] = mteb.check_main_scores({"1": {"d1": 1}, "2": {"d1": 1}}, *files_of_mteb)
    assert (found.ours, found.is_equal) == (1.0, False)


@pytest.mark.parametrize("content", ["[]", "{}", '{"default": 7}', '{"a": {"b": 1}}', "{", "["])
def test_another_file_is_no_prediction_of_mteb(tmp_path, content):
    (tmp_path / "file").write_text(content)
    with pytest.raises(evaluation.Refused, match=r"MTEB|JSON"):
        mteb.read_predictions(tmp_path / "file")
    with pytest.raises(evaluation.Refused, match=r"MTEB|JSON"):
        mteb.read_result(tmp_path / "file")


def test_predictions_are_submitted_under_the_name_of_their_model(
    track, ben, bens_site, files_of_mteb
):
    sent = mteb.submit_predictions(bens_site, "bread", files_of_mteb[0])
    run = Run.objects.get(pk=sent.id)
    assert (run.tag, run.facts["models"]) == ("words", "bakery/words a1")


class Table:
    """A table without pandas."""

    def __init__(self, **columns) -> None:
        self.of, self.columns = columns, list(columns)

    def __getitem__(self, column: str) -> list:
        return self.of[column]


def experiment(measure: str) -> Table:
    values = [0.5] * 8 + [1.0] * 8
    names = ["bm25"] * 8 + ["dense"] * 8
    return Table(name=names, qid=[*range(8)] * 2, measure=[measure] * 16, value=values)


def two_systems() -> Comparisons:
    """RR of a system that is always first beside one that is always second."""
    qrels = {topic: {"d1": 1} for topic in range(8)}
    runs = {"bm25": {t: {"d2": 2, "d1": 1} for t in qrels}, "dense": {t: {"d1": 1} for t in qrels}}
    return evaluation.compare(qrels, runs, "RR")


@pytest.mark.parametrize("measure", ["RR", "rankfield:RR", "recip_rank"])
def test_an_experiment_is_compared_as_our_own_runs_are(measure):
    ours = two_systems()["RR", "dense"]
    assert compare_experiment(experiment(measure))[measure, "dense"].outcome == ours.outcome


def test_an_experiment_without_topics_says_what_it_needs():
    with pytest.raises(ValueError, match=r"perquery=True, has no column qid"):
        compare_experiment(Table(name=["bm25"], AP=[0.5]))


def test_a_topic_without_a_value_is_named():
    table = experiment("RR")
    with pytest.raises(ValueError, match=r"dense has no RR of topic 7"):
        compare_experiment(Table(**{name: column[:-1] for name, column in table.of.items()}))


def test_the_systems_of_an_experiment_are_submitted_by_name(track, ben, bens_site):
    ranked = Table(qid=["1", "2"], docno=["d1", "d2"], score=[2.0, 1.0])
    submit_experiment(
        bens_site, "bread", {"table": ranked, "ranker": lambda topics: ranked}, topics=ranked
    )
    assert [run.tag for run in Run.objects.order_by("tag")] == ["ranker", "table"]


def test_what_is_logged_of_a_run_has_scores_verdict_and_page(track, ada, ben, bens_site):
    run = bens_site.run(make_run(track, ben).pk)
    logged = tracking.describe_result(run, bens_site)
    assert logged.metrics["nDCG_at_10"] == run.scores["nDCG@10"]
    assert logged.texts["page"] == f"http://testserver/runs/{run.id}/"


def test_what_is_logged_of_a_comparison_has_the_interval():
    logged = tracking.describe_result(two_systems())
    low, high = (logged.metrics[f"dense.RR.{end}"] for end in ("low", "high"))
    assert low < logged.metrics["dense.RR.difference"] == 0.5 < high
    assert logged.texts["verdict.dense.RR"] == "better"


def test_without_an_active_run_of_wandb_nothing_is_logged(monkeypatch):
    monkeypatch.setattr(tracking, "import_module", lambda name: SimpleNamespace(run=None))
    with pytest.raises(RuntimeError, match=r"call wandb.init\(\) first"):
        tracking.log_to_wandb(evaluation.evaluate(QRELS, {"1": {"d1": 1}}, "AP"))


def test_parameters_of_mlflow_are_facts_with_their_types(monkeypatch):
    params = {"lr": "1e-5", "hard_negatives": "True", "encoder": "large", "seed": "None"}
    kept = SimpleNamespace(data=SimpleNamespace(params=params))
    library = SimpleNamespace(active_run=lambda: None, get_run={"r1": kept}.get)
    library.exceptions = SimpleNamespace(MlflowException=KeyError)
    monkeypatch.setattr(tracking, "import_module", lambda name: library)
    facts = tracking.facts_from_mlflow("r1")
    assert facts == {"lr": 1e-5, "hard_negatives": True, "encoder": "large"}
    with pytest.raises(SiteError, match="No run of MLflow is active"):
        tracking.facts_from_mlflow()


def test_a_configuration_of_wandb_is_facts_with_joined_names():
    run = SimpleNamespace(config={"encoder": {"size": "large", "depth": 12}})
    assert tracking.facts_from_wandb(run) == {"encoder.size": "large", "encoder.depth": 12}


@pytest.mark.night
def test_mlflow_itself_has_what_was_logged(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    # Its small package has no other store.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(tmp_path.as_uri())
    mlflow.set_experiment("bread")
    scores = evaluation.evaluate(QRELS, {"1": {"d1": 1}}, ["nDCG@10", "P(rel=2)@5"])
    with mlflow.start_run() as run:
        mlflow.log_params({"lr": 1e-5, "cased": True})
        tracking.log_to_mlflow(scores)
    kept = mlflow.get_run(run.info.run_id).data
    assert kept.metrics["nDCG_at_10"] == scores["nDCG@10"]
    assert kept.tags["rankfield.run"] == "run"
    assert tracking.facts_from_mlflow(run.info.run_id) == {"lr": 1e-5, "cased": True}
    with pytest.raises(SiteError, match="MLflow has no run unknown"):
        tracking.facts_from_mlflow("unknown")


@pytest.mark.night
def test_mlflow_itself_has_intervals_and_the_page_of_a_run(
    track, ben, bens_site, tmp_path, monkeypatch
):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(tmp_path.as_uri())
    mlflow.set_experiment("bread")
    sent = bens_site.run(make_run(track, ben).pk)
    with mlflow.start_run() as run:
        tracking.log_to_mlflow(sent, bens_site)
        logged = tracking.log_to_mlflow(two_systems())
    kept = mlflow.get_run(run.info.run_id).data
    assert kept.tags["rankfield.page"] == f"http://testserver/runs/{sent.id}/"
    for end in ("low", "high"):
        assert kept.metrics[f"dense.RR.{end}"] == logged.metrics[f"dense.RR.{end}"]


@pytest.mark.night
def test_wandb_itself_has_what_was_logged_and_gives_its_configuration(
    track, ben, bens_site, tmp_path, monkeypatch
):
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    scores = evaluation.evaluate(QRELS, {"1": {"d1": 1}}, ["nDCG@10"])
    sent = bens_site.run(make_run(track, ben).pk)
    config = {"lr": 1e-5, "encoder": {"size": "large"}}
    with wandb.init(mode="offline", dir=tmp_path, project="bread", config=config) as run:
        for result in (scores, two_systems(), sent):
            tracking.log_to_wandb(result, bens_site)
        kept, facts = dict(run.summary), tracking.facts_from_wandb()
    assert kept["rankfield/nDCG_at_10"] == sent.scores["nDCG@10"]
    assert kept["rankfield/dense.RR.low"] < 0.5 < kept["rankfield/dense.RR.high"]
    assert kept["rankfield/page"] == f"http://testserver/runs/{sent.id}/"
    assert facts == {"lr": 1e-5, "encoder.size": "large"}
