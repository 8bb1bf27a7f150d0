"""Submit runs: one run of a team to a track, or one for each of several tracks as a system.

Nothing here reads a file's contents beyond its topics and its hash, so a request takes only as long
as the bytes need to arrive.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from django.conf import settings
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.utils import timezone

from evaluation.problems import Problem
from leaderboard.actions import people
from leaderboard.actions.refusals import NotAccepted
from leaderboard.actions.run_files import RunFile, set_others_aside
from leaderboard.actions.submission_rules import (
    format_utc,
    lock_team,
    refuse_after_refusals,
    refuse_full_benchmark,
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
from leaderboard.actions.systems import clean_system_name
from leaderboard.actions.track_recognition import find_track
from leaderboard.actions.uploads import clean_filename, hash_file
from leaderboard.infrastructure.outages import find_outage
from leaderboard.jobs import queue
from leaderboard.models import (
    AuditEvent,
    Benchmark,
    Run,
    System,
    SystemVersion,
    Team,
    Track,
    User,
)
from leaderboard.runs.facts import OF_COMMITS, build_columns

KEY_LIFETIME = timedelta(hours=24)
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
SHORT_COMMIT = 10


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
class SystemDetails:
    """What the files of a request share: the system, its version, and facts of the runs."""

    name: str
    version: str = ""
    commit: str = ""
    branch: str = ""
    configuration: str = ""
    description: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    idempotency_key: str = ""

    @property
    def label(self) -> str:
        """The label of the version, as given or from its commit; "" for the next number."""
        short = self.commit[:SHORT_COMMIT]
        return self.version or (short if LABEL.fullmatch(short) else "")

    @property
    def run_facts(self) -> dict[str, Any]:
        """The facts of each run."""
        of_commit = {name: stated for name in OF_COMMITS if (stated := getattr(self, name))}
        return {**self.facts, **of_commit}


class Named(Protocol):
    """Part of a request that has the name of its file."""

    @property
    def name(self) -> str: ...


File = TypeVar("File", bound=Named)
Made = TypeVar("Made")


class FilesRefusedError(Exception):
    """No run was made: the reasons, each with the name of its file in `found`."""

    def __init__(self, refusals: Mapping[str, NotAccepted]) -> None:
        self.refusals = dict(refusals)
        self.problems = [
            Problem(refusal.code, "error", None, refusal.message, name)
            for name, refusal in refusals.items()
        ]
        super().__init__("; ".join(f"{name}: {text.message}" for name, text in refusals.items()))

    @property
    def first(self) -> NotAccepted:
        return next(iter(self.refusals.values()))


def do_for_each(files: Iterable[File], act: Callable[[File], Made]) -> list[Made]:
    """Return what an act makes of each file; raises FilesRefusedError with the reasons of all."""
    made: list[Made] = []
    refusals: dict[str, NotAccepted] = {}
    for file in files:
        try:
            made.append(act(file))
        except NotAccepted as refusal:
            refusals[file.name] = refusal
    if refusals:
        raise FilesRefusedError(refusals)
    return made


@dataclass(frozen=True)
class SubmittedRun:
    """The run of a file; `by` says how its track was found, `is_new` whether the file is."""

    name: str
    run: Run
    by: str
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


@dataclass(frozen=True)
class SubmittedVersion:
    """What a request made of its files; `missing` are the tracks without a run of the version."""

    version: SystemVersion
    runs: list[SubmittedRun]
    missing: list[Track]
    ignored: list[RunFile]

    @property
    def is_new(self) -> bool:
        return any(sent.is_new for sent in self.runs)


@dataclass(frozen=True)
class SentFile:
    """A file of a request: its hash, its track, how that was found, and details of its run."""

    name: str
    file: UploadedFile
    sha256: str
    track: Track
    by: str
    details: RunDetails = field(default_factory=RunDetails)


@dataclass(frozen=True)
class Submission:
    """Files for runs of one team, one for each track at most, as a system if it is named.

    Without a team, the user joins the benchmark by it.
    """

    benchmark: Benchmark
    user: User
    team: Team | None
    files: Sequence[SentFile]
    received_at: datetime
    organises: bool
    system: SystemDetails | None = None

    @property
    def idempotency_key(self) -> str:
        return self.files[0].details.idempotency_key


def accept_run(
    track: Track,
    user: User,
    file: UploadedFile,
    details: RunDetails | None = None,
    team: Team | None = None,
    received_at: datetime | None = None,
) -> SubmittedRun:
    """Store the file and queue its check; a file submitted again is the same run.

    `team` is for organisers, who may submit for others; `received_at` is when the last byte
    arrived, if not now.  Raises NotAccepted.
    """
    refuse_large(file, settings.RUN_UPLOAD_LIMIT)
    sent = SentFile(file.name or "", file, hash_file(file), track, "", details or RunDetails())
    organises, at = track.is_organised_by(user), received_at or timezone.now()
    team = team or find_or_create_team(track.benchmark, user)
    try:
        [run] = submit(Submission(track.benchmark, user, team, [sent], at, organises))
    except FilesRefusedError as refused:
        raise refused.first from None
    return run


def submit_version(
    benchmark: Benchmark,
    user: User,
    tracks: Sequence[Track],
    files: Sequence[RunFile],
    details: SystemDetails,
    received_at: datetime | None = None,
) -> SubmittedVersion:
    """Submit the runs of a version of a system to `tracks`, which the user may know.

    All files become runs or none does: raises FilesRefusedError, and NotAccepted for the request
    as a whole. The same files again are the same runs.
    """
    details = replace(details, name=clean_system_name(details.name))
    if details.version:
        refuse_label(details.version)
    files = set_others_aside(files)
    ignored = [file for file in files if file.is_ignored]
    organises, at = benchmark.is_organised_by(user), received_at or timezone.now()
    with _open_files([file for file in files if not file.is_ignored], tracks) as opened:
        team = find_or_create_team(benchmark, user)
        shared = RunDetails(
            description=details.description,
            facts=_stated_facts(team, details),
            idempotency_key=details.idempotency_key,
        )
        sent = [replace(file, details=shared) for file in opened]
        runs = submit(Submission(benchmark, user, team, sent, at, organises, details))
    version = runs[0].run.version
    assert version is not None
    return SubmittedVersion(version, runs, find_missing_tracks(version, tracks), ignored)


def refuse_label(label: str) -> None:
    """Raise NotAccepted unless a label can stand in a URL."""
    if not LABEL.fullmatch(label):
        message = (
            "version: use up to 40 letters, digits, - _ and dots. Begin with a letter or digit."
        )
        raise NotAccepted("E_FIELD", message)


def find_missing_tracks(version: SystemVersion, tracks: Sequence[Track]) -> list[Track]:
    """Return the tracks on which a version has no active run."""
    answered = set(version.runs.active().values_list("track", flat=True))
    return [track for track in tracks if track.pk not in answered]


def submit(sent: Submission) -> list[SubmittedRun]:
    """Make a run of each file, or none: raises FilesRefusedError, and NotAccepted for all.

    The same files again are the same runs.  This comes before the rules: a user who missed the
    first answer may retry after the deadline.
    """
    if sent.team is None:
        # Nobody joins by a file that is refused.
        do_for_each(sent.files, lambda file: check_rules(sent, file))
        sent = replace(sent, team=join_team(sent.benchmark, sent.user))
    known = find_repeated_runs(sent)
    if known is not None:
        return known
    runs = do_for_each(sent.files, lambda file: build_run(sent, file, check_rules(sent, file)))
    try:
        with keep_files(runs, sent.files), transaction.atomic():
            inserted = _insert_runs(sent, runs)
    except IntegrityError:
        # The same request came twice at once, and the first one made the runs.
        known = find_repeated_runs(sent)
        if known is None:
            raise
        return known
    delete_files(built.run for built, kept in zip(runs, inserted, strict=True) if not kept.is_new)
    return inserted


def find_or_create_team(benchmark: Benchmark, user: User) -> Team | None:
    """Return the user's team, None before the first run; organisers always have a team."""
    team = benchmark.team_of(user)
    if team is None and benchmark.is_organised_by(user):
        return people.get_or_create_organisers_team(benchmark)
    return team


