"""Import a track from its archive, through the same checks as any upload.

Each step queues work and returns; the caller lets the work finish before the next step.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass
from datetime import timedelta
from io import BytesIO
from types import MappingProxyType
from typing import IO, Any, TypeVar

import numpy as np
from django.core.exceptions import ValidationError
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import connection, models, transaction
from django.db.models.fields.files import FieldFile
from django.utils import timezone
from pydantic import BaseModel
from pydantic import ValidationError as NotAManifest

from evaluation.answers.any_measure import parse_measure
from evaluation.measures import MeasureError
from evaluation.reading.recognition import RUN_FORMATS
from leaderboard.actions import people, submissions, tracks, uploads
from leaderboard.actions.submissions import RunDetails
from leaderboard.actions.uploads import CollectionFiles
from leaderboard.archives.manifests import (
    ARCHIVE_VERSION,
    LOCAL_FIELDS_OF_REJECTED,
    EditionEntry,
    JudgmentsEntry,
    Manifest,
    PoolEntry,
    RunEntry,
    SnapshotEntry,
    named_rows,
    plain_fields,
    ranking_path,
    split_fields,
)
from leaderboard.archives.zip_files import Archive, ArchiveError
from leaderboard.collections.groups import DECLARED
from leaderboard.collections.machine_replies import Judged, keep_replies, restore_reply
from leaderboard.models import (
    Announcement,
    AuditEvent,
    Benchmark,
    Collection,
    Edition,
    Grant,
    JudgmentSet,
    MachineCard,
    Milestone,
    Overview,
    Participation,
    Pool,
    Run,
    Score,
    Snapshot,
    SystemVersion,
    Team,
    Track,
    User,
)
from leaderboard.models.collections import ImportedVersion
from leaderboard.runs.facts import REQUIRABLE, clean_facts
from leaderboard.scoring.answer_runs import ANSWER_CHOICES
from leaderboard.scoring.editions import NO_MARKS, get_or_create_edition
from leaderboard.scoring.kinds import EVERY_FIX, KINDS
from leaderboard.scoring.problems import load_problem
from leaderboard.scoring.work import complete_run, find_missing_measures

# An import without a heartbeat for this long counts as abandoned.
ABSENCE_LIMIT = timedelta(seconds=60)
HEARTBEAT_SECONDS = 15
AnyManifest = TypeVar("AnyManifest", bound=BaseModel)
Version = TypeVar("Version", bound=ImportedVersion)
DOCUMENT_FORMATS = {"documents.jsonl": "jsonl", "docnos.txt": "docnos"}


def read_manifest(archive: Archive) -> Manifest:
    """Read the manifest of an archive; raises ArchiveError."""
    manifest = parse_manifest(archive, Manifest, "track")
    if manifest.archive != ARCHIVE_VERSION:
        raise ArchiveError(
            f"it is of version {manifest.archive}; version {ARCHIVE_VERSION} is read here"
        )
    return manifest


def parse_manifest(archive: Archive, model: type[AnyManifest], what: str) -> AnyManifest:
    """Return the manifest of the archive of a track or of a benchmark; raises ArchiveError."""
    try:
        return model.model_validate_json(archive.manifest())
    except NotAManifest as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ArchiveError(
            f"its manifest is not a {what} manifest: {where}: {first['msg']}"
        ) from None


def restore_collection(archive: Archive, manifest: Manifest, owner: User, slug: str) -> Collection:
    """Restore the collection of an archive under the name `slug` and queue its check."""
    entry = manifest.collection
    judged = next((entry for entry in manifest.judgments if entry.has_documents), None)
    documents = next((name for name in DOCUMENT_FORMATS if name in archive), "")
    formats = {"topics": "jsonl", "judgments": judged.format if judged else "trec"}
    if documents:
        formats["documents"] = DOCUMENT_FORMATS[documents]
    collection = Collection(
        slug=slug,
        name=entry.name,
        description=entry.description,
        licence=entry.licence,
        # Without the texts there is nothing to hand out.
        shares_documents=entry.shares_documents and documents == "documents.jsonl",
        documents_readers=entry.documents_readers,
        topics_readers=entry.topics_readers,
        judgments_readers=entry.judgments_readers,
        source_url=entry.source_url,
        source_note=entry.source_note,
        owner=owner,
        asks_first=False,
        grouping=DECLARED,
        formats=formats,
        arrives_until=timezone.now() + ABSENCE_LIMIT,
    )
    if collection.source_url and not collection.source_link:
        raise ArchiveError("the source_url of its collection is no address of the web")
    with ExitStack() as stack, transaction.atomic():
        names = ("topics.jsonl", documents, *judgment_members(archive, judged))
        files = CollectionFiles(*(open_member(archive, name, stack) for name in names))
        if judged is None:
            return uploads.accept_collection(collection, files)
        uploads.accept_collection(collection, files, judged.version, judged.top_grade)
        collection.judgment_sets.update(**judgment_fields(judged))
    return collection


class ImportHeartbeat(threading.Thread):
    """A thread that sends heartbeats while a collection is restored, over its own connection.

    When they stop, the cleanup deletes the partly restored collection.
    """

    def __init__(self, collection: Collection) -> None:
        super().__init__(name=f"import of {collection.slug}", daemon=True)
        self.row = Collection.objects.filter(pk=collection.pk)
        self.stopped = threading.Event()

    def __enter__(self) -> ImportHeartbeat:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self.join()

    def run(self) -> None:
        try:
            while not self.stopped.wait(HEARTBEAT_SECONDS):
                self.row.update(arrives_until=timezone.now() + ABSENCE_LIMIT)
        finally:
            connection.close()

    def finish(self) -> None:
        """Mark the collection as complete; raises ArchiveError if it was deleted meanwhile."""
        if not self.row.update(arrives_until=None):
            raise ArchiveError("it showed no progress for so long that it was cancelled")


def qrels_path(entry: JudgmentsEntry) -> str:
    return f"judgments/{entry.version}.qrels"


def intents_path(archive: Archive, entry: JudgmentsEntry) -> str:
    """Return the member with the probabilities of subtopics, empty if there is none."""
    name = f"judgments/{entry.version}.intents"
    return name if name in archive else ""


def judgment_members(archive: Archive, entry: JudgmentsEntry | None) -> tuple[str, str]:
    """Return the members with the judgments and with the probabilities of their subtopics."""
    return ("", "") if entry is None else (qrels_path(entry), intents_path(archive, entry))


def judgment_fields(entry: JudgmentsEntry) -> dict[str, Any]:
    return {
        "note": entry.note,
        "pool_depth": entry.pool_depth,
        "relevant_from": entry.relevant_from,
    }


def restore_judgments(
    archive: Archive, entry: JudgmentsEntry, collection: Collection
) -> JudgmentSet:
    """Restore a further version of the judgments and queue its check, if it has documents."""
    if not entry.has_documents:
        return JudgmentSet.objects.add_of_no_document(collection, collection.owner, entry.version)
    with ExitStack() as stack, transaction.atomic():
        sent, intents = (
            open_member(archive, name, stack) for name in judgment_members(archive, entry)
        )
        judged = uploads.accept_judgments(
            collection,
            sent,
            entry.version,
            collection.owner,
            format=entry.format,
            asks_first=False,
            intents=intents,
        )
        kept = {**judgment_fields(entry), "top_grade": entry.top_grade}
        JudgmentSet.objects.filter(pk=judged.pk).update(**kept)
    return judged


def restore_original_file(archive: Archive, entry: JudgmentsEntry, collection: Collection) -> None:
    """Restore the original file of ready judgments, and its dates.

    An archive of an earlier version does not have that file.
    """
    name = f"judgments/{entry.version}.file"
    judged = find_judgments(collection, entry.version)
    if judged is None or name not in archive:
        return
    values = clean_values(JudgmentSet, entry.fields)
    with archive.member(name) as file:
        sent = File(file, name=name)
        if uploads.hash_file(sent) != entry.sha256:
            raise ArchiveError(f"{name} is not the original file of the judgments")
        stored = default_storage.save(f"collections/{secrets.token_hex(8)}/judgments", sent)
    JudgmentSet.objects.filter(pk=judged.pk).update(file=stored, sha256=entry.sha256, **values)


def restore_makers(archive: Archive, entry: JudgmentsEntry, collection: Collection) -> None:
    """Restore the card of a machine, or the versions of people and machine of filled judgments."""
    judged = find_judgments(collection, entry.version)
    if judged is None:
        return
    if entry.machine is not None:
        card = clean_values(MachineCard, entry.machine)
        MachineCard.objects.create(judgment_set=judged, **card)
    restore_replies(archive, f"judgments/{entry.version}.replies.jsonl", judged)
    judged.people_version = find_judgments(collection, entry.people_version)
    judged.machine_version = find_judgments(collection, entry.machine_version)
    judged.save(update_fields=["people_version", "machine_version"])


def restore_replies(archive: Archive, name: str, judged: Judged) -> None:
    """Restore what a machine said, if the archive has it."""
    if name not in archive:
        return
    try:
        keep_replies(judged, map(restore_reply, read_json_lines(archive, name)))
    except (KeyError, TypeError):
        raise ArchiveError(f"{name} is not JSON of the expected form") from None


def open_member(archive: Archive, name: str, stack: ExitStack) -> File | None:
    return File(stack.enter_context(archive.member(name)), name=name) if name else None


def restore_track(
    manifest: Manifest, collection: Collection, slug: str, benchmark: Benchmark, systems: str = ""
) -> Track:
    """Restore the track of an archive in a benchmark, on its collection, which must be ready.

    `systems` is the short name here of the track whose systems its runs rank.
    """
    fields, _ = split_fields(manifest.track.fields)
    track = Track(slug=slug, collection=collection, **clean_values(Track, fields))
    # Its layers of marks are restored once there are runs; judges read those of another track.
    for name in NO_MARKS if not track.judged_marks else ():
        setattr(track, name, "")
    track.judgment_set = find_judgments(collection, manifest.track.judgments)
    track.systems = systems
    check_names(track)
    try:
        for text in (*track.measures, track.primary_measure):
            parse_measure(text)
    except MeasureError as error:
        raise ArchiveError(str(error)) from None
    track.benchmark, track.position = benchmark, benchmark.tracks.count()
    return tracks.open_track(track, collection.owner)


def check_names(track: Track) -> None:
    """Raise ArchiveError where a list of a track has what is no name of its kind."""
    topics = (*track.excluded_topics, *track.public_topics)
    if not all(isinstance(name, str) for name in (*track.measures, *topics)):
        raise ArchiveError("a list of its track has what is no name")
    facts = {fact.name for fact in REQUIRABLE}
    known = {"run_formats": RUN_FORMATS.keys(), "required_facts": facts}
    for name, choices in known.items():
        if not all(isinstance(each, str) and each in choices for each in getattr(track, name)):
            raise ArchiveError(f"its track has {name} that are not known here")
    for name, words in ({"run_kind": tuple(KINDS)} | ANSWER_CHOICES).items():
        if getattr(track, name) not in words:
            raise ArchiveError(f"its track has a value of {name} that is not known here")


def find_judgments(collection: Collection, version: str | None) -> JudgmentSet | None:
    return find_version(collection.judgment_sets.all(), version)


def find_version(versions: models.QuerySet[Version], name: str | None) -> Version | None:
    """Return the version that an entry names, if it names one; raises ArchiveError."""
    if name is None:
        return None
    found = versions.filter(version=name).first()
    if found is None:
        raise ArchiveError(f"it has no {versions.model.noun} {name}")
    return found


def clean_values(
    model: type[models.Model], values: dict[str, Any], left_out: set[str] | None = None
) -> dict[str, Any]:
    """Return the values of plain fields, each cleaned by its field; raises ArchiveError."""
    known = {field.name: field for field in plain_fields(model, left_out)}
    if unknown := sorted(set(values) - set(known)):
        raise ArchiveError(f"it was made by a newer version: {unknown[0]} is not known here")
    try:
        return {name: clean_value(known[name], value) for name, value in values.items()}
    except ValidationError as error:
        raise ArchiveError("; ".join(error.messages)) from None


def clean_value(field: models.Field, value: Any) -> Any:
    """Return a JSON value as the field stores it; unlike in a form, an empty value is valid."""
    if value is None and field.null:
        return value
    is_text = isinstance(field, models.CharField | models.TextField)
    kind = str if is_text else type(field.get_default())
    if kind in (str, list, dict) and not isinstance(value, kind):
        raise ValidationError(f"{field.name} has a value of another kind")
    return value if value in ("", [], {}) else field.clean(value, None)


def restore_teams(manifest: Manifest, track: Track) -> None:
    """Restore the teams with their grants and deadlines, but without members."""
    for entry in manifest.teams:
        team = find_or_create_team(track, "" if entry.of_organisers else entry.name)
        if entry.created_at is not None:
            Team.objects.filter(pk=team.pk).update(created_at=entry.created_at)
        if entry.alias:
            Participation.objects.create(
                team=team,
                track=track,
                alias=entry.alias,
                closes_at=entry.closes_at,
                extension_reason=entry.extension_reason,
            )
        grants = [clean_values(Grant, grant) for grant in entry.grants]
        Grant.objects.bulk_create(
            Grant(team=team, track=track, granted_by=track.benchmark.owner, **values)
            for values in grants
        )


def find_or_create_team(track: Track, name: str) -> Team:
    """Return the team of that name, created if missing; no name means the organisers' team."""
    if name:
        return people.get_or_create_team(track.benchmark, name)
    return people.get_or_create_organisers_team(track.benchmark)


