"""The collections of the demo, each with a track."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from leaderboard.actions import tracks, uploads
from leaderboard.actions.uploads import CollectionFiles
from leaderboard.management.sample import FOLDER
from leaderboard.management.sample.rankers import SampleRun
from leaderboard.management.waiting import wait_until
from leaderboard.models import Collection, Track, User
from leaderboard.models.collections import ImportedVersion, ImportState
from leaderboard.runs.facts import Figure

LICENCE = "BSD 3-Clause, with the source of Rankfield"
IMPORT_SECONDS = 120


@dataclass(frozen=True)
class Sample:
    """The files of a collection, whose track has the same slug and name."""

    slug: str
    name: str
    folder: Path
    pool_note: str


HARBOURS = Sample(
    "harbours",
    "Harbours, tides and lighthouses",
    FOLDER,
    "The first ten documents of eleven runs, all but random, and 36 relevant documents "
    "that the assessor knew and no run had among its first ten.",
)
GARDENS = Sample(
    "gardens",
    "Kitchen gardens",
    FOLDER / "gardens",
    "The first ten documents of six runs, and 18 relevant documents that the author knew "
    "and no run had among its first ten.",
)


def open_sample_track(sample: Sample, organiser: User) -> Track:
    """Import a collection if it is missing, and open its track."""
    collection = find_or_import_collection(sample, organiser)
    return tracks.open_track(build_track(sample, collection), organiser)


def find_or_import_collection(sample: Sample, owner: User) -> Collection:
    collection = Collection.objects.filter(slug=sample.slug).first()
    if collection is None:
        collection = Collection(slug=sample.slug, name=sample.name, owner=owner, asks_first=False)
        collection.description = (sample.folder / "ABOUT.txt").read_text()
        collection.licence = LICENCE
        collection.shares_documents = True
        uploads.accept_collection(collection, read_files(sample))
    wait_until_ready(collection)
    collection.judgment_sets.update(pool_depth=10, note=sample.pool_note)
    return collection


def read_files(sample: Sample) -> CollectionFiles:
    return CollectionFiles(
        topics=read_file(sample, "topics.trec"),
        documents=read_file(sample, "documents.jsonl"),
        judgments=read_file(sample, "qrels.txt"),
    )


def read_file(sample: Sample, name: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, (sample.folder / name).read_bytes())


def wait_until_ready(imported: Collection | ImportedVersion) -> None:
    def has_ended() -> bool:
        imported.refresh_from_db()
        return imported.state in (ImportState.READY, ImportState.REFUSED, ImportState.FAILED)

    if not wait_until(has_ended, IMPORT_SECONDS):
        raise RuntimeError(f"no worker has imported {imported} of the sample")
    if imported.state != ImportState.READY:
        raise RuntimeError(f"{imported} of the sample was {imported.state}")


def build_track(sample: Sample, collection: Collection) -> Track:
    return Track(
        slug=sample.slug,
        name=sample.name,
        collection=collection,
        judgment_set=collection.judgment_sets.get(),
        description=collection.description,
        measures=["AP", "nDCG@10", "P@10", "RR", "R@100"],
        primary_measure="AP",
        disclosure=Track.Disclosure.OPEN,
        depth=100,
    )


def sample_facts(run: SampleRun) -> dict[str, Any]:
    """Return the facts of a sample run; its time was measured on this machine."""
    return {
        "topic_fields": list(run.fields),
        "stage": run.stage,
        "llm": False,
        "judgments_used": False,
        "closed": False,
        "hardware": f"{os.cpu_count()} processors, {platform.machine()}, "
        f"Python {platform.python_version()}",
        "efficiency": [asdict(Figure("seconds_per_topic", run.seconds, "s", "tool"))],
    }