def join_team(benchmark: Benchmark, user: User) -> Team:
    """Let the user join the benchmark, or raise NotAccepted."""
    try:
        return people.admit(benchmark, user)
    except people.JoinError as reason:
        raise NotAccepted("E_NO_TEAM", str(reason)) from None


def check_rules(sent: Submission, file: SentFile) -> Run | None:
    """Return the run that a file replaces, if any.

    Raises NotAccepted if the team has no such run, and outside its dates or without required facts.
    """
    track, replaced = file.track, find_replaced_run(file, sent.team)
    if sent.organises:
        return replaced
    refuse_outside_dates(track, sent.received_at, sent.team)
    refuse_without_facts(track, file.details.facts)
    if replaced is not None:
        refuse_late_replacement(track, replaced.team, sent.received_at)
    return replaced


def find_replaced_run(file: SentFile, team: Team | None) -> Run | None:
    """Return the run of the team that a file replaces, or raise NotAccepted."""
    run_id = file.details.replaces
    if not run_id:
        return None
    runs = Run.objects.active().not_removed().filter(track=file.track, team=team, pk=run_id)
    replaced = runs.select_related("track", "team").first()
    if replaced is None:
        raise NotAccepted("E_FIELD", "replaces: your team has no such run to replace.")
    return replaced


