"""Tables of pandas, which is optional: runs from them, and answers as them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evaluation import frames
from evaluation.frames import DOCNOS, SCORES, TOPICS, Frame, find_column
from rankfield.errors import SiteError


def run_lines(frame: Frame, tag: str) -> Iterator[str]:
    """Yield the lines of a run: topic, docno and score of each row, ranked in its order.

    The site ranks by score. Raises ValueError for a frame without one of these columns.

    >>> table = {"qid": [7, 7], "docno": ["d1", "d2"], "score": [9.5, 8]}
    >>> class Table(dict):
    ...     columns = property(list)
    >>> list(run_lines(Table(table), "bm25"))
    ['7 Q0 d1 1 9.5 bm25\\n', '7 Q0 d2 2 8.0 bm25\\n']
    """
    ranks: Counter[Any] = Counter()
    topics, docnos, scores = (
        frame[find_column(frame.columns, names)] for names in (TOPICS, DOCNOS, SCORES)
    )
    for topic, docno, score in zip(topics, docnos, scores, strict=True):
        ranks[topic] += 1
        yield f"{topic} Q0 {docno} {ranks[topic]} {float(score)!r} {tag}\n"


def build_frame(rows: Iterable[Mapping[str, Any]], index: str) -> Any:
    """Return a DataFrame of the rows; raises SiteError without pandas."""
    try:
        return frames.build_frame(rows, index)
    except ModuleNotFoundError as error:
        raise SiteError(str(error)) from None
