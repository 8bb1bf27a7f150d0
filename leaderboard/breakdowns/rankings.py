"""One ranking: what a run retrieved for a topic, with grades and documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from django.core.files.storage import default_storage
from django.http import Http404

from leaderboard.disclosure import Sight
from leaderboard.documents import open_documents
from leaderboard.models import Collection, Edition, Judgment, Run, Topic
from leaderboard.rankings import Rankings

PAGE = 20
SNIPPET = 280


def topic_or_404(collection: Collection, number: str) -> Topic:
    topic = collection.topics.filter(number=number).first() if "\0" not in number else None
    if topic is None:
        raise Http404("no such topic")
    return topic


def neighbours(topic: Topic) -> tuple[Topic | None, Topic | None]:
    topics = Topic.objects.filter(collection=topic.collection_id)
    before = topics.filter(position__lt=topic.position).order_by("-position").first()
    return before, topics.filter(position__gt=topic.position).order_by("position").first()


def grades_of(edition: Edition, topic: Topic) -> dict[str, int]:
    rows = Judgment.objects.filter(judgment_set=edition.judgment_set_id, topic=topic)
    return dict(rows.values_list("docno", "grade"))


@contextmanager
def rankings_of(run: Run) -> Iterator[Rankings]:
    with default_storage.open(run.ranking_file.name) as file:
        yield Rankings(file)


def docnos_of(run: Run, topic: Topic) -> list[str]:
    with rankings_of(run) as rankings:
        ranking = rankings.ranking(topic.number)
    return [] if ranking is None else [docno.decode() for docno in ranking.docnos]


@dataclass(frozen=True)
class Titles:
    """The titles of documents, empty where a collection came without them."""

    collection: Collection

    def of(self, docnos: Iterable[str]) -> dict[str, str]:
        if not self.collection.documents:
            return {}
        found = open_documents(self.collection.documents.name).find_many(docnos)
        return {
            docno: document.title or document.text[:SNIPPET] for docno, document in found.items()
        }


@dataclass(frozen=True)
class Retrieved:
    rank: int
    docno: str
    score: float
    # None where nobody judged, or where grades are not to be shown.
    grade: int | None
    title: str
    text: str


@dataclass(frozen=True)
class RankingPage:
    run: Run
    topic: Topic
    previous: Topic | None
    next: Topic | None
    documents: list[Retrieved]
    total: int
    page: int
    pages: int


def ranking_page(sight: Sight, run: Run, topic: Topic, page: int = 1) -> RankingPage:
    """What a run retrieved for a topic, a page of it, with grades where they may be seen."""
    with rankings_of(run) as rankings:
        ranking = rankings.ranking(topic.number)
    docnos = [] if ranking is None else [docno.decode() for docno in ranking.docnos]
    pages = max(1, -(-len(docnos) // PAGE))
    page = min(max(page, 1), pages)
    first = (page - 1) * PAGE
    shown = docnos[first : first + PAGE]
    grades = grades_of(sight.edition, topic) if sight.edition is not None else {}
    collection = run.track.collection
    documents = (
        open_documents(collection.documents.name).find_many(shown) if collection.documents else {}
    )
    before, after = neighbours(topic)
    return RankingPage(
        run=run,
        topic=topic,
        previous=before,
        next=after,
        documents=[
            Retrieved(
                rank=rank,
                docno=docno,
                score=float(ranking.scores[rank - 1]) if ranking is not None else np.nan,
                grade=grades.get(docno),
                title=documents[docno].title if docno in documents else "",
                text=documents[docno].text if docno in documents else "",
            )
            for rank, docno in enumerate(shown, start=first + 1)
        ],
        total=len(docnos),
        page=page,
        pages=pages,
    )