def find_repeated_runs(sent: Submission) -> list[SubmittedRun] | None:
    """Return the runs that a submission repeats, by its key or by all its files."""
    keyed = _find_keyed_run(sent)
    same = _find_same_runs(sent) if keyed is None else _find_runs_beside(keyed, sent)
    repeated = _match(sent.files, same)
    if keyed is not None and repeated is None:
        files = "another file" if sent.system is None else "other files"
        raise NotAccepted("E_CONFLICT", f"This Idempotency-Key was used with {files}.")
    for file, known in zip(sent.files, repeated or (), strict=False):
        refuse_known_replacement(known.run, file.details.replaces)
    return repeated


def _find_keyed_run(sent: Submission) -> Run | None:
    """Return the user's run with the key of a submission; a key is forgotten after a day."""
    if not sent.idempotency_key:
        return None
    same = Run.objects.filter(submitted_by=sent.user, idempotency_key=sent.idempotency_key)
    if sent.system is None:
        same = same.filter(track=sent.files[0].track)
    else:
        same = same.filter(track__benchmark=sent.benchmark)
    same.filter(received_at__lte=sent.received_at - KEY_LIFETIME).update(idempotency_key="")
    return same.select_related("version__system", "track").first()


def _find_runs_beside(keyed: Run, sent: Submission) -> Iterable[Run]:
    """Return the runs that were made by one request with this one."""
    if sent.system is None:
        return [keyed]
    return [] if keyed.version is None else runs_of(keyed.version)


def _find_same_runs(sent: Submission) -> Iterable[Run]:
    """Return the runs that a submission without a key can repeat."""
    if sent.system is None:
        file = sent.files[0]
        same = Run.objects.active().filter(track=file.track, team=sent.team, sha256=file.sha256)
        return same.select_related("track")[:1]
    versions = SystemVersion.objects.filter(
        system__team=sent.team, system__name=sent.system.name
    ).select_related("system")
    if sent.system.label:
        versions = versions.filter(label=sent.system.label)
    newest = versions.first()
    return [] if newest is None else runs_of(newest)


def runs_of(version: SystemVersion) -> Iterable[Run]:
    """Return the active runs of a version."""
    return version.runs.active().select_related("version__system", "track")


def _match(files: Sequence[SentFile], runs: Iterable[Run]) -> list[SubmittedRun] | None:
    """Return the run of each file if there is one with its bytes on its track, else None."""
    by_track = {run.track_id: run for run in runs}
    matched = []
    for file in files:
        run = by_track.get(file.track.pk)
        if run is None or run.sha256 != file.sha256:
            return None
        matched.append(SubmittedRun(file.name, run, file.by, is_new=False))
    return matched


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


