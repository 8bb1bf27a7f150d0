"""Endpoints for organisers: write nuggets step by step, and freeze the draft as a version."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import Http404, HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field, RootModel, StringConstraints

from evaluation.answers.nuggets import OKAY, VITAL, Nugget
from leaderboard.actions import nugget_writing as verbs
from leaderboard.actions.nugget_writing import LONGEST_TEXT, MOST_OF_A_TOPIC, NuggetWords
from leaderboard.analysis.nugget_drafts import read_overview
from leaderboard.api.auth import ORGANISE, PUBLIC, viewer
from leaderboard.api.errors import field_error
from leaderboard.api.fields import Text, Version
from leaderboard.api.nuggets import ImportedOut, Note, serialise, sight_of_answers_or_error
from leaderboard.api.schemas import response_schemas
from leaderboard.boards.disclosure import Sight, track_or_404
from leaderboard.collections.nugget_drafts import WrittenTopic, find_open_draft, read_topic
from leaderboard.models import NuggetDraft, NuggetVersion, Topic, User, WritingStep
from leaderboard.sight.tracks import Viewer

router = Router(tags=["nuggets"])

Key = Annotated[Text, StringConstraints(min_length=1, max_length=LONGEST_TEXT)]
Words = Annotated[Text, StringConstraints(min_length=1, max_length=LONGEST_TEXT)]
Importance = Literal[VITAL, OKAY]  # type: ignore[valid-type]


class NuggetDraftIn(Schema):
    based_on: Version | None = Field(
        None, description="The version whose nuggets it begins with. Null for none."
    )


class NuggetFreezeIn(Schema):
    version: Version = Field(description="Name of the version that is made.")
    note: Note = ""


class NuggetWordsIn(Schema):
    text: Words
    importance: Importance = VITAL
    group: Annotated[Text, StringConstraints(max_length=120)] = ""

    def words(self, documents: tuple[str, ...] = ()) -> NuggetWords:
        return NuggetWords(self.text, self.importance, self.group or None, documents)


class ProposedNugget(NuggetWordsIn):
    act: Literal["propose"]
    documents: Annotated[list[Key], Field(max_length=100)] = Field(
        [], description="Docnos of documents that say it."
    )

    def take(self, draft: NuggetDraft, user: User, topic: Topic) -> WritingStep:
        docnos = tuple(dict.fromkeys(self.documents))
        return verbs.propose(draft, user, topic, self.words(docnos))


class RevisedNugget(NuggetWordsIn):
    act: Literal["revise"]
    key: Key
    seen: Words = Field(description="Its text when you read it: who was faster is not overwritten.")

    def take(self, draft: NuggetDraft, user: User, topic: Topic) -> WritingStep:
        return verbs.revise(draft, user, topic, self.key, self.seen, self.words())


class SplitNugget(Schema):
    act: Literal["split"]
    key: Key
    texts: Annotated[list[Words], Field(min_length=2, max_length=50)]

    def take(self, draft: NuggetDraft, user: User, topic: Topic) -> WritingStep:
        return verbs.split(draft, user, topic, self.key, self.texts)


class MergedNuggets(Schema):
    act: Literal["merge"]
    keys: Annotated[list[Key], Field(min_length=2, max_length=MOST_OF_A_TOPIC)]
    text: Words

    def take(self, draft: NuggetDraft, user: User, topic: Topic) -> WritingStep:
        return verbs.merge(draft, user, topic, self.keys, self.text)


class RemovedNugget(Schema):
    act: Literal["remove"]
    key: Key

    def take(self, draft: NuggetDraft, user: User, topic: Topic) -> WritingStep:
        return verbs.remove(draft, user, topic, self.key)


class UndoneStep(Schema):
    act: Literal["undo"]

    def take(self, draft: NuggetDraft, user: User, topic: Topic) -> WritingStep:
        return verbs.undo(draft, user, topic)


AnyStep = ProposedNugget | RevisedNugget | SplitNugget | MergedNuggets | RemovedNugget | UndoneStep


class WritingStepIn(RootModel[Annotated[AnyStep, Field(discriminator="act")]]):
    """One step on the nuggets of a topic."""


class WrittenNugget(Schema):
    key: str
    text: str
    importance: str
    group: str | None
    documents: list[str]
    origin: str = Field(description="Who made it: people, or a machine and people.")
    originals: list[str] = Field(description="Its text by a machine, before people edited it.")


class WritingStepOut(Schema):
    act: WritingStep.Act
    ended: list[str] = Field(description="Keys of the nuggets that it ended.")
    by: str
    at: datetime


class WrittenTopicOut(Schema):
    """A topic as it is now, with the steps that count, the latest first."""

    topic: str
    nuggets: list[WrittenNugget]
    steps: list[WritingStepOut]


class WrittenTopicCount(Schema):
    topic: str
    nuggets: int
    steps: int = Field(description="Steps that count.")


class NuggetDraftOut(Schema):
    based_on: str | None
    created_at: datetime
    topics: list[WrittenTopicCount]


@router.get("/{slug:slug}/nugget-draft", auth=PUBLIC, response=response_schemas(NuggetDraftOut))
def get_draft(request: HttpRequest, slug: str) -> dict[str, Any]:
    """Get the draft of a track's nuggets by topic (organisers only)."""
    return serialise_draft(draft_or_404(seen_by_organiser_or_404(viewer(request), slug)))


