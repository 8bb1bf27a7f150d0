"""A topic by runs: the documents that runs retrieved, the judged ones and the unjudged ones."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeVar

import numpy as np
from django.core.paginator import Page, Paginator
from numpy.typing import NDArray

from evaluation.answers.any_measure import parse_measure
from evaluation.conventions import POOLED
from evaluation.reading.runs.listings import find_among
from leaderboard.analysis.rankings import Titles, load_grades, load_listing
from leaderboard.analysis.scores import Scores, read_scores
from leaderboard.analysis.summaries import tabulate_grades
from leaderboard.analysis.topic_map import is_inverted, item_total_correlations
from leaderboard.boards.standings import Board
from leaderboard.collections.stored_judgments import load_topic_qrels
from leaderboard.display.charts.drawing import Kind
from leaderboard.display.csv_tables import TEAM_COLUMNS, CsvTable, tabulate
from leaderboard.models import Run, Topic

TOP = 10
NEVER_JUDGED = 10
# A run has found a document if it is within this many of its first ranks.
FOUND = 100
# How many runs have a column of ranks in the table of judged documents.
COLUMNS = 10
DOCUMENTS = 50
# Each run has its own ranking file; reading this many takes half a second.
MOST_READ = 1_000


@dataclass(frozen=True, eq=False)
class Retrieved:
    """What one run retrieved for the topic: the number, the first and the judged documents."""

    depth: int
    top: list[str]
    ranks: dict[str, int]


@dataclass(frozen=True, eq=False)
class RunOnTopic:
    """A run's answer to the topic: its score and its top documents."""

    run: Run
    rank: int | None
    score: float
    is_baseline: bool
    is_own: bool
    # The ranks of its relevant documents, in ascending order.
    relevant_ranks: list[int]
    # Grades of the first ten documents; None if unjudged.
    top_grades: list[int | None]
    retrieved: int

    @property
    def kind(self) -> Kind:
        """How a chart marks the run."""
        return "baseline" if self.is_baseline else "own" if self.is_own else "other"

    @property
    def first_relevant(self) -> int | None:
        return next(iter(self.relevant_ranks), None)

    @property
    def relevant_in_top(self) -> int:
        return bisect_right(self.relevant_ranks, TOP)

    @property
    def unjudged_in_top(self) -> int:
        return self.top_grades.count(None)


@dataclass(frozen=True)
class JudgedDocument:
    docno: str
    title: str
    grade: int
    # The ranks by run id, without runs that did not retrieve it.
    ranks: dict[str, int]

    @property
    def finders(self) -> list[str]:
        """The ids of the runs that have the document among their first FOUND."""
        return [run_id for run_id, rank in self.ranks.items() if rank <= FOUND]


@dataclass(frozen=True)
class UnjudgedDocument:
    docno: str
    title: str
    runs: int
    best_rank: int


@dataclass(frozen=True)
class JudgedSubtopic:
    """A subtopic with its relevant documents and the runs that cover it in their first ten."""

    name: str
    probability: float | None
    relevant: int
    runs: int


@dataclass(frozen=True)
class MedianPlace:
    """The place of a topic among all by its median, counted from the nearer end."""

    number: int
    end: Literal["easiest", "hardest"]


