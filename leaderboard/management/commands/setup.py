"""`manage.py setup --systemd`: write what systemd and nginx need to run this checkout."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from leaderboard.management.host_files import STARTED, write_host_files
from leaderboard.management.site_command import SiteCommand

NEXT = """
Then, as root:
  systemd-sysusers
  systemd-tmpfiles --create
  # fullchain.pem and privkey.pem to /etc/rankfield/certificates, readable by rankfield
  runuser -u postgres -- psql -c "create role rankfield login" \\
    -c "create database rankfield owner rankfield encoding 'UTF8' template template0"
  systemctl enable --now {started}
  rankfield-manage doctor
"""


class Command(SiteCommand):
    help = "Write units, user, folders, environment and edge to run this checkout under systemd."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--systemd", action="store_true", required=True)
        parser.add_argument("--host", required=True, help="the name of the site, as in its address")
        parser.add_argument(
            "--into", type=Path, default=Path("/"), help="a folder that stands for the root"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            for file, is_new in write_host_files(
                options["into"], Path(settings.BASE_DIR), options["host"]
            ):
                self.stdout.write(f"{'wrote' if is_new else 'kept '} /{file.path}")
        except PermissionError as error:
            raise CommandError(f"{error.filename} cannot be written: run this as root.") from None
        self.stdout.write(NEXT.format(started=" ".join(STARTED)))
