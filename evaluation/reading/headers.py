"""Headers of judgments: which columns hold the topic, the docno and the grade, by their names."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.frames import DOCNOS, GRADES, SUBTOPICS, TOPICS

ITERATIONS = ("iteration", "iter", "q0")
# Several names of a row may be of one kind, such as query_id and query: the first kind is meant.
KINDS = {
    "topic": TOPICS,
    "docno": DOCNOS,
    "grade": GRADES,
    "subtopic": SUBTOPICS[:2],
    "iteration": ITERATIONS,
}
NEEDED = {"topic", "docno", "grade"}
OTHER = "-"
# The orders of columns that have a name of their own.
NAMED: dict[tuple[str, ...], str] = {
    ("topic", "iteration", "docno", "grade"): "trec",
    ("topic", "subtopic", "docno", "grade"): "subtopics",
}


def name_columns(cells: Sequence[bytes]) -> list[str]:
    """Return what each column holds by its name, "-" for another; nothing if it is no header.

    >>> name_columns([b"", b"query", b"Query_ID", b"doc_id", b"relevance"])
    ['-', '-', 'topic', 'docno', 'grade']
    >>> name_columns([b"301", b"0", b"D1", b"2"])
    []
    """
    written = [cell.decode("utf-8", "replace").strip().lower() for cell in cells]
    kinds = {
        written.index(found[0]): kind
        for kind, names in KINDS.items()
        if (found := [name for name in names if name in written])
    }
    return [kinds.get(at, OTHER) for at in range(len(cells))] if {*kinds.values()} >= NEEDED else []


def format_of_columns(names: Sequence[str], separator: str = "") -> str:
    """Return the format of columns in this order.

    >>> format_of_columns(["topic", "iteration", "docno", "grade"])
    'trec'
    >>> format_of_columns(["docno", "topic", "-", "grade"], ",")
    'docno,topic,-,grade'
    """
    named = "" if separator else NAMED.get(tuple(names), "")
    return named or (separator or " ").join(names)
