"""The rankings within a run of answers, which every measure of rankings scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import numpy as np

from evaluation.answers.runs import Answer, AnswerRun
from evaluation.problems import Problems, refuse
from evaluation.reading.runs.rankings import Ranking
from evaluation.reading.runs.reader import Run

View: TypeAlias = Literal["references", "cited"]

VIEWS: tuple[View, ...] = ("references", "cited")
NO_TAG = "run"


def rank_references(answer: Answer) -> list[str]:
    """Return the references, the highest score first; of BioGen A all cited documents.

    >>> from evaluation.answers.runs import Reference
    >>> rank_references(Answer("t1", references=(Reference("d1", 1), Reference("d2", 3))))
    ['d2', 'd1']
    """
    if answer.references is not None:
        scores = [-(each.score or 0) for each in answer.references]
        order = np.argsort(scores, kind="stable")
        return list(dict.fromkeys(answer.references[place].docno for place in order.tolist()))
    contradicted = (each.docno for s in answer.sentences for each in s.contradicted)
    if any(sentence.contradicted for sentence in answer.sentences):
        return list(dict.fromkeys([*answer.cited(), *contradicted]))
    return []


def rank_cited(answer: Answer, with_references: bool = False) -> list[str]:
    """Return the cited documents in the order of first citation, the strongest of a sentence first.

    Uncited references follow on request.
    """
    uncited = rank_references(answer) if with_references else []
    return list(dict.fromkeys([*answer.cited(), *uncited]))


def ranking_run(run: AnswerRun, view: View, with_references: bool = False) -> Run:
    """Return a view of a run of answers as a ranked run: k documents have the scores k ... 1.

    Raises `Refused` for the view of references where no answer has any.
    """
    rankings = {
        answer.topic.encode(): _ranking(_ranked(answer, view, with_references))
        for answer in run.answers.values()
    }
    lines = sum(len(ranking.docnos) for ranking in rankings.values())
    if view == "references" and not lines:
        hint = "Rank the cited documents: --view cited."
        raise refuse("E_FIELD", "the answers have no references", hint=hint)
    return Run(run.name or NO_TAG, rankings, lines, Problems(), f"answers, {view}")


def _ranked(answer: Answer, view: View, with_references: bool) -> list[str]:
    return rank_references(answer) if view == "references" else rank_cited(answer, with_references)


def _ranking(docnos: list[str]) -> Ranking:
    return Ranking([docno.encode() for docno in docnos], np.arange(len(docnos), 0, -1.0))


def trec_lines(run: Run) -> Iterator[bytes]:
    """Yield the lines of a run in TREC's format, documents in their order."""
    for topic, ranking in run.rankings.items():
        for rank, docno in enumerate(ranking.docnos, 1):
            score = int(ranking.scores[rank - 1])
            yield b"%b Q0 %b %d %d %b\n" % (topic, docno, rank, score, run.tag.encode())
