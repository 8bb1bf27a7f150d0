"""`manage.py export_track TRACK FILE`: export a track as one file."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from leaderboard.archives.track_export import accepted_runs, build_track_members
from leaderboard.display.numbers import count, counted
from leaderboard.management.archive_files import add_archive_arguments, write_archive
from leaderboard.management.migrating import migrate_first
from leaderboard.management.site_command import SiteCommand
from leaderboard.models import Track


class Command(SiteCommand):
    help = (
        "Write collection, judgments, runs, scores and board of a track to one zip file for "
        "import_track. The file contains the judgments: do not give it to participants."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("track")
        add_archive_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_first()
        track = Track.objects.filter(slug=options["track"]).first()
        if track is None:
            raise CommandError(f"No such track: {options['track']}.")
        path = options["file"]
        write_archive(path, build_track_members(track, options["documents"]))
        runs = len(accepted_runs(track))
        self.stdout.write(f"{path}: {counted(runs, 'run')}, {count(path.stat().st_size)} bytes")
