"""Systems of a benchmark: submit the runs of a version at once, and change what its runs share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.utils import timezone

from evaluation.problems import Problem
from leaderboard.actions import people, uploads
from leaderboard.actions.people import INVISIBLE
from leaderboard.actions.run_files import RunFile, set_others_aside
from leaderboard.actions.runs import withdraw_run
from leaderboard.actions.submission_rules import (
    ActionError,
    NotAccepted,
    lock_team,
    refuse_large,
)
from leaderboard.actions.track_recognition import FoundTrack, find_track
from leaderboard.actions.uploads import RunDetails
from leaderboard.infrastructure.outages import find_outage
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
from leaderboard.runs.fact_changes import change_facts
from leaderboard.runs.facts import OF_COMMITS

NAME_LIMIT = 80
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
SHORT_COMMIT = 10


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


def clean_system_name(name: str) -> str:
    """Return a name with single blanks; raises NotAccepted if it cannot be read on a page."""
    name = " ".join(name.split())
    if not name or len(name) > NAME_LIMIT or not name.isprintable() or INVISIBLE.search(name):
        raise NotAccepted("E_FIELD", f"name: use 1 to {NAME_LIMIT} printable characters.")
    return name


def refuse_label(label: str) -> None:
    """Raise NotAccepted unless a label can stand in a URL."""
    if not LABEL.fullmatch(label):
        message = (
            "version: use up to 40 letters, digits, - _ and dots. Begin with a letter or digit."
        )
        raise NotAccepted("E_FIELD", message)


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


@dataclass(frozen=True)
class SubmittedRun:
    """The run of a file; `by` says how its track was found, `is_new` whether the file is."""

    name: str
    run: Run
    by: str
    is_new: bool


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
    received_at = received_at or timezone.now()
    details = replace(details, name=clean_system_name(details.name))
    if details.version:
        refuse_label(details.version)
    files = set_others_aside(files)
    ignored = [file for file in files if file.is_ignored]
    with _open_files([file for file in files if not file.is_ignored], tracks) as opened:
        team = _find_or_join_team(benchmark, user)
        known = _find_repeated_version(user, team, opened, details, received_at)
        if known is None:
            known = _store_version(benchmark, user, team, opened, details, received_at)
    version, runs = known
    return SubmittedVersion(version, runs, find_missing_tracks(version, tracks), ignored)


@dataclass(frozen=True)
class _OpenFile:
    """A file of a request, its hash and its track."""

    name: str
    file: UploadedFile
    sha256: str
    found: FoundTrack


@contextmanager
def _open_files(files: Sequence[RunFile], tracks: Sequence[Track]) -> Iterator[list[_OpenFile]]:
    """Open all files and find the track of each; raises FilesRefusedError."""
    if not files:
        raise NotAccepted("E_EMPTY", "There is no run file in this request.")
    if not tracks:
        raise NotAccepted("E_TRACK", "This benchmark has no track yet.")
    with ExitStack() as stack:
        refusals: dict[str, NotAccepted] = {}
        opened: list[_OpenFile] = []
        for run_file in files:
            try:
                opened.append(_open_file(run_file, tracks, opened, stack))
            except NotAccepted as refusal:
                refusals[run_file.name] = refusal
        if refusals:
            raise FilesRefusedError(refusals)
        yield opened


def _open_file(
    run_file: RunFile, tracks: Sequence[Track], others: Sequence[_OpenFile], stack: ExitStack
) -> _OpenFile:
    if run_file.problem:
        code, _, message = run_file.problem.partition(": ")
        raise NotAccepted(code, message)
    file = run_file.open()
    stack.callback(file.close)
    refuse_large(file, settings.RUN_UPLOAD_LIMIT)
    found = find_track(run_file.name, file.file, tracks)
    same = next((other for other in others if other.found.track == found.track), None)
    if same is not None:
        message = f"{same.name} is for {found.track.slug} too. Submit one file for each track."
        raise NotAccepted("E_TRACK", message)
    return _OpenFile(run_file.name, file, uploads.hash_file(file), found)


def _find_or_join_team(benchmark: Benchmark, user: User) -> Team:
    """Return the user's team; a first submission joins, and organisers have one.

    Raises NotAccepted.
    """
    team = benchmark.team_of(user)
    if team is None and benchmark.is_organised_by(user):
        return people.get_or_create_organisers_team(benchmark)
    return team or uploads.join_team(benchmark, user)


Stored = tuple[SystemVersion, list[SubmittedRun]]


def _find_repeated_version(
    user: User,
    team: Team,
    files: Sequence[_OpenFile],
    details: SystemDetails,
    received_at: datetime,
) -> Stored | None:
    """Return the version that this request repeats, by its key or by all its files.

    This comes before the rules: a user who missed the first answer may retry after the deadline.
    """
    runs = Run.objects.filter(version__system__team=team).select_related("version__system")
    if details.idempotency_key:
        fresh = runs.filter(received_at__gt=received_at - uploads.KEY_LIFETIME)
        same_key = fresh.filter(submitted_by=user, idempotency_key=details.idempotency_key).first()
        if same_key is not None:
            repeated = _match_runs(same_key.version, files)
            if repeated is None:
                message = "This Idempotency-Key was used with other files."
                raise NotAccepted("E_CONFLICT", message)
            return repeated
    versions = SystemVersion.objects.filter(system__team=team, system__name=details.name)
    if details.label:
        versions = versions.filter(label=details.label)
    newest = versions.first()
    return None if newest is None else _match_runs(newest, files)


def _match_runs(version: SystemVersion, files: Sequence[_OpenFile]) -> Stored | None:
    """Return the runs of a version if they have exactly these files on these tracks."""
    runs = {run.track_id: run for run in version.runs.active().select_related("track")}
    matched = []
    for file in files:
        run = runs.get(file.found.track.pk)
        if run is None or run.sha256 != file.sha256:
            return None
        matched.append(SubmittedRun(file.name, run, file.found.by, is_new=False))
    return version, matched


def _store_version(
    benchmark: Benchmark,
    user: User,
    team: Team,
    files: Sequence[_OpenFile],
    details: SystemDetails,
    received_at: datetime,
) -> Stored:
    """Store all files and their runs, or none; raises FilesRefusedError and NotAccepted."""
    organises = benchmark.is_organised_by(user)
    runs = _build_runs(user, team, files, details, received_at, organises)
    try:
        for file, run in zip(files, runs, strict=True):
            uploads.save_file(run, file.file)
        with transaction.atomic():
            lock_team(team.pk)
            version = _get_or_create_version(benchmark, user, team, details)
            submitted = _insert_runs(version, files, runs, limited=not organises)
    except IntegrityError:
        # The same request came twice at once, and the first one made the runs.
        _delete_files(runs)
        known = _find_repeated_version(user, team, files, details, received_at)
        if known is None:
            raise
        return known
    except BaseException as error:
        # After a lost connection nobody knows whether it committed, so the cleanup decides.
        if find_outage(error) is None:
            _delete_files(runs)
        raise
    made = {sent.run.pk for sent in submitted}
    _delete_files([run for run in runs if run.pk not in made])
    return version, submitted


def _delete_files(runs: Sequence[Run]) -> None:
    for run in runs:
        if run.file.name:
            default_storage.delete(run.file.name)


def _build_runs(
    user: User,
    team: Team,
    files: Sequence[_OpenFile],
    details: SystemDetails,
    received_at: datetime,
    organises: bool,
) -> list[Run]:
    """Return the runs of the files, not yet saved; raises FilesRefusedError by the rules."""
    stated = _stated_facts(team, details)
    shared = RunDetails(
        description=details.description, facts=stated, idempotency_key=details.idempotency_key
    )
    runs, refusals = [], {}
    for file in files:
        track = file.found.track
        try:
            if not organises:
                uploads.refuse_by_rules(track, shared, received_at, team)
            sent, sha256 = file.file, file.sha256
            runs.append(uploads.build_run(track, team, user, sent, sha256, shared, received_at))
        except NotAccepted as refusal:
            refusals[file.name] = refusal
    if refusals:
        raise FilesRefusedError(refusals)
    return runs


def _stated_facts(team: Team, details: SystemDetails) -> dict[str, Any]:
    """Return the facts of the runs: those of the system, and what the request states."""
    system = System.objects.filter(team=team, name=details.name).first()
    return {**(system.facts if system is not None else {}), **details.run_facts}


def _get_or_create_version(
    benchmark: Benchmark, user: User, team: Team, details: SystemDetails
) -> SystemVersion:
    """Return the version of a request, created if needed; the row of the team is locked."""
    system, is_new = System.objects.get_or_create(
        benchmark=benchmark,
        team=team,
        name=details.name,
        defaults={"description": details.description},
    )
    if is_new:
        AuditEvent.objects.record(user, "create", system, after={"name": system.name})
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
            created_by=user,
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


def _insert_runs(
    version: SystemVersion, files: Sequence[_OpenFile], runs: Sequence[Run], limited: bool
) -> list[SubmittedRun]:
    """Save the runs of a version in the caller's transaction; raises FilesRefusedError."""
    submitted: dict[str, SubmittedRun] = {}
    refusals: dict[str, NotAccepted] = {}
    for file, run in zip(files, runs, strict=True):
        try:
            kept = _insert_run(version, run, limited)
        except NotAccepted as refusal:
            refusals[file.name] = refusal
        else:
            submitted[file.name] = SubmittedRun(file.name, kept, file.found.by, kept is run)
    if refusals:
        raise FilesRefusedError(refusals)
    return [submitted[file.name] for file in files]


