"""An archive becomes a track again: through the same intake as everything that is brought.

Each step queues work and returns; whoever calls them lets the work be done in between.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.core.exceptions import ValidationError
from django.core.files import File
from django.db import models
from pydantic import ValidationError as NotAManifest

from evaluation.measures import MeasureError, parse_measure
from leaderboard import joining, organising, uploads
from leaderboard.archives import Archive, NotAnArchive
from leaderboard.archiving import (
    ARCHIVE_VERSION,
    RUN_LEFT_OUT,
    TRACK_LEFT_OUT,
    Manifest,
    RunEntry,
    plain_fields,
)
from leaderboard.facts import clean_facts
from leaderboard.models import Collection, Run, Score, Track, User
from leaderboard.uploads import CollectionFiles, RunDetails

DOCUMENTS = {"documents.jsonl": "jsonl", "docnos.txt": "docnos"}


def manifest_in(archive: Archive) -> Manifest:
    """What an archive says of itself. Raises NotAnArchive."""
    try:
        manifest = Manifest.model_validate_json(archive.manifest())
    except NotAManifest as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise NotAnArchive(f"its manifest is not one of a track: {where}: {first['msg']}") from None
    if manifest.archive != ARCHIVE_VERSION:
        raise NotAnArchive(
            f"it is of version {manifest.archive}; version {ARCHIVE_VERSION} is read here"
        )
    return manifest


def restore_collection(archive: Archive, manifest: Manifest, owner: User, slug: str) -> Collection:
    """Bring the collection of an archive under the name `slug`; its check is queued."""
    told, judged = manifest.collection, manifest.judgments
    documents = next((name for name in DOCUMENTS if name in archive), "")
    formats = {"topics": "jsonl", "judgments": "trec"}
    if documents:
        formats["documents"] = DOCUMENTS[documents]
    collection = Collection(
        slug=slug,
        name=told.name,
        description=told.description,
        owner=owner,
        asks_first=False,
        formats=formats,
    )
    with ExitStack() as stack:
        names = ("topics.jsonl", documents, "judgments.qrels" if judged else "")
        files = CollectionFiles(*(member(archive, name, stack) for name in names))
        if judged is None:
            return uploads.accept_collection(collection, files)
        uploads.accept_collection(collection, files, judged.version, judged.top_grade)
    collection.judgment_sets.update(note=judged.note, pool_depth=judged.pool_depth)
    return collection


def member(archive: Archive, name: str, stack: ExitStack) -> File | None:
    return File(stack.enter_context(archive.member(name)), name=name) if name else None


def restore_track(manifest: Manifest, collection: Collection, slug: str) -> Track:
    """Open the track of an archive on its collection, once that is ready."""
    values = values_of(Track, manifest.track.fields, TRACK_LEFT_OUT)
    track = Track(slug=slug, collection=collection, **values)
    track.judgment_set = collection.judgment_sets.first()
    try:
        for text in (*track.measures, track.primary_measure):
            parse_measure(text)
    except MeasureError as error:
        raise NotAnArchive(str(error)) from None
    return organising.open_track(track, collection.owner)


def values_of(
    model: type[models.Model], told: dict[str, Any], left_out: set[str]
) -> dict[str, Any]:
    """The values of plain fields, each such as its field takes. Raises NotAnArchive."""
    known = {field.name: field for field in plain_fields(model, left_out)}
    if unknown := sorted(set(told) - set(known)):
        raise NotAnArchive(f"it was made by a newer version: {unknown[0]} is not known here")
    try:
        return {name: cleaned(known[name], value) for name, value in told.items()}
    except ValidationError as error:
        raise NotAnArchive("; ".join(error.messages)) from None


def cleaned(field: models.Field, value: Any) -> Any:
    """A value from JSON as the field keeps it; a form asks for more, so what is empty passes."""
    return (
        value
        if value in ("", [], {}) or (value is None and field.null)
        else field.clean(value, None)
    )


def restore_run(archive: Archive, entry: RunEntry, track: Track) -> Run:
    """Send a run of an archive to the track, as of its team; its check is queued.

    Raises NotAnArchive, and NotAccepted where the track does not take it.
    """
    values = values_of(Run, entry.fields, RUN_LEFT_OUT)
    values["facts"] = clean_facts(values["facts"])
    details = RunDetails(tag=values["tag"], lenient=values["lenient"])
    with archive.member(f"runs/{entry.id}") as file:
        sent = File(file, name=values["filename"])
        team = (
            joining.team_called(track, entry.team) if entry.team else joining.organisers_team(track)
        )
        run = uploads.accept_run(track, track.owner, sent, details, team=team).run
    Run.objects.filter(pk=run.pk).update(**values)
    return run


@dataclass(frozen=True)
class Difference:
    """A measure whose values here are not those of the archive."""

    run: Run
    measure: str


def differences(archive: Archive, runs: dict[str, Run], track: Track) -> list[Difference]:
    """Where restored runs, by their ids in the archive, score otherwise than they did there."""
    found = []
    for old_id, run in runs.items():
        with archive.member(f"scores/{old_id}.json") as file:
            told = json.load(file)
        kept = Score.objects.filter(score_set__run=run, score_set__edition=track.edition)
        here = {score.measure: score.values for score in kept}
        for measure, there in told.items():
            # Undefined is None there, NaN here.
            values = np.array(there["topics"], dtype=np.float64)
            if not np.array_equal(values, here.get(measure, ()), equal_nan=True):
                found.append(Difference(run, measure))
    return found
