"""`manage.py export_benchmark BENCHMARK FILE`: export a benchmark with its tracks as one file."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from leaderboard.archives.benchmark_export import build_benchmark_members
from leaderboard.display.numbers import count, counted
from leaderboard.management.archive_files import add_archive_arguments, write_archive
from leaderboard.management.migrating import migrate_first
from leaderboard.management.site_command import SiteCommand
from leaderboard.models import Benchmark


class Command(SiteCommand):
    help = (
        "Write the archives of a benchmark's tracks, with its teams, systems and settings, to one "
        "zip file for import_benchmark. It contains the judgments: do not give it to participants."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("benchmark")
        add_archive_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_first()
        benchmark = Benchmark.objects.filter(slug=options["benchmark"]).first()
        if benchmark is None:
            raise CommandError(f"No such benchmark: {options['benchmark']}.")
        path = options["file"]
        write_archive(path, build_benchmark_members(benchmark, options["documents"]))
        tracks, systems = benchmark.tracks.count(), benchmark.systems.count()
        self.stdout.write(
            f"{path}: {counted(tracks, 'track')}, {counted(systems, 'system')}, "
            f"{count(path.stat().st_size)} bytes"
        )
