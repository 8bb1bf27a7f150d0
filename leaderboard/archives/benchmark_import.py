"""Import a benchmark from its archive: first the systems, then the tracks, then what joins them.

Versions before this wrote the archive of a track alone; it is read as a benchmark of one track.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from leaderboard.actions import people
from leaderboard.archives.benchmark_export import track_path
from leaderboard.archives.manifests import (
    BENCHMARK_ARCHIVE_VERSION,
    PLACE,
    AnyArchive,
    BenchmarkManifest,
    BenchmarkTeamEntry,
    Manifest,
    PlaceEntry,
    ReportedEntry,
    split_fields,
)
from leaderboard.archives.track_import import clean_values, parse_manifest, read_manifest
from leaderboard.archives.zip_files import Archive, ArchiveError, open_archive
from leaderboard.collections.reported_scores import unpack_table
from leaderboard.models import (
    AuditEvent,
    Benchmark,
    Edition,
    ReportedScores,
    Run,
    System,
    SystemVersion,
    Team,
    Track,
    User,
)
from leaderboard.runs.facts import clean_facts

# What an archive says of a team besides its names.
OF_A_TEAM = ("of_organisers", "created_at")


@dataclass(frozen=True)
class TrackContents:
    """The archive of a track, opened, and its manifest."""

    archive: Archive
    manifest: Manifest


@dataclass(frozen=True)
class Contents:
    """What an archive has: the manifest of a benchmark, and its tracks in their order."""

    manifest: BenchmarkManifest
    tracks: list[TrackContents]

    @property
    def has_one_track(self) -> bool:
        return len(self.tracks) == 1


def open_contents(archive: Archive, stack: ExitStack) -> Contents:
    """Open the tracks of an archive, which the stack closes; raises ArchiveError."""
    if parse_manifest(archive, AnyArchive, "benchmark").is_of_a_track:
        manifest = read_manifest(archive)
        return Contents(describe_lone_benchmark(manifest), [TrackContents(archive, manifest)])
    found = read_benchmark_manifest(archive)
    return Contents(found, [_open_track(archive, place.track, stack) for place in found.places])


def _open_track(archive: Archive, slug: str, stack: ExitStack) -> TrackContents:
    file = stack.enter_context(archive.member(track_path(slug)))
    inner = stack.enter_context(open_archive(file))
    manifest = read_manifest(inner)
    if manifest.track.slug != slug:
        raise ArchiveError(f"{track_path(slug)} is of another track")
    return TrackContents(inner, manifest)


def describe_lone_benchmark(manifest: Manifest) -> BenchmarkManifest:
    """Return the manifest of the benchmark of a track alone: its name, rules and teams."""
    track = manifest.track
    _, rules = split_fields(track.fields)
    named = {"name": track.fields["name"]} if "name" in track.fields else {}
    return BenchmarkManifest(
        benchmark_archive=BENCHMARK_ARCHIVE_VERSION,
        rankfield=manifest.rankfield,
        made_at=manifest.made_at,
        slug=track.slug,
        fields=named | rules,
        places=[PlaceEntry(track=track.slug, fields={})],
        teams=[
            BenchmarkTeamEntry(
                names={track.slug: team.name},
                fields={
                    "of_organisers": team.of_organisers,
                    "created_at": team.created_at or manifest.made_at,
                },
            )
            for team in manifest.teams
        ],
        systems=[],
        baseline=None,
    )


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
    if not slugs:
        raise ArchiveError("it has no track")
    return manifest


@dataclass(frozen=True)
class RestoredBenchmark:
    """A benchmark without tracks yet, its teams by track and name there, and runs' versions."""

    benchmark: Benchmark
    names: dict[tuple[str, str], str]
    versions: dict[str, SystemVersion]


