"""Import a benchmark from its archive: first the systems, then the tracks, then what joins them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction

from leaderboard.actions import people
from leaderboard.archives.manifests import BENCHMARK_ARCHIVE_VERSION, BenchmarkManifest
from leaderboard.archives.track_import import clean_values, parse_manifest
from leaderboard.archives.zip_files import Archive, ArchiveError
from leaderboard.models import (
    AuditEvent,
    Benchmark,
    BenchmarkTeam,
    BenchmarkTrack,
    Run,
    System,
    SystemVersion,
    Team,
    Track,
    User,
)
from leaderboard.runs.facts import clean_facts


def read_benchmark_manifest(archive: Archive) -> BenchmarkManifest:
    """Read the manifest of a benchmark's archive; raises ArchiveError."""
    manifest = parse_manifest(archive, BenchmarkManifest, "benchmark")
    if manifest.benchmark_archive != BENCHMARK_ARCHIVE_VERSION:
        raise ArchiveError(
            f"it is of version {manifest.benchmark_archive}; "
            f"version {BENCHMARK_ARCHIVE_VERSION} is read here"
        )
    slugs = [place.track for place in manifest.places]
    if len(set(slugs)) < len(slugs):
        raise ArchiveError("it has two tracks of the same name")
    return manifest


@dataclass(frozen=True)
class RestoredBenchmark:
    """A benchmark, its teams in the order of the manifest, and the version of each run."""

    benchmark: Benchmark
    teams: list[BenchmarkTeam]
    versions: dict[str, SystemVersion]


@transaction.atomic
def restore_benchmark(manifest: BenchmarkManifest, owner: User, slug: str) -> RestoredBenchmark:
    """Restore a benchmark with its teams, systems and versions, but without tracks yet."""
    benchmark = Benchmark.objects.create(
        slug=slug, owner=owner, **clean_values(Benchmark, manifest.fields)
    )
    AuditEvent.objects.record(owner, "create", benchmark, after={"slug": slug})
    teams = [
        BenchmarkTeam.objects.create(
            benchmark=benchmark, **clean_values(BenchmarkTeam, entry.fields)
        )
        for entry in manifest.teams
    ]
    versions: dict[str, SystemVersion] = {}
    systems = []
    for entry in manifest.systems:
        if entry.team >= len(teams):
            raise ArchiveError("it has a system of a team that it does not contain")
        values = clean_values(System, entry.fields)
        values["facts"] = clean_facts(values["facts"])
        system = System.objects.create(benchmark=benchmark, team=teams[entry.team], **values)
        systems.append(system)
        for made in entry.versions:
            fields = clean_values(SystemVersion, made.fields)
            version = SystemVersion.objects.create(system=system, created_by=owner, **fields)
            versions |= dict.fromkeys(made.runs, version)
    if manifest.baseline is not None and manifest.baseline < len(systems):
        benchmark.baseline = systems[manifest.baseline]
        benchmark.save(update_fields=["baseline"])
    return RestoredBenchmark(benchmark, teams, versions)


@transaction.atomic
def join_tracks(
    manifest: BenchmarkManifest,
    restored: RestoredBenchmark,
    tracks: Mapping[str, Track],
    rejected: Mapping[str, Run],
) -> None:
    """Put the restored tracks into the benchmark, and their teams into those of the benchmark."""
    for old_id, run in rejected.items():
        Run.objects.filter(pk=run.pk).update(version=restored.versions.get(old_id))
    for entry, team in zip(manifest.teams, restored.teams, strict=True):
        for slug, name in entry.names.items():
            _join_team(team, tracks[slug], name)
    for place in manifest.places:
        BenchmarkTrack.objects.create(
            benchmark=restored.benchmark,
            track=tracks[place.track],
            **clean_values(BenchmarkTrack, place.fields),
        )


def _join_team(team: BenchmarkTeam, track: Track, name: str) -> None:
    if team.of_organisers:
        found = people.get_or_create_organisers_team(track)
    else:
        found = people.get_or_create_team(track, name)
    Team.objects.filter(pk=found.pk).update(benchmark_team=team)
