"""`manage.py work`: run a worker without web."""

from __future__ import annotations

import logging
import socket
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from leaderboard.jobs.broker import app
from leaderboard.management.migrating import wait_for_database
from leaderboard.management.processes import worker_arguments
from leaderboard.management.site_command import SiteCommand
from leaderboard.models import Worker

log = logging.getLogger(__name__)


class Command(SiteCommand):
    help = "Wait for a migrated database, then run a worker in this process."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--slots", type=int, default=2, help="jobs at a time")
        parser.add_argument(
            "--is-alive", action="store_true", help="only report if a worker of this host is alive"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["is_alive"]:
            report_alive(socket.gethostname())
            return
        wait_for_database(log.warning, migrated=True)
        app.start(worker_arguments(options["slots"]))


def report_alive(host: str) -> None:
    """Raise CommandError unless a worker of this host sent a heartbeat recently."""
    if not Worker.objects.alive().filter(name__contains=f"@{host} ").exists():
        raise CommandError(f"No worker of {host} was seen in {Worker.SILENCE} seconds.")
