"""One ranking: what a run retrieved for a topic, with grades and documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.core.files.storage import default_storage
from django.core.paginator import Page, Paginator
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
    # How the page shows it: `relevant`, `unjudged`, or neither.
    look: str
    title: str
    text: str

    @property
    def snippet(self) -> str:
        return self.text if len(self.text) <= SNIPPET else self.text[: SNIPPET - 1] + "…"


@dataclass(frozen=True)
class RankingPage:
    run: Run
    topic: Topic
    previous: Topic | None
    next: Topic | None
    documents: list[Retrieved]
    total: int
    page: Page


def ranking_page(sight: Sight, run: Run, topic: Topic, asked: str | None = None) -> RankingPage:
    """What a run retrieved for a topic, a page of it, with grades where they may be seen."""
    with rankings_of(run) as rankings:
        ranking = rankings.ranking(topic.number)
    docnos = [] if ranking is None else [docno.decode() for docno in ranking.docnos]
    page = Paginator(docnos, PAGE).get_page(asked)
    shown = list(page.object_list)
    scores = [] if ranking is None else ranking.scores[page.start_index() - 1 :]
    before, after = neighbours(topic)
    return RankingPage(
        run=run,
        topic=topic,
        previous=before,
        next=after,
        documents=_retrieved(sight, topic, shown, scores, first=page.start_index()),
        total=len(docnos),
        page=page,
    )


def _retrieved(
    sight: Sight, topic: Topic, docnos: list[str], scores: Sequence[float], first: int
) -> list[Retrieved]:
    collection, edition = sight.track.collection, sight.edition
    grades = grades_of(edition, topic) if edition is not None else {}
    found = (
        open_documents(collection.documents.name).find_many(docnos) if collection.documents else {}
    )
    return [
        Retrieved(
            rank=rank,
            docno=docno,
            score=float(score),
            grade=grades.get(docno),
            look=_look(grades.get(docno), sight),
            title=found[docno].title if docno in found else "",
            text=found[docno].text if docno in found else "",
        )
        for rank, (docno, score) in enumerate(zip(docnos, scores, strict=False), start=first)
    ]


def _look(grade: int | None, sight: Sight) -> str:
    if sight.edition is None:
        return ""
    if grade is None or grade < 0:
        return "unjudged"
    return "relevant" if grade >= sight.track.relevance_threshold else ""
