"""Tables of pandas, which is optional: runs from them, and answers as them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, Protocol

from rankfield.errors import SiteError

# The names that libraries give the columns of a run.
TOPICS = ("topic", "qid", "query_id", "q_id", "query")
DOCNOS = ("docno", "doc_id", "docid", "document")
SCORES = ("score", "similarity")


class Frame(Protocol):
    """What is read of a DataFrame."""

    @property
    def columns(self) -> Iterable[Any]: ...

    def __getitem__(self, column: str, /) -> Iterable[Any]: ...


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
        frame[find_column(frame, names)] for names in (TOPICS, DOCNOS, SCORES)
    )
    for topic, docno, score in zip(topics, docnos, scores, strict=True):
        ranks[topic] += 1
        yield f"{topic} Q0 {docno} {ranks[topic]} {float(score)!r} {tag}\n"


def find_column(frame: Frame, names: Iterable[str]) -> str:
    columns = set(frame.columns)
    for name in names:
        if name in columns:
            return name
    raise ValueError(f"the table has no column {' or '.join(names)}")


def build_frame(rows: Iterable[Mapping[str, Any]], index: str) -> Any:
    """Return a DataFrame of the rows; raises SiteError without pandas."""
    try:
        pandas = import_module("pandas")
    except ModuleNotFoundError:
        raise SiteError("pandas is not installed: pip install pandas") from None
    return pandas.DataFrame(list(rows)).set_index(index)
