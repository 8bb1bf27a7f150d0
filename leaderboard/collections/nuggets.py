"""Nuggets of a track: read from a file, checked against its topics, and stored topic by topic.

`check_nuggets` and `import_nuggets` are the work of a job; they write no rows that pages show
before the function is called that they return.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter

from evaluation.answers.nugget_changes import BankChanges, compare_banks
from evaluation.answers.nugget_files import read_nuggets
from evaluation.answers.nuggets import Nugget, NuggetBank, pack_nugget
from evaluation.problems import Problems
from leaderboard.collections.checking import check_version
from leaderboard.collections.importing import (
    CHUNK_ROWS,
    delete_in_chunks,
    open_several,
    publish_imported,
)
from leaderboard.collections.preview import FIRST_SHOWN, NAMES_SHOWN
from leaderboard.models import NuggetVersion, TopicNuggets
from leaderboard.models.jobs import Progress, Publish

STORED = TypeAdapter(list[Nugget])


@dataclass(frozen=True)
class FirstNugget:
    topic: str
    text: str
    importance: str
    group: str


@dataclass(frozen=True)
class NuggetsPreview:
    """What a check understood of a file of nuggets."""

    file: str
    format: str
    topics: int
    nuggets: int
    vital: int
    okay: int
    groups: int
    accepted: int
    documents: int
    num_without: int
    without: list[str]
    first: list[FirstNugget]


def read_version(version: NuggetVersion) -> NuggetBank:
    """Read the file of nuggets, those of the track's topics alone. Raises Refused."""
    topics = set(version.track.collection.topics.values_list("number", flat=True))
    with open_several(version.file.name) as file:
        return read_nuggets(file, topics, version.filename)


def check_nuggets(version_id: str, progress: Progress) -> Publish:
    """Check new nuggets and preview what was understood."""
    version = NuggetVersion.objects.select_related("track__collection").get(pk=version_id)

    def read() -> tuple[NuggetsPreview, Problems]:
        bank = read_version(version)
        return preview_nuggets(version, bank), bank.problems

    return check_version(version, read)


def preview_nuggets(version: NuggetVersion, bank: NuggetBank) -> NuggetsPreview:
    """Count what a bank has, and list its first nuggets and topics without any."""
    every = [nugget for nuggets in bank.topics.values() for nugget in nuggets]
    numbers = version.track.collection.topics.order_by("position").values_list("number", flat=True)
    without = [number for number in numbers if not bank.topics.get(number)]
    return NuggetsPreview(
        file=version.filename,
        format=bank.format,
        topics=len(bank.topics),
        nuggets=len(every),
        vital=sum(nugget.is_vital for nugget in every),
        okay=sum(nugget.importance == "okay" for nugget in every),
        groups=len({(n.topic, n.group) for n in every if n.group is not None}),
        accepted=sum(len(nugget.answers) for nugget in every),
        documents=len({docno for nugget in every for docno in nugget.attesting}),
        num_without=len(without),
        without=without[:NAMES_SHOWN],
        first=[
            FirstNugget(n.topic, n.text, n.importance, n.group or "") for n in every[:FIRST_SHOWN]
        ],
    )


def import_nuggets(version_id: str, progress: Progress) -> Publish:
    """Write the nuggets of every topic; they can be used once the version is published."""
    version = NuggetVersion.objects.select_related("track__collection").get(pk=version_id)
    delete_in_chunks(version.topics.all())
    bank = read_version(version)
    topics = dict(version.track.collection.topics.values_list("number", "pk"))
    TopicNuggets.objects.bulk_create(
        (
            TopicNuggets(
                nugget_version=version,
                topic_id=topics[number],
                nuggets=[pack_nugget(nugget) for nugget in nuggets],
            )
            for number, nuggets in bank.topics.items()
        ),
        batch_size=CHUNK_ROWS,
    )
    counts = {
        "format": bank.format,
        "num_topics": len(bank.topics),
        "num_nuggets": bank.count,
        "num_vital": sum(n.is_vital for of_topic in bank.topics.values() for n in of_topic),
    }
    return lambda: publish_imported(version, counts)


def unpack_nuggets(packed: list[dict[str, Any]]) -> tuple[Nugget, ...]:
    """Return the nuggets that `pack_nugget` packed."""
    return tuple(STORED.validate_python(packed))


@lru_cache(maxsize=8)
def load_bank(version_id: int) -> NuggetBank:
    """Return the nuggets of a ready version; they never change."""
    version = NuggetVersion.objects.ready().get(pk=version_id)
    rows = version.topics.order_by("topic__position").values_list("topic__number", "nuggets")
    topics: Mapping[str, tuple[Nugget, ...]] = {
        number: unpack_nuggets(packed) for number, packed in rows
    }
    return NuggetBank(topics, version.format, Problems())


def load_nuggets(version: NuggetVersion, topic_id: int) -> tuple[Nugget, ...] | None:
    """Return the nuggets of one topic, None if the version does not judge it."""
    packed = version.topics.filter(topic=topic_id).values_list("nuggets", flat=True).first()
    return None if packed is None else unpack_nuggets(packed)


def compare_versions(before: NuggetVersion, after: NuggetVersion) -> BankChanges:
    """Return what happened to the nuggets of one version in another."""
    return compare_banks(load_bank(before.pk), load_bank(after.pk))
