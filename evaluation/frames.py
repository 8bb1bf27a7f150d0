"""Tables of pandas, which is optional: what is read of them, and results as them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, Protocol

# The names that libraries and files give the columns of runs and judgments.
TOPICS = (
    *("topic", "qid", "query_id", "query-id", "q_id", "topic_id", "topic-id", "topicid", "queryid"),
    *("topic_number", "number", "num", "query"),
)
DOCNOS = (
    *("docno", "doc_id", "doc-id", "docid", "document", "document_id", "corpus-id", "corpus_id"),
    *("pid", "passage_id", "passage-id", "did"),
)
SCORES = ("score", "similarity")
GRADES = ("grade", "label", "relevance", "rel", "judgment", "judgement", "rating", "score")
SUBTOPICS = ("subtopic", "subtopic_id", "iteration")


class Frame(Protocol):
    """What is read of a DataFrame."""

    @property
    def columns(self) -> Iterable[Any]: ...

    def __getitem__(self, column: str, /) -> Iterable[Any]: ...


def find_column(columns: Iterable[Any], names: Iterable[str], what: str = "table") -> str:
    """Return the first of the names that is a column; ValueError if there is none.

    >>> find_column(["qid", "docno", "label"], GRADES)
    'label'
    """
    known = set(columns)
    for name in names:
        if name in known:
            return name
    raise ValueError(f"the {what} has no column {' or '.join(names)}")


def build_frame(rows: Iterable[Mapping[str, Any]], *index: str) -> Any:
    """Return a DataFrame of the rows; raises ModuleNotFoundError without pandas."""
    try:
        pandas = import_module("pandas")
    except ModuleNotFoundError:
        raise ModuleNotFoundError("pandas is not installed: pip install pandas") from None
    frame = pandas.DataFrame(list(rows))
    return frame.set_index(list(index) if len(index) > 1 else index[0]) if index else frame