def _insert_run(version: SystemVersion, run: Run, limited: bool) -> Run:
    """Save a run of a version, or put the run into it that the team made of this file before."""
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
    known = present or alone.select_related("track").first()
    if known is not None:
        Run.objects.filter(pk=known.pk).update(version=version)
        return known
    run.version = version
    uploads.insert_run(run, limited)
    return run


def find_missing_tracks(version: SystemVersion, tracks: Sequence[Track]) -> list[Track]:
    """Return the tracks on which a version has no active run."""
    answered = set(version.runs.active().values_list("track", flat=True))
    return [track for track in tracks if track.pk not in answered]


def withdraw_version(version: SystemVersion, user: User, reason: str = "") -> None:
    """Withdraw every run of a version; they can be restored one by one."""
    with transaction.atomic():
        AuditEvent.objects.record(user, "withdraw", version, after={"reason": reason})
        for run in version.runs.active().select_related("track", "team"):
            withdraw_run(run, user, reason)


def change_system(system: System, user: User, name: str, description: str) -> None:
    """Rename or describe a system; raises NotAccepted, and ActionError for a name of the team's."""
    name = clean_system_name(name)
    before = {"name": system.name, "description": system.description}
    after = {"name": name, "description": description}
    if before == after:
        return
    try:
        with transaction.atomic():
            System.objects.filter(pk=system.pk).update(**after)
            AuditEvent.objects.record(user, "change", system, before=before, after=after)
    except IntegrityError:
        raise ActionError(f"Your team has another system named {name}.") from None


