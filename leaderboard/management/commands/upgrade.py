"""`manage.py upgrade`: back up, migrate, and compare what is stored before and after."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DatabaseError

from leaderboard.archives import upgrades
from leaderboard.display.numbers import counted
from leaderboard.jobs.backups import BackupError, create_backup
from leaderboard.management.site_command import SiteCommand

BACK = """
There is no way down: no migration is reversed. The only way back is the backup made here:
  1. stop web and workers, and check out the code of before
  2. empty {home} and the database; keep a copy of both
  3. manage.py restore {folder}
  4. manage.py doctor --hash
"""


class Command(SiteCommand):
    help = (
        "Back up the site, migrate its database to this code, and compare rows, scores and boards "
        "with those of before. Stop web and workers first, or scores may change meanwhile."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "backup", type=Path, nargs="?", help="a folder for the backup, which does not exist yet"
        )
        parser.add_argument("--plan", action="store_true", help="only say what would be done")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            pending = upgrades.find_pending()
        except upgrades.UpgradeError as reason:
            raise CommandError(str(reason)) from None
        if not pending:
            self.stdout.write(f"The database is that of Rankfield {settings.VERSION} already.")
            return
        before = upgrades.take_stock()
        self.stdout.write(
            f"Check: {counted(before.num_rows, 'row')} in {counted(len(before.counts), 'table')}, "
            f"{counted(len(pending), 'migration')} to apply: {', '.join(pending)}."
        )
        if options["plan"]:
            return
        if options["backup"] is None:
            raise CommandError("Name a new folder for the backup: upgrade FOLDER.")
        self.upgrade(options["backup"], before)

    def upgrade(self, folder: Path, before: upgrades.Stock) -> None:
        try:
            kept = create_backup(folder)
        except BackupError as reason:
            raise CommandError(f"Nothing was changed: {reason}") from None
        self.stdout.write(f"Backup: {folder}, {counted(len(kept.sums), 'file')}.")
        back = BACK.format(home=settings.RANKFIELD_HOME, folder=folder)
        try:
            call_command("migrate", interactive=False, verbosity=0)
        except (DatabaseError, ValueError, RuntimeError) as error:
            raise CommandError(f"The migration failed: {error}\n{back}") from error
        after = upgrades.take_stock()
        self.stdout.write("Migrated. What changed:")
        for line in [*upgrades.describe_changes(before, after)] or [
            "no table has more or fewer rows"
        ]:
            self.stdout.write(f"  {line}")
        losses = [
            *upgrades.find_losses(before, after),
            *upgrades.find_broken_boards(before.tracks),
        ]
        for line in losses:
            self.stderr.write(f"BAD  {line}")
        if not losses:
            self.stdout.write(
                f"Verified: no row is missing, {counted(len(before.scores), 'mean')} of "
                f"{counted(len(before.tracks), 'track')} unchanged, every board opens."
            )
        self.advise()
        self.stdout.write(back)
        if losses:
            sys.exit(1)

    def advise(self) -> None:
        if old := upgrades.find_old_scoring():
            self.stdout.write(
                f"Scoring changed: {', '.join(old)} keep their values until you run "
                "`manage.py rescore`."
            )
