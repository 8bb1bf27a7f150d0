"""Nuggets and layers of marks in the archive of a track, and back from it.

nuggets/<version>.jsonl        the nuggets of each topic
nuggets/<version>.file         the original file
layers/<name>/marks.jsonl      the marks of each answer; runs go by their ids in the archive
layers/<name>/marks.file       the original file
layers/<name>/replies.jsonl    what the machine said, where it is kept
drafts/<number>.jsonl          the steps by which people wrote nuggets, in their order
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
from django.core.files import File
from pydantic import ValidationError
from pydantic_core import to_json

from evaluation.answers.labels import NAMES
from leaderboard.actions import uploads
from leaderboard.archives.manifests import (
    DraftEntry,
    ImportedEntry,
    LayerEntry,
    Manifest,
    plain_values,
)
from leaderboard.archives.track_import import (
    Runs,
    clean_values,
    find_run,
    find_version,
    read_json_lines,
    restore_replies,
)
from leaderboard.archives.zip_files import Archive, ArchiveError, ZipEntry, read_chunks
from leaderboard.collections.machine_replies import render_replies
from leaderboard.collections.nuggets import STORED
from leaderboard.models import (
    MarkedAnswer,
    MarkLayer,
    NuggetDraft,
    NuggetVersion,
    TopicNuggets,
    Track,
    WritingStep,
)
from leaderboard.models.collections import ImportedVersion, ImportState
from leaderboard.scoring.editions import NO_MARKS

Entry = TypeVar("Entry", bound=ImportedEntry)


def nugget_members(track: Track) -> Iterator[ZipEntry]:
    """Build the members of every imported version of nuggets and of every layer."""
    for version in track.nugget_versions.ready():
        rows = version.topics.order_by("topic__position").values("topic__number", "nuggets")
        lines = ({"topic": row["topic__number"], "nuggets": row["nuggets"]} for row in rows)
        yield ZipEntry(f"nuggets/{version.version}.jsonl", map(json_line, lines))
        yield ZipEntry(f"nuggets/{version.version}.file", read_chunks(version.file))
    for layer in track.mark_layers.ready():
        folder = f"layers/{layer.version}"
        yield ZipEntry(f"{folder}/marks.jsonl", map(json_line, marked_rows(layer)))
        yield ZipEntry(f"{folder}/marks.file", read_chunks(layer.file))
        if layer.machine_replies.exists():
            yield ZipEntry(f"{folder}/replies.jsonl", render_replies(layer))

    for number, draft in enumerate(track.nugget_drafts.all(), 1):
        yield ZipEntry(f"drafts/{number}.jsonl", map(json_line, step_rows(draft)))


def step_rows(draft: NuggetDraft) -> Iterator[dict[str, Any]]:
    """Yield the steps of a draft; one that undoes another has its place, from 1."""
    places: dict[int, int] = {}
    for place, step in enumerate(draft.steps.select_related("topic"), 1):
        places[step.pk] = place
        undoes = None if step.undoes_id is None else places[step.undoes_id]
        yield {"topic": step.topic.number, "undoes": undoes, **plain_values(step)}


def json_line(row: Mapping[str, Any]) -> bytes:
    return to_json(row) + b"\n"


def marked_rows(layer: MarkLayer) -> Iterator[dict[str, Any]]:
    for row in layer.marked_answers.select_related("topic").order_by("pk"):
        yield {
            "topic": row.topic.number,
            "run": row.run_id,
            "key": row.key,
            "codes": list(bytes(row.codes)),
            "said": row.said,
            "support": row.support,
        }


def nugget_entries(track: Track) -> list[ImportedEntry]:
    return [
        ImportedEntry(version=each.version, sha256=each.sha256, fields=plain_values(each))
        for each in track.nugget_versions.ready()
    ]


def layer_entries(track: Track) -> list[LayerEntry]:
    return [
        LayerEntry(
            version=each.version,
            sha256=each.sha256,
            nuggets=None if each.nuggets is None else each.nuggets.version,
            joins=None if each.joins is None else each.joins.version,
            fields=plain_values(each),
        )
        for each in track.mark_layers.ready().select_related("nuggets", "joins")
    ]


def draft_entries(track: Track) -> list[DraftEntry]:
    return [
        DraftEntry(
            based_on=None if each.based_on is None else each.based_on.version,
            version=None if each.version is None else each.version.version,
            fields=plain_values(each),
        )
        for each in track.nugget_drafts.select_related("based_on", "version")
    ]


def restore_drafts(archive: Archive, manifest: Manifest, track: Track) -> None:
    """Restore the drafts of a track with their steps, which belong to its owner here."""
    topics = dict(track.collection.topics.values_list("number", "pk"))
    owner, versions = track.benchmark.owner, track.nugget_versions.all()
    for number, entry in enumerate(manifest.drafts, 1):
        draft = NuggetDraft(track=track, created_by=owner)
        for name, value in clean_values(NuggetDraft, entry.fields).items():
            setattr(draft, name, value)
        draft.based_on = find_version(versions, entry.based_on)
        draft.version = find_version(versions, entry.version)
        draft.save(force_insert=True)
        steps: list[WritingStep] = []
        for row in read_json_lines(archive, f"drafts/{number}.jsonl"):
            steps.append(_writing_step(draft, row, topics, steps))
            steps[-1].by = owner
            steps[-1].save(force_insert=True)


def _writing_step(
    draft: NuggetDraft, row: dict[str, Any], topics: Mapping[str, int], earlier: list[WritingStep]
) -> WritingStep:
    """Return a step of the archive; what it undoes comes before it."""
    try:
        topic, undoes = topics[row.pop("topic")], row.pop("undoes")
        step = WritingStep(draft=draft, topic_id=topic)
        step.undoes = None if undoes is None else earlier[int(undoes) - 1]
        STORED.validate_python(row["made"])
        for name, value in clean_values(WritingStep, row).items():
            setattr(step, name, value)
    except (KeyError, IndexError, TypeError, ValueError):
        raise ArchiveError("a draft of its nuggets has an unknown form") from None
    return step


def restore_nuggets(archive: Archive, manifest: Manifest, track: Track, runs: Runs) -> None:
    """Restore the nuggets and the layers of a track, and which of them its measures read."""
    topics = dict(track.collection.topics.values_list("number", "pk"))
    restore_versions(archive, manifest, track, topics)
    restore_drafts(archive, manifest, track)
    for layer_entry in manifest.layers:
        folder = f"layers/{layer_entry.version}"
        layer = MarkLayer(track=track)
        if layer_entry.nuggets is not None:
            layer.nuggets = track.nugget_versions.get(version=layer_entry.nuggets)
        layer.joins = find_version(track.mark_layers.all(), layer_entry.joins)
        restore_version(archive, layer, layer_entry, f"{folder}/marks.file")
        rows = read_json_lines(archive, f"{folder}/marks.jsonl")
        sizes = {} if layer.nuggets is None else count_nuggets(layer.nuggets)
        MarkedAnswer.objects.bulk_create(
            [_marked_answer(layer, row, topics, runs, sizes) for row in rows], batch_size=2_000
        )
        restore_replies(archive, f"{folder}/replies.jsonl", layer)
    if not manifest.layers:
        return
    chosen = {name: manifest.track.fields.get(name, "") for name in NO_MARKS}
    Track.objects.filter(pk=track.pk).update(**chosen)
    track.refresh_from_db(fields=list(chosen))


def restore_versions(
    archive: Archive, manifest: Manifest, track: Track, topics: Mapping[str, int]
) -> None:
    """Restore the versions of the nuggets of a track."""
    for entry in manifest.nuggets:
        member = f"nuggets/{entry.version}"
        version = restore_version(archive, NuggetVersion(track=track), entry, f"{member}.file")
        rows = read_json_lines(archive, f"{member}.jsonl")
        TopicNuggets.objects.bulk_create(_topic_nuggets(version, row, topics) for row in rows)


def restore_version(
    archive: Archive, version: ImportedVersion, entry: ImportedEntry, member: str
) -> Any:
    """Restore an imported version with its original file."""
    for name, value in clean_values(type(version), entry.fields).items():
        setattr(version, name, value)
    version.version, version.state = entry.version, ImportState.READY
    version.created_by = version.track.benchmark.owner
    with archive.member(member) as file:
        filename = version.filename
        uploads.store_version_file(version, File(file, name=filename))
        version.filename = filename
    if version.sha256 != entry.sha256:
        raise ArchiveError(f"{member} is not the original file")
    version.save(force_insert=True)
    return version


def count_nuggets(version: NuggetVersion) -> dict[int, int]:
    """Return how many nuggets each topic of a version has."""
    return {topic: len(packed) for topic, packed in version.topics.values_list("topic", "nuggets")}


def _topic_nuggets(
    version: NuggetVersion, row: dict[str, Any], topics: Mapping[str, int]
) -> TopicNuggets:
    try:
        STORED.validate_python(row["nuggets"])
        return TopicNuggets(
            nugget_version=version, topic_id=topics[row["topic"]], nuggets=row["nuggets"]
        )
    except (KeyError, TypeError, ValidationError):
        raise ArchiveError(f"its nuggets {version} have an unknown form") from None


def _marked_answer(
    layer: MarkLayer,
    row: dict[str, Any],
    topics: Mapping[str, int],
    runs: Runs,
    sizes: Mapping[int, int],
) -> MarkedAnswer:
    try:
        topic, codes = topics[row["topic"]], row["codes"]
        run = None if row["run"] is None else find_run(runs, row["run"]).pk
        is_known = len(codes) == sizes.get(topic, 0) and np.isin(codes, [*NAMES]).all()
        parts = row["said"], row["support"], *row["support"].values()
        if not is_known or not all(isinstance(part, dict) for part in parts):
            raise TypeError
        return MarkedAnswer(
            layer=layer,
            topic_id=topic,
            run_id=run,
            key=str(row["key"]),
            codes=bytes(codes),
            said=row["said"],
            support=row["support"],
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ArchiveError(f"its marks {layer} have an unknown form") from None
