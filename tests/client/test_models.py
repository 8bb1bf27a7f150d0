"""The evaluator in sentence-transformers itself, and our scores beside those of mteb itself.

Both need PyTorch, which `make libraries` installs alone.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rankfield.libraries import mteb as files_of_mteb
from rankfield.libraries.sentence_transformers import RetrievalEvaluator, submit_callback

pytestmark = pytest.mark.night

CHANCE = np.random.default_rng(1)
WORDS = [f"w{number}" for number in range(200)]
CORPUS = {f"d{number}": " ".join(CHANCE.choice(WORDS, 12)) for number in range(300)}
QUERIES = {f"q{n}": " ".join(CHANCE.choice(CORPUS[f"d{n}"].split(), 4)) for n in range(20)}
RELEVANT = {f"q{n}": {f"d{n}", f"d{n + 50}"} for n in range(20)}
GRADED = {f"q{n}": {f"d{n}": 2, f"d{n + 50}": 1} for n in range(20)}


@pytest.fixture
def model(monkeypatch):
    """A model with random vectors of words, which needs no download."""
    library = pytest.importorskip("sentence_transformers")
    tokenizers = pytest.importorskip("tokenizers")
    static = import_module("sentence_transformers.sentence_transformer.modules")
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        monkeypatch.setenv(name, "1")
    numbers = {word: number for number, word in enumerate(["[UNK]", *WORDS])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words = static.StaticEmbedding(tokenizer, embedding_dim=32)
    return library.SentenceTransformer(modules=[words])


def test_the_evaluator_has_the_values_of_the_library(model):
    from sentence_transformers.sentence_transformer.evaluation import (
        InformationRetrievalEvaluator,
    )

    measures = ["nDCG@10", "RR@10", "P@5", "R@10"]
    ours = RetrievalEvaluator(QUERIES, CORPUS, RELEVANT, measures)(model)
    theirs = InformationRetrievalEvaluator(
        QUERIES, CORPUS, RELEVANT, ndcg_at_k=[10], mrr_at_k=[10], precision_recall_at_k=[5, 10]
    )(model)
    names = ["ndcg@10", "mrr@10", "precision@5", "recall@10"]
    expected = [theirs[f"cosine_{name}"] for name in names]
    assert list(ours.values()) == pytest.approx(expected, abs=1e-9)


def test_a_trainer_evaluates_by_it_and_submits(model, tmp_path):
    import datasets
    import sentence_transformers
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    sent = []
    site = SimpleNamespace(submit=lambda track, run, **fields: sent.append((track, run)))
    evaluator = RetrievalEvaluator(QUERIES, CORPUS, RELEVANT, name="bread")
    pairs = {"anchor": list(QUERIES.values()), "positive": [CORPUS[f"d{n}"] for n in range(20)]}
    trainer = sentence_transformers.SentenceTransformerTrainer(
        model=model,
        args=sentence_transformers.SentenceTransformerTrainingArguments(
            str(tmp_path), num_train_epochs=1, eval_strategy="epoch", report_to=[]
        ),
        train_dataset=datasets.Dataset.from_dict(pairs),
        loss=MultipleNegativesRankingLoss(model),
        evaluator=[evaluator],
        callbacks=[submit_callback(site, "bread", evaluator, "static")],
    )
    trainer.train()
    [logged] = [each for each in trainer.state.log_history if "eval_bread_nDCG@10" in each]
    assert sent == [("bread", evaluator.ranking)]
    assert 0 < logged["eval_bread_nDCG@10"] < 1


def test_the_main_score_of_mteb_itself_is_that_of_its_predictions(model, tmp_path: Path):
    mteb = pytest.importorskip("mteb")
    import datasets
    from mteb.abstasks.retrieval import AbsTaskRetrieval
    from mteb.cache import ResultCache

    class Bread(AbsTaskRetrieval):
        metadata = mteb.TaskMetadata(
            name="Bread",
            description="Made here.",
            reference="https://example.org/bread",
            dataset={"path": "bakery/bread", "revision": "1"},
            type="Retrieval",
            eval_splits=["test"],
            eval_langs=["eng-Latn"],
            main_score="ndcg_at_10",
        )

        def load_data(self, *given, **named) -> None:
            rows = [{"id": docno, "title": "", "text": text} for docno, text in CORPUS.items()]
            asked = [{"id": number, "text": text} for number, text in QUERIES.items()]
            split = {
                "corpus": datasets.Dataset.from_list(rows),
                "queries": datasets.Dataset.from_list(asked),
                "relevant_docs": GRADED,
                "top_ranked": None,
            }
            self.dataset, self.data_loaded = {"default": {"test": split}}, True

    found = mteb.evaluate(
        model, Bread(), prediction_folder=tmp_path, cache=ResultCache(tmp_path / "cache")
    )
    found.task_results[0].to_disk(tmp_path / "Bread.json")
    predictions = files_of_mteb.read_predictions(tmp_path / "Bread_predictions.json")
    result = files_of_mteb.read_result(tmp_path / "Bread.json")
    [score] = files_of_mteb.check_main_scores(GRADED, predictions, result)
    assert score.is_equal and 0 < score.ours < 1
