"""What is measured: runs of four sizes with their judgments, and one size as systems write it.

The files lie in `benchmarks/cache` and are made where they are missing. Whoever measures the
memory of others must be small himself, so nothing here imports numpy; `generator` does.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
CACHE = Path(__file__).parent / "cache"
# Documents of the collection behind L, as many as MS MARCO has passages.
DOCUMENTS = 8_841_823


@dataclass(frozen=True)
class Kind:
    """How a system writes its runs; `generator` makes docnos and scores by these names."""

    name: str
    docnos: str
    scores: str
    tag: str
    # Between two fields; or three of them in turn, as some programs align their columns.
    blanks: tuple[str, ...] = (" ",)
    # Whether topics stand in another order than in the judgments, or the lines of all in any.
    order: str = "as judged"
    # Whether runs that are submitted look like this; the others are hard on purpose.
    is_usual: bool = True


KINDS = {
    each.name: each
    for each in (
        Kind("anserini", "numbers", "bm25, six decimals", "Anserini"),
        Kind("dense", "numbers", "inner products, six decimals", "Faiss"),
        Kind("cosine", "numbers", "cosines, all digits", "minilm", ("\t",)),
        Kind("terrier", "news", "bm25, all digits", "DPH_bo1_b_0.75_q_1.5_news"),
        Kind("indri", "clueweb", "log-likelihoods, five decimals", "indri-sdm"),
        Kind(
            "reranker",
            "passages",
            "logits, all digits",
            "monot5-3b-msmarco-100k-at-1000",
            order="topics shuffled",
        ),
        Kind("old", "news", "bm25, one decimal", "ok8a"),
        Kind("places", "clueweb", "the depth less the rank", "fused"),
        Kind(
            "aligned", "news", "bm25, four decimals", "aligned", (" ", "   ", " \t"), is_usual=False
        ),
        Kind(
            "shuffled",
            "numbers",
            "bm25, six decimals",
            "shuffled",
            order="lines shuffled",
            is_usual=False,
        ),
    )
}


@dataclass(frozen=True)
class Input:
    """A run of `topics` rankings, `depth` deep, with about `judged` judgments a topic."""

    name: str
    topics: int
    depth: int
    judged: float
    top_grade: int
    first_topic: int
    # How scores are written; coarser values first, where there are to be ties.
    scores: str
    # One judged topic is not answered, one answered topic is not judged, 1 % of the judgments
    # is negative, docnos are long.
    ragged: bool = False

    @property
    def run(self) -> Path:
        return self.file(f"{self.name}.run")

    @property
    def qrels(self) -> Path:
        return self.file(f"{self.name}.qrels")

    @property
    def packed(self) -> Path:
        """The run as it is uploaded."""
        return self.file(f"{self.name}.run.gz")

    @property
    def docnos(self) -> Path:
        """Every document of the collection, one a line."""
        return self.file(f"{self.name}.docnos")

    @property
    def known_docnos(self) -> Path:
        """The same documents as readers are given them."""
        return self.file(f"{self.name}.known-docnos")

    def run_of(self, kind: Kind) -> Path:
        """The same rankings, as a system of this kind writes them."""
        return self.file(f"{self.name}.{kind.name}.run")

    def qrels_of(self, kind: Kind) -> Path:
        """The same judgments, by the docnos of this kind."""
        return self.file(f"{self.name}.{kind.name}.qrels")

    def file(self, name: str) -> Path:
        """The file of that name, made now where it is missing."""
        path = CACHE / name
        if not path.exists():
            words = [sys.executable, "-m", "benchmarks.generator", name]
            subprocess.run(words, cwd=ROOT, check=True)
        return path


INPUTS = {
    each.name: each
    for each in (
        Input("S", 50, 1000, 100, 3, 201, "six decimals with ties", ragged=True),
        Input("M", 250, 1000, 295, 4, 501, "32-bit floats", ragged=True),
        Input("L", 6980, 1000, 1.07, 1, 1_048_585, "six decimals"),
        Input("XL", 100_000, 100, 5.05, 2, 2_000_001, "four decimals"),
    )
}
