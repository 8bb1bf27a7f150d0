"""`manage.py doctor`: check this installation and say how to repair it."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from leaderboard.analysis.health_checks import find_changed_files, run_checks
from leaderboard.management.site_command import SiteCommand

SIGNS = {"good": "ok  ", "look": "look", "bad": "BAD "}


class Command(SiteCommand):
    help = (
        "Check settings, database, clock, disk, broker, certificate, workers and files. "
        "The exit status is 1 if something needs repair."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--hash", action="store_true", help="verify every run against its hash")

    def handle(self, *args: Any, **options: Any) -> None:
        is_bad = False
        for name, finding in run_checks():
            is_bad |= finding.level == "bad"
            self.stdout.write(f"{SIGNS[finding.level]} {name:9} {finding.what}")
            if finding.do:
                self.stdout.write(f"{'':14} {finding.do}")
        if options["hash"]:
            changed = list(find_changed_files())
            is_bad |= bool(changed)
            for run in changed:
                self.stdout.write(f"BAD  files     run {run} does not match its upload")
        if is_bad:
            sys.exit(1)