@dataclass(frozen=True)
class TopicBreakdown:
    topic: Topic
    measure: str
    evaluated: bool
    # The number of documents by grade; grade -1 was pooled but not judged.
    grades: dict[int, int]
    median: float
    # None if the topic has no median.
    place: MedianPlace | None
    num_topics: int
    # How many runs the board has, how many of them were read, and how many have a score here.
    num_runs: int
    num_read: int
    num_scored: int
    answers: list[RunOnTopic]
    # The answers with a column of ranks: the first of the board, the baseline, and own runs.
    columns: list[RunOnTopic]
    # The item-total correlation: the runs' scores here against their means on all other topics.
    # Only organisers see it; it is NaN for others.
    correlation: float
    # Whether runs that are better on all other topics are worse on this one, beyond chance.
    is_inverted: bool
    # Every judged document, without titles; a page of them with titles; the relevant ones.
    documents: list[JudgedDocument]
    judged: Page[JudgedDocument]
    relevant: list[JudgedDocument]
    # The unjudged documents of the first tens: all without titles, then the first with titles.
    unjudged: list[UnjudgedDocument]
    never_judged: list[UnjudgedDocument]
    # Empty if the judgments have no subtopics.
    subtopics: list[JudgedSubtopic]

    @property
    def is_cut(self) -> bool:
        """Whether there are too many runs to read the rankings of all."""
        return self.num_read < self.num_runs

    @property
    def num_judged(self) -> int:
        return sum(number for grade, number in self.grades.items() if grade != POOLED)

    @property
    def tables(self) -> dict[str, CsvTable]:
        """The tables of the page in full: its runs, grades, judged and unjudged documents."""
        runs = [
            ("rank", "rank"),
            *TEAM_COLUMNS,
            (self.measure, "score"),
            ("first_relevant", "first_relevant"),
            ("relevant_in_top_10", "relevant_in_top"),
            ("unjudged_in_top_10", "unjudged_in_top"),
            ("retrieved", "retrieved"),
        ]
        ranks = [
            (run.tag, lambda document, run=run: document.ranks.get(run.pk))
            for run in (answer.run for answer in self.answers)
        ]
        judged = [
            ("docno", "docno"),
            ("grade", "grade"),
            ("found_in_top_100", lambda document: len(document.finders)),
            *ranks,
        ]
        unjudged = [("docno", "docno"), ("runs_in_top_10", "runs"), ("best_rank", "best_rank")]
        subtopics = [(name, name) for name in ("probability", "relevant", "runs")]
        return {
            "subtopics": tabulate(self.subtopics, [("subtopic", "name"), *subtopics]),
            "runs": tabulate(self.answers, runs),
            "grades": tabulate_grades(self.grades),
            "judged": tabulate(self.documents, judged),
            "unjudged": tabulate(self.unjudged, unjudged),
        }


def _subtopics(board: Board, topic: Topic, retrieved: dict[str, Retrieved]) -> list[JudgedSubtopic]:
    """Return the subtopics of the topic with the runs that cover each."""
    if not board.edition.judgment_set.num_subtopics:
        return []
    qrels = load_topic_qrels(board.edition.judgment_set, topic)
    threshold = board.edition.track.relevance_threshold
    relevant: dict[str, set[str]] = {
        name.decode(): set() for names in qrels.names_of_subtopics().values() for name in names
    }
    for judged in qrels.subtopics.values():
        for docno, graded in judged.items():
            for name, grade in graded.items():
                if grade >= threshold:
                    relevant[name.decode()].add(docno.decode())
    likely = qrels.probabilities.get(topic.number.encode(), {})
    return [
        JudgedSubtopic(
            name=name,
            probability=likely.get(name.encode()),
            relevant=len(docnos),
            runs=sum(
                any(has.ranks[docno] <= TOP for docno in docnos & has.ranks.keys())
                for has in retrieved.values()
            ),
        )
        for name, docnos in relevant.items()
    ]


