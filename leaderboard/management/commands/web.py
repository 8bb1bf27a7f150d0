"""`manage.py web`: run pages and API without a worker."""

from __future__ import annotations

import logging
import os
from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from leaderboard.management.migrating import wait_for_database
from leaderboard.management.processes import migrate_and_collect, web_command
from leaderboard.management.site_command import SiteCommand

log = logging.getLogger(__name__)


class Command(SiteCommand):
    help = "Wait for the database, migrate it, then run web in this process."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--bind", default="127.0.0.1:8000", help="address and port")

    def handle(self, *args: Any, **options: Any) -> None:
        wait_for_database(log.warning)
        # Between lines of JSON there is no place for those of these commands.
        migrate_and_collect(quiet=settings.LOG_FORMAT == "json")
        command = web_command(options["bind"])
        os.execv(command[0], command)
