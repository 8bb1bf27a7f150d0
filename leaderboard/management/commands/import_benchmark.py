"""`manage.py import_benchmark FILE`: import a benchmark from a file of `export_benchmark`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from leaderboard.archives.benchmark_export import track_path
from leaderboard.archives.benchmark_import import (
    RestoredBenchmark,
    finish_benchmark,
    read_benchmark_manifest,
    restore_benchmark,
)
from leaderboard.archives.manifests import BenchmarkManifest, Manifest
from leaderboard.archives.track_import import ImportHeartbeat, read_manifest
from leaderboard.archives.zip_files import Archive, ArchiveError, open_archive
from leaderboard.display.numbers import counted
from leaderboard.jobs.erasure import erase_abandoned_imports, erase_benchmark
from leaderboard.management.commands import import_track
from leaderboard.management.commands.import_track import (
    RestoredTrack,
    explain_differences,
    refuse_unreadable,
    unused_slug,
)
from leaderboard.management.migrating import migrate_first
from leaderboard.management.organisers import find_organiser
from leaderboard.models import Benchmark, Collection, Track


@dataclass(frozen=True)
class Source:
    """The archive of a track, and the short names that track and collection get here."""

    archive: Archive
    manifest: Manifest
    track: str
    collection: str


class Command(import_track.Command):
    help = (
        "Import a benchmark from an archive: its tracks with their collections, judgments and "
        "runs, and its teams and systems. Report every score that differs from the archive."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--benchmark", help="new short name (default: as in the archive)")
        parser.add_argument(
            "--prefix", default="", help="before the short names of its tracks and collections"
        )
        parser.add_argument("--owner", help="the organiser (default: first organiser)")

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_first()
        with refuse_unreadable(options["file"]) as archive:
            self.bring_benchmark(archive, read_benchmark_manifest(archive), options)

    def bring_benchmark(
        self, archive: Archive, manifest: BenchmarkManifest, options: dict[str, Any]
    ) -> None:
        erase_abandoned_imports()
        slug = unused_slug(Benchmark, options["benchmark"] or manifest.slug, "--benchmark")
        owner = find_organiser(options["owner"])
        with ExitStack() as stack:
            sources = open_tracks(archive, manifest, options["prefix"], stack)
            benchmark = stack.enter_context(
                erase_benchmark_on_failure(restore_benchmark(manifest, owner, slug))
            )
            found = self.restore_tracks(sources, benchmark, stack)
            rejected = {key: run for one in found.values() for key, run in one.rejected.items()}
            tracks = {name: restored.track for name, restored in found.items()}
            finish_benchmark(manifest, benchmark, tracks, rejected)
            counts = [
                self.count_differences(source.archive, found[source.manifest.track.slug])
                for source in sources
            ]
        self.stdout.write(
            f"{slug}: {counted(len(found), 'track')}, {counted(len(manifest.systems), 'system')}"
        )
        if sum(counts):
            raise CommandError(explain_differences(sum(counts), sources[0].manifest))
        self.stdout.write("All scores match the archive exactly.")

    def restore_tracks(
        self, sources: list[Source], benchmark: RestoredBenchmark, stack: ExitStack
    ) -> dict[str, RestoredTrack]:
        """Restore the tracks by their names there; those of one collection share it here too."""
        collections: dict[str, Collection] = {}
        arrivals: list[ImportHeartbeat] = []
        found: dict[str, RestoredTrack] = {}
        for source in sources:
            manifest, name = source.manifest, source.collection
            if name not in collections:
                collections[name], arrival = self.restore_collection(
                    source.archive, manifest, benchmark.benchmark.owner, name, stack
                )
                arrivals.append(arrival)
            restored = self.restore_track(
                source.archive, manifest, collections[name], source.track, benchmark
            )
            found[manifest.track.slug] = restored
            self.tell(restored)
        for arrival in arrivals:
            arrival.finish()
        return found


def open_tracks(
    archive: Archive, manifest: BenchmarkManifest, prefix: str, stack: ExitStack
) -> list[Source]:
    """Open the archive of each track; raises CommandError for names that are taken here."""
    sources = []
    for place in manifest.places:
        file = stack.enter_context(archive.member(track_path(place.track)))
        inner = stack.enter_context(open_archive(file))
        found = read_manifest(inner)
        if found.track.slug != place.track:
            raise ArchiveError(f"{track_path(place.track)} is of another track")
        track = unused_slug(Track, f"{prefix}{place.track}", "--prefix")
        collection = unused_slug(Collection, f"{prefix}{found.collection.slug}", "--prefix")
        sources.append(Source(inner, found, track, collection))
    return sources


@contextmanager
def erase_benchmark_on_failure(restored: RestoredBenchmark) -> Iterator[RestoredBenchmark]:
    """Delete the benchmark if an error or a signal stops the import, after its tracks."""
    try:
        yield restored
    except BaseException:
        erase_benchmark(restored.benchmark)
        raise
