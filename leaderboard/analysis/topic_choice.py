"""The topics that a reader chooses by their fields: words of their texts, a group, a turn.

Pages by topic show the chosen topics alone; means, tests and verdicts are of all topics.
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.significance import places_in_groups
from leaderboard.models import Collection, Topic


@dataclass(frozen=True)
class TopicFields:
    """What a reader wants of the fields of topics; empty fields want nothing.

    `about` is in the number, the title, the description or the narrative; `turn` is the place of
    a topic in its group, from 1.
    """

    about: str = ""
    group: str = ""
    turn: int | None = None

    @property
    def wants_all(self) -> bool:
        return self == TopicFields()


@dataclass(frozen=True)
class TopicSteps:
    """The topics before and after one; `num_chosen` is None if every topic may be one of them."""

    before: Topic | None
    after: Topic | None
    num_chosen: int | None = None


@dataclass(frozen=True)
class ChosenTopics:
    """The places in the collection of the chosen topics; None for every topic."""

    wanted: TopicFields = TopicFields()
    places: frozenset[int] | None = None

    def has(self, topic: Topic) -> bool:
        return self.places is None or topic.position in self.places

    def around(self, topic: Topic) -> TopicSteps:
        """Return the chosen topics before and after one, which need not be chosen itself."""
        topics, here = Topic.objects.filter(collection=topic.collection_id), topic.position
        if self.places is None:
            before, after = topics.filter(position__lt=here), topics.filter(position__gt=here)
            return TopicSteps(before.last(), after.first())
        last = max((place for place in self.places if place < here), default=None)
        first = min((place for place in self.places if place > here), default=None)
        near = {each.position: each for each in topics.filter(position__in=[last, first])}
        return TopicSteps(near.get(last), near.get(first), len(self.places))


EVERY_TOPIC = ChosenTopics()


def choose_topics(collection: Collection, wanted: TopicFields) -> ChosenTopics:
    """Return the topics of a collection whose fields are as wanted."""
    if wanted.wants_all:
        return EVERY_TOPIC
    found = collection.topics.about(wanted.about).in_group(wanted.group)
    places = frozenset(found.values_list("position", flat=True))
    if wanted.turn is not None:
        places &= _places_of_turn(collection, wanted.turn)
    return ChosenTopics(wanted, places)


def _places_of_turn(collection: Collection, turn: int) -> frozenset[int]:
    rows = list(collection.topics.values_list("number", "group", "position"))
    turns = places_in_groups([row[0] for row in rows], [row[1] for row in rows]).tolist()
    found = zip(rows, turns, strict=True)
    return frozenset(position for (_, group, position), own in found if group and own == turn)
