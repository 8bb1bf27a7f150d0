"""`manage.py erase run|track|collection|benchmark NAME --yes`: delete for good, as no page can."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db.models import Model

from leaderboard.actions.lone_tracks import dissolve_benchmark
from leaderboard.display.numbers import counted
from leaderboard.jobs.erasure import erase_collection, erase_run, erase_track
from leaderboard.management.migrating import migrate_first
from leaderboard.management.site_command import SiteCommand
from leaderboard.models import AuditEvent, Benchmark, Collection, Run, Track

KINDS = {
    "run": (Run, "pk", erase_run),
    "track": (Track, "slug", erase_track),
    "collection": (Collection, "slug", erase_collection),
    "benchmark": (Benchmark, "slug", dissolve_benchmark),
}


class Command(SiteCommand):
    help = (
        "Delete a run, a track, a collection or a benchmark for good, with everything that "
        "depends on it; the tracks of a benchmark stay. "
        "Without --yes, list what would be deleted."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=list(KINDS))
        parser.add_argument("name", help="short name, or run id")
        parser.add_argument("--yes", action="store_true", help="confirm")

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_first()
        kind, name = options["kind"], options["name"]
        model, field, erase = KINDS[kind]
        found = model.objects.filter(**{field: name}).first()
        if found is None:
            raise CommandError(f"No such {kind}: {name}.")
        what = describe_erasure(found)
        if not options["yes"]:
            raise CommandError(f"This permanently erases {what}. Confirm with --yes.")
        AuditEvent.objects.record(None, "erase", found, before={"name": name})
        erase(found)
        self.stdout.write(f"Erased {what}. Unreferenced files will be deleted.")


def describe_erasure(found: Model) -> str:
    """Describe in words what would be deleted, with counts."""
    if isinstance(found, Run):
        return f"the run {found.pk} of {found.team} in {found.track}"
    if isinstance(found, Track):
        return f"the track {found.slug} with {counted(found.runs.count(), 'run')}"
    if isinstance(found, Benchmark):
        systems = counted(found.systems.count(), "system")
        return f"the benchmark {found.slug} with {systems}, but not its tracks and runs"
    tracks = Track.objects.filter(collection=found)
    runs = Run.objects.filter(track__in=tracks)
    return (
        f"the collection {found.slug} with {counted(len(tracks), 'track')} "
        f"and {counted(runs.count(), 'run')}"
    )
