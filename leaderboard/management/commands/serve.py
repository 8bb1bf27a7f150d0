"""`manage.py serve`: run web and worker on this machine until it is stopped."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from leaderboard.management.processes import ServeError, run_site
from leaderboard.management.site_command import SiteCommand


class Command(SiteCommand):
    help = "Migrate the database, then run web and a worker until Ctrl-C or TERM."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="0 picks a free port")
        parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 listens on every network")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with run_site(options["port"], options["host"]) as site:
                self.stdout.write(f"Rankfield is at {site.url}/  (Ctrl-C stops it)")
                self.stdout.write(f"Everything is stored in {settings.RANKFIELD_HOME}")
                self.stdout.flush()
                site.watch()
        except ServeError as reason:
            raise CommandError(str(reason)) from None
        except KeyboardInterrupt:
            self.stdout.write("Stopped.")
