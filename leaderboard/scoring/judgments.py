"""The judgments and topics of an edition, as scoring reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from evaluation.answers.any_measure import AnyMeasure, parse_measure
from evaluation.answers.labels import SUPPORT
from evaluation.judging import Judgments, prepare
from evaluation.measures import DIVERSITY, SAMPLED, WITHOUT_GRADES, Measure
from evaluation.problems import Problems
from evaluation.reading.groups import number_groups
from evaluation.reading.judging.qrels import Qrels
from evaluation.significance import topic_order
from evaluation.significance.units import FEWEST_DEGREES, Units
from leaderboard.collections.marked_pairs import load_people_pairs, lower_grades
from leaderboard.collections.stored_judgments import load_qrels
from leaderboard.models import Collection, Edition, JudgmentSet, MarkLayer, Track
from leaderboard.models.collections import ImportState
from leaderboard.scoring.editions import with_marks
from leaderboard.scoring.truths import grade_systems, load_truth


def judged_topics(track: Track) -> tuple[bytes, ...] | None:
    """Return the topics that count on the board; None if not everyone may know them."""
    if track.edition is None or not track.shows_scores:
        return None
    counts = topic_mask(track.edition)
    return tuple(compress(load_topic_numbers(track.collection_id), counts))


@dataclass(frozen=True)
class KnownTopics:
    """The topic numbers of a collection by position, and the group of each, if it has groups."""

    numbers: tuple[bytes, ...]
    group_of: dict[bytes, bytes]


@lru_cache(maxsize=16)
def load_topics(collection_id: int) -> KnownTopics:
    """Return the topics of a ready collection; they never change."""
    collection = Collection.objects.get(pk=collection_id, state=ImportState.READY)
    rows = collection.topics.values_list("number", "group")
    group_of = {number.encode(): group.encode() for number, group in rows if group}
    return KnownTopics(tuple(number.encode() for number, _ in rows), group_of)


def load_topic_numbers(collection_id: int) -> tuple[bytes, ...]:
    """Return the topic numbers of a ready collection by position."""
    return load_topics(collection_id).numbers


def number_topic_groups(collection_id: int, topics: Sequence[bytes]) -> NDArray[np.int64] | None:
    """Return the group of each of these topics, from 0 in the order of their names, or None."""
    group_of = load_topics(collection_id).group_of
    return number_groups(topics, group_of) if group_of else None


def tested_topics(edition: Edition) -> list[bytes]:
    """Return the topics that an edition evaluates, in the order of draws."""
    numbers = list(compress(load_topic_numbers(edition.track.collection_id), topic_mask(edition)))
    return [numbers[place] for place in topic_order(numbers)]


def tested_groups(edition: Edition) -> NDArray[np.int64] | None:
    """Return the groups of these topics, which tests flip as a whole; None without groups."""
    if not edition.track.collection.num_groups:
        return None
    return number_topic_groups(edition.track.collection_id, tested_topics(edition))


def count_units(edition: Edition) -> int:
    """Return how many topics, or groups of topics, the tests of an edition flip."""
    return count_units_of(edition.num_evaluated, tested_groups(edition))


def count_units_of(topics: int, groups: NDArray[np.int64] | None) -> int:
    """Return the number of topics, or of their groups where there are some.

    Groups of so different sizes that they leave no verdict count as none.
    """
    if groups is None:
        return topics
    units = Units.of(np.zeros((1, topics)), groups)
    return int(units.counts[0]) if units.degrees[0] >= FEWEST_DEGREES else 0


def resolve_measure(track: Track, text: str) -> AnyMeasure:
    """Return the measure named by a text, with the track's threshold if it names none."""
    return parse_measure(text).resolved(track.relevance_threshold)


def topic_mask(edition: Edition) -> NDArray[np.bool_]:
    """Return which topics of the collection the edition evaluates, by position."""
    return np.frombuffer(edition.mask, dtype=np.uint8).astype(bool)


@lru_cache(maxsize=8)
def load_judgments(edition_id: int) -> Judgments:
    """Return the prepared judgments of an edition; neither changes once made."""
    edition = Edition.objects.select_related("track", "judgment_set").get(pk=edition_id)
    numbers = np.array(load_topic_numbers(edition.track.collection_id), dtype=object)
    evaluated = list(numbers[topic_mask(edition)])
    qrels = load_people(edition)
    if edition.track.ranks_systems:
        ranked = {topic: qrels.grades[topic] for topic in evaluated}
        top_grade = max(len(each) for each in ranked.values()) - 1 if ranked else 1
        return prepare(Qrels(ranked, Problems()), evaluated, max(top_grade, 1))
    if not edition.track.judged_marks:
        return prepare(qrels, topics=evaluated, top_grade=edition.judgment_set.top_grade)
    marked = {topic: qrels.grades.get(topic, {}) for topic in evaluated}
    return prepare(Qrels(lower_grades(marked), Problems()), evaluated, SUPPORT)


def load_people(edition: Edition) -> Qrels:
    """Return the judgments of an edition, or what runs are compared with that are none.

    These are the marks of people, or the systems graded by their scores.
    """
    if edition.track.ranks_systems:
        return grade_systems(load_truth(edition), load_topic_numbers(edition.track.collection_id))
    if not edition.track.judged_marks:
        return load_qrels(edition.judgment_set)
    layer = MarkLayer.objects.judged_by(with_marks(edition)).first()
    return Qrels({}, Problems()) if layer is None else load_people_pairs(layer.pk)


# Measures for a new track whose judgments are a sample or have subtopics.
OF_SAMPLES = [*SAMPLED]
OF_SUBTOPICS = ["alpha-nDCG@10", "ERR-IA@10", "strec@10", "nDCG@10", "AP"]


def explain_missing_judgments(measure: AnyMeasure, judgment_set: JudgmentSet) -> str:
    """Return why these judgments cannot give a measure; empty if they can."""
    if isinstance(measure, Measure) and not judgment_set.has_documents:
        return f"{measure.name} needs judgments of documents, and {judgment_set} has none"
    if measure.name in DIVERSITY and not judgment_set.num_subtopics:
        return f"{measure.name} needs judgments of subtopics, and {judgment_set} has none"
    if measure.name in SAMPLED and not judgment_set.num_strata:
        return f"{measure.name} needs a stratified sample, and {judgment_set} is none"
    return ""


def explain_first_missing(measures: Iterable[str], judgment_set: JudgmentSet) -> str:
    """Return why these judgments cannot give the first such measure; empty if they give all."""
    reasons = (explain_missing_judgments(parse_measure(text), judgment_set) for text in measures)
    return next(filter(None, reasons), "")


def is_not_estimated(measure: str, judgment_set: JudgmentSet) -> bool:
    """Whether a measure takes documents of a sample that were not drawn as not relevant."""
    estimates = (*SAMPLED, *WITHOUT_GRADES)
    return judgment_set.is_sample and parse_measure(measure).name not in estimates


def suggest_measures(judgment_set: JudgmentSet | None, usual: list[str]) -> list[str]:
    """Return the measures that a new track starts with."""
    if judgment_set is not None and judgment_set.num_subtopics:
        return OF_SUBTOPICS
    return OF_SAMPLES if judgment_set is not None and judgment_set.is_sample else usual
