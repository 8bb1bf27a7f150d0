"""One ranking: the documents that a run retrieved for a topic, with their grades."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from django.core.files.storage import default_storage
from django.core.paginator import Page, Paginator
from django.http import Http404
from numpy.typing import NDArray

from evaluation.conventions import POOLED
from leaderboard.analysis.gains import (
    CUTOFFS,
    GAIN_HEADS,
    GainCurves,
    build_gain_curves,
    find_gain_scale,
)
from leaderboard.analysis.snippets import LENGTH, cut_snippet
from leaderboard.analysis.subtopics import Coverage, find_visible_coverage
from leaderboard.boards.disclosure import Sight
from leaderboard.collections.documents import find_documents
from leaderboard.collections.topic_words import WordPiece, find_terms
from leaderboard.display.csv_tables import Cell, CsvTable
from leaderboard.models import Collection, Edition, Judgment, Run, Topic, Track
from leaderboard.runs.rankings import Listing, Rankings

PAGE_SIZE = 10


def topic_or_404(sight: Sight, number: str) -> Topic:
    """Return a topic of a track; 404 before its date too."""
    topics = sight.track.collection.topics
    topic = topics.filter(number=number).first() if "\0" not in number else None
    if topic is None or not sight.can_see_topics:
        raise Http404("no such topic")
    return topic


def find_visible_grades(sight: Sight, topic: Topic) -> dict[str, int]:
    """Return the grades of a topic's documents, none if they may not be shown."""
    return load_grades(sight.edition, topic) if sight.edition is not None else {}


def load_grades(edition: Edition, topic: Topic) -> dict[str, int]:
    rows = Judgment.objects.filter(judgment_set=edition.judgment_set_id, topic=topic)
    return dict(rows.values_list("docno", "grade"))


@contextmanager
def open_rankings(run: Run) -> Iterator[Rankings]:
    with default_storage.open(run.ranking_file.name) as file:
        yield Rankings(file)


@dataclass(frozen=True, eq=False)
class RankedDocuments:
    """The documents of a run on a topic in scoring order, none if it does not answer the topic."""

    docnos: list[str]
    scores: NDArray[np.float64]


def load_ranking(run: Run, topic: Topic) -> RankedDocuments:
    listing = load_listing(run, topic)
    return RankedDocuments(listing.docnos(), listing.scores)


def load_listing(run: Run, topic: Topic) -> Listing:
    with open_rankings(run) as rankings:
        return rankings.listing(topic.number)


@dataclass(frozen=True)
class Titles:
    """The titles of documents, empty if the collection has none."""

    collection: Collection

    def of(self, docnos: Iterable[str]) -> dict[str, str]:
        found = find_documents(self.collection, docnos)
        return {
            docno: document.title or document.text[:LENGTH] for docno, document in found.items()
        }


@dataclass(frozen=True)
class RetrievedDocument:
    rank: int
    docno: str
    score: float
    # None if unjudged, or if grades may not be shown.
    grade: int | None
    # How the page shows it: `relevant`, `unjudged`, or neither.
    look: str
    title: str
    snippet: list[WordPiece]
    # The subtopics for which the document is relevant.
    subtopics: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class UnseenDocument:
    """A relevant document that the page does not show; `rank` is None if not retrieved."""

    docno: str
    grade: int
    rank: int | None


@dataclass(frozen=True)
class RankingPage:
    """A page of a ranking; `gains` is None if grades are hidden or the topic has no gain."""

    run: Run
    topic: Topic
    documents: list[RetrievedDocument]
    total: int
    page: Page
    gains: GainCurves | None
    # None if the judgments have no subtopics, or if they may not be shown.
    coverage: Coverage | None
    further: list[UnseenDocument]


