"""Whether the site is read-only, for all processes that share RANKFIELD_HOME.

A file says so, because the database is what is moved meanwhile.
"""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

NAME = "read_only"


def is_read_only() -> bool:
    return _flag().exists()


def switch_read_only(on: bool) -> None:
    """Let nobody change anything, or everybody again; workers begin no job meanwhile."""
    if on:
        _flag().touch()
    else:
        _flag().unlink(missing_ok=True)


def _flag() -> Path:
    return Path(settings.RANKFIELD_HOME) / NAME
