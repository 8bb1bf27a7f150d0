"""An archive becomes a track again: through the same intake as everything that is brought.

Each step queues work and returns; whoever calls them lets the work be done in between.
"""

from __future__ import annotations

import json
import secrets
import threading
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
from django.core.exceptions import ValidationError
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import connection, models, transaction
from django.utils import timezone
from pydantic import ValidationError as NotAManifest

from evaluation.measures import MeasureError, parse_measure
from evaluation.problems import Problem
from evaluation.reading.repairs import FIXES
from leaderboard.actions import people, tracks, uploads
from leaderboard.actions.uploads import CollectionFiles, RunDetails
from leaderboard.archives.manifests import (
    ARCHIVE_VERSION,
    LEFT_OUT_OF_REFUSED,
    EditionEntry,
    JudgmentsEntry,
    Manifest,
    PoolEntry,
    RunEntry,
    SnapshotEntry,
    named_rows,
    plain_fields,
)
from leaderboard.archives.zip_files import Archive, NotAnArchive
from leaderboard.models import (
    Announcement,
    AuditEvent,
    Collection,
    Edition,
    Grant,
    JudgmentSet,
    Pool,
    Run,
    Score,
    Snapshot,
    Team,
    Track,
    User,
)
from leaderboard.runs.facts import clean_facts
from leaderboard.scoring.editions import get_or_create_edition
from leaderboard.scoring.work import complete_run, find_missing_measures

# Whoever restores an archive counts as gone after so long without a sign.
ABSENCE = timedelta(seconds=60)
SIGN_SECONDS = 15
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
    told = manifest.collection
    judged = manifest.judgments[0] if manifest.judgments else None
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
        arrives_until=timezone.now() + ABSENCE,
    )
    with ExitStack() as stack:
        names = ("topics.jsonl", documents, qrels_of(judged) if judged else "")
        files = CollectionFiles(*(member(archive, name, stack) for name in names))
        if judged is None:
            return uploads.accept_collection(collection, files)
        uploads.accept_collection(collection, files, judged.version, judged.top_grade)
    collection.judgment_sets.update(**said_of(judged))
    return collection


class Arrival(threading.Thread):
    """Gives signs of life while a collection is restored, by a connection of its own.

    Where they end, the collection was left half restored, and is swept away.
    """

    def __init__(self, collection: Collection) -> None:
        super().__init__(name=f"arrival of {collection.slug}", daemon=True)
        self.row = Collection.objects.filter(pk=collection.pk)
        self.over = threading.Event()

    def __enter__(self) -> Arrival:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.join()

    def run(self) -> None:
        try:
            while not self.over.wait(SIGN_SECONDS):
                self.row.update(arrives_until=timezone.now() + ABSENCE)
        finally:
            connection.close()

    def ended(self) -> None:
        """It is whole.  Raises NotAnArchive where it was swept away meanwhile."""
        if not self.row.update(arrives_until=None):
            raise NotAnArchive("it took so long without a sign that it was taken for broken off")


def qrels_of(entry: JudgmentsEntry) -> str:
    return f"judgments/{entry.version}.qrels"


def said_of(entry: JudgmentsEntry) -> dict[str, Any]:
    return {
        "note": entry.note,
        "pool_depth": entry.pool_depth,
        "relevant_from": entry.relevant_from,
    }


def restore_judgments(
    archive: Archive, entry: JudgmentsEntry, collection: Collection
) -> JudgmentSet:
    """Bring a further version of the judgments; its check is queued."""
    with archive.member(qrels_of(entry)) as file, transaction.atomic():
        sent = File(file, name=f"{entry.version}.qrels")
        judged = uploads.accept_judgments(
            collection, sent, entry.version, collection.owner, format="trec", asks_first=False
        )
        kept = {**said_of(entry), "top_grade": entry.top_grade}
        JudgmentSet.objects.filter(pk=judged.pk).update(**kept)
    return judged


def restore_file_as_brought(
    archive: Archive, entry: JudgmentsEntry, collection: Collection
) -> None:
    """Judgments that are ready again get the file that they came in, and its dates.

    An archive of an earlier version does not hold it.
    """
    name = f"judgments/{entry.version}.file"
    judged = judgments_called(collection, entry.version)
    if judged is None or name not in archive:
        return
    values = values_of(JudgmentSet, entry.fields)
    with archive.member(name) as file:
        sent = File(file, name=name)
        if uploads.hash_file(sent) != entry.sha256:
            raise NotAnArchive(f"{name} is not the file that the judgments came in")
        stored = default_storage.save(f"collections/{secrets.token_hex(8)}/judgments", sent)
    JudgmentSet.objects.filter(pk=judged.pk).update(file=stored, sha256=entry.sha256, **values)


def member(archive: Archive, name: str, stack: ExitStack) -> File | None:
    return File(stack.enter_context(archive.member(name)), name=name) if name else None


