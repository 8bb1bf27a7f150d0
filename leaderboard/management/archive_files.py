"""Writing an archive to a file, for the commands that export."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path

from django.core.management.base import CommandError

from leaderboard.archives.zip_files import ZipEntry, stream_zip


def add_archive_arguments(parser: ArgumentParser) -> None:
    """Add what every export asks for: the file, and whether it has the documents."""
    parser.add_argument("file", type=Path)
    parser.add_argument(
        "--documents", action="store_true", help="include documents, not only docnos"
    )


def write_archive(path: Path, members: Iterable[ZipEntry]) -> None:
    """Write an archive: under its own name it is whole, or the one that was there before."""
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as file:
            file.writelines(stream_zip(members))
        part.replace(path)
    except OSError as error:
        raise CommandError(str(error)) from None
    finally:
        part.unlink(missing_ok=True)
