"""Where a run fails: the topics on which the best run is furthest ahead, and by which document."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from leaderboard.breakdowns.rankings import Titles, rankings_of
from leaderboard.breakdowns.runs import TopicLine
from leaderboard.models import Run
from leaderboard.scoring import prepared
from leaderboard.standings import Board

WORST = 7

Ranks = dict[bytes, int]


@dataclass(frozen=True)
class Missed:
    """A relevant document that the best run of the topic ranks higher."""

    docno: str
    grade: int
    rank_in_best: int
    # None where this run does not retrieve it.
    rank_here: int | None
    title: str = ""


@dataclass(frozen=True)
class Loss:
    line: TopicLine
    # None where the best run ranks no relevant document higher.
    missed: Missed | None


def losses(board: Board, run: Run, lines: Sequence[TopicLine]) -> list[Loss]:
    """The topics where most is lost to the best run, and the document that most explains it."""
    worst = sorted((each for each in lines if each.lost > 0), key=lambda each: -each.lost)[:WORST]
    here = ranks_of(run, worst)
    there: dict[str, Ranks] = {}
    for best in {each.best_run for each in worst}:
        there |= ranks_of(best, [each for each in worst if each.best_run == best])
    graded = relevant_of(board, lines, worst)
    found = [
        Loss(each, most_missed(graded[number], here[number], there[number]))
        for each in worst
        for number in [each.topic.number]
    ]
    return _with_titles(board, found)


def ranks_of(run: Run, lines: Sequence[TopicLine]) -> dict[str, Ranks]:
    """The rank of every document that a run retrieves for these topics."""
    with rankings_of(run) as rankings:
        found = {each.topic.number: rankings.ranking(each.topic.number) for each in lines}
    return {
        number: {docno: rank for rank, docno in enumerate(ranking.docnos, start=1)}
        if ranking is not None
        else {}
        for number, ranking in found.items()
    }


def relevant_of(
    board: Board, lines: Sequence[TopicLine], wanted: Sequence[TopicLine]
) -> dict[str, dict[bytes, int]]:
    """The relevant documents of the wanted topics with their grades."""
    threshold = board.sight.track.relevance_threshold
    judgments = prepared(board.edition.pk)
    places = {each.topic.number: place for place, each in enumerate(lines)}
    return {
        number: {docno: grade for docno, grade in judged.items() if grade >= threshold}
        for number in (each.topic.number for each in wanted)
        for judged in [judgments.grades[places[number]]]
    }


def most_missed(relevant: dict[bytes, int], here: Ranks, there: Ranks) -> Missed | None:
    """Of the highest grade, the document that lost most; None where none stands lower here.

    What was lost is 1/rank there minus 1/rank here: a fall from 1 to 10 costs a run more than
    one from 500 to 900.
    """

    def lost(docno: bytes) -> float:
        return 1 / there[docno] - 1 / here.get(docno, math.inf)

    lower = [docno for docno in relevant if docno in there and lost(docno) > 0]
    if not lower:
        return None
    docno = max(lower, key=lambda each: (relevant[each], lost(each), each))
    return Missed(docno.decode(), relevant[docno], there[docno], here.get(docno))


def _with_titles(board: Board, found: list[Loss]) -> list[Loss]:
    titles = Titles(board.sight.track.collection)
    named = titles.of(each.missed.docno for each in found if each.missed is not None)
    return [
        replace(each, missed=replace(each.missed, title=named.get(each.missed.docno, "")))
        if each.missed is not None
        else each
        for each in found
    ]