def build_run(sent: Submission, file: SentFile, replaced: Run | None = None) -> SubmittedRun:
    """Return the run of a file, not yet saved."""
    details = file.details
    columns = build_columns(details.facts)
    run = Run(
        track=file.track,
        team=sent.team,
        submitted_by=sent.user,
        tag=details.tag,
        description=details.description,
        **columns,
        format=details.format,
        lenient=details.lenient and sent.organises,
        fixes=list(details.fixes),
        filename=clean_filename(file.file),
        size=file.file.size or 0,
        sha256=file.sha256,
        idempotency_key=details.idempotency_key,
        received_at=sent.received_at,
        replaces=replaced,
    )
    # The new run takes the place of the old one in every respect.
    run.is_primary = run.is_primary or (replaced is not None and replaced.is_primary)
    return SubmittedRun(file.name, run, file.by, is_new=True)


@contextmanager
def keep_files(runs: Sequence[SubmittedRun], files: Sequence[SentFile]) -> Iterator[None]:
    """Store the files of runs that are not saved yet, and delete them if the runs do not come.

    Raises NotAccepted if the site is full.
    """
    try:
        for built, file in zip(runs, files, strict=True):
            refuse_full_site(built.run.size)
            place = f"runs/{built.run.pk}/file-{secrets.token_hex(4)}"
            built.run.file.name = default_storage.save(place, file.file)
        yield
    except BaseException as error:
        # After a lost connection nobody knows whether it committed, so the cleanup decides.
        if find_outage(error) is None:
            delete_files(built.run for built in runs)
        raise


def delete_files(runs: Iterable[Run]) -> None:
    """Delete the files of runs that are not saved."""
    for run in runs:
        if run.file.name:
            default_storage.delete(run.file.name)


def _insert_runs(sent: Submission, runs: Sequence[SubmittedRun]) -> list[SubmittedRun]:
    """Save runs in the transaction of the caller; raises FilesRefusedError and NotAccepted.

    The row of the team is locked, so that two runs never share a place.
    """
    assert sent.team is not None
    team = lock_team(sent.team.pk)
    version = None if sent.system is None else get_or_create_version(sent, team, sent.system)

    def insert(built: SubmittedRun) -> SubmittedRun:
        known = None if version is None else find_run_for(version, built.run)
        if known is None:
            built.run.version = version
            insert_run(built.run, team, limited=not sent.organises)
            return built
        Run.objects.filter(pk=known.pk).update(version=version)
        known.version = version
        return replace(built, run=known, is_new=False)

    return do_for_each(runs, insert)


def insert_run(run: Run, team: Team, limited: bool) -> None:
    """Save a run and queue its check; the row of the team is locked.  Raises NotAccepted."""
    refuse_repeated_replacement(run)
    refuse_full_benchmark(team.benchmark, run.size)
    if limited:
        refuse_full_team(team, run.size)
        refuse_over_quota(run.track, team, run.received_at, run.replaces)
        refuse_over_benchmark_quota(team, run.received_at, run.replaces)
        refuse_after_refusals(run.track, team, run.received_at)
        refuse_repeated_tag(run)
    run.save(force_insert=True)
    queue.enqueue("check_run", run)


def find_run_for(version: SystemVersion, run: Run) -> Run | None:
    """Return the run with the same file that a version has on the track, or that is in none yet.

    Raises NotAccepted if the version has another file there.
    """
    present = version.runs.active().filter(track=run.track_id).first()
    if present is not None and present.sha256 != run.sha256:
        message = (
            f"Version {version.label} already has a run on {run.track.slug}: {present}. "
            "Withdraw it, or submit a new version."
        )
        raise NotAccepted("E_CONFLICT", message)
    alone = Run.objects.active().filter(
        track=run.track_id, team=run.team_id, sha256=run.sha256, version=None
    )
    return present or alone.select_related("track").first()


def _stated_facts(team: Team | None, details: SystemDetails) -> dict[str, Any]:
    """Return the facts of the runs: those of the system, and what the request states."""
    system = None if team is None else System.objects.filter(team=team, name=details.name).first()
    return {**(system.facts if system is not None else {}), **details.run_facts}


