"""The topics on which a run loses most to the best run, and the document that explains it most."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

import evaluation
from evaluation import CONVENTIONS, Problems, Qrels, Ranking, judge, prepare
from evaluation.answers.any_measure import is_of_rankings
from leaderboard.analysis.gains import CUTOFFS, GainCurves, build_gain_curves, find_gain_scale
from leaderboard.analysis.rankings import Titles, open_rankings
from leaderboard.analysis.runs import TopicLine
from leaderboard.boards.standings import Board
from leaderboard.display.csv_tables import CsvTable, tabulate
from leaderboard.models import Run
from leaderboard.scoring.judgments import load_judgments, resolve_measure

WORST = 10
# How many of the documents that fell furthest on a topic are tried.
TRIED = 20

Ranks = dict[bytes, int]
Grades = dict[bytes, int]


@dataclass(frozen=True)
class MissedDocument:
    """A relevant document that the best run of the topic ranks higher."""

    docno: str
    grade: int
    rank_in_best: int
    # None if this run does not retrieve it.
    rank_here: int | None
    # The gain in score if the document were ranked as in the best run.
    worth: float = 0.0
    title: str = ""


@dataclass(frozen=True)
class Loss:
    """A topic on which a run loses to the best run."""

    line: TopicLine
    # None if the best run ranks no relevant document higher.
    missed: MissedDocument | None
    # None if the topic has no gain.
    gains: GainCurves | None


def count_losses(lines: Sequence[TopicLine]) -> int:
    """Return how many losses `find_losses` finds."""
    return min(WORST, sum(line.lost > 0 for line in lines))


def find_losses(
    board: Board, run: Run, lines: Sequence[TopicLine], most: int = WORST
) -> list[Loss]:
    """Find the topics with the largest losses, and the document that explains each most."""
    worst = sorted((line for line in lines if line.lost > 0), key=lambda line: -line.lost)[:most]
    here = load_ranks(run, worst)
    there: dict[str, Ranks] = {}
    for best in {line.best_run for line in worst}:
        there |= load_ranks(best, [line for line in worst if line.best_run == best])
    judgments, threshold = load_judgments(board.edition.pk), board.sight.track.relevance_threshold
    grades = {line.topic.number: judgments.grades[place] for place, line in enumerate(lines)}
    scale, found = find_gain_scale(board.sight.track), []
    for line in worst:
        number = line.topic.number
        relevant = {docno: g for docno, g in grades[number].items() if g >= threshold}
        fallen = list(find_fallen(relevant, here[number], there[number]))
        tried = estimate_worth(board, grades[number], line, list(here[number]), fallen)
        gains = build_gain_curves(scale, grades[number], list(here[number]), CUTOFFS[0])
        found.append(Loss(line, max(tried, key=weigh, default=None), gains))
    return _with_titles(board, found)


def tabulate_losses(losses: Sequence[Loss]) -> CsvTable:
    """Return a line for each topic that loses most, with the document that most explains it."""
    columns = [
        ("topic", "line.topic.number"),
        ("title", "line.topic.label"),
        ("run", "line.score"),
        ("best", "line.best"),
        ("best_run", "line.best_run.tag"),
        ("docno", "missed.docno"),
        ("grade", "missed.grade"),
        ("rank_in_best", "missed.rank_in_best"),
        ("rank_here", "missed.rank_here"),
        ("worth", "missed.worth"),
        ("lost_by_ranking", "gains.lost_by_ranking"),
        ("lost_by_retrieval", "gains.lost_by_retrieval"),
    ]
    return tabulate(losses, columns)


def load_ranks(run: Run, lines: Sequence[TopicLine]) -> dict[str, Ranks]:
    """Load the rank of every document that a run retrieves for these topics."""
    with open_rankings(run) as rankings:
        found = {line.topic.number: rankings.ranking(line.topic.number) for line in lines}
    return {
        number: {docno: rank for rank, docno in enumerate(ranking.docnos, start=1)}
        if ranking is not None
        else {}
        for number, ranking in found.items()
    }


def find_fallen(relevant: dict[bytes, int], here: Ranks, there: Ranks) -> Iterator[MissedDocument]:
    """Find the documents that rank lower here than there, those that fell furthest first.

    From 1 to 10 is further than from 500 to 900.
    """

    def fall(docno: bytes) -> float:
        return 1 / there[docno] - 1 / here.get(docno, math.inf)

    lower = [docno for docno in relevant if docno in there and fall(docno) > 0]
    for docno in sorted(lower, key=lambda docno: (-fall(docno), docno))[:TRIED]:
        yield MissedDocument(docno.decode(), relevant[docno], there[docno], here.get(docno))


def estimate_worth(
    board: Board,
    grades: Grades,
    line: TopicLine,
    docnos: list[bytes],
    fallen: Sequence[MissedDocument],
) -> list[MissedDocument]:
    """Return each document with the gain in score if it alone ranked as in the best run."""
    if not is_of_rankings(board.measure):
        return []
    track, top = board.sight.track, load_judgments(board.edition.pk).top_grade
    tries = {
        b"%d" % number: _with_document_at(docnos, missed) for number, missed in enumerate(fallen)
    }
    whole = load_judgments(board.edition.pk).qrels
    number = line.topic.number.encode()
    # Each attempt is a separate topic with the judgments of this one.
    details = {
        name: dict.fromkeys(tries, by_topic[number])
        for name in ("strata", "subtopics", "probabilities")
        if number in (by_topic := getattr(whole, name))
    }
    qrels = Qrels(dict.fromkeys(tries, grades), Problems(), **details)
    run = evaluation.Run("tried", tries, lines=0, problems=Problems())
    convention = CONVENTIONS[board.edition.convention]
    known = prepare(qrels, list(tries), top)
    judged = judge(run, known, track.depth, convention)
    scores = resolve_measure(track, board.measure).scores(judged).tolist() if tries else []
    return [
        replace(missed, worth=line.direction * (score - line.score))
        for missed, score in zip(fallen, scores, strict=True)
    ]


def _with_document_at(docnos: list[bytes], missed: MissedDocument) -> Ranking:
    docno, above = missed.docno.encode(), missed.rank_in_best - 1
    rest = [other for other in docnos if other != docno]
    # In a shorter ranking, unjudged documents fill the ranks in between.
    filled = [*rest, *(b"\0%d" % place for place in range(len(rest), above))]
    moved = [*filled[:above], docno, *filled[above:]]
    return Ranking(moved, -np.arange(len(moved), dtype=float))


def weigh(missed: MissedDocument) -> tuple[float, int]:
    """Return a sort key: the largest gain explains most, then the highest grade."""
    return round(missed.worth, 9), missed.grade


def _with_titles(board: Board, found: list[Loss]) -> list[Loss]:
    titles = Titles(board.sight.track.collection)
    by_docno = titles.of(loss.missed.docno for loss in found if loss.missed is not None)
    return [
        replace(loss, missed=replace(loss.missed, title=by_docno.get(loss.missed.docno, "")))
        if loss.missed is not None
        else loss
        for loss in found
    ]