@transaction.atomic
def restore_benchmark(manifest: BenchmarkManifest, owner: User, slug: str) -> RestoredBenchmark:
    """Restore a benchmark with its teams, systems and versions, but without tracks yet."""
    benchmark = Benchmark.objects.create(
        slug=slug, owner=owner, **clean_values(Benchmark, manifest.fields)
    )
    AuditEvent.objects.record(owner, "create", benchmark, after={"slug": slug})
    teams = [_restore_team(benchmark, entry) for entry in manifest.teams]
    names = {
        (track, name): team.name
        for team, entry in zip(teams, manifest.teams, strict=True)
        for track, name in entry.names.items()
    }
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
    for reported in manifest.reported:
        _restore_reported(benchmark, reported, owner)
    if manifest.baseline is not None and manifest.baseline < len(systems):
        benchmark.baseline = systems[manifest.baseline]
        benchmark.save(update_fields=["baseline"])
    return RestoredBenchmark(benchmark, names, versions)


def _restore_reported(benchmark: Benchmark, entry: ReportedEntry, owner: User) -> None:
    """Restore a version of the reported scores; raises ArchiveError where its parts do not fit."""
    values = clean_values(ReportedScores, entry.fields)
    try:
        known, scores = (b64decode(text, validate=True) for text in (entry.known, entry.values))
        row = ReportedScores(
            benchmark=benchmark, created_by=owner, known=known, values=scores, **values
        )
        row.num_cells = unpack_table(row).num_cells
        if not row.num_cells or not _are_pairs_of_words([*row.systems, *row.collections]):
            raise ValueError("a name is missing")
    except (ValueError, TypeError) as error:
        raise ArchiveError(f"its reported scores do not fit together: {error}") from None
    row.save(force_insert=True)


def _are_pairs_of_words(rows: list[Any]) -> bool:
    return all(
        isinstance(row, list) and len(row) == 2 and all(isinstance(word, str) for word in row)
        for row in rows
    )


def _restore_team(benchmark: Benchmark, entry: BenchmarkTeamEntry) -> Team:
    """Return the team of an entry, under the first of its names that is free."""
    values = clean_values(Team, {name: entry.fields[name] for name in OF_A_TEAM}, set())
    if values["of_organisers"]:
        team = people.get_or_create_organisers_team(benchmark)
    else:
        free = (name for name in entry.names.values() if not benchmark.has_team(name))
        spare = f"team {benchmark.teams.count() + 1}"
        team = people.get_or_create_team(benchmark, next(free, spare))
    Team.objects.filter(pk=team.pk).update(created_at=values["created_at"])
    return team


@dataclass(frozen=True)
class RestoredTrack:
    """A restored track: its rows by their names in the archive, accepted and rejected runs too."""

    manifest: Manifest
    track: Track
    runs: dict[str, Run]
    rejected: dict[str, Run] = field(default_factory=dict)
    editions: dict[str, Edition] = field(default_factory=dict)


def name_teams_alike(manifest: Manifest, restored: RestoredBenchmark) -> Manifest:
    """Return the manifest of a track with each team under its name in the benchmark."""
    track = manifest.track.slug

    def rename(rows: list[Any], field: str) -> list[Any]:
        return [
            row.model_copy(update={field: restored.names.get((track, own), own)})
            for row in rows
            for own in [getattr(row, field)]
        ]

    return manifest.model_copy(
        update={
            "teams": rename(manifest.teams, "name"),
            "runs": rename(manifest.runs, "team"),
            "refused": rename(manifest.refused, "team"),
        }
    )


@transaction.atomic
def finish_benchmark(
    manifest: BenchmarkManifest,
    restored: RestoredBenchmark,
    tracks: Mapping[str, RestoredTrack],
) -> None:
    """Give the restored tracks their places, and the rejected runs their versions."""
    for old_id, run in (item for one in tracks.values() for item in one.rejected.items()):
        Run.objects.filter(pk=run.pk).update(version=restored.versions.get(old_id))
    for place in manifest.places:
        values = clean_values(Track, place.fields, set())
        same = Track.objects.filter(pk=tracks[place.track].track.pk)
        same.update(**{name: values[name] for name in PLACE if name in values})
