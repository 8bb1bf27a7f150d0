"""A run that a worker has begun and cannot end before it is let go, however quick the worker is.

A pipe lies in the place of its file until a worker has opened it; no bytes come, so it waits.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.services.machines import Site, until

FILE = "select file from leaderboard_run where id = '{}'"


@contextmanager
def begun(site: Site, send: Callable[[], str]) -> Iterator[str]:
    """What this sends, in the hands of a worker; at the end it gets the bytes, if it still lives.

    Whoever begins the run once more meanwhile finds the file.
    """
    site.pause_workers()
    try:
        run = send()
        file = site.home / "files" / site.rows(FILE.format(run))[0][0]
        whole = file.rename(file.with_name("aside"))
        os.mkfifo(file)
        # The worker may be somebody else, who alone may read what he stored.
        owner = whole.stat()
        os.chown(file, owner.st_uid, owner.st_gid)
    finally:
        site.continue_workers()
    pipe = until(lambda: opened(file), f"a worker has begun run {run}")
    whole.replace(file)
    try:
        yield run
    finally:
        threading.Thread(target=pour, args=(pipe, file.read_bytes()), daemon=True).start()


def opened(file: Path) -> int:
    """The end for writing, once somebody reads."""
    with suppress(OSError):
        return os.open(file, os.O_WRONLY | os.O_NONBLOCK)
    return 0


def pour(pipe: int, content: bytes) -> None:
    """As fast as it is read; nobody may be left who does."""
    os.set_blocking(pipe, True)
    with suppress(BrokenPipeError), open(pipe, "wb") as reader:
        reader.write(content)
