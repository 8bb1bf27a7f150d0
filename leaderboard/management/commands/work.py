"""`manage.py work`: run a worker without web."""

from __future__ import annotations

import socket
from argparse import ArgumentParser
from typing import Any

from django.core.checks import Tags
from django.core.management.base import BaseCommand, CommandError

from leaderboard.jobs.broker import app
from leaderboard.management.migrating import wait_for_database
from leaderboard.management.processes import worker_arguments
from leaderboard.models import Worker


class Command(BaseCommand):
    help = "Wait for a migrated database, then run a worker in this process."
    requires_system_checks = [Tags.security]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--slots", type=int, default=2, help="jobs at a time")
        parser.add_argument(
            "--is-alive", action="store_true", help="only report if a worker of this host is alive"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["is_alive"]:
            report_alive(socket.gethostname())
            return
        wait_for_database(self.stderr.write, migrated=True)
        app.start(worker_arguments(options["slots"]))


def report_alive(host: str) -> None:
    """Raise CommandError unless a worker of this host sent a heartbeat recently."""
    if not Worker.objects.alive().filter(name__contains=f"@{host} ").exists():
        raise CommandError(f"No worker of {host} was seen in {Worker.SILENCE} seconds.")
