"""`manage.py web`: run pages and API without a worker."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from typing import Any

from django.core.checks import Tags
from django.core.management.base import BaseCommand

from leaderboard.management.migrating import wait_for_database
from leaderboard.management.processes import migrate_and_collect, web_command


class Command(BaseCommand):
    help = "Wait for the database, migrate it, then run web in this process."
    requires_system_checks = [Tags.security]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--bind", default="127.0.0.1:8000", help="address and port")

    def handle(self, *args: Any, **options: Any) -> None:
        wait_for_database(self.stderr.write)
        migrate_and_collect(quiet=False)
        command = web_command(options["bind"])
        os.execv(command[0], command)