def restore_announcements(manifest: Manifest, track: Track) -> None:
    """Restore the announcements of a track."""
    rows = [clean_values(Announcement, announcement) for announcement in manifest.announcements]
    Announcement.objects.bulk_create(
        Announcement(track=track, created_by=track.benchmark.owner, **values) for values in rows
    )


def restore_overview(manifest: Manifest, track: Track) -> None:
    """Restore the texts of the home page and the schedule."""
    if manifest.overview is not None:
        page = Overview(track=track, **clean_values(Overview, manifest.overview))
        if page.contact and not page.contact_link:
            raise ArchiveError("the contact of its track is neither an email address nor a URL")
        page.save(force_insert=True)
    rows = [clean_values(Milestone, milestone) for milestone in manifest.milestones]
    Milestone.objects.bulk_create(Milestone(track=track, **values) for values in rows)


def restore_run(
    archive: Archive,
    entry: RunEntry,
    track: Track,
    version: SystemVersion | None = None,
    ids: Mapping[str, str] = MappingProxyType({}),
) -> Run:
    """Submit a run of an archive to the track for its team, and queue its check.

    Versions of a system may have equal runs; without their versions these are one run. A ranking
    of systems is sent by their ids here, which `ids` has by those there.

    Raises ArchiveError, and NotAccepted if the track does not accept the run.
    """
    values = clean_values(Run, entry.fields)
    values["facts"] = clean_facts(values["facts"])
    fixes = check_fixes(values)
    details = RunDetails(tag=values["tag"], lenient=values["lenient"], fixes=fixes)
    is_ranking = track.ranks_systems and ranking_path(entry.id) in archive
    with archive.member(ranking_path(entry.id) if is_ranking else f"runs/{entry.id}") as file:
        read = rename_systems(file, ids) if is_ranking else file
        sent = File(read, name=values["filename"])
        team = find_or_create_team(track, entry.team)
        restored = submissions.submit_archived_run(track, team, sent, details, version)
    if restored.is_new:
        Run.objects.filter(pk=restored.run.pk).update(**values)
    return restored.run


