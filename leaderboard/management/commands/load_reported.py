"""`manage.py load_reported BENCHMARK RESULTS`: import scores that others report."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from evaluation.problems import Refused
from evaluation.reading.results import (
    files_of_results,
    read_groups_of_collections,
    read_results,
)
from leaderboard.actions.reported_scores import store_reported_scores
from leaderboard.display.numbers import count, counted
from leaderboard.management.migrating import migrate_first
from leaderboard.management.site_command import SiteCommand
from leaderboard.models import Benchmark

# Problems that are printed.
SHOWN = 10
LONGEST_SOURCE = 300


class Command(SiteCommand):
    help = (
        "Import scores that others report, without runs: results of MTEB, "
        "SYSTEM/REVISION/COLLECTION.json in a folder or a ZIP archive. They have a board of their "
        "own, marked as reported and not recomputed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("benchmark")
        parser.add_argument("results", type=Path, help="a folder or a ZIP archive")
        parser.add_argument("--source", required=True, help="who reports them, or their URL")
        parser.add_argument(
            "--groups", type=Path, metavar="CSV", help="groups of collections: collection,group"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_first()
        benchmark = Benchmark.objects.filter(slug=options["benchmark"]).first()
        if benchmark is None:
            raise CommandError(f"No such benchmark: {options['benchmark']}.")
        source = options["source"].strip()
        if not 0 < len(source) <= LONGEST_SOURCE:
            raise CommandError(f"Use 1 to {LONGEST_SOURCE} characters for --source.")
        try:
            table = options["groups"]
            groups = {} if table is None else read_groups_of_collections(table.read_bytes())
            results = read_results(files_of_results(options["results"]))
        except (OSError, Refused) as reason:
            raise CommandError(str(reason)) from None
        for problem in results.problems.kept[:SHOWN]:
            self.stderr.write(str(problem))
        version = store_reported_scores(benchmark, benchmark.owner, results, source, groups)
        table = f"{counted(len(results.systems), 'system')} on "
        table += counted(len(results.collections), "collection")
        self.stdout.write(
            f"{benchmark.slug} now has reported scores {version}: {count(version.num_cells)} of "
            f"{table}. {counted(version.num_ignored, 'file')} ignored."
        )
        if results.revised:
            revised = counted(len(results.revised), "collection")
            self.stdout.write(f"{revised} with scores on several revisions of the data.")
