"""Import a task from its archive: first the systems, then the tracks, then what joins them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction

from leaderboard.actions import people
from leaderboard.archives.task_manifests import TASK_ARCHIVE_VERSION, TaskManifest
from leaderboard.archives.track_import import clean_values, parse_manifest
from leaderboard.archives.zip_files import Archive, ArchiveError
from leaderboard.models import (
    AuditEvent,
    Run,
    System,
    SystemVersion,
    Task,
    TaskTeam,
    TaskTrack,
    Team,
    Track,
    User,
)
from leaderboard.runs.facts import clean_facts


def read_task_manifest(archive: Archive) -> TaskManifest:
    """Read the manifest of a task's archive; raises ArchiveError."""
    manifest = parse_manifest(archive, TaskManifest, "task")
    if manifest.task_archive != TASK_ARCHIVE_VERSION:
        raise ArchiveError(
            f"it is of version {manifest.task_archive}; version {TASK_ARCHIVE_VERSION} is read here"
        )
    slugs = [place.track for place in manifest.places]
    if len(set(slugs)) < len(slugs):
        raise ArchiveError("it has two tracks of the same name")
    return manifest


@dataclass(frozen=True)
class RestoredTask:
    """A task with its teams in the order of the manifest, and the version of each run there."""

    task: Task
    teams: list[TaskTeam]
    versions: dict[str, SystemVersion]


@transaction.atomic
def restore_task(manifest: TaskManifest, owner: User, slug: str) -> RestoredTask:
    """Restore a task with its teams, systems and versions, but without tracks yet."""
    task = Task.objects.create(slug=slug, owner=owner, **clean_values(Task, manifest.fields))
    AuditEvent.objects.record(owner, "create", task, after={"slug": slug})
    teams = [
        TaskTeam.objects.create(task=task, **clean_values(TaskTeam, entry.fields))
        for entry in manifest.teams
    ]
    versions: dict[str, SystemVersion] = {}
    systems = []
    for entry in manifest.systems:
        if entry.team >= len(teams):
            raise ArchiveError("it has a system of a team that it does not contain")
        values = clean_values(System, entry.fields)
        values["facts"] = clean_facts(values["facts"])
        system = System.objects.create(task=task, team=teams[entry.team], **values)
        systems.append(system)
        for made in entry.versions:
            fields = clean_values(SystemVersion, made.fields)
            version = SystemVersion.objects.create(system=system, created_by=owner, **fields)
            versions |= dict.fromkeys(made.runs, version)
    if manifest.baseline is not None and manifest.baseline < len(systems):
        task.baseline = systems[manifest.baseline]
        task.save(update_fields=["baseline"])
    return RestoredTask(task, teams, versions)


@transaction.atomic
def join_tracks(
    manifest: TaskManifest,
    restored: RestoredTask,
    tracks: Mapping[str, Track],
    rejected: Mapping[str, Run],
) -> None:
    """Put the restored tracks into the task, and their teams into those of the task."""
    for old_id, run in rejected.items():
        Run.objects.filter(pk=run.pk).update(version=restored.versions.get(old_id))
    for entry, team in zip(manifest.teams, restored.teams, strict=True):
        for slug, name in entry.names.items():
            _join_team(team, tracks[slug], name)
    for place in manifest.places:
        TaskTrack.objects.create(
            task=restored.task,
            track=tracks[place.track],
            **clean_values(TaskTrack, place.fields),
        )


def _join_team(team: TaskTeam, track: Track, name: str) -> None:
    if team.of_organisers:
        found = people.get_or_create_organisers_team(track)
    else:
        found = people.get_or_create_team(track, name)
    Team.objects.filter(pk=found.pk).update(task_team=team)
