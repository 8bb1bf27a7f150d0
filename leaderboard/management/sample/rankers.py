"""The rankers of the sample collection and the run files they make.

>>> from leaderboard.management.sample import FOLDER
>>> [run.tag for run in runs(FOLDER)][:3]
['bm25', 'bm25-unstemmed', 'bm25-title']
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np

from evaluation.problems import Problems
from evaluation.reading.documents import read_documents
from evaluation.reading.topics import Topic, read_topics
from leaderboard.management.sample import models
from leaderboard.management.sample.index import SampleIndex, build_index
from leaderboard.management.sample.models import DIGITS, Model, ordered

DEPTH = 100


@dataclass(frozen=True)
class Ranker:
    """A model, the fields of the topic that it reads, and where it comes from."""

    tag: str
    model: Model
    description: str
    paper: str
    fields: tuple[str, ...] = ("title", "description")
    stemming: bool = True
    stage: str = "first-stage"


@dataclass(frozen=True)
class SampleRun:
    """A run as its team would upload it: the bytes of a TREC run file, and what is true of it.

    `seconds` is the median time of a topic when the run was made, the index in memory.
    """

    tag: str
    description: str
    text: bytes
    fields: tuple[str, ...]
    stage: str
    seconds: float = field(compare=False)


TITLE = ("title",)
WHOLE_TOPIC = ("title", "description", "narrative")
OKAPI = "Robertson et al., Okapi at TREC-3, 1994."
SMOOTHING = "Zhai and Lafferty, SIGIR 2001."

RANKERS = (
    Ranker("bm25", models.bm25, "BM25, k1 1.2, b 0.75.", OKAPI),
    Ranker("bm25-unstemmed", models.bm25, "BM25, words as written.", OKAPI, stemming=False),
    Ranker("bm25-title", models.bm25, "BM25 on the title alone.", OKAPI, TITLE),
    Ranker("bm25-narrative", models.bm25, "BM25 on the whole topic.", OKAPI, WHOLE_TOPIC),
    Ranker(
        "bm25-rm3",
        models.feedback,
        "BM25, the topic widened by 20 words of the first five documents.",
        "Abdul-Jaleel et al., UMass at TREC 2004.",
    ),
    Ranker(
        "tfidf",
        models.tf_idf,
        "Cosine of tf-idf vectors (lnc.ltc).",
        "Salton and Buckley, Information Processing and Management 24, 1988.",
    ),
    Ranker(
        "lm-dirichlet",
        models.dirichlet,
        "Query likelihood, Dirichlet smoothing, mu 150.",
        SMOOTHING,
    ),
    Ranker(
        "lm-jelinek-mercer",
        models.jelinek_mercer,
        "Query likelihood, Jelinek-Mercer smoothing, 0.4 of the collection.",
        SMOOTHING,
    ),
    Ranker(
        "lsa",
        models.latent,
        "Latent semantic analysis, 60 dimensions.",
        "Deerwester et al., Journal of the American Society for Information Science 41, 1990.",
    ),
    Ranker(
        "rrf",
        partial(models.fused, models=(models.feedback, models.dirichlet, models.latent)),
        "Reciprocal rank fusion of RM3, Dirichlet and LSA.",
        "Cormack, Clarke and Buettcher, SIGIR 2009.",
        stage="fusion",
    ),
    Ranker(
        "coordination",
        models.coordination,
        "How many words of the topic a document has: mostly ties.",
        "Cleverdon, Aslib Cranfield Research Project, 1966.",
    ),
    Ranker("random", models.chance, "A hundred documents drawn at random.", ""),
)
# The rankers that answer on both collections.
SYSTEMS = ("bm25", "bm25-unstemmed", "bm25-narrative", "bm25-rm3", "lm-dirichlet", "rrf")


def runs(folder: Path, tags: Collection[str] | None = None) -> list[SampleRun]:
    """The runs of these rankers, or of all, on the collection in `folder`.

    They are the same bytes on every call.
    """
    chosen = [ranker for ranker in RANKERS if tags is None or ranker.tag in tags]
    with open(folder / "topics.trec", "rb") as file:
        topics = read_topics(file).topics
    with open(folder / "documents.jsonl", "rb") as file:
        documents = list(read_documents(file, Problems()))
    ways = {ranker.stemming for ranker in chosen}
    indexes = {stemming: build_index(documents, stemming) for stemming in ways}
    return [_run(ranker, indexes[ranker.stemming], topics) for ranker in chosen]


def _run(ranker: Ranker, index: SampleIndex, topics: list[Topic]) -> SampleRun:
    lines: list[str] = []
    moments = [time.perf_counter()]
    for topic in topics:
        lines += _lines(ranker, index, topic)
        moments.append(time.perf_counter())
    return SampleRun(
        tag=ranker.tag,
        description=f"{ranker.description} {ranker.paper}".strip(),
        text="".join(f"{line}\n" for line in lines).encode(),
        fields=ranker.fields,
        stage=ranker.stage,
        seconds=median(after - before for before, after in pairwise(moments)),
    )


def _lines(ranker: Ranker, index: SampleIndex, topic: Topic) -> Iterator[str]:
    """The ranking of one topic, in the order in which it will be scored."""
    text = " ".join(getattr(topic, field) for field in ranker.fields)
    scores = np.round(ranker.model(index, index.count(text)), DIGITS)
    for rank, row in enumerate(ordered(index, scores)[:DEPTH], start=1):
        docno, score = index.docnos[row], scores[row]
        yield f"{topic.number} Q0 {docno} {rank} {score:.{DIGITS}f} {ranker.tag}"
