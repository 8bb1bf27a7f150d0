"""Files ready for prompting: documents to judge with topic, guideline and text, for a machine.

No line has anybody's grade, and the order within a topic, that of docnos, reveals none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import Any, TypeAlias

from pydantic_core import to_json

from leaderboard.collections.documents import open_documents
from leaderboard.collections.pools import read_lines
from leaderboard.infrastructure.batches import iterate_batches
from leaderboard.models import Assessment, Collection, Guideline, JudgmentSet, Pool, Topic

# A topic with the docnos to judge for it.
TopicDocuments: TypeAlias = tuple[Topic, Sequence[str]]

TOPICS_AT_A_TIME = 50
# How many documents' texts are in memory at once.
DOCUMENTS_AT_A_TIME = 100


def render_pool_prompts(pool: Pool) -> Iterator[bytes]:
    """Yield every document of a pool, with the guideline of its latest assessment if any."""
    return _render(pool.track.collection, _pooled(pool), _latest_guideline(pool))


def render_assessment_prompts(assessment: Assessment) -> Iterator[bytes]:
    """Yield every document of the pool of an assessment, with its guideline."""
    pool = assessment.pool
    return _render(pool.track.collection, _pooled(pool), assessment.guideline)


def render_version_prompts(judgment_set: JudgmentSet) -> Iterator[bytes]:
    """Yield every judged document of a version, with the guideline if it was judged here."""
    guideline = None
    if judgment_set.assessment is not None:
        guideline = judgment_set.assessment.guideline
    elif judgment_set.pool is not None:
        guideline = _latest_guideline(judgment_set.pool)
    return _render(judgment_set.collection, _judged(judgment_set), guideline)


def _latest_guideline(pool: Pool) -> Guideline | None:
    return Guideline.objects.filter(assessment__pool=pool).order_by("created_at", "pk").last()


def _pooled(pool: Pool) -> Iterator[TopicDocuments]:
    topics = {topic.number: topic for topic in pool.track.collection.topics.all()}
    lines = read_lines(pool, everything=True)
    for number, of_topic in groupby(lines, key=lambda line: line.number):
        yield topics[number], [line.docno for line in of_topic]


def _judged(judgment_set: JudgmentSet) -> Iterator[TopicDocuments]:
    rows = judgment_set.judgments.filter(grade__gte=0)
    for batch in iterate_batches(judgment_set.collection.topics, "position", TOPICS_AT_A_TIME):
        named = {topic.pk: topic for topic in batch}
        ordered = rows.filter(topic__in=batch).order_by("topic__position", "docno")
        pairs = ordered.values_list("topic_id", "docno")
        for topic_id, of_topic in groupby(pairs, key=lambda pair: pair[0]):
            yield named[topic_id], [docno for _, docno in of_topic]


def _render(
    collection: Collection, documents: Iterable[TopicDocuments], guideline: Guideline | None
) -> Iterator[bytes]:
    stored = open_documents(collection.documents.name) if collection.documents else None
    rules = describe_guideline(guideline)
    for topic, docnos in documents:
        texts = describe_topic(topic)
        left = iter(docnos)
        while portion := list(islice(left, DOCUMENTS_AT_A_TIME)):
            found = stored.find_many(portion) if stored else {}
            for docno in portion:
                document = found.get(docno)
                line = {
                    # No topic number and no docno has a blank, so the answer is found by its id.
                    "id": f"{topic.number} {docno}",
                    "topic": texts,
                    "guideline": rules,
                    "docno": docno,
                    "title": document.title if document else None,
                    "text": document.text if document else None,
                }
                yield to_json(line) + b"\n"


def describe_topic(topic: Topic) -> dict[str, str]:
    return {
        "number": topic.number,
        "title": topic.title,
        "description": topic.description,
        "narrative": topic.narrative,
    }


def describe_guideline(guideline: Guideline | None) -> dict[str, Any] | None:
    """Return the text and the grades of a guideline; None without one."""
    return None if guideline is None else {"text": guideline.text, "grades": guideline.grades}
