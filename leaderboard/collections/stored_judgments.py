"""The judgments of a version as they are stored: read back, and printed as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from django.db.models import Q, QuerySet

from evaluation.problems import Problems
from evaluation.reading.judging.qrels import Qrels
from leaderboard.infrastructure.batches import iterate_batches
from leaderboard.models import Intent, Judgment, JudgmentSet, Stratum, SubtopicGrade, Topic
from leaderboard.models.collections import load_grades

# How many topics' judgments are in memory at once.
TOPICS_AT_A_TIME = 50
ROWS_AT_A_TIME = 10_000


def load_qrels(judgment_set: JudgmentSet) -> Qrels:
    """Return the judgments of a version, documents and subtopics in the order of their file.

    Measures of diversity depend on that order where documents are equally good.
    """
    if not judgment_set.has_documents:
        numbers = judgment_set.collection.topics.values_list("number", flat=True)
        return Qrels({number.encode(): {} for number in numbers}, Problems())
    if not (judgment_set.num_strata or judgment_set.num_subtopics):
        return Qrels(load_grades(judgment_set.pk), Problems())
    return _load_details(judgment_set, Q(judgment_set=judgment_set), judgment_set.intents.all())


def load_topic_qrels(judgment_set: JudgmentSet, topic: Topic) -> Qrels:
    """Return the judgments of one topic, in the same order."""
    of_topic = Q(judgment_set=judgment_set, topic=topic)
    return _load_details(judgment_set, of_topic, judgment_set.intents.filter(topic=topic))


def _load_details(judgment_set: JudgmentSet, which: Q, intents: QuerySet[Intent]) -> Qrels:
    grades: dict[bytes, dict[bytes, int]] = {}
    strata: dict[bytes, dict[bytes, bytes]] = {}
    subtopics: dict[bytes, dict[bytes, dict[bytes, int]]] = {}
    probabilities: dict[bytes, dict[bytes, float]] = {}
    places: dict[int, tuple[bytes, bytes]] = {}
    judged = Judgment.objects.filter(which).order_by("pk")
    for pk, number, docno, grade in judged.values_list(
        "pk", "topic__number", "docno", "grade"
    ).iterator(chunk_size=ROWS_AT_A_TIME):
        places[pk] = number.encode(), docno.encode()
        topic, document = places[pk]
        grades.setdefault(topic, {})[document] = grade
    if judgment_set.num_strata:
        drawn_from = Stratum.objects.filter(judgment__in=judged.order_by())
        for pk, name in drawn_from.values_list("judgment_id", "name").iterator(ROWS_AT_A_TIME):
            topic, document = places[pk]
            strata.setdefault(topic, {})[document] = name.encode()
    if judgment_set.num_subtopics:
        graded = SubtopicGrade.objects.filter(judgment__in=judged.order_by()).order_by("pk")
        rows = graded.values_list("judgment_id", "subtopic", "grade")
        for pk, subtopic, grade in rows.iterator(ROWS_AT_A_TIME):
            topic, document = places[pk]
            of_document = subtopics.setdefault(topic, {}).setdefault(document, {})
            of_document[subtopic.encode()] = grade
    for number, subtopic, probability in intents.order_by("pk").values_list(
        "topic__number", "subtopic", "probability"
    ):
        probabilities.setdefault(number.encode(), {})[subtopic.encode()] = probability
    return Qrels(
        grades, Problems(), strata=strata, subtopics=subtopics, probabilities=probabilities
    )


def render_qrels(judgment_set: JudgmentSet, left_out: Sequence[str] = ()) -> Iterator[bytes]:
    """Yield the lines of a qrels file in the form of the version, without some topics."""
    kept = judgment_set.collection.topics.exclude(number__in=left_out)
    batches = iterate_batches(kept, "position", TOPICS_AT_A_TIME)
    return chain.from_iterable(_render_topics(judgment_set, topics) for topics in batches)


def _render_topics(judgment_set: JudgmentSet, topics: Sequence[Topic]) -> Iterator[bytes]:
    rows = judgment_set.judgments.filter(topic__in=topics).order_by("topic__position", "pk")
    if judgment_set.num_subtopics:
        graded = SubtopicGrade.objects.filter(judgment__in=rows.order_by())
        ordered = graded.order_by("judgment__topic__position", "judgment_id", "pk")
        columns = ordered.values_list(
            "judgment__topic__number", "subtopic", "judgment__docno", "grade"
        )
    elif judgment_set.num_strata:
        columns = rows.values_list("topic__number", "docno", "stratum__name", "grade")
        columns = ((number, 0, *rest) for number, *rest in columns)
    else:
        columns = rows.values_list("topic__number", "docno", "grade")
        columns = ((number, 0, *rest) for number, *rest in columns)
    return (f"{' '.join(map(str, row))}\n".encode() for row in columns)


def render_intents(judgment_set: JudgmentSet, left_out: Sequence[str] = ()) -> Iterator[bytes]:
    """Yield the lines of the probabilities of subtopics, without some topics."""
    rows = judgment_set.intents.exclude(topic__number__in=left_out)
    ordered = rows.order_by("topic__position", "pk")
    for number, subtopic, probability in ordered.values_list(
        "topic__number", "subtopic", "probability"
    ):
        yield f"{number} {subtopic} {probability!r}\n".encode()