def rename_systems(file: IO[bytes], ids: Mapping[str, str]) -> IO[bytes]:
    """Return a ranking of systems with other ids of these."""
    lines = (line.decode().rstrip("\n").split("\t") for line in file)
    return BytesIO(
        "".join("\t".join([ids.get(name, name), *rest]) + "\n" for name, *rest in lines).encode()
    )


def restore_rejected_run(archive: Archive, entry: RunEntry, track: Track) -> Run:
    """Restore a rejected run with its problems and files.

    It is not checked again, because the track's rules may have changed.
    """
    values = clean_values(Run, entry.fields, LOCAL_FIELDS_OF_REJECTED)
    values["facts"] = clean_facts(values["facts"])
    check_fixes(values)
    check_problems(values["problems"])
    team, owner = find_or_create_team(track, entry.team), track.benchmark.owner
    run = Run(track=track, team=team, submitted_by=owner, **values)
    if run.state not in (Run.State.REFUSED, Run.State.FAILED):
        raise ArchiveError(f"its run {entry.id} is {run.state} and is listed among the rejected")
    problems = f"problems/{entry.id}.jsonl"
    if problems in archive:
        check_problems(read_json_lines(archive, problems))
    run.file = store_member(archive, f"runs/{entry.id}", f"runs/{run.pk}/file")
    run.problems_file = store_member(archive, problems, f"runs/{run.pk}/problems")
    run.save(force_insert=True)
    return run


