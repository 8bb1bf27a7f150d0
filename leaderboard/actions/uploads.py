"""Accept uploads: check that they are allowed, store them and queue their check.

Nothing here reads a file's contents, so a request takes only as long as the bytes need to arrive.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.utils import timezone

from leaderboard.actions import people
from leaderboard.actions.submission_rules import (
    NotAccepted,
    format_utc,
    lock_team,
    refuse_after_refusals,
    refuse_full_site,
    refuse_full_team,
    refuse_large,
    refuse_late_replacement,
    refuse_outside_dates,
    refuse_over_benchmark_quota,
    refuse_over_quota,
    refuse_repeated_replacement,
    refuse_repeated_tag,
    refuse_without_facts,
)
from leaderboard.collections.beir import write_beir_files
from leaderboard.collections.pools import record_pooled_runs
from leaderboard.collections.published import UnavailableCollectionError
from leaderboard.infrastructure.outages import find_outage
from leaderboard.jobs import queue
from leaderboard.models import (
    AuditEvent,
    Benchmark,
    Collection,
    JudgmentSet,
    Pool,
    Run,
    Team,
    Track,
    User,
)
from leaderboard.models.collections import ImportedVersion
from leaderboard.runs.facts import build_columns

FILENAME_LIMIT = 120
KEY_LIFETIME = timedelta(hours=24)


@dataclass(frozen=True)
class RunDetails:
    """The details of a run besides its file."""

    tag: str = ""
    description: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    idempotency_key: str = ""
    format: str = ""
    lenient: bool = False
    fixes: tuple[str, ...] = ()
    # The id of the run of the same team that this one replaces.
    replaces: str = ""


@dataclass(frozen=True)
class AcceptedRun:
    """The run of an upload, and whether it is new."""

    run: Run
    is_new: bool

    def repeated_by(self, user: User) -> str:
        """Return who submitted the same file before and when; empty for a new run."""
        if self.is_new:
            return ""
        who = "You" if self.run.submitted_by_id == user.pk else "Your team"
        when = format_utc(self.run.received_at)
        return (
            f"{who} already submitted this file on {when}. This is its run, "
            "with the description and facts that it had. You can edit them."
        )


def accept_run(
    track: Track,
    user: User,
    file: UploadedFile,
    details: RunDetails | None = None,
    team: Team | None = None,
    received_at: datetime | None = None,
) -> AcceptedRun:
    """Store the file and queue its check; a file submitted again is the same run.

    `team` is for organisers, who may submit for others; `received_at` is when the last byte
    arrived, if not now.  Raises NotAccepted.
    """
    details = details or RunDetails()
    received_at = received_at or timezone.now()
    organises = track.is_organised_by(user)
    refuse_large(file, settings.RUN_UPLOAD_LIMIT)
    team = team or find_team(track, user, organises)
    if team is None:
        # Nobody joins by a run that replaces nothing.
        find_replaced_run(track, team, details.replaces)
        refuse_by_rules(track, details, received_at)
        team = join_team(track.benchmark, user)
    sha256 = hash_file(file)
    # This comes before the rules: a user who missed the first answer may retry after the deadline.
    known = find_repeated_run(track, user, team, sha256, details.idempotency_key, received_at)
    if known is not None:
        refuse_known_replacement(known, details.replaces)
        return AcceptedRun(known, is_new=False)
    replaced = find_replaced_run(track, team, details.replaces)
    if not organises:
        refuse_by_rules(track, details, received_at, team)
        if replaced is not None:
            refuse_late_replacement(track, team, received_at)
    details = replace(details, lenient=details.lenient and organises)
    run = build_run(track, team, user, file, sha256, details, received_at)
    # The new run takes the place of the old one in every respect.
    run.replaces = replaced
    run.is_primary = run.is_primary or (replaced is not None and replaced.is_primary)
    return store_run(run, file, limited=not organises)


def build_run(
    track: Track,
    team: Team,
    user: User,
    file: UploadedFile,
    sha256: str,
    details: RunDetails,
    received_at: datetime,
) -> Run:
    """Return the run of an uploaded file, not yet saved."""
    return Run(
        track=track,
        team=team,
        submitted_by=user,
        tag=details.tag,
        description=details.description,
        **build_columns(details.facts),
        format=details.format,
        lenient=details.lenient,
        fixes=list(details.fixes),
        filename=clean_filename(file),
        size=file.size or 0,
        sha256=sha256,
        idempotency_key=details.idempotency_key,
        received_at=received_at,
    )


def find_replaced_run(track: Track, team: Team | None, run_id: str) -> Run | None:
    """Return the run of the team that an upload replaces, or raise NotAccepted."""
    if not run_id:
        return None
    runs = Run.objects.active().not_removed().filter(track=track, team=team, pk=run_id)
    replaced = runs.select_related("track").first()
    if replaced is None:
        raise NotAccepted("E_FIELD", "replaces: your team has no such run to replace.")
    return replaced


def refuse_known_replacement(known: Run, run_id: str) -> None:
    """Raise NotAccepted if another run already has the file of a replacement."""
    if not run_id or known.replaces_id == run_id:
        return
    if known.pk == run_id:
        message = (
            "This is the file of the run itself, so nothing is replaced, and the description and "
            "facts of this form are not saved. Edit them on the page of the run."
        )
        raise NotAccepted("E_CONFLICT", message)
    message = f"This file is already run {known}. Withdraw the other run instead."
    raise NotAccepted("E_CONFLICT", message)


def find_team(track: Track, user: User, organises: bool) -> Team | None:
    """Return the user's team, None before the first run; organisers always have a team."""
    team = track.team_of(user)
    return (
        people.get_or_create_organisers_team(track.benchmark)
        if organises and team is None
        else team
    )


