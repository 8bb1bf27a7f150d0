"""Runs that do harm: what their file is called says what happens where it is read.

No file that the product takes does any of this; so harm is put where a bug of ours would be.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import NoReturn

from django.apps import AppConfig

# A process that does not listen is killed so many seconds after its limit.
GRACE = 17
KEPT = 4 * 3600


class Sabotage(AppConfig):
    name = "tests.faults"
    label = "sabotage"

    def ready(self) -> None:
        from leaderboard.jobs import cleanup, leases
        from leaderboard.scoring import work

        leases.GRACE = GRACE
        # The disk goes by the machine's clock: to a host whose clock is wrong new files look old.
        cleanup.KEPT_SECONDS = KEPT
        read = work.read_run_file

        def read_or_break(run: work.Run) -> work.reading.Run:
            break_down = HARM.get(run.filename)
            if break_down is not None:
                break_down()
            return read(run)

        work.read_run_file = read_or_break


def poison() -> None:
    """What the kernel does to a process that took the last memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def endless() -> NoReturn:
    while True:
        pass


def deaf() -> NoReturn:
    while True:
        try:
            endless()
        except Exception:
            continue


def hungry() -> None:
    eaten = []
    while True:
        eaten.append(bytearray(2**20))


HARM: dict[str, Callable[[], None]] = {
    "poison": poison,
    "endless": endless,
    "deaf": deaf,
    "hungry": hungry,
}