def restore_replacements(manifest: Manifest, runs: Runs) -> None:
    """Restore which run replaced which; a run that the archive does not have is left out."""
    for entry in (*manifest.runs, *manifest.refused):
        if entry.replaces in runs:
            Run.objects.filter(pk=runs[entry.id].pk).update(replaces=runs[entry.replaces])


def check_fixes(values: dict[str, Any]) -> tuple[str, ...]:
    """Return the repairs of a run, none in older archives; raises ArchiveError."""
    fixes = values.get("fixes", [])
    if not isinstance(fixes, list) or not all(f in EVERY_FIX for f in fixes):
        raise ArchiveError("it has a repair of a run that is not known here")
    return tuple(fixes)


def check_problems(rows: list[dict[str, Any]]) -> None:
    """Raise ArchiveError unless each row is a problem that pages can show."""
    try:
        for row in rows:
            load_problem(row)
    except TypeError:
        raise ArchiveError("its problems of a run have an unknown form") from None


def store_member(archive: Archive, name: str, place: str) -> str:
    """Store a member and return its name here, empty if the archive does not have it."""
    if name not in archive:
        return ""
    with archive.member(name) as file:
        return default_storage.save(f"{place}-{secrets.token_hex(4)}", File(file))


Runs = dict[str, Run]


