"""A document of a track: the topics it is judged for, and its rank in every run."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.conventions import POOLED
from evaluation.reading.runs.listings import find_among
from leaderboard.analysis.rankings import load_listing
from leaderboard.analysis.topics import MOST_READ, keep_first_runs
from leaderboard.boards.standings import Board, Standing
from leaderboard.display.charts.drawing import Kind
from leaderboard.display.csv_tables import TEAM_COLUMNS, CsvTable, tabulate
from leaderboard.models import Run, Topic
from leaderboard.scoring.judgments import load_judgments

# How many runs the page lists.
RUNS = 10


@dataclass(frozen=True)
class JudgedFor:
    """A topic for which the document is judged."""

    topic: Topic
    grade: int


@dataclass(frozen=True)
class RunRank:
    """The rank that a run gives the document; None if the run does not retrieve it."""

    standing: Standing
    rank: int | None

    @property
    def run(self) -> Run:
        return self.standing.run

    @property
    def kind(self) -> Kind:
        return self.standing.kind


@dataclass(frozen=True)
class DocumentBreakdown:
    """What a track knows of a document; `ranks` are those for `topic`, in board order.

    `is_cut` tells that there are too many runs to read the rankings of all.
    """

    docno: str
    judged: list[JudgedFor]
    # None if no topic is asked for and the document is judged for none.
    topic: Topic | None
    ranks: list[RunRank]
    is_cut: bool

    @property
    def grade(self) -> int | None:
        """The grade for the topic; None if unjudged."""
        return next((found.grade for found in self.judged if found.topic == self.topic), None)

    @property
    def finders(self) -> list[RunRank]:
        """The runs that retrieve the document, the highest rank first."""
        found = [line for line in self.ranks if line.rank is not None]
        return sorted(found, key=lambda line: line.rank or 0)

    @property
    def listed(self) -> list[RunRank]:
        """The first runs of the board, always with the baseline and the reader's own."""
        return keep_first_runs(self.ranks, RUNS)

    @property
    def table(self) -> CsvTable:
        """The runs that were read, with their ranks."""
        return tabulate(self.ranks, [*TEAM_COLUMNS, ("rank", "rank")])


def build_document_breakdown(board: Board, docno: str, topic: Topic | None) -> DocumentBreakdown:
    """Find the judgments of a document and its ranks for a topic, by default the first judged."""
    judged = _find_judged(board, docno)
    if topic is None and judged:
        topic = judged[0].topic
    ranks = [] if topic is None else _find_ranks(board, docno, topic)
    return DocumentBreakdown(docno, judged, topic, ranks, len(board.standings) > MOST_READ)


def _find_judged(board: Board, docno: str) -> list[JudgedFor]:
    """Find the topics of the board that have a grade for the document, the highest first."""
    judgments, name = load_judgments(board.edition.pk), docno.encode()
    grades = {
        topic.decode(): graded[name]
        for topic, graded in zip(judgments.topics, judgments.grades, strict=True)
        if graded.get(name, POOLED) != POOLED
    }
    topics = board.edition.track.collection.topics.filter(number__in=grades)
    found = [JudgedFor(topic, grades[topic.number]) for topic in topics]
    return sorted(found, key=lambda judged: (-judged.grade, judged.topic.position))


def _find_ranks(board: Board, docno: str, topic: Topic) -> list[RunRank]:
    read = keep_first_runs(board.standings, MOST_READ)
    listings = [load_listing(standing.run, topic).text for standing in read]
    found = find_among(listings, [docno.encode()])
    ranks = dict(zip(found.listing.tolist(), found.rank.tolist(), strict=True))
    return [RunRank(standing, ranks.get(place)) for place, standing in enumerate(read)]