def build_topic_breakdown(board: Board, topic: Topic, page: int = 1) -> TopicBreakdown:
    """Return the answers of every run of the board to a topic, and its judgments."""
    scores = read_scores(
        board.edition, board.measure, [standing.run for standing in board.standings]
    )
    every = load_grades(board.edition, topic)
    grades = {docno: grade for docno, grade in every.items() if grade != POOLED}
    retrieved = _retrieved(_choose_runs(board, scores, topic), topic, list(grades))
    answers = _answers(board, scores, topic, grades, retrieved)
    columns = _columns(board, answers)
    titles = Titles(board.edition.track.collection)
    threshold = board.edition.track.relevance_threshold
    documents = _judged_documents(grades, retrieved)
    unjudged = _unjudged_documents(grades, retrieved)
    correlation = _correlation(scores, topic) if board.sight.is_organiser else np.nan
    return TopicBreakdown(
        topic=topic,
        measure=board.measure,
        evaluated=scores.column(topic) is not None,
        grades=dict(sorted(Counter(every.values()).items(), reverse=True)),
        median=_median(scores, topic),
        place=_place(scores, topic, parse_measure(board.measure).direction),
        num_topics=scores.values.shape[1],
        num_runs=len(scores.runs),
        num_read=len(retrieved),
        num_scored=_count_scored(scores, topic),
        answers=answers,
        columns=columns,
        correlation=correlation,
        is_inverted=is_inverted(correlation, *scores.values.shape),
        documents=documents,
        judged=_with_titles(Paginator(documents, DOCUMENTS).get_page(page), titles),
        relevant=[document for document in documents if document.grade >= threshold],
        unjudged=unjudged,
        never_judged=_titled(unjudged[:NEVER_JUDGED], titles),
        subtopics=_subtopics(board, topic, retrieved),
    )


def _choose_runs(board: Board, scores: Scores, topic: Topic) -> list[Run]:
    """Return the runs to read: all, or the best on the topic with the baseline and own runs."""
    if len(scores.runs) <= MOST_READ:
        return scores.runs
    standings = {standing.run.pk: standing for standing in board.standings}
    best_first = [standings[scores.runs[place].pk] for place in _order(board, scores, topic)]
    return [standing.run for standing in keep_first_runs(best_first, MOST_READ)]


def _order(board: Board, scores: Scores, topic: Topic) -> NDArray[np.int64]:
    """Return the runs from the best on the topic to the worst, those without a score last."""
    return np.argsort(-_goodness(board, scores, topic), kind="stable")


def _goodness(board: Board, scores: Scores, topic: Topic) -> NDArray[np.float64]:
    """Return what is higher the better a run is on the topic: float64[runs]."""
    column = scores.column(topic)
    if column is None:
        return np.zeros(len(scores.runs))
    values = parse_measure(board.measure).direction * scores.values[:, column]
    return np.where(np.isnan(values), -np.inf, values)


def _count_scored(scores: Scores, topic: Topic) -> int:
    column = scores.column(topic)
    return 0 if column is None else int(np.count_nonzero(~np.isnan(scores.values[:, column])))


def _retrieved(runs: list[Run], topic: Topic, judged: list[str]) -> dict[str, Retrieved]:
    """Return by run what it retrieved for the topic, with ranks of judged documents only."""
    listings = [load_listing(run, topic) for run in runs]
    ranks: list[dict[str, int]] = [{} for _ in runs]
    found = find_among([listing.text for listing in listings], [docno.encode() for docno in judged])
    columns = (found.listing, found.rank, found.docno)
    for place, rank, docno in zip(*(column.tolist() for column in columns), strict=True):
        ranks[place][judged[docno]] = rank
    return {
        run.pk: Retrieved(len(listing.scores), listing.docnos(TOP), of_run)
        for run, listing, of_run in zip(runs, listings, ranks, strict=True)
    }


def _median(scores: Scores, topic: Topic) -> float:
    column = scores.column(topic)
    return float("nan") if column is None else float(scores.median[column])


def _place(scores: Scores, topic: Topic, direction: int) -> MedianPlace | None:
    own = direction * _median(scores, topic)
    if np.isnan(own):
        return None
    medians = direction * scores.median
    easier, harder = int((medians > own).sum()), int((medians < own).sum())
    return (
        MedianPlace(easier + 1, "easiest")
        if easier <= harder
        else MedianPlace(harder + 1, "hardest")
    )


def _correlation(scores: Scores, topic: Topic) -> float:
    column = scores.column(topic)
    if column is None:
        return float("nan")
    return float(item_total_correlations(scores.values, slice(column, column + 1))[0])