def restore_edition(archive: Archive, entry: EditionEntry, track: Track, runs: Runs) -> Edition:
    """Score the runs as they were scored there, with the same judgments and settings."""
    kept = {**NO_MARKS, **entry.settings, "convention": entry.convention}
    # Which runs are ranked follows from the restored track of the systems.
    kept.pop("ranked_runs", None)
    settings = clean_values(Track, kept)
    as_it_was = copy(track)
    for name, value in settings.items():
        setattr(as_it_was, name, value)
    as_it_was.judgment_set = find_judgments(track.collection, entry.judgments)
    edition = get_or_create_edition(as_it_was)
    for old_id, run in runs.items():
        as_it_was.measures = list(read_scores_of(archive, entry, old_id))
        edition.track = as_it_was
        if missing := find_missing_measures(edition, run.pk):
            complete_run(run, edition, missing)
    values = clean_values(Edition, entry.fields)
    Edition.objects.filter(pk=edition.pk).update(state=Edition.State.READY, **values)
    return edition


def read_scores_of(archive: Archive, edition: EditionEntry, run_id: str) -> dict[str, Any]:
    """Read the scores of a run in an edition by measure, as they were there."""
    (scores,) = read_json_lines(archive, f"scores/{edition.name}/{run_id}.json")
    return scores


def restore_pool(archive: Archive, entry: PoolEntry, track: Track, runs: Runs) -> Pool:
    values = clean_values(Pool, entry.fields)
    pooled = [find_run(runs, run_id) for run_id in entry.runs]
    values["summary"]["runs"] = [find_run(runs, run_id).pk for run_id in values["summary"]["runs"]]
    with archive.member(f"pools/{entry.name}.tsv") as file, transaction.atomic():
        pool = Pool(track=track, created_by=track.benchmark.owner, **values)
        pool.judged_in = find_judgments(track.collection, entry.judged_in)
        pool.checks = find_judgments(track.collection, entry.checks)
        pool.nuggets = find_version(track.nugget_versions.all(), entry.nuggets)
        pool.marked_in = find_version(track.mark_layers.all(), entry.marked_in)
        pool.save(force_insert=True)
        pool.file.save(f"pools/{pool.pk}/pool", File(file))
        restore_part(archive, f"pools/{entry.name}.frame.tsv", pool.frame_file, "frame")
        restore_part(archive, f"pools/{entry.name}.texts", pool.texts_file, "texts")
        pool.runs.set(pooled)
        of_it = track.collection.judgment_sets.filter(version__in=entry.judgments)
        of_it.update(pool=pool)
    return pool