def get_or_create_version(sent: Submission, team: Team, details: SystemDetails) -> SystemVersion:
    """Return the version of a submission, created if needed; the row of the team is locked."""
    system, is_new = System.objects.get_or_create(
        benchmark=sent.benchmark,
        team=team,
        name=details.name,
        defaults={"description": details.description},
    )
    if is_new:
        AuditEvent.objects.record(sent.user, "create", system, after={"name": system.name})
    # What the runs state is the system's from now on; its earlier runs keep what they state.
    shared = {name: fact for name, fact in details.facts.items() if name != "primary"}
    if shared:
        System.objects.filter(pk=system.pk).update(facts={**system.facts, **shared})
    label = details.label or _next_label(system)
    known = system.versions.filter(label=label).first()
    if known is None:
        return system.versions.create(
            label=label,
            commit=details.commit,
            branch=details.branch,
            configuration=details.configuration,
            created_by=sent.user,
        )
    if details.commit and known.commit != details.commit:
        other = f"has commit {known.commit}" if known.commit else "has no commit"
        message = f"Version {label} of {system} {other}. Choose another version."
        raise NotAccepted("E_CONFLICT", message)
    SystemVersion.objects.filter(pk=known.pk).update(announced_at=None)
    return known


def _next_label(system: System) -> str:
    """Return the number of the next version."""
    labels = set(system.versions.values_list("label", flat=True))
    number = len(labels) + 1
    while str(number) in labels:
        number += 1
    return str(number)


@contextmanager
def _open_files(files: Sequence[RunFile], tracks: Sequence[Track]) -> Iterator[list[SentFile]]:
    """Open all files and find the track of each; raises FilesRefusedError."""
    if not files:
        raise NotAccepted("E_EMPTY", "There is no run file in this request.")
    if not tracks:
        raise NotAccepted("E_TRACK", "This benchmark has no track yet.")
    with ExitStack() as stack:
        opened: list[SentFile] = []
        do_for_each(files, lambda file: opened.append(_open_file(file, tracks, opened, stack)))
        yield opened


def _open_file(
    run_file: RunFile, tracks: Sequence[Track], others: Sequence[SentFile], stack: ExitStack
) -> SentFile:
    if run_file.problem:
        code, _, message = run_file.problem.partition(": ")
        raise NotAccepted(code, message)
    file = run_file.open()
    stack.callback(file.close)
    refuse_large(file, settings.RUN_UPLOAD_LIMIT)
    found = find_track(run_file.name, file.file, tracks)
    same = next((other for other in others if other.track == found.track), None)
    if same is not None:
        message = f"{same.name} is for {found.track.slug} too. Submit one file for each track."
        raise NotAccepted("E_TRACK", message)
    return SentFile(run_file.name, file, hash_file(file), found.track, found.by)


@dataclass(frozen=True)
class FileOutcome:
    """What happened to one of several files for one track."""

    name: str
    run: Run | None = None
    is_new: bool = True
    problem: str = ""


def accept_run_files(
    track: Track,
    user: User,
    files: Sequence[RunFile],
    details: RunDetails,
    received_at: datetime | None = None,
) -> list[FileOutcome]:
    """Submit each file as a run of its own; a rejected file does not stop the others."""
    # A key names one run, and the same file is the same run without one.
    details = replace(details, idempotency_key="")
    return [_accept_run_file(track, user, file, details, received_at) for file in files]


def _accept_run_file(
    track: Track, user: User, file: RunFile, details: RunDetails, received_at: datetime | None
) -> FileOutcome:
    if file.problem:
        return FileOutcome(file.name, problem=file.problem)
    try:
        with file.open() as sent:
            accepted = accept_run(track, user, sent, details, received_at=received_at)
    except NotAccepted as refusal:
        return FileOutcome(file.name, problem=refusal.message)
    return FileOutcome(file.name, accepted.run, accepted.is_new)


def submit_archived_run(
    track: Track, team: Team, file: UploadedFile, details: RunDetails, version: SystemVersion | None
) -> SubmittedRun:
    """Submit a run of an archive for a team, as the run of a version if there is one.

    Versions may have equal runs; without their versions these are one run.
    """
    owner = track.benchmark.owner
    if version is None:
        return accept_run(track, owner, file, details, team)
    sent = SentFile(file.name or "", file, hash_file(file), track, "", details)
    alone = Submission(track.benchmark, owner, team, [sent], timezone.now(), organises=True)
    built = build_run(alone, sent)
    built.run.version = version
    with keep_files([built], [sent]), transaction.atomic():
        insert_run(built.run, lock_team(team.pk), limited=False)
    return built
