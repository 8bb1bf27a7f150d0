"""Runs of judges: a file of judgments or marks each, ranked by grade and compared with people.

The ranking file of such a run has every document or pair that it grades, the grade as its score. So
measures of rankings say how well its grades order them, and its judgments are read back.
"""

from __future__ import annotations

from collections.abc import Container
from contextlib import closing
from pathlib import Path

import numpy as np

from evaluation.problems import Problems
from evaluation.reading.containers import unpacked
from evaluation.reading.judging.qrels import Qrels, read_qrels
from evaluation.reading.recognition import JUDGMENT_FORMATS
from evaluation.reading.runs import reader
from evaluation.reading.runs.rankings import Ranking
from leaderboard.collections.documents import known_docnos
from leaderboard.infrastructure.packed_files import open_unpacked
from leaderboard.models import Run, Track
from leaderboard.scoring.files import open_run, run_limits
from leaderboard.scoring.judgments import load_topic_numbers
from leaderboard.scoring.mark_runs import read_pairs

# The formats by their names in the table of runs; the first alone never says how sure a judge is.
QRELS_FORMATS = {
    "qrels": "judgments (topic 0 docno grade)",
    "confidence": "judgments with confidences (topic 0 docno grade confidence)",
    **{name: JUDGMENT_FORMATS[name] for name in ("jsonl", "json", "golden")},
}


def read_judge_run(run: Run) -> reader.Run:
    """Read and check the judgments of a judge. Raises Refused.

    A judge without a name is called like its file. Negative grades are abstentions.
    """
    collection = run.track.collection
    docnos = known_docnos(collection.documents.name) if collection.documents else None
    read = _read_judgments(run, frozenset(load_topic_numbers(collection.pk)), docnos)
    return _rank(run, read, "qrels" if read.format == "trec" else read.format)


def read_mark_run(run: Run) -> reader.Run:
    """Read and check the marks of a judge: of nuggets, or of support. Raises Refused."""
    read = read_pairs(run)
    return _rank(run, read, "confidence" if read.confidences else "marks")


def _rank(run: Run, read: Qrels, format: str) -> reader.Run:
    rankings = {topic: rank_by_grade(graded) for topic, graded in read.grades.items()}
    return reader.Run(
        run.tag or Path(run.filename).stem or "judge",
        {topic: ranking for topic, ranking in rankings.items() if ranking.docnos},
        read.count,
        read.problems,
        format,
    )


def _read_judgments(
    run: Run, topics: Container[bytes] | None = None, docnos: Container[bytes] | None = None
) -> Qrels:
    with (
        open_unpacked(run.file.name) as packed,
        closing(unpacked(packed, run_limits())) as lines,
    ):
        return read_qrels(lines, topics, docnos, of_judge=True)


def rank_by_grade(graded: dict[bytes, int]) -> Ranking:
    """Return graded documents as a ranking, ties by docno descending as in every run.

    >>> ranking = rank_by_grade({b"d1": 1, b"d2": 3, b"d3": -1})
    >>> ranking.docnos, ranking.scores.tolist()
    ([b'd2', b'd1'], [3.0, 1.0])
    """
    kept = [(grade, docno) for docno, grade in graded.items() if grade >= 0]
    ordered = sorted(kept, reverse=True)
    return Ranking([docno for _, docno in ordered], np.array([float(g) for g, _ in ordered]))


def load_judge(run: Run) -> Qrels:
    """Return the judgments or marks of an accepted judge, from its ranking file.

    How sure it is stands in the file that was sent.
    """
    grades = {}
    for topic, ranking in open_run(run).rankings.items():
        pairs = zip(ranking.docnos, ranking.scores.tolist(), strict=True)
        grades[topic] = {docno: int(grade) for docno, grade in pairs}
    return Qrels(grades, Problems(), confidences=_read_confidences(run))


def _read_confidences(run: Run) -> dict[bytes, dict[bytes, float]]:
    if run.format in ("", "qrels", "marks"):
        return {}
    return (read_pairs(run) if run.track.judged_marks else _read_judgments(run)).confidences


def judge_check_options(track: Track) -> dict[str, str]:
    """Return the options of the command that checks the judgments of a judge of this track."""
    docnos = "docnos.txt" if track.collection.documents else ""
    return {"topics": "topics.txt", "docnos": docnos}