def build_ranking_page(
    sight: Sight, run: Run, topic: Topic, asked: str | None = None, cutoff: int = CUTOFFS[0]
) -> RankingPage:
    """Build a page of the documents that a run retrieved for a topic, with visible grades."""
    ranked, grades = load_ranking(run, topic), find_visible_grades(sight, topic)
    page = Paginator(ranked.docnos, PAGE_SIZE).get_page(asked)
    first, last = max(page.start_index(), 1) - 1, page.end_index()
    coverage = find_visible_coverage(sight, topic, ranked.docnos)
    documents = build_retrieved(sight, topic, grades, ranked, first, last)
    return RankingPage(
        run=run,
        topic=topic,
        documents=documents if coverage is None else with_subtopics(documents, coverage),
        total=len(ranked.docnos),
        page=page,
        gains=build_gain_curves(find_gain_scale(sight.track), grades, ranked.docnos, cutoff),
        coverage=coverage,
        further=find_unseen(sight.track, grades, ranked.docnos, ranked.docnos[:last]),
    )


def with_subtopics(
    documents: Iterable[RetrievedDocument], coverage: Coverage
) -> list[RetrievedDocument]:
    """Return the documents with the subtopics that they cover."""
    return [
        replace(document, subtopics=coverage.by_document.get(document.docno, []))
        for document in documents
    ]


def tabulate_ranking(sight: Sight, run: Run, topic: Topic) -> CsvTable:
    """Return every document that a run retrieves for a topic, with the grades that may be seen."""
    ranked, grades = load_ranking(run, topic), find_visible_grades(sight, topic)
    columns: list[tuple[str, Iterable[Cell]]] = [
        ("rank", range(1, len(ranked.docnos) + 1)),
        ("docno", ranked.docnos),
        ("score", ranked.scores.tolist()),
    ]
    if sight.edition is not None:
        columns.append(("grade", map(grades.get, ranked.docnos)))
        scale, all_ranks = find_gain_scale(sight.track), len(ranked.docnos)
        gains = build_gain_curves(scale, grades, ranked.docnos, all_ranks)
        if gains is not None:
            curves = (gains.own, gains.reordered, gains.ideal)
            columns += zip(GAIN_HEADS, map(np.ndarray.tolist, curves), strict=True)
    return CsvTable([head for head, _ in columns], zip(*(c for _, c in columns), strict=True))


def build_retrieved(
    sight: Sight,
    topic: Topic,
    grades: Mapping[str, int],
    ranked: RankedDocuments,
    first: int,
    last: int,
) -> list[RetrievedDocument]:
    """Build the documents of a ranking from place `first`, counted from 0, up to `last`."""
    docnos, collection = ranked.docnos[first:last], sight.track.collection
    found = find_documents(collection, docnos)
    terms = find_terms(topic)
    return [
        RetrievedDocument(
            rank=place + 1,
            docno=docno,
            score=float(ranked.scores[place]),
            grade=grades.get(docno),
            look=_look(grades.get(docno), sight),
            title=found[docno].title if docno in found else "",
            snippet=cut_snippet(found[docno].text, terms) if docno in found else [],
        )
        for place, docno in enumerate(docnos, start=first)
    ]


def _look(grade: int | None, sight: Sight) -> str:
    if sight.edition is None:
        return ""
    if grade is None or grade == POOLED:
        return "unjudged"
    return "relevant" if grade >= sight.track.relevance_threshold else ""


def find_unseen(
    track: Track, grades: Mapping[str, int], docnos: Sequence[str], shown: Sequence[str]
) -> list[UnseenDocument]:
    """Return the relevant documents not shown: by rank, then those not retrieved."""
    ranks = {docno: rank for rank, docno in enumerate(docnos, start=1)}
    in_view = set(shown)
    found = [
        UnseenDocument(docno, grade, ranks.get(docno))
        for docno, grade in grades.items()
        if grade >= track.relevance_threshold and docno not in in_view
    ]
    return sorted(
        found,
        key=lambda document: (document.rank or len(docnos) + 1, -document.grade, document.docno),
    )
