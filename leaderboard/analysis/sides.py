"""Two rankings of one topic side by side: the rank of each document in the other ranking."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.agreement import rbo
from leaderboard.analysis.pairs import PERSISTENCE, PairLine, RunPair
from leaderboard.analysis.rankings import (
    RankedDocuments,
    RetrievedDocument,
    UnseenDocument,
    build_retrieved,
    find_unseen,
    find_visible_grades,
    load_ranking,
)
from leaderboard.boards.disclosure import Sight
from leaderboard.display.csv_tables import CsvTable
from leaderboard.models import Run, Topic
from leaderboard.runs.topic_files import TOP

# The numbers of documents of each ranking that can be shown; the first is the default.
DEPTHS = (10, 20, 50)


@dataclass(frozen=True)
class Card:
    """A document of one ranking; `twin` is its rank in the other, None if it is not there."""

    document: RetrievedDocument
    twin: int | None

    @property
    def lower(self) -> int:
        """How many ranks lower the other run has the document; negative if higher."""
        return 0 if self.twin is None else self.twin - self.document.rank


@dataclass(frozen=True)
class Side:
    """One of the two rankings: its first documents, and the relevant ones below or missed."""

    run: Run
    score: float
    cards: list[Card]
    further: list[UnseenDocument]
    retrieved: int
    # How many of the documents below the cards are unjudged.
    unjudged_beneath: int

    @property
    def beneath(self) -> int:
        return self.retrieved - len(self.cards)

    @property
    def unjudged(self) -> int:
        return sum(card.document.look == "unjudged" for card in self.cards)


@dataclass(frozen=True)
class SideBySide:
    """The two rankings: `left` is the run of the page, `right` the one to compare it with."""

    line: PairLine
    left: Side
    right: Side
    shared: int
    overlap: float


def build_side_by_side(sight: Sight, pair: RunPair, line: PairLine, depth: int) -> SideBySide:
    """Return the first `depth` documents of both runs of a pair on the topic of this line."""
    grades = find_visible_grades(sight, line.topic)
    left, right = load_ranking(pair.b, line.topic), load_ranking(pair.a, line.topic)

    def side(run: Run, score: float, ranked: RankedDocuments, other: RankedDocuments) -> Side:
        documents = build_retrieved(sight, line.topic, grades, ranked, 0, depth)
        ranks = {docno: rank for rank, docno in enumerate(other.docnos, start=1)}
        return Side(
            run=run,
            score=score,
            cards=[Card(document, ranks.get(document.docno)) for document in documents],
            further=find_unseen(sight.track, grades, ranked.docnos, ranked.docnos[:depth]),
            retrieved=len(ranked.docnos),
            unjudged_beneath=sum(grades.get(docno, -1) < 0 for docno in ranked.docnos[depth:]),
        )

    return SideBySide(
        line=line,
        left=side(pair.b, line.b, left, right),
        right=side(pair.a, line.a, right, left),
        shared=len(set(left.docnos[:depth]) & set(right.docnos[:depth])),
        overlap=rbo(left.docnos[:TOP], right.docnos[:TOP], PERSISTENCE),
    )


def tabulate_sides(sight: Sight, pair: RunPair, topic: Topic) -> CsvTable:
    """Return a line for each document that one of the runs retrieves, with its rank in both."""
    grades = find_visible_grades(sight, topic)
    in_a, in_b = (
        {docno: rank for rank, docno in enumerate(load_ranking(run, topic).docnos, start=1)}
        for run in (pair.a, pair.b)
    )
    lines = [
        (docno, grades.get(docno), in_a.get(docno), in_b.get(docno))
        for docno in dict.fromkeys([*in_b, *in_a])
    ]
    return CsvTable(["docno", "grade", f"rank in {pair.a}", f"rank in {pair.b}"], lines)
