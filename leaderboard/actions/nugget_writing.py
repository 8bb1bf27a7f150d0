"""Write nuggets: propose, revise, split, merge and remove them, and freeze them as a version.

Each act is a step that is added to a draft. Where two people change one nugget at once, the second
is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.files.base import ContentFile
from django.db import IntegrityError, transaction
from django.utils import timezone

from evaluation.answers import nugget_steps
from evaluation.answers.marks import PEOPLE
from evaluation.answers.nuggets import Nugget, pack_nugget
from leaderboard.actions.refusals import ActionError
from leaderboard.actions.versions import accept_version
from leaderboard.collections.nugget_drafts import WrittenTopic, read_topic, render_draft
from leaderboard.models import (
    AuditEvent,
    NuggetDraft,
    NuggetVersion,
    Topic,
    Track,
    User,
    WritingStep,
)

# As many as a page of a topic shows, and as assessors read beside an answer in good time.
MOST_OF_A_TOPIC = 500
LONGEST_TEXT = 500
Act = WritingStep.Act


@dataclass(frozen=True)
class NuggetWords:
    """What a person says of a nugget; `documents` attest it."""

    text: str
    importance: str
    group: str | None = None
    documents: tuple[str, ...] = ()


def begin_draft(track: Track, user: User, based_on: NuggetVersion | None) -> NuggetDraft:
    """Begin to write the next version of the nuggets of a track. Raises ActionError."""
    try:
        with transaction.atomic():
            draft = NuggetDraft.objects.create(track=track, based_on=based_on, created_by=user)
            AuditEvent.objects.record(user, "create", draft)
    except IntegrityError:
        raise ActionError("The track has a draft already. Freeze or discard it first.") from None
    return draft


@transaction.atomic
def propose(draft: NuggetDraft, user: User, topic: Topic, words: NuggetWords) -> WritingStep:
    """Add a nugget by a person. Raises ActionError for one that the topic has."""
    written = _lock(draft, topic)
    if len(written.nuggets) >= MOST_OF_A_TOPIC:
        raise ActionError(f"A topic has up to {MOST_OF_A_TOPIC} nuggets.")
    _refuse_repeated(written, words.text)
    nugget = Nugget(
        topic.number,
        nugget_steps.next_key(topic.number, written.used_keys),
        words.text,
        importance=words.importance,
        group=words.group,
        documents=words.documents,
        origin=PEOPLE,
    )
    return _add_step(draft, user, topic, Act.PROPOSE, (), [nugget])


@transaction.atomic
def revise(
    draft: NuggetDraft, user: User, topic: Topic, key: str, seen: str, words: NuggetWords
) -> WritingStep:
    """Put a nugget in other words; a machine's own stay beside them. `seen` was its text before.

    Raises ActionError if it has changed since.
    """
    written = _lock(draft, topic)
    [old] = _find(written, [key])
    if old.text != seen:
        raise ActionError(f"Someone else changed this nugget to “{old.text}”.")
    if words.text != old.text:
        _refuse_repeated(written, words.text)
    new = nugget_steps.revise(old, words.text, words.importance, words.group)
    return _add_step(draft, user, topic, Act.REVISE, [key], [new])


@transaction.atomic
def split(
    draft: NuggetDraft, user: User, topic: Topic, key: str, texts: Sequence[str]
) -> WritingStep:
    """Make two or more nuggets of one. Raises ActionError."""
    written = _lock(draft, topic)
    [old] = _find(written, [key])
    if len(texts) < 2 or len({*texts}) < len(texts):
        raise ActionError("Write two or more nuggets, each on its own line.")
    for text in texts:
        if text != old.text:
            _refuse_repeated(written, text)
    parts = nugget_steps.split(old, texts, written.used_keys)
    return _add_step(draft, user, topic, Act.SPLIT, [key], parts)


@transaction.atomic
def merge(
    draft: NuggetDraft, user: User, topic: Topic, keys: Sequence[str], text: str
) -> WritingStep:
    """Make one nugget of several. Raises ActionError."""
    written = _lock(draft, topic)
    if len({*keys}) < 2:
        raise ActionError("Choose two or more nuggets to merge.")
    old = _find(written, keys)
    if text not in {nugget.text for nugget in old}:
        _refuse_repeated(written, text)
    one = nugget_steps.merge(old, text, written.used_keys)
    return _add_step(draft, user, topic, Act.MERGE, keys, [one])


@transaction.atomic
def remove(draft: NuggetDraft, user: User, topic: Topic, key: str) -> WritingStep:
    """Leave a nugget out of the next version. Raises ActionError."""
    _find(_lock(draft, topic), [key])
    return _add_step(draft, user, topic, Act.REMOVE, [key], [])


@transaction.atomic
def undo(draft: NuggetDraft, user: User, topic: Topic) -> WritingStep:
    """Undo the last step on a topic that counts. Raises ActionError where there is none."""
    standing = _lock(draft, topic).standing
    if not standing:
        raise ActionError("There is no step to undo.")
    return draft.steps.create(topic=topic, act=Act.UNDO, undoes=standing[0], by=user)


@transaction.atomic
def freeze_draft(draft: NuggetDraft, user: User, version: str, note: str = "") -> NuggetVersion:
    """Make a version of the nuggets of a draft, which is checked and imported like a file.

    Raises ActionError for a draft without a nugget, and NotAccepted for a name that is taken.
    """
    _lock_draft(draft)
    content = b"".join(render_draft(draft))
    if not content:
        raise ActionError("The draft has no nuggets yet.")
    made = NuggetVersion(
        track=draft.track,
        version=version,
        note=note,
        asks_first=False,
        made_by=NuggetVersion.MadeBy.PEOPLE,
        created_by=user,
    )
    accept_version(made, ContentFile(content, name="nuggets.jsonl"))
    NuggetDraft.objects.filter(pk=draft.pk).update(frozen_at=timezone.now(), version=made)
    return made


@transaction.atomic
def discard_draft(draft: NuggetDraft, user: User) -> None:
    """Delete a draft with its steps. Raises ActionError once it is frozen."""
    _lock_draft(draft)
    AuditEvent.objects.record(user, "discard", draft)
    draft.steps.exclude(undoes=None).delete()
    draft.delete()


def _lock_draft(draft: NuggetDraft) -> None:
    """Let other writers wait. Raises ActionError once the draft is frozen."""
    if not NuggetDraft.objects.unfrozen().select_for_update(no_key=True).filter(pk=draft.pk):
        raise ActionError("The draft is frozen. Begin a new one to change nuggets.")


def _lock(draft: NuggetDraft, topic: Topic) -> WrittenTopic:
    _lock_draft(draft)
    return read_topic(draft, topic)


def _find(written: WrittenTopic, keys: Sequence[str]) -> list[Nugget]:
    found = [nugget for nugget in written.nuggets if nugget.key in keys]
    if len(found) < len({*keys}):
        raise ActionError("Someone else just split, merged or removed this nugget.")
    return found


def _refuse_repeated(written: WrittenTopic, text: str) -> None:
    plain = " ".join(text.split()).casefold()
    if any(" ".join(each.text.split()).casefold() == plain for each in written.nuggets):
        raise ActionError(f"The topic has the nugget “{text}” already.")


def _add_step(
    draft: NuggetDraft,
    user: User,
    topic: Topic,
    act: str,
    ended: Sequence[str],
    made: Sequence[Nugget],
) -> WritingStep:
    packed = [pack_nugget(nugget) for nugget in made]
    return draft.steps.create(topic=topic, act=act, ended=list(ended), made=packed, by=user)
