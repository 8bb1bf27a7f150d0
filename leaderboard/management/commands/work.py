"""`manage.py work`: a worker of its own, for a server where web runs elsewhere."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import OperationalError, connection

from leaderboard.celery import app
from leaderboard.management.migrating import is_migrated
from leaderboard.processes import worker_words


class Command(BaseCommand):
    help = "Waits for a migrated database, then runs a worker in this process."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--slots", type=int, default=2, help="jobs at a time")

    def handle(self, *args: Any, **options: Any) -> None:
        while reason := self.not_ready():
            self.stderr.write(f"Waiting: {reason}")
            time.sleep(2)
        app.start(worker_words(options["slots"]))

    def not_ready(self) -> str:
        """What is missing before a worker can do anything; empty when nothing is."""
        try:
            return "" if is_migrated() else "the database is not migrated yet"
        except OperationalError as error:
            return str(error).strip()
        finally:
            connection.close()
