"""Export a benchmark as one file: its tracks, all or one of them, and what makes them one.

manifest.json        settings, places of the tracks, teams, systems and their versions
tracks/<name>.zip    all of a track, see `track_export`
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence

from django.conf import settings
from django.utils import timezone

from leaderboard.archives.manifests import (
    BENCHMARK_ARCHIVE_VERSION,
    PLACE,
    BenchmarkManifest,
    BenchmarkTeamEntry,
    PlaceEntry,
    ReportedEntry,
    SystemEntry,
    VersionEntry,
    plain_values,
)
from leaderboard.archives.track_export import build_track_members
from leaderboard.archives.zip_files import MANIFEST, ZipEntry, stream_zip
from leaderboard.models import Benchmark, ReportedScores, System, SystemVersion, Team, Track


def build_benchmark_members(
    benchmark: Benchmark, with_documents: bool = False, tracks: Sequence[Track] = ()
) -> Iterator[ZipEntry]:
    """Build the members of the archive of a benchmark with these of its tracks, or with all."""
    tracks = tracks or list(benchmark.tracks.in_order())
    for track in tracks:
        members = build_track_members(track, with_documents)
        yield ZipEntry(track_path(track.slug), stream_zip(members))
    manifest = build_benchmark_manifest(benchmark, tracks)
    yield ZipEntry(MANIFEST, [manifest.model_dump_json(indent=1).encode()])


def track_path(slug: str) -> str:
    return f"tracks/{slug}.zip"


def build_benchmark_manifest(benchmark: Benchmark, tracks: Sequence[Track]) -> BenchmarkManifest:
    teams = list(benchmark.teams.order_by("pk"))
    systems = list(benchmark.systems.order_by("pk"))
    places = {team.pk: place for place, team in enumerate(teams)}
    keys = [system.pk for system in systems]
    return BenchmarkManifest(
        benchmark_archive=BENCHMARK_ARCHIVE_VERSION,
        rankfield=settings.VERSION,
        made_at=timezone.now(),
        slug=benchmark.slug,
        fields=plain_values(benchmark),
        places=[
            PlaceEntry(track=track.slug, fields={name: getattr(track, name) for name in PLACE})
            for track in tracks
        ],
        teams=[_describe_team(team, tracks) for team in teams],
        systems=[_describe_system(system, places[system.team_id], tracks) for system in systems],
        reported=[_describe_reported(each) for each in benchmark.reported_scores.all()],
        baseline=keys.index(benchmark.baseline_id) if benchmark.baseline_id in keys else None,
    )


def _describe_team(team: Team, tracks: Sequence[Track]) -> BenchmarkTeamEntry:
    slugs = [track.slug for track in tracks]
    fields = {"of_organisers": team.of_organisers, "created_at": team.created_at}
    return BenchmarkTeamEntry(names=dict.fromkeys(slugs, team.name), fields=fields)


def _describe_system(system: System, team: int, tracks: Sequence[Track]) -> SystemEntry:
    versions = system.versions.order_by("pk")
    return SystemEntry(
        team=team,
        fields=plain_values(system),
        versions=[_describe_version(version, tracks) for version in versions],
    )


def _describe_reported(version: ReportedScores) -> ReportedEntry:
    return ReportedEntry(
        known=b64encode(version.known).decode(),
        values=b64encode(version.values).decode(),
        fields=plain_values(version),
    )


def _describe_version(version: SystemVersion, tracks: Sequence[Track]) -> VersionEntry:
    runs = version.runs.filter(track__in=tracks)
    ids = list(runs.order_by("received_at", "pk").values_list("pk", flat=True))
    return VersionEntry(runs=ids, fields=plain_values(version))