@router.post(
    "/{slug:slug}/nugget-draft", auth=ORGANISE, response=response_schemas(NuggetDraftOut, 201)
)
def begin_draft(request: HttpRequest, slug: str, body: NuggetDraftIn) -> Status[dict[str, Any]]:
    """Begin the next version of the nuggets. A track has one draft at a time."""
    user = viewer(request)
    sight = sight_of_answers_or_error(user, slug)
    based_on = find_beginning(sight, body.based_on)
    return Status(201, serialise_draft(verbs.begin_draft(sight.track, user, based_on)))


@router.delete("/{slug:slug}/nugget-draft", auth=ORGANISE, response=response_schemas(None, 204))
def discard_draft(request: HttpRequest, slug: str) -> Status[None]:
    """Delete the draft with its steps."""
    user = viewer(request)
    verbs.discard_draft(draft_or_404(sight_of_answers_or_error(user, slug)), user)
    return Status(204, None)


@router.post(
    "/{slug:slug}/nugget-draft/freeze", auth=ORGANISE, response=response_schemas(ImportedOut, 202)
)
def freeze_draft(request: HttpRequest, slug: str, body: NuggetFreezeIn) -> Status[dict[str, Any]]:
    """Make a version of the draft, which a worker checks and imports like a file."""
    user = viewer(request)
    sight = sight_of_answers_or_error(user, slug)
    if sight.track.nugget_versions.filter(version=body.version).exists():
        raise field_error("version", "already exists; versions are never replaced", body.version)
    made = verbs.freeze_draft(draft_or_404(sight), user, body.version, body.note)
    return Status(202, serialise(sight, made))


@router.get(
    "/{slug:slug}/nugget-draft/topic", auth=PUBLIC, response=response_schemas(WrittenTopicOut)
)
def get_draft_topic(request: HttpRequest, slug: str, topic: Text) -> dict[str, Any]:
    """Get the nuggets of one topic of the draft (organisers only)."""
    sight = seen_by_organiser_or_404(viewer(request), slug)
    return serialise_topic(read_topic(draft_or_404(sight), topic_or_error(sight, topic)))


@router.post(
    "/{slug:slug}/nugget-draft/steps", auth=ORGANISE, response=response_schemas(WrittenTopicOut)
)
def take_step(request: HttpRequest, slug: str, topic: Text, body: WritingStepIn) -> dict[str, Any]:
    """Propose, revise, split, merge or remove nuggets of a topic, or undo its last step.

    The answer is the topic as it is then. A nugget that someone else changed meanwhile is rejected.
    """
    user = viewer(request)
    sight = sight_of_answers_or_error(user, slug)
    draft, found = draft_or_404(sight), topic_or_error(sight, topic)
    body.root.take(draft, user, found)
    return serialise_topic(read_topic(draft, found))


def seen_by_organiser_or_404(user: Viewer, slug: str) -> Sight:
    """Return a track for its organisers; for others its draft does not exist."""
    sight = track_or_404(user, slug)
    if not sight.is_organiser:
        raise Http404("no draft to see")
    return sight


def draft_or_404(sight: Sight) -> NuggetDraft:
    draft = find_open_draft(sight.track.pk)
    if draft is None:
        raise Http404("no draft is written")
    return draft


def topic_or_error(sight: Sight, number: str) -> Topic:
    found = sight.track.collection.topics.filter(number=number).first()
    if found is None:
        raise field_error("topic", "is no topic of this track", number)
    return found


def find_beginning(sight: Sight, version: str | None) -> NuggetVersion | None:
    """Return the version that a draft begins with, if any."""
    if version is None:
        return None
    found = sight.track.nugget_versions.ready().filter(version=version).first()
    if found is None:
        raise field_error("based_on", "is not a version of the track's nuggets", version)
    return found


def serialise_draft(draft: NuggetDraft) -> dict[str, Any]:
    return {
        "based_on": None if draft.based_on is None else draft.based_on.version,
        "created_at": draft.created_at,
        "topics": [
            {
                "topic": each.topic.number,
                "nuggets": len(each.nuggets),
                "steps": len(each.standing),
            }
            for each in read_overview(draft).topics
        ],
    }


def serialise_topic(written: WrittenTopic) -> dict[str, Any]:
    return {
        "topic": written.topic.number,
        "nuggets": [serialise_nugget(nugget) for nugget in written.nuggets],
        "steps": [
            {"act": step.act, "ended": step.ended, "by": step.by.username, "at": step.at}
            for step in written.standing
        ],
    }


def serialise_nugget(nugget: Nugget) -> dict[str, Any]:
    return {
        "key": nugget.key,
        "text": nugget.text,
        "importance": nugget.importance,
        "group": nugget.group,
        "documents": list(nugget.documents),
        "origin": nugget.origin,
        "originals": list(nugget.originals),
    }
