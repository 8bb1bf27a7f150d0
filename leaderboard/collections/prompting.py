"""Files ready for prompting: documents to judge with topic, guideline and text, for a machine.

No line has anybody's grade, and the order within a topic, that of docnos, reveals none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import Any, TypeAlias

from pydantic_core import to_json

from evaluation.answers.labels import NAMES
from leaderboard.collections.answer_pools import read_pair
from leaderboard.collections.documents import open_documents
from leaderboard.collections.nuggets import load_bank
from leaderboard.collections.pooled_texts import load_texts
from leaderboard.collections.pools import read_lines
from leaderboard.infrastructure.batches import iterate_batches
from leaderboard.models import (
    Assessment,
    Collection,
    Guideline,
    JudgmentSet,
    MarkLayer,
    Pool,
    Topic,
)

# A topic with the docnos to judge for it.
TopicDocuments: TypeAlias = tuple[Topic, Sequence[str]]

TOPICS_AT_A_TIME = 50
# How many documents' texts are in memory at once.
DOCUMENTS_AT_A_TIME = 100


def render_pool_prompts(pool: Pool) -> Iterator[bytes]:
    """Yield every document of a pool, with the guideline of its latest assessment if any."""
    return _render_pool(pool, _latest_guideline(pool))


def render_assessment_prompts(assessment: Assessment) -> Iterator[bytes]:
    """Yield every document of the pool of an assessment, with its guideline."""
    return _render_pool(assessment.pool, assessment.guideline)


def _render_pool(pool: Pool, guideline: Guideline | None) -> Iterator[bytes]:
    if pool.about == "documents":
        return _render(pool.track.collection, _pooled(pool), guideline)
    render = _render_answers if pool.about == MarkLayer.About.NUGGETS else _render_sentences
    return render(pool, describe_labels(guideline))


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


def _render_answers(pool: Pool, rules: dict[str, Any] | None) -> Iterator[bytes]:
    """Yield each answer with the nuggets that are looked for in it; a reply labels all of them."""
    assert pool.nuggets_id is not None
    bank = load_bank(pool.nuggets_id)
    for topic, names in _pooled(pool):
        texts, nuggets = load_texts(pool, topic.number), bank.topics[topic.number]
        for key, pairs in groupby(map(read_pair, names), key=lambda pair: pair.key):
            asked = sorted(int(pair.other) for pair in pairs)
            line = {
                "id": f"assign {topic.number} {key}",
                "about": "nugget",
                "topic": describe_topic(topic),
                "guideline": rules,
                "answer": key,
                "text": " ".join(texts[key].sentences),
                "nuggets": [
                    {"key": nuggets[place - 1].key, "text": nuggets[place - 1].text}
                    for place in asked
                ],
            }
            yield to_json(line) + b"\n"


def _render_sentences(pool: Pool, rules: dict[str, Any] | None) -> Iterator[bytes]:
    """Yield each sentence with a document that it cites, and what stands around it."""
    collection = pool.track.collection
    stored = open_documents(collection.documents.name) if collection.documents else None
    for topic, names in _pooled(pool):
        texts = load_texts(pool, topic.number)
        left = map(read_pair, names)
        while portion := list(islice(left, DOCUMENTS_AT_A_TIME)):
            found = stored.find_many([pair.other for pair in portion]) if stored else {}
            for pair in portion:
                document, said = found.get(pair.other), texts[pair.key]
                line = {
                    "id": f"support {topic.number} {pair.key} {pair.other}",
                    "about": "support",
                    "topic": describe_topic(topic),
                    "guideline": rules,
                    "sentence": pair.key,
                    "text": said.sentence,
                    "context": " ".join(said.sentences),
                    "docno": pair.other,
                    "title": document.title if document else None,
                    "passage": document.text if document else None,
                }
                yield to_json(line) + b"\n"


def describe_topic(topic: Topic) -> dict[str, str]:
    return {
        "number": topic.number,
        "title": topic.title,
        "description": topic.description,
        "narrative": topic.narrative,
    }


def describe_labels(guideline: Guideline | None) -> dict[str, Any] | None:
    """Return the text of a guideline and what each label means; None without one."""
    if guideline is None:
        return None
    labels = {NAMES[each.grade]: f"{each.name}: {each.line}" for each in guideline.scale}
    return {"text": guideline.text, "labels": labels}


def describe_guideline(guideline: Guideline | None) -> dict[str, Any] | None:
    """Return the text and the grades of a guideline; None without one."""
    return None if guideline is None else {"text": guideline.text, "grades": guideline.grades}
