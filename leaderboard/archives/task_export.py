"""Export a task as one file: the archive of each of its tracks, and what makes them one task.

manifest.json        settings, places of the tracks, teams, systems and their versions
tracks/<name>.zip    the archive of a track, which can also be imported alone
"""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings
from django.utils import timezone

from leaderboard.archives.manifests import plain_values
from leaderboard.archives.task_manifests import (
    TASK_ARCHIVE_VERSION,
    PlaceEntry,
    SystemEntry,
    TaskManifest,
    TaskTeamEntry,
    VersionEntry,
)
from leaderboard.archives.track_export import build_track_members
from leaderboard.archives.zip_files import MANIFEST, Member, stream_zip
from leaderboard.models import System, SystemVersion, Task, TaskTeam


def build_task_members(task: Task, with_documents: bool = False) -> Iterator[Member]:
    """Build the members of a task's archive, its tracks in their order."""
    for track in task.tracks():
        members = build_track_members(track, with_documents)
        yield Member(track_path(track.slug), stream_zip(members))
    yield Member(MANIFEST, [build_task_manifest(task).model_dump_json(indent=1).encode()])


def track_path(slug: str) -> str:
    return f"tracks/{slug}.zip"


def build_task_manifest(task: Task) -> TaskManifest:
    teams = list(task.teams.order_by("pk"))
    systems = list(task.systems.order_by("pk"))
    places = {team.pk: place for place, team in enumerate(teams)}
    keys = [system.pk for system in systems]
    return TaskManifest(
        task_archive=TASK_ARCHIVE_VERSION,
        rankfield=settings.VERSION,
        made_at=timezone.now(),
        slug=task.slug,
        fields=plain_values(task),
        places=[
            PlaceEntry(track=place.track.slug, fields=plain_values(place))
            for place in task.places.select_related("track")
        ],
        teams=[_describe_team(team) for team in teams],
        systems=[_describe_system(system, places[system.team_id]) for system in systems],
        baseline=keys.index(task.baseline_id) if task.baseline_id in keys else None,
    )


def _describe_team(team: TaskTeam) -> TaskTeamEntry:
    names = dict(team.teams.order_by("pk").values_list("track__slug", "name"))
    return TaskTeamEntry(names=names, fields=plain_values(team))


def _describe_system(system: System, team: int) -> SystemEntry:
    versions = system.versions.order_by("pk")
    return SystemEntry(
        team=team,
        fields=plain_values(system),
        versions=[_describe_version(version) for version in versions],
    )


def _describe_version(version: SystemVersion) -> VersionEntry:
    runs = version.runs.filter(track__task_place__task=version.system.task_id)
    ids = list(runs.order_by("received_at", "pk").values_list("pk", flat=True))
    return VersionEntry(runs=ids, fields=plain_values(version))
