"""`manage.py move`: move the files into a bucket, the database to PostgreSQL, or both."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from leaderboard.archives import moving
from leaderboard.display.numbers import counted
from leaderboard.infrastructure.read_only import switch_read_only
from leaderboard.management.site_command import SiteCommand
from leaderboard.models import Job

NEXT = """
The site is still read-only, and still on its old database and files. Now:
  1. in the environment of web and workers: {settings}
  2. restart web and workers
  3. manage.py doctor --hash
  4. manage.py read_only off
Until step 4 you can go back: undo steps 1 and 2. Keep the old files and database for a while."""
SECONDS_BETWEEN = 1.0
EVERY = 100


class Command(SiteCommand):
    help = (
        "Copy the files to NEW_S3_BUCKET and the database to NEW_DATABASE_URL, whichever is set. "
        "The site becomes read-only and stays so. Run it again after an interruption."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--wait", type=int, default=3600, help="seconds to wait for jobs that run"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not (settings.NEW_S3_BUCKET or settings.NEW_DATABASE_URL):
            raise CommandError("Set NEW_S3_BUCKET, NEW_DATABASE_URL or both.")
        switch_read_only(True)
        self.stdout.write("The site is read-only.")
        try:
            self.wait_for_jobs(options["wait"])
            self.move()
        except moving.MoveError as reason:
            raise CommandError(
                f"{reason}\nThe site is still read-only. Fix this and run the command again, "
                "or give up by `manage.py read_only off`."
            ) from None
        names = {"S3_BUCKET": settings.NEW_S3_BUCKET, "DATABASE_URL": settings.NEW_DATABASE_URL}
        changed = [f"{name} = the value of NEW_{name}" for name, value in names.items() if value]
        self.stdout.write(NEXT.format(settings=", ".join(changed)))

    def wait_for_jobs(self, seconds: int) -> None:
        """Wait until no job runs: its result would be missing."""
        until = time.monotonic() + seconds
        while running := Job.objects.filter(state=Job.State.RUNNING).count():
            if time.monotonic() > until:
                raise moving.MoveError(f"{counted(running, 'job')} did not end in time.")
            time.sleep(SECONDS_BETWEEN)

    def move(self) -> None:
        if settings.NEW_S3_BUCKET:
            moved = moving.move_files(moving.open_bucket(), self.report)
            self.stdout.write(
                f"Files: {counted(moved.total, 'file')} in the bucket, each read back with the "
                f"same SHA-256; {moved.known:,} of them by an earlier move."
            )
        if settings.NEW_DATABASE_URL:
            rows = moving.move_database()
            self.stdout.write(f"Database: {counted(rows, 'row')}, every table with the same hash.")

    def report(self, number: int, total: int) -> None:
        if number % EVERY == 0:
            self.stdout.write(f"  {number:,} of {counted(total, 'file')}")
