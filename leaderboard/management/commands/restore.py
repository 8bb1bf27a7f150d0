"""`manage.py restore`: restore a backup into an empty installation."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from leaderboard.archives.backups import restore_backup
from leaderboard.display.numbers import counted
from leaderboard.jobs.backups import BackupError
from leaderboard.management.processes import ServeError, lock_home
from leaderboard.management.site_command import SiteCommand


class Command(SiteCommand):
    help = (
        "Check every file of a backup and restore it to an empty site. Stop web and workers first."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="a folder written by `manage.py backup`")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with lock_home():
                kept = restore_backup(options["folder"])
        except (BackupError, ServeError) as reason:
            raise CommandError(str(reason)) from None
        counts = ", ".join(counted(number, name) for name, number in kept.counts.items())
        self.stdout.write(f"Restored the backup of {kept.made_at}: {counts}.")