def restore_snapshot(
    archive: Archive, entry: SnapshotEntry, track: Track, editions: dict[str, Edition], runs: Runs
) -> Snapshot:
    """Restore a frozen board, with links to the runs here."""
    name = f"snapshots/{entry.slug}.json"
    (fields,) = read_json_lines(archive, name)
    owner = track.benchmark.owner
    snapshot = Snapshot(track=track, edition=editions[entry.edition], created_by=owner)
    try:
        for field, value in clean_values(Snapshot, fields).items():
            setattr(snapshot, field, value)
        snapshot.clean_fields()
    except ValidationError as error:
        raise ArchiveError(f"{name}: {'; '.join(error.messages)}") from None
    snapshot.rows = [[find_run(runs, run_id).pk, *cells] for run_id, *cells in snapshot.rows]
    snapshot.save(force_insert=True)
    return snapshot


def restore_part(archive: Archive, name: str, field: FieldFile, part: str) -> None:
    """Restore what a pool stores beside its lines, if the archive has it."""
    if name in archive:
        with archive.member(name) as file:
            field.save(f"pools/{field.instance.pk}/{part}", File(file))


def restore_pooled_runs(entry: JudgmentsEntry, collection: Collection, runs: Runs) -> None:
    """Restore which runs the judgments were pooled from, except runs of other tracks."""
    judged = find_judgments(collection, entry.version)
    if judged is not None:
        judged.pooled_runs.add(*(runs[run_id] for run_id in entry.pooled_runs if run_id in runs))


def restore_events(archive: Archive, track: Track, runs: Runs) -> None:
    """Restore the activity log, without the people who acted."""
    events = [clean_values(AuditEvent, row) for row in read_json_lines(archive, "events.jsonl")]
    keys = keys_by_name(track, runs)
    for values in events:
        kind, name = values["target_kind"], values["target_id"]
        values["target_id"] = str(track.pk if kind == "track" else keys.get((kind, name), ""))
    AuditEvent.objects.bulk_create(AuditEvent(track=track, **values) for values in events)


def keys_by_name(track: Track, runs: Runs) -> dict[tuple[str, str], Any]:
    """Return the keys here of events' targets by kind and name in the archive."""
    keys: dict[tuple[str, str], Any] = {("run", old_id): run.pk for old_id, run in runs.items()}
    rows = named_rows(track).items()
    return keys | {(kind, name): key for kind, pairs in rows for key, name in pairs}


def read_json_lines(archive: Archive, name: str) -> list[dict[str, Any]]:
    """Read a member with one JSON object per line."""
    try:
        with archive.member(name) as file:
            rows = [json.loads(line) for line in file]
    except (ValueError, RecursionError):
        rows = [None]
    if not all(isinstance(row, dict) for row in rows):
        raise ArchiveError(f"{name} is not JSON of the expected form")
    return rows


def find_run(runs: Runs, old_id: str) -> Run:
    """Return the run that had this id in the archive; raises ArchiveError."""
    if old_id not in runs:
        raise ArchiveError(f"it names a run {old_id} and does not contain it")
    return runs[old_id]


@dataclass(frozen=True)
class ScoreDifference:
    """A run and a measure whose scores here differ from those in the archive."""

    run: Run
    measure: str


def find_differences(
    archive: Archive, entry: EditionEntry, edition: Edition, runs: Runs
) -> list[ScoreDifference]:
    """Find the restored runs whose scores here differ from those in the archive."""
    found = []
    for old_id, run in runs.items():
        scores = Score.objects.filter(score_set__run=run, score_set__edition=edition)
        now = {score.measure: score.values for score in scores}
        for measure, there in read_scores_of(archive, entry, old_id).items():
            # An undefined score is None there, and NaN here.
            values = np.array(there["topics"], dtype=np.float64)
            if not np.array_equal(values, now.get(measure, ()), equal_nan=True):
                found.append(ScoreDifference(run, measure))
    return found
