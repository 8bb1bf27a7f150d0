"""`manage.py export_track TRACK FILE`: export a track as one file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.archives.track_export import accepted_runs, build_track_members
from leaderboard.archives.zip_files import stream_zip
from leaderboard.display.numbers import count, counted
from leaderboard.management.migrating import migrate_first
from leaderboard.models import Track


class Command(BaseCommand):
    help = (
        "Write collection, judgments, runs, scores and board of a track to one zip file for "
        "import_track. The file contains the judgments: do not give it to participants."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("track")
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--documents", action="store_true", help="include documents, not only docnos"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_first()
        track = Track.objects.filter(slug=options["track"]).first()
        if track is None:
            raise CommandError(f"No such track: {options['track']}.")
        path: Path = options["file"]
        # Under its own name it is whole, or the one that was there before.
        part = path.with_name(f"{path.name}.part")
        try:
            with part.open("wb") as file:
                file.writelines(stream_zip(build_track_members(track, options["documents"])))
            part.replace(path)
        except OSError as error:
            raise CommandError(str(error)) from None
        finally:
            part.unlink(missing_ok=True)
        runs = len(accepted_runs(track))
        self.stdout.write(f"{path}: {counted(runs, 'run')}, {count(path.stat().st_size)} bytes")
