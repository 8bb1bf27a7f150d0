"""`manage.py backup`: write all data to one folder while the site runs."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from leaderboard.display.numbers import counted
from leaderboard.jobs.backups import BackupError, create_backup
from leaderboard.management.site_command import SiteCommand


class Command(SiteCommand):
    help = "Back up the database, files and secret key to a new folder. Safe on a running site."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="a folder that does not exist yet")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            kept = create_backup(options["folder"])
        except BackupError as reason:
            raise CommandError(str(reason)) from None
        counts = ", ".join(counted(number, name) for name, number in kept.counts.items())
        self.stdout.write(f"{options['folder']}: {counts}, {counted(len(kept.sums), 'file')}.")
        for name in kept.gone:
            self.stderr.write(f"{name} was removed meanwhile or was already missing.")
