"""An evaluator for models of sentence-transformers, and a callback that submits what they find.

The evaluator has all that the trainer asks of an evaluator and imports no library itself, so any
model whose `encode` returns vectors can be measured by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Unpack

import numpy as np

from evaluation.library.scores import evaluate
from evaluation.library.settings import Measures, Settings
from evaluation.ragged import FloatArray
from evaluation.reading.objects import QrelsSource, qrels_from
from evaluation.scoring import RunScores
from rankfield.site import Site

ByTopic = dict[str, dict[str, float]]
# How many documents are encoded and compared at a time, and how many similarities are kept then.
CHUNK, CELLS = 50_000, 2**25
DEPTH = 1000


class RetrievalEvaluator:
    """Ranks a corpus by a model and scores the ranking by measures of Rankfield.

    `queries` and `corpus` are texts by identifier, `relevant` judgments in any form that
    `rankfield.evaluate` takes, also the sets of documents of `InformationRetrievalEvaluator`. The
    first measure decides which checkpoint of a trainer is the best. Raises `Refused` for judgments
    that cannot be used, and MeasureError.

    >>> class Letters:
    ...     def encode(self, texts, **options):
    ...         return np.array([[text.count("a"), text.count("b")] for text in texts], float)
    >>> evaluator = RetrievalEvaluator({"1": "aab"}, {"d1": "aa", "d2": "bb"}, {"1": {"d1"}}, "RR")
    >>> evaluator(Letters())
    {'RR': 1.0}
    """

    def __init__(
        self,
        queries: Mapping[str, str],
        corpus: Mapping[str, str],
        relevant: QrelsSource | Mapping[str, set[str]],
        measures: Measures = ("nDCG@10", "RR@10", "AP", "R@100"),
        *,
        name: str = "",
        batch_size: int = 32,
        show_progress_bar: bool = False,
        **settings: Unpack[Settings],
    ) -> None:
        self.queries, self.corpus = dict(queries), dict(corpus)
        self.qrels = qrels_from(read_relevant(relevant))
        self.measures, self.settings = measures, settings
        self.depth, self.name = settings.get("depth") or DEPTH, name
        self.encoding = {"batch_size": batch_size, "show_progress_bar": show_progress_bar}
        self.greater_is_better = True
        self.primary_metric = self._prefixed(next(iter(self._score({}).measures)))
        # Of the last call: by topic the score of each document.
        self.ranking: ByTopic = {}

    @property
    def description(self) -> str:
        """What the card of a model calls this evaluation."""
        return "Information Retrieval by Rankfield"

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Return the means by measure, with the name of the evaluator before them."""
        self.ranking = self.rank(model)
        found = self._score(self.ranking).means
        means = {self._prefixed(measure): value for measure, value in found.items()}
        self.store_metrics_in_model_card_data(model, means, epoch, steps)
        return means

    def rank(self, model: Any) -> ByTopic:
        """Return by topic the score of its best `depth` documents."""
        topics, docnos = list(self.queries), list(self.corpus)
        asked = self._encode(model, "encode_query", list(self.queries.values()))
        best: list[dict[str, float]] = [{} for _ in topics]
        size = min(CHUNK, max(CELLS // max(len(topics), 1), 1))
        for first in range(0, len(docnos), size):
            chunk = docnos[first : first + size]
            texts = [self.corpus[docno] for docno in chunk]
            alike = similarity(model, asked, self._encode(model, "encode_document", texts))
            rows = zip(best, *top_of(alike, self.depth), strict=True)
            best = [
                cut(found | {chunk[p]: score for p, score in zip(*row, strict=True)}, self.depth)
                for found, *row in rows
            ]
        return dict(zip(topics, best, strict=True))

    def _encode(self, model: Any, kind: str, texts: list[str]) -> Any:
        """Return the vectors of queries or documents; `encode` where a model has one for both."""
        encode = getattr(model, kind, None) or model.encode
        return encode(texts, convert_to_numpy=True, **self.encoding)

    def _score(self, ranking: ByTopic) -> RunScores:
        return evaluate(self.qrels, ranking, self.measures, **self.settings)

    def _prefixed(self, measure: str) -> str:
        return f"{self.name}_{measure}" if self.name else measure

    def store_metrics_in_model_card_data(
        self, model: Any, metrics: dict[str, float], epoch: int = 0, step: int = 0
    ) -> None:
        """Give the means to the card of a model, if it has one."""
        if (card := getattr(model, "model_card_data", None)) is not None:
            card.set_evaluation_metrics(self, metrics, epoch=epoch, step=step)

    def get_config_dict(self) -> dict[str, Any]:
        """Return what the card of a model says of this evaluation."""
        return {"depth": self.depth, **self.settings}


def read_relevant(relevant: Any) -> Any:
    """Return sets of relevant documents as grades of 1, and any other judgments unchanged.

    >>> read_relevant({"1": {"d1"}}), read_relevant({"1": {"d1": 2}})
    ({'1': {'d1': 1}}, {'1': {'d1': 2}})
    """
    if not isinstance(relevant, Mapping):
        return relevant
    return {
        topic: dict.fromkeys(found, 1) if isinstance(found, set | frozenset | list) else found
        for topic, found in relevant.items()
    }


def similarity(model: Any, queries: Any, documents: Any) -> FloatArray:
    """Return float64[queries, documents], by the similarity of a model, else by the cosine."""
    if hasattr(model, "similarity"):
        return np.asarray(model.similarity(queries, documents), np.float64)
    asked, found = (unit(np.asarray(each, np.float64)) for each in (queries, documents))
    return np.asarray(asked @ found.T, np.float64)


def unit(vectors: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths == 0, 1, lengths)


def top_of(scores: FloatArray, depth: int) -> tuple[list[list[int]], list[list[float]]]:
    """Return the places of the highest scores of each row, in no order, and these scores."""
    if scores.shape[1] > depth:
        places = np.argpartition(-scores, depth - 1, axis=1)[:, :depth]
    else:
        places = np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    return places.tolist(), np.take_along_axis(scores, places, axis=1).tolist()


def cut(found: Mapping[str, float], depth: int) -> dict[str, float]:
    """Return the documents with the highest scores, highest first."""
    return dict(sorted(found.items(), key=lambda each: (each[1], each[0]), reverse=True)[:depth])


def submit_callback(
    site: Site, track: str, evaluator: RetrievalEvaluator, tag: str, **fields: Any
) -> Any:
    """Return a callback for a trainer: after the training it ranks and submits to a track.

    `fields` are those of `Site.submit`, such as `description` or `facts`. `callback.run` is the
    submitted run. Needs transformers.
    """

    class SubmitCallback(import_module("transformers").TrainerCallback):  # type: ignore[misc]
        run = None

        def on_train_end(
            self, args: Any, state: Any, control: Any, model: Any = None, **others: Any
        ) -> None:
            if not state.is_world_process_zero:
                return
            facts = {"models": name_of(model), **fields.get("facts", {})}
            sent = {**fields, "facts": {name: value for name, value in facts.items() if value}}
            self.run = site.submit(track, evaluator.rank(model), tag=tag, **sent)

    return SubmitCallback()


def name_of(model: Any) -> str:
    """Return what a model or what it was made from is called; empty if it says nothing."""
    card = getattr(model, "model_card_data", None)
    names = (getattr(card, name, None) for name in ("model_id", "base_model"))
    return next((str(name) for name in names if name), "")
