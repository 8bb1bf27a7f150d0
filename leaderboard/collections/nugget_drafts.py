"""Drafts of nuggets: what the steps of people make of the nuggets with which a draft begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from evaluation.answers.nugget_steps import NuggetStep, replay_steps, standing_steps
from evaluation.answers.nugget_writing import NuggetWriter
from evaluation.answers.nuggets import Nugget, NuggetBank
from evaluation.problems import Problems
from leaderboard.collections.nuggets import load_bank, unpack_nuggets
from leaderboard.models import NuggetDraft, Topic, WritingStep


@dataclass(frozen=True)
class WrittenTopic:
    """The nuggets of a topic as they are now, those with which it began, and every step."""

    topic: Topic
    before: tuple[Nugget, ...]
    rows: list[WritingStep]

    @property
    def steps(self) -> list[NuggetStep]:
        return [_read_step(row) for row in self.rows]

    @property
    def nuggets(self) -> tuple[Nugget, ...]:
        return replay_steps(self.before, self.steps)

    @property
    def used_keys(self) -> set[str]:
        """The keys of every nugget that there ever was, so that none names two."""
        made = (nugget for step in self.steps for nugget in step.made)
        return {nugget.key for nugget in (*self.before, *made)}

    @property
    def standing(self) -> list[WritingStep]:
        """The steps that count, the latest first."""
        numbers = {step.number for step in standing_steps(self.steps)}
        return [row for row in reversed(self.rows) if row.pk in numbers]

    @property
    def acts(self) -> Counter[str]:
        """How many steps of each kind count."""
        return Counter(row.get_act_display() for row in self.standing)


def _read_step(row: WritingStep) -> NuggetStep:
    return NuggetStep(row.pk, tuple(row.ended), unpack_nuggets(row.made), row.undoes_id)


def find_open_draft(track_id: int) -> NuggetDraft | None:
    """Return the draft of a track that is still written, if any."""
    drafts = NuggetDraft.objects.unfrozen().select_related("based_on", "track__collection")
    return drafts.filter(track=track_id).first()


def read_topic(draft: NuggetDraft, topic: Topic) -> WrittenTopic:
    """Return one topic of a draft."""
    rows = draft.steps.filter(topic=topic).select_related("by")
    return WrittenTopic(topic, _nuggets_before(draft, topic.number), list(rows))


def _nuggets_before(draft: NuggetDraft, number: str) -> tuple[Nugget, ...]:
    based_on = draft.based_on_id
    return () if based_on is None else load_bank(based_on).topics.get(number, ())


def read_topics(draft: NuggetDraft, topics: Iterable[Topic]) -> list[WrittenTopic]:
    """Return these topics of a draft, also those without a nugget."""
    rows = draft.steps.select_related("by").order_by("topic", "pk")
    steps = {topic: list(found) for topic, found in groupby(rows, lambda row: row.topic_id)}
    return [
        WrittenTopic(topic, _nuggets_before(draft, topic.number), steps.get(topic.pk, []))
        for topic in topics
    ]


def read_draft(draft: NuggetDraft) -> NuggetBank:
    """Return the nuggets of a draft: of topics that have some, or that its version judged."""
    known = set() if draft.based_on_id is None else {*load_bank(draft.based_on_id).topics}
    every = read_topics(draft, draft.track.collection.topics.order_by("position"))
    topics = {
        each.topic.number: each.nuggets
        for each in every
        if each.nuggets or each.topic.number in known
    }
    return NuggetBank(topics, "whole", Problems())


def render_draft(draft: NuggetDraft) -> Iterator[bytes]:
    """Yield the nuggets of a draft as a file that loses nothing."""
    return NuggetWriter(read_draft(draft), "whole").lines()
