"""Runs from objects of Python, such as tables of pandas, and answers as such tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evaluation import frames
from evaluation.reading.objects import RunSource, run_from
from evaluation.tables import text_of
from rankfield.errors import SiteError


def run_lines(source: RunSource, tag: str) -> Iterator[str]:
    """Yield the lines of a run from any object that `evaluate` takes, by topic and score.

    Raises ValueError for a table without topics, docnos or scores, and `Refused` for a document
    twice or a score that is not finite.

    >>> list(run_lines({7: {"d1": 9.5, "d2": 8}}, "bm25"))
    ['7 Q0 d1 1 9.5 bm25\\n', '7 Q0 d2 2 8.0 bm25\\n']
    """
    for topic, ranking in run_from(source, tag).rankings.items():
        ranked = zip(ranking.docnos, ranking.scores.tolist(), strict=True)
        for rank, (docno, score) in enumerate(ranked, 1):
            yield f"{text_of(topic)} Q0 {text_of(docno)} {rank} {score!r} {tag}\n"


def build_frame(rows: Iterable[Mapping[str, Any]], index: str) -> Any:
    """Return a DataFrame of the rows; raises SiteError without pandas."""
    try:
        return frames.build_frame(rows, index)
    except ModuleNotFoundError as error:
        raise SiteError(str(error)) from None
