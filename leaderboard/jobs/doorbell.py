"""The doorbell: a named pipe by which any process wakes the worker of a site without Redis.

A byte in it says only "look", like the message `work`. Without a worker, or where the folder has
no pipes, nobody hears it, and the worker looks regularly anyway.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from django.conf import settings

NAME = "doorbell"
# More rings than this at once are heard as several.
MOST_RINGS = 4096


def find_path() -> Path:
    return Path(settings.RANKFIELD_HOME) / NAME


def ring() -> None:
    """Wake the worker if there is one; never waits and never raises."""
    if not find_path().is_fifo():
        return
    with suppress(OSError):
        pipe = os.open(find_path(), os.O_WRONLY | os.O_NONBLOCK)
        try:
            os.write(pipe, b"\0")
        finally:
            os.close(pipe)


def install() -> int | None:
    """Return a handle on which rings are heard; None where pipes cannot be made."""
    path = find_path()
    try:
        if not path.is_fifo():
            os.mkfifo(path, 0o600)
        # Open for writing too, or the pipe would count as ended once somebody has rung.
        return os.open(path, os.O_RDWR | os.O_NONBLOCK)
    except (OSError, AttributeError):
        return None


def silence(handle: int) -> None:
    """Take note of the rings so far."""
    with suppress(BlockingIOError):
        os.read(handle, MOST_RINGS)