def state_facts(system: System, user: User, facts: Mapping[str, Any]) -> int:
    """State facts of a system on all its runs; return on how many they can no longer change.

    A team states facts of a run until the release of its track, organisers at any time.
    """
    facts = {name: fact for name, fact in facts.items() if name not in ("primary", *OF_COMMITS)}
    organises = system.benchmark.is_organised_by(user)
    runs = Run.objects.filter(version__system=system).select_related("track")
    fixed = 0
    with transaction.atomic():
        kept = {name: fact for name, fact in {**system.facts, **facts}.items() if fact is not None}
        System.objects.filter(pk=system.pk).update(facts=kept)
        AuditEvent.objects.record(user, "state facts", system, before=system.facts, after=kept)
        for run in runs.order_by("track", "pk"):
            if organises or run.track.released_at is None:
                change_facts(run, user, facts)
            else:
                fixed += 1
    return fixed


def add_run(version: SystemVersion, user: User, run: Run) -> None:
    """Put an active run that its team submitted before into a version; raises ActionError."""
    if version.runs.active().filter(track=run.track_id).exists():
        raise _answered_already(version, run.track)
    try:
        with transaction.atomic():
            free = Run.objects.active().filter(version=None, team=version.system.team_id)
            if not free.filter(pk=run.pk).update(version=version):
                raise ActionError("This run is withdrawn or is part of a version already.")
            SystemVersion.objects.filter(pk=version.pk).update(announced_at=None)
            AuditEvent.objects.record(user, "add run", version, after={"run": run.pk})
    except IntegrityError:
        raise _answered_already(version, run.track) from None


def _answered_already(version: SystemVersion, track: Track) -> ActionError:
    return ActionError(f"Version {version.label} already has a run on {track.slug}.")