def join_team(benchmark: Benchmark, user: User) -> Team:
    """Let the user join the benchmark, or raise NotAccepted."""
    try:
        return people.admit(benchmark, user)
    except people.JoinError as reason:
        raise NotAccepted("E_NO_TEAM", str(reason)) from None


def refuse_by_rules(
    track: Track, details: RunDetails, received_at: datetime, team: Team | None = None
) -> None:
    """Raise NotAccepted outside the team's dates or without required facts."""
    refuse_outside_dates(track, received_at, team)
    refuse_without_facts(track, details.facts)


def store_run(run: Run, file: UploadedFile, limited: bool) -> AcceptedRun:
    """Check the quota and store the run and its job in one transaction, or delete the file."""
    save_file(run, file)
    try:
        with transaction.atomic():
            insert_run(run, limited)
    except IntegrityError:
        # The same upload came twice at once, and the first one is the run.
        default_storage.delete(run.file.name)
        known = find_repeated_run(
            run.track,
            run.submitted_by,
            run.team,
            run.sha256,
            run.idempotency_key,
            run.received_at,
        )
        if known is None:
            raise
        return AcceptedRun(known, is_new=False)
    except BaseException as error:
        # After a lost connection nobody knows whether it committed, so the cleanup decides.
        if find_outage(error) is None:
            default_storage.delete(run.file.name)
        raise
    return AcceptedRun(run, is_new=True)


def save_file(run: Run, file: UploadedFile) -> None:
    """Store the file of a run that is not saved yet; raises NotAccepted if the site is full."""
    refuse_full_site(run.size)
    run.file.name = default_storage.save(f"runs/{run.pk}/file-{secrets.token_hex(4)}", file)


def insert_run(run: Run, limited: bool) -> None:
    """Save a run and queue its check, in the transaction of the caller.

    The row of the team is locked, so that two runs never share a place.  Raises NotAccepted.
    """
    team = lock_team(run.team_id)
    refuse_repeated_replacement(run)
    if limited:
        refuse_full_team(team, run.size)
        refuse_over_quota(run.track, team, run.received_at, run.replaces)
        refuse_over_benchmark_quota(team, run.received_at, run.replaces)
        refuse_after_refusals(run.track, team, run.received_at)
        refuse_repeated_tag(run)
    run.save(force_insert=True)
    queue.enqueue("check_run", run)