def _answers(
    board: Board,
    scores: Scores,
    topic: Topic,
    grades: dict[str, int],
    retrieved: dict[str, Retrieved],
) -> list[RunOnTopic]:
    evaluated = scores.column(topic)
    if evaluated is None:
        return []
    column, good = scores.values[:, evaluated], _goodness(board, scores, topic)
    threshold = board.edition.track.relevance_threshold
    relevant = {docno for docno, grade in grades.items() if grade >= threshold}
    baseline = board.baseline.pk if board.baseline is not None else ""
    ordered = _order(board, scores, topic)
    ranks = 1 + np.searchsorted(-good[ordered], -good)
    answers = []
    for place in ordered:
        run = scores.runs[place]
        has = retrieved.get(run.pk)
        if has is None:
            continue
        answers.append(
            RunOnTopic(
                run=run,
                rank=None if np.isnan(column[place]) else int(ranks[place]),
                score=float(column[place]),
                is_baseline=run.pk == baseline,
                is_own=board.sight.owns(run),
                relevant_ranks=sorted(has.ranks[docno] for docno in relevant & has.ranks.keys()),
                top_grades=[grades.get(docno) for docno in has.top],
                retrieved=has.depth,
            )
        )
    return answers


def _columns(board: Board, answers: list[RunOnTopic]) -> list[RunOnTopic]:
    """Return the first answers in board order, always with the baseline and own runs."""
    by_run = {answer.run.pk: answer for answer in answers}
    ordered = [by_run[standing.run.pk] for standing in board.standings if standing.run.pk in by_run]
    return keep_first_runs(ordered, COLUMNS)


def _judged_documents(
    grades: dict[str, int], retrieved: dict[str, Retrieved]
) -> list[JudgedDocument]:
    """Return every judged document without title, the most relevant and most found first."""
    ranks: dict[str, dict[str, int]] = {docno: {} for docno in grades}
    for run_id, has in retrieved.items():
        for docno, rank in has.ranks.items():
            ranks[docno][run_id] = rank
    documents = [JudgedDocument(docno, "", grade, ranks[docno]) for docno, grade in grades.items()]
    return sorted(
        documents, key=lambda document: (-document.grade, -len(document.finders), document.docno)
    )


def _with_titles(page: Page[JudgedDocument], titles: Titles) -> Page[JudgedDocument]:
    found = titles.of(document.docno for document in page)
    page.object_list = [replace(document, title=found.get(document.docno, "")) for document in page]
    return page


def _unjudged_documents(
    grades: dict[str, int], retrieved: dict[str, Retrieved]
) -> list[UnjudgedDocument]:
    """Return the unjudged documents in the first ten of any run, those of most runs first."""
    runs: Counter[str] = Counter()
    best: dict[str, int] = {}
    for has in retrieved.values():
        for rank, docno in enumerate(has.top, start=1):
            if docno not in grades:
                runs[docno] += 1
                best[docno] = min(rank, best.get(docno, rank))
    found = [UnjudgedDocument(docno, "", runs[docno], best[docno]) for docno in runs]
    return sorted(found, key=lambda document: (-document.runs, document.best_rank, document.docno))


def _titled(documents: list[UnjudgedDocument], titles: Titles) -> list[UnjudgedDocument]:
    found = titles.of(document.docno for document in documents)
    return [replace(document, title=found.get(document.docno, "")) for document in documents]


class MarkedRun(Protocol):
    """A line about a run that a chart marks as the baseline, the reader's own or another."""

    @property
    def kind(self) -> Kind: ...


Line = TypeVar("Line", bound=MarkedRun)


def keep_first_runs(lines: Sequence[Line], most: int) -> list[Line]:
    """Return the first `most` lines in their order, always with the baseline and own runs."""
    places = range(len(lines))
    marked = [place for place in places if lines[place].kind != "other"]
    others = [place for place in places if lines[place].kind == "other"]
    kept = sorted([*marked, *others][:most])
    return [lines[place] for place in kept]
