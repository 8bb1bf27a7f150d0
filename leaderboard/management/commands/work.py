"""`manage.py work`: a worker of its own, for a server where web runs elsewhere."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.checks import Tags
from django.core.management.base import BaseCommand

from leaderboard.celery import app
from leaderboard.management.migrating import wait_for_database
from leaderboard.processes import worker_words


class Command(BaseCommand):
    help = "Waits for a migrated database, then runs a worker in this process."
    requires_system_checks = [Tags.security]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--slots", type=int, default=2, help="jobs at a time")

    def handle(self, *args: Any, **options: Any) -> None:
        wait_for_database(self.stderr.write, migrated=True)
        app.start(worker_words(options["slots"]))