def restore_track(manifest: Manifest, collection: Collection, slug: str) -> Track:
    """Open the track of an archive on its collection, once that is ready."""
    values = values_of(Track, manifest.track.fields)
    track = Track(slug=slug, collection=collection, **values)
    track.judgment_set = judgments_called(collection, manifest.track.judgments)
    try:
        for text in (*track.measures, track.primary_measure):
            parse_measure(text)
    except MeasureError as error:
        raise NotAnArchive(str(error)) from None
    return tracks.open_track(track, collection.owner)


def judgments_called(collection: Collection, version: str | None) -> JudgmentSet | None:
    if version is None:
        return None
    found = collection.judgment_sets.filter(version=version).first()
    if found is None:
        raise NotAnArchive(f"it holds no judgments {version}")
    return found


def values_of(
    model: type[models.Model], told: dict[str, Any], left_out: set[str] | None = None
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


def restore_teams(manifest: Manifest, track: Track) -> None:
    """The teams by their names, without members, with what was granted to them."""
    for entry in manifest.teams:
        team = team_called(track, "" if entry.of_organisers else entry.name)
        came = {} if entry.created_at is None else {"created_at": entry.created_at}
        Team.objects.filter(pk=team.pk).update(alias=entry.alias, **came)
        grants = [values_of(Grant, grant) for grant in entry.grants]
        Grant.objects.bulk_create(
            Grant(team=team, granted_by=track.owner, **values) for values in grants
        )


def team_called(track: Track, name: str) -> Team:
    """The team of that name, made if need be; that of the organisers has none in an archive."""
    return (
        people.get_or_create_team(track, name)
        if name
        else people.get_or_create_organisers_team(track)
    )


def restore_announcements(manifest: Manifest, track: Track) -> None:
    told = [values_of(Announcement, announcement) for announcement in manifest.announcements]
    Announcement.objects.bulk_create(
        Announcement(track=track, created_by=track.owner, **values) for values in told
    )


def restore_run(archive: Archive, entry: RunEntry, track: Track) -> Run:
    """Send a run of an archive to the track, as of its team; its check is queued.

    Raises NotAnArchive, and NotAccepted where the track does not take it.
    """
    values = values_of(Run, entry.fields)
    values["facts"] = clean_facts(values["facts"])
    fixes = known_fixes(values)
    details = RunDetails(tag=values["tag"], lenient=values["lenient"], fixes=fixes)
    with archive.member(f"runs/{entry.id}") as file:
        sent = File(file, name=values["filename"])
        team = team_called(track, entry.team)
        run = uploads.accept_run(track, track.owner, sent, details, team=team).run
    Run.objects.filter(pk=run.pk).update(**values)
    return run


def restore_refused_run(archive: Archive, entry: RunEntry, track: Track) -> Run:
    """A run that was refused stays refused, with what was said of it and what is kept of it.

    It is not read again: the rules of the track may be others now.
    """
    values = values_of(Run, entry.fields, LEFT_OUT_OF_REFUSED)
    values["facts"] = clean_facts(values["facts"])
    known_fixes(values)
    refuse_other_problems(values["problems"])
    run = Run(track=track, team=team_called(track, entry.team), submitted_by=track.owner, **values)
    if run.state not in (Run.State.REFUSED, Run.State.FAILED):
        raise NotAnArchive(f"its run {entry.id} is {run.state} and stands among the refused")
    problems = f"problems/{entry.id}.jsonl"
    if problems in archive:
        refuse_other_problems(objects_in(archive, problems))
    run.file = stored_member(archive, f"runs/{entry.id}", f"runs/{run.pk}/file")
    run.problems_file = stored_member(archive, problems, f"runs/{run.pk}/problems")
    run.save(force_insert=True)
    return run


def known_fixes(values: dict[str, Any]) -> tuple[str, ...]:
    """The repairs of a run, none in older archives. Raises NotAnArchive."""
    fixes = values.get("fixes", [])
    if not isinstance(fixes, list) or not all(f in list(FIXES) for f in fixes):
        raise NotAnArchive("it has a repair of a run that is not known here")
    return tuple(fixes)


def refuse_other_problems(told: list[dict[str, Any]]) -> None:
    """Whether each is a problem as pages print it. Raises NotAnArchive."""
    try:
        for row in told:
            Problem(**row)
    except TypeError:
        raise NotAnArchive("it tells problems of a run as they are not written here") from None


def stored_member(archive: Archive, name: str, place: str) -> str:
    """The name under which a member is stored here; empty where the archive does not hold it."""
    if name not in archive:
        return ""
    with archive.member(name) as file:
        return default_storage.save(f"{place}-{secrets.token_hex(4)}", File(file))


Runs = dict[str, Run]


def restore_edition(archive: Archive, entry: EditionEntry, track: Track, runs: Runs) -> Edition:
    """Score the runs once more as they were scored there: with those judgments and settings."""
    settings = values_of(Track, {**entry.settings, "convention": entry.convention})
    as_it_was = copy(track)
    for name, value in settings.items():
        setattr(as_it_was, name, value)
    as_it_was.judgment_set = judgments_called(track.collection, entry.judgments)
    edition = get_or_create_edition(as_it_was)
    for old_id, run in runs.items():
        as_it_was.measures = list(scores_told(archive, entry, old_id))
        edition.track = as_it_was
        if missing := find_missing_measures(edition, run.pk):
            complete_run(run, edition, missing)
    values = values_of(Edition, entry.fields)
    Edition.objects.filter(pk=edition.pk).update(state=Edition.State.READY, **values)
    return edition


def scores_told(archive: Archive, edition: EditionEntry, run_id: str) -> dict[str, Any]:
    """The values of a run in an edition by measure, as they were there."""
    (told,) = objects_in(archive, f"scores/{edition.name}/{run_id}.json")
    return told


def restore_pool(archive: Archive, entry: PoolEntry, track: Track, runs: Runs) -> Pool:
    values = values_of(Pool, entry.fields)
    pooled = [here(runs, run_id) for run_id in entry.runs]
    values["summary"]["runs"] = [here(runs, run_id).pk for run_id in values["summary"]["runs"]]
    with archive.member(f"pools/{entry.name}.tsv") as file, transaction.atomic():
        pool = Pool(track=track, created_by=track.owner, **values)
        pool.judged_in = judgments_called(track.collection, entry.judged_in)
        pool.save(force_insert=True)
        pool.file.save(f"pools/{pool.pk}/pool", File(file))
        pool.runs.set(pooled)
        of_it = track.collection.judgment_sets.filter(version__in=entry.judgments)
        of_it.update(pool=pool)
    return pool


def restore_snapshot(
    archive: Archive, entry: SnapshotEntry, track: Track, editions: dict[str, Edition], runs: Runs
) -> Snapshot:
    """A frozen board with all that it says; its lines lead to the runs here."""
    name = f"snapshots/{entry.slug}.json"
    (told,) = objects_in(archive, name)
    snapshot = Snapshot(track=track, edition=editions[entry.edition], created_by=track.owner)
    try:
        for field, value in values_of(Snapshot, told).items():
            setattr(snapshot, field, value)
        snapshot.clean_fields()
    except ValidationError as error:
        raise NotAnArchive(f"{name}: {'; '.join(error.messages)}") from None
    snapshot.rows = [[here(runs, run_id).pk, *cells] for run_id, *cells in snapshot.rows]
    snapshot.save(force_insert=True)
    return snapshot


def restore_pooled_runs(entry: JudgmentsEntry, collection: Collection, runs: Runs) -> None:
    """Which runs the judgments came of; those of other tracks are not here."""
    judged = judgments_called(collection, entry.version)
    if judged is not None:
        judged.pooled_runs.set([runs[run_id] for run_id in entry.pooled_runs if run_id in runs])


def restore_events(archive: Archive, track: Track, runs: Runs) -> None:
    """What happened there; who did it is not in an archive."""
    events = [values_of(AuditEvent, row) for row in objects_in(archive, "events.jsonl")]
    keys = keys_by_name(track, runs)
    for values in events:
        kind, name = values["target_kind"], values["target_id"]
        values["target_id"] = str(track.pk if kind == "track" else keys.get((kind, name), ""))
    AuditEvent.objects.bulk_create(AuditEvent(track=track, **values) for values in events)


def keys_by_name(track: Track, runs: Runs) -> dict[tuple[str, str], Any]:
    """What events may be about: by kind and its name in the archive, its key here."""
    keys: dict[tuple[str, str], Any] = {("run", old_id): run.pk for old_id, run in runs.items()}
    rows = named_rows(track).items()
    return keys | {(kind, name): key for kind, pairs in rows for key, name in pairs}


def objects_in(archive: Archive, name: str) -> list[dict[str, Any]]:
    """The JSON objects of a member, one a line."""
    try:
        with archive.member(name) as file:
            told = [json.loads(line) for line in file]
    except (ValueError, RecursionError):
        told = [None]
    if not all(isinstance(row, dict) for row in told):
        raise NotAnArchive(f"{name} is not JSON as it is written here")
    return told


def here(runs: Runs, old_id: str) -> Run:
    """The run that had this id in the archive."""
    if old_id not in runs:
        raise NotAnArchive(f"it speaks of a run {old_id} and does not hold it")
    return runs[old_id]


@dataclass(frozen=True)
class Difference:
    """A measure whose values here are not those of the archive."""

    run: Run
    measure: str


def differences(
    archive: Archive, entry: EditionEntry, edition: Edition, runs: Runs
) -> list[Difference]:
    """Where restored runs, by their ids in the archive, score otherwise than they did there."""
    found = []
    for old_id, run in runs.items():
        kept = Score.objects.filter(score_set__run=run, score_set__edition=edition)
        now = {score.measure: score.values for score in kept}
        for measure, there in scores_told(archive, entry, old_id).items():
            # Undefined is None there, NaN here.
            values = np.array(there["topics"], dtype=np.float64)
            if not np.array_equal(values, now.get(measure, ()), equal_nan=True):
                found.append(Difference(run, measure))
    return found
