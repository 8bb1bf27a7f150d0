"""`manage.py export_benchmark BENCHMARK FILE`: export a benchmark, or one of its tracks."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from leaderboard.archives.benchmark_export import build_benchmark_members
from leaderboard.display.numbers import count, counted
from leaderboard.management.archive_files import add_archive_arguments, write_archive
from leaderboard.management.migrating import migrate_first
from leaderboard.management.site_command import SiteCommand
from leaderboard.models import Benchmark, Run, Track


class Command(SiteCommand):
    help = (
        "Write the archives of a benchmark's tracks, with its teams, systems and settings, to one "
        "zip file for import_benchmark. It contains the judgments: do not give it to participants."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("benchmark")
        parser.add_argument("--track", help="only this track of it")
        add_archive_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_first()
        benchmark = Benchmark.objects.filter(slug=options["benchmark"]).first()
        if benchmark is None:
            raise CommandError(f"No such benchmark: {options['benchmark']}.")
        tracks = find_tracks(benchmark, options["track"])
        path, runs = options["file"], Run.objects.accepted().filter(track__in=tracks).count()
        write_archive(path, build_benchmark_members(benchmark, options["documents"], tracks))
        self.stdout.write(
            f"{path}: {counted(len(tracks), 'track')}, {counted(runs, 'run')}, "
            f"{count(path.stat().st_size)} bytes"
        )


def find_tracks(benchmark: Benchmark, slug: str | None) -> list[Track]:
    """Return the tracks to export; raises CommandError if the named one is not in the benchmark."""
    tracks = [track for track in benchmark.tracks.in_order() if slug in (None, track.slug)]
    if not tracks:
        raise CommandError(f"No such track of {benchmark.slug}: {slug}.")
    return tracks
