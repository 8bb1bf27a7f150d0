"""Commands that queue work stay until it is done: by the workers there are, or by themselves."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable

from leaderboard import jobs
from leaderboard.models import Worker

PAUSE = 0.2


def work_until(settled: Callable[[], bool]) -> None:
    """Take part in the work until `settled`; what other workers have begun is waited for."""
    name = f"command-{os.getpid()}@{socket.gethostname()}"
    try:
        while not settled():
            if not jobs.run_due(name, limit=1):
                time.sleep(PAUSE)
    finally:
        Worker.objects.filter(name=name).delete()
