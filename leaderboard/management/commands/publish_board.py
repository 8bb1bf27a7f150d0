"""`manage.py publish_board TRACK FOLDER`: copy the pages of a released track into a folder."""

from __future__ import annotations

import shutil
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from leaderboard.archives.board_copies import NotReleasedError, copy_board
from leaderboard.archives.zip_files import ZipEntry
from leaderboard.display.numbers import counted
from leaderboard.management.migrating import migrate_first
from leaderboard.management.site_command import SiteCommand
from leaderboard.models import Track


class Command(SiteCommand):
    help = (
        "Copy the public pages of a released track into a folder. The copy needs no server and "
        "no JavaScript, and has what readers see who have not signed in."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("track")
        parser.add_argument("folder", type=Path, help="a new or empty folder")
        parser.add_argument(
            "--site",
            default=settings.SITE_URL,
            help="where links to other pages lead; they are removed without it (SITE_URL)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_first()
        track = Track.objects.filter(slug=options["track"]).first()
        if track is None:
            raise CommandError(f"No such track: {options['track']}.")
        folder = options["folder"]
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise CommandError(f"{folder} is not empty. Name a new folder.")
        try:
            with removed_if_broken(folder):
                copied = copy_board(track, options["site"])
                written = [self._write(folder, member) for member in copied]
        except (NotReleasedError, OSError) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{folder / 'index.html'}: {counted(len(written), 'file')}")

    def _write(self, folder: Path, member: ZipEntry) -> None:
        path = folder / member.name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.writelines(member.pieces)


@contextmanager
def removed_if_broken(folder: Path) -> Iterator[None]:
    """Leave nothing of a copy that ends early in a folder that was new or empty."""
    was_there = folder.exists()
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        if was_there:
            folder.mkdir(exist_ok=True)
        raise