def find_repeated_run(
    track: Track, user: User, team: Team, sha256: str, key: str, now: datetime
) -> Run | None:
    """Return the run that this upload repeats, if any."""
    if key:
        same_key = Run.objects.filter(track=track, submitted_by=user, idempotency_key=key).first()
        if same_key is not None and now - same_key.received_at < KEY_LIFETIME:
            if same_key.sha256 != sha256:
                raise NotAccepted("E_CONFLICT", "This Idempotency-Key was used with another file.")
            return same_key
        if same_key is not None:
            Run.objects.filter(pk=same_key.pk).update(idempotency_key="")
    return Run.objects.active().filter(track=track, team=team, sha256=sha256).first()


def hash_file(file: UploadedFile) -> str:
    """Return the SHA-256 of a file; an upload has been hashed while it arrived."""
    known: str | None = getattr(file, "sha256", None)
    if known is None:
        digest = hashlib.sha256()
        for chunk in file.chunks():
            digest.update(chunk)
        known = digest.hexdigest()
    file.seek(0)
    return known


def clean_filename(file: UploadedFile) -> str:
    """Return the sender's name of the file: a label to show, never a path to write."""
    name = "".join(c for c in (file.name or "") if c.isprintable())
    return name[:FILENAME_LIMIT]


@dataclass(frozen=True)
class CollectionFiles:
    """The uploaded files of a new collection."""

    topics: UploadedFile
    documents: UploadedFile | None = None
    judgments: UploadedFile | None = None
    # The probabilities of the subtopics that the judgments name.
    intents: UploadedFile | None = None
    # The group of each topic.
    groups: UploadedFile | None = None


@contextmanager
def unpack_beir(file: UploadedFile, split: str) -> Iterator[CollectionFiles]:
    """Yield topics, documents and judgments of one split of a zip of BEIR.

    Raises NotAccepted for a zip that is too large, packed or not, or has other files.
    """
    refuse_large(file, settings.COLLECTION_UPLOAD_LIMIT)
    with TemporaryDirectory(dir=settings.FILE_UPLOAD_TEMP_DIR) as folder, ExitStack() as stack:
        try:
            paths = write_beir_files(file, split, Path(folder))
        except UnavailableCollectionError as reason:
            raise NotAccepted("E_FIELD", f"{reason}.") from None
        opened = {
            part: File(stack.enter_context(path.open("rb")), name=path.name)
            for part, path in paths.items()
        }
        yield CollectionFiles(**opened)


def refuse_files(files: Iterable[UploadedFile | None]) -> None:
    """Raise NotAccepted if a file of a collection is too large, or all of them for the site."""
    sent = [file for file in files if file is not None]
    for file in sent:
        refuse_large(file, settings.COLLECTION_UPLOAD_LIMIT)
    refuse_full_site(sum(map(file_size, sent)))


def file_size(file: UploadedFile | None) -> int:
    return 0 if file is None else file.size or 0


def accept_collection(
    collection: Collection,
    files: CollectionFiles,
    version: str = "v1",
    top_grade: int | None = None,
) -> Collection:
    """Store the files of a new collection and queue their check."""
    folder = f"collections/{secrets.token_hex(8)}"
    refuse_files((files.topics, files.documents, files.judgments, files.intents, files.groups))
    collection.size = sum(map(file_size, (files.topics, files.documents, files.groups)))
    collection.topics_file.name = default_storage.save(f"{folder}/topics", files.topics)
    collection.topics_filename = clean_filename(files.topics)
    if files.documents is not None:
        collection.documents_file.name = default_storage.save(
            f"{folder}/documents", files.documents
        )
        collection.documents_filename = clean_filename(files.documents)
    if files.groups is not None:
        collection.groups_file.name = default_storage.save(f"{folder}/groups", files.groups)
        collection.groups_filename = clean_filename(files.groups)
    with transaction.atomic():
        collection.save(force_insert=True)
        if files.judgments is not None:
            _create_judgment_set(
                collection,
                files.judgments,
                version,
                collection.owner,
                format=collection.formats.get("judgments", ""),
                top_grade=top_grade,
                intents=files.intents,
            )
        AuditEvent.objects.record(collection.owner, "upload", collection)
        queue.enqueue("check_collection", collection)
    return collection


