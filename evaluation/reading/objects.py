"""Judgments and runs from objects of Python: mappings, tables, arrays, named tuples.

A source may also be a path, a dataset of ir_datasets with `qrels_iter` or `scoreddocs_iter`, or
`Qrels` and `Run` of ranx, which `to_dict` turns into a mapping. No library is imported for any of
them: tables of pandas and polars are known by their columns.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from numbers import Integral
from typing import Any, Protocol, TypeAlias

import numpy as np

from evaluation.frames import DOCNOS, GRADES, SCORES, SUBTOPICS, TOPICS, Frame, find_column
from evaluation.problems import Problems, Refused, refuse
from evaluation.reading import paths
from evaluation.reading.judging.qrels import HIGHEST_GRADE, Qrels
from evaluation.reading.runs.rankings import Ranking
from evaluation.reading.runs.reader import Run

Path: TypeAlias = str | os.PathLike[str]
ByTopic: TypeAlias = Mapping[Any, Mapping[Any, Any]]
Row: TypeAlias = tuple[Any, Any, Any]


class JudgedDataset(Protocol):
    """A dataset of ir_datasets with judgments."""

    def qrels_iter(self) -> Iterable[Any]: ...


class ScoredDataset(Protocol):
    """A dataset of ir_datasets with a run."""

    def scoreddocs_iter(self) -> Iterable[Any]: ...


class ByTopicObject(Protocol):
    """Judgments or a run of ranx."""

    def to_dict(self) -> ByTopic: ...


QrelsSource: TypeAlias = (
    Path | Qrels | ByTopic | ByTopicObject | Frame | JudgedDataset | Iterable[Any]
)
RunSource: TypeAlias = Path | Run | ByTopic | ByTopicObject | Frame | ScoredDataset | Iterable[Any]

ACCEPTED = (
    "a path, {topic: {docno: value}}, a DataFrame of pandas or polars, an array with the columns"
    " topic, docno and value, named tuples such as those of ir_measures, Qrels or Run of ranx, or a"
    " dataset of ir_datasets"
)


def qrels_from(source: QrelsSource, *, lenient: bool = False, subtopics: bool = False) -> Qrels:
    """Return the judgments of a source.

    With `subtopics`, the column or field subtopic, subtopic_id or iteration names the subtopic;
    subtopic and subtopic_id do so always. Raises `Refused` for judgments that cannot be used,
    such as a grade that is no integer or a document judged twice, TypeError for other objects and
    ValueError where a column is missing.

    >>> qrels_from({7: {"d1": 2, "d2": 0}}).grades
    {b'7': {b'd1': 2, b'd2': 0}}
    """
    if isinstance(source, Qrels):
        return source
    if isinstance(source, str | os.PathLike):
        return paths.read_judgments(os.fspath(source), lenient, subtopics)
    if hasattr(source, "qrels_iter"):
        source = source.qrels_iter()
    source = _mapping_of(source)
    if isinstance(source, Mapping):
        return _plain_qrels(_rows_of_mapping(source))
    columns, rows = _columns_and_rows(source, "judgments")
    names = (TOPICS, DOCNOS, GRADES)
    found = [find_column(columns, each, "table of judgments") for each in names] if columns else []
    known = SUBTOPICS if subtopics else SUBTOPICS[:2]
    named = next((name for name in known if name in columns), None)
    if named is not None:
        return _qrels_of_subtopics(rows(*found, named))
    return _plain_qrels(rows(*found))


def run_from(source: RunSource, tag: str = "run", *, lenient: bool = False) -> Run:
    """Return the run of a source; files have their own tag. Documents are ranked by score.

    Raises as `qrels_from` does; a score that is not a finite number and a repeated document are
    refused.

    >>> run_from({7: {"d1": 1, "d2": 2.5}}).rankings[b"7"].docnos
    [b'd2', b'd1']
    """
    if isinstance(source, Run):
        return source
    if isinstance(source, str | os.PathLike):
        return paths.read_any_run(os.fspath(source), lenient)
    if hasattr(source, "scoreddocs_iter"):
        source = source.scoreddocs_iter()
    # ranx names its runs.
    named = getattr(source, "name", None) if hasattr(source, "to_dict") else None
    tag = named if isinstance(named, str) and tag == "run" else tag
    source = _mapping_of(source)
    if isinstance(source, Mapping):
        return _run_of_rows(_rows_of_mapping(source), tag, source)
    columns, rows = _columns_and_rows(source, "a run")
    names = (TOPICS, DOCNOS, SCORES)
    found = [find_column(columns, each, "table of a run") for each in names] if columns else []
    return _run_of_rows(rows(*found), tag)


def _mapping_of(source: Any) -> Any:
    """Return what ranx has as a mapping; a table, which also has `to_dict`, stays a table."""
    is_by_topic = hasattr(source, "to_dict") and not hasattr(source, "columns")
    return source.to_dict() if is_by_topic else source


def _rows_of_mapping(source: ByTopic) -> Iterator[Row]:
    for topic, documents in source.items():
        if not isinstance(documents, Mapping):
            raise TypeError(f"topic {topic} has no {{docno: value}} but {documents!r:.60}")
        for docno, value in documents.items():
            yield topic, docno, value


class _NamedRows(Protocol):
    def __call__(self, *names: str) -> Iterable[tuple[Any, ...]]: ...


def _columns_and_rows(source: Any, what: str) -> tuple[list[str], _NamedRows]:
    """The columns of a table or the fields of named tuples, and what reads some of them.

    An empty sequence has no columns.
    """
    if hasattr(source, "columns"):
        return list(source.columns), lambda *names: zip(
            *map(source.__getitem__, names), strict=True
        )
    if isinstance(source, np.ndarray):
        return _columns_and_rows_of_array(source, what)
    if not isinstance(source, Iterable) or isinstance(source, bytes):
        raise TypeError(f"{what} may be {ACCEPTED}; not {type(source).__name__}")
    rows = iter(source)
    first = next(rows, None)
    if first is None:
        return [], lambda *names: ()
    if not hasattr(first, "_fields"):
        raise TypeError(f"{what} may be {ACCEPTED}; not rows such as {first!r:.60}")

    def read(*names: str) -> Iterator[tuple[Any, ...]]:
        places = [first._fields.index(name) for name in names]
        return (tuple(row[place] for place in places) for row in chain([first], rows))

    return list(first._fields), read


def _columns_and_rows_of_array(
    source: np.ndarray[Any, Any], what: str
) -> tuple[list[str], _NamedRows]:
    """The same of an array with named fields, or of one of three columns, which have no names."""
    if names := source.dtype.names:
        return list(names), lambda *chosen: zip(
            *(source[name].ravel().tolist() for name in chosen), strict=True
        )
    if source.ndim != 2 or source.shape[1] != 3:
        shape = " by ".join(map(str, source.shape))
        raise TypeError(f"an array has the columns topic, docno and value; {what} is {shape}")
    # An array of one type has its numbers as text too.
    is_text = source.dtype.kind in "US"
    rows = [(t, d, _number(v) if is_text else v) for t, d, v in source.tolist()]
    return [], lambda *names: rows


def _number(text: Any) -> Any:
    """Return a text as a number, unchanged where it is none: then it is refused by its place."""
    try:
        return float(text)
    except ValueError:
        return text


def _plain_qrels(rows: Iterable[tuple[Any, ...]]) -> Qrels:
    grades: dict[bytes, dict[bytes, int]] = {}
    for topic, docno, grade in rows:
        judged = grades.setdefault(identifier(topic, "topic"), {})
        name = identifier(docno, "docno")
        if name in judged:
            raise _repeated("E_DUP_QREL", "judged", topic, docno)
        judged[name] = _grade(topic, docno, grade)
    return _judged(Qrels(grades, Problems()))


def _qrels_of_subtopics(rows: Iterable[tuple[Any, ...]]) -> Qrels:
    grades: dict[bytes, dict[bytes, int]] = {}
    subtopics: dict[bytes, dict[bytes, dict[bytes, int]]] = {}
    for topic, docno, value, subtopic in rows:
        number, name = identifier(topic, "topic"), identifier(docno, "docno")
        graded = subtopics.setdefault(number, {}).setdefault(name, {})
        subname, grade = identifier(subtopic, "subtopic"), _grade(topic, docno, value)
        if subname in graded:
            raise _repeated("E_DUP_QREL", f"judged for subtopic {subtopic}", topic, docno)
        graded[subname] = grade
        judged = grades.setdefault(number, {})
        judged[name] = max(grade, judged.get(name, grade))
    return replace(_judged(Qrels(grades, Problems(), "subtopics")), subtopics=subtopics)


def _judged(qrels: Qrels) -> Qrels:
    if not qrels.grades:
        raise refuse("E_EMPTY", "there are no judgments")
    return qrels


def _run_of_rows(rows: Iterable[tuple[Any, ...]], tag: str, topics: Iterable[Any] = ()) -> Run:
    """`topics` are those that may have no document."""
    scores: dict[bytes, dict[bytes, float]] = {identifier(t, "topic"): {} for t in topics}
    count = 0
    for topic, docno, score in rows:
        ranked = scores.setdefault(identifier(topic, "topic"), {})
        name = identifier(docno, "docno")
        if name in ranked:
            raise _repeated("E_DUP_DOC", "ranked", topic, docno)
        ranked[name] = _score(topic, docno, score)
        count += 1
    rankings = {
        topic: Ranking.in_scoring_order(list(ranked), np.array(list(ranked.values()), np.float64))
        for topic, ranked in scores.items()
    }
    return Run(tag, rankings, count, Problems(), "objects")


def identifier(value: Any, what: str) -> bytes:
    """A topic or docno as the bytes of a file; a number is written without decimals."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    if isinstance(value, bytes):
        return value
    if isinstance(value, Integral) and not isinstance(value, bool):
        return b"%d" % int(value)
    raise TypeError(f"a {what} is a text or an integer, not {value!r}; convert it first")


def _grade(topic: Any, docno: Any, grade: Any) -> int:
    try:
        whole = int(grade)
    except (TypeError, ValueError, OverflowError):
        whole = None
    if isinstance(grade, str) or whole is None or whole != grade or abs(whole) > HIGHEST_GRADE:
        message = f"the grade is not an integer from -{HIGHEST_GRADE} to {HIGHEST_GRADE}"
        raise refuse("E_REL", f"topic {topic}, document {docno}: {message}", str(grade))
    return whole


def _score(topic: Any, docno: Any, score: Any) -> float:
    try:
        value = math.nan if isinstance(score, str) else float(score)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        message = f"topic {topic}, document {docno}: the score is not a finite number"
        raise refuse("E_SCORE", message, str(score))
    return value


def _repeated(code: str, what: str, topic: Any, docno: Any) -> Refused:
    return refuse(code, f"topic {topic}: the document is {what} twice", str(docno))
