"""`manage.py read_only on|off`: let nobody change anything, or everybody again."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from leaderboard.infrastructure.read_only import is_read_only, switch_read_only
from leaderboard.management.site_command import SiteCommand


class Command(SiteCommand):
    help = (
        "Pages stay readable, forms and API calls that change something are rejected with 503, and "
        "workers begin no job. Without a word, say which it is."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("switch", nargs="?", choices=["on", "off"])

    def handle(self, *args: Any, **options: Any) -> None:
        if options["switch"]:
            switch_read_only(options["switch"] == "on")
        self.stdout.write("read-only" if is_read_only() else "read and write")