def accept_dataset(collection: Collection, version: str = "v1") -> Collection:
    """Save a collection that names a dataset, and queue the job that fetches its files."""
    with transaction.atomic():
        collection.save(force_insert=True)
        JudgmentSet.objects.create(
            collection=collection, version=version, created_by=collection.owner
        )
        named = {"dataset": collection.dataset}
        AuditEvent.objects.record(collection.owner, "upload", collection, after=named)
        queue_check(collection)
    return collection


def queue_check(collection: Collection) -> None:
    """Queue the check of a collection, or first the fetch of files that it does not have yet."""
    queue.enqueue("check_collection" if collection.topics_file else "fetch_dataset", collection)


@dataclass(frozen=True)
class JudgmentsPart:
    """Whether a file of judgments is a whole version or joined with `of`, by default the latest.

    "" as `joining` asks if topics are missing that were judged before; "" as `conflict_rule` asks
    if a document has two grades.
    """

    joining: str = ""
    of: JudgmentSet | None = None
    conflict_rule: str = ""


WHOLE = JudgmentsPart(JudgmentSet.Joining.REPLACE)


def accept_judgments(
    collection: Collection,
    file: UploadedFile,
    version: str,
    user: User,
    note: str = "",
    format: str = "",
    asks_first: bool = True,
    pool: Pool | None = None,
    intents: UploadedFile | None = None,
    part: JudgmentsPart = WHOLE,
) -> JudgmentSet:
    """Store new judgments, possibly those of a pool, and queue their check."""
    refuse_files((file, intents))
    joins = part.joining == JudgmentSet.Joining.JOIN
    latest = collection.judgment_sets.ready().last()
    with transaction.atomic():
        judgment_set = _create_judgment_set(
            collection,
            file,
            version,
            user,
            note=note,
            format=format,
            asks_first=asks_first,
            pool=pool,
            intents=intents,
            joining=part.joining,
            joined_to=(part.of or latest) if joins else None,
            conflict_rule=part.conflict_rule,
        )
        if pool is not None:
            record_pooled_runs(judgment_set, pool)
        AuditEvent.objects.record(user, "upload", judgment_set)
        queue.enqueue("check_judgments", judgment_set)
    return judgment_set


def store_intents(file: UploadedFile | None) -> dict[str, str]:
    """Store the probabilities of subtopics; return the fields of their judgments."""
    if file is None:
        return {}
    name = default_storage.save(f"collections/{secrets.token_hex(8)}/intents", file)
    return {"intents_file": name, "intents_filename": clean_filename(file)}


def store_version(version: ImportedVersion, file: UploadedFile) -> None:
    """Store a new version with its file; raises NotAccepted if its name is taken."""
    store_version_file(version, file)
    try:
        with transaction.atomic():
            version.save(force_insert=True)
    except IntegrityError:
        default_storage.delete(version.file.name)
        raise NotAccepted(
            "E_CONFLICT", f"{version.noun.capitalize()} {version.version} already exist."
        ) from None


def store_version_file(version: ImportedVersion, file: UploadedFile) -> None:
    """Store the file of a version, and give the version what is known of it; do not save it."""
    version.sha256 = hash_file(file)
    name = f"collections/{secrets.token_hex(8)}/{version.noun}"
    version.file.name = default_storage.save(name, file)
    version.filename = clean_filename(file)
    version.size = file_size(file)


def _create_judgment_set(
    collection: Collection,
    file: UploadedFile,
    version: str,
    user: User,
    intents: UploadedFile | None = None,
    **fields: Any,
) -> JudgmentSet:
    judgment_set = JudgmentSet(
        collection=collection,
        version=version,
        created_by=user,
        **store_intents(intents),
        **fields,
    )
    store_version(judgment_set, file)
    return judgment_set
