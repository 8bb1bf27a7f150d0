"""`manage.py doctor`: check this installation and say how to repair it."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from leaderboard.analysis.health_checks import Finding, find_changed_files, run_checks
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
        parser.add_argument("--json", action="store_true", help="a list of findings, for programs")

    def handle(self, *args: Any, **options: Any) -> None:
        levels, listed = set(), []
        for name, finding in examine(options["hash"]):
            levels.add(finding.level)
            if options["json"]:
                listed.append({"check": name, **asdict(finding)})
                continue
            self.stdout.write(f"{SIGNS[finding.level]} {name:9} {finding.what}")
            if finding.do:
                self.stdout.write(f"{'':14} {finding.do}")
        if options["json"]:
            self.stdout.write(json.dumps(listed, indent=1))
        if "bad" in levels:
            sys.exit(1)


def examine(with_hashes: bool) -> Iterator[tuple[str, Finding]]:
    """Yield every finding with the subject of its check; hashes take a reading of every run."""
    yield from run_checks()
    for run in find_changed_files() if with_hashes else ():
        yield "files", Finding("bad", f"run {run} does not match its upload")
