"""Commands that queue work stay until it is done: by the workers there are, or by themselves."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable

from django.db import connection

from leaderboard.jobs import running
from leaderboard.models import Collection, Job, JudgmentSet, Run, Track, Worker
from leaderboard.models.collections import ImportState

PAUSE = 0.2
BAR_WIDTH = 30
SETTLED = (ImportState.PREVIEW, ImportState.READY, ImportState.REFUSED, ImportState.FAILED)
VERBS = {"check_collection": "checking", "import_collection": "importing"}


def work_until(settled: Callable[[], bool], how_far: Callable[[], str] | None = None) -> None:
    """Take part in the work until `settled`; what other workers have begun is waited for.

    Whoever sits at a terminal sees `how_far` it is.
    """
    name = f"command-{os.getpid()}@{socket.gethostname()}"
    bar = ProgressBar(how_far) if how_far is not None and sys.stderr.isatty() else None
    try:
        while not settled():
            if not running.run_due_jobs(name, limit=1):
                time.sleep(PAUSE)
    finally:
        Worker.objects.filter(name=name).delete()
        if bar is not None:
            bar.end()


def wait_for_collection(collection: Collection) -> None:
    """Until nothing more happens to it by itself."""

    def settled() -> bool:
        collection.refresh_from_db()
        return collection.state in SETTLED

    def how_far() -> str:
        job = Job.objects.open().filter(target_id=str(collection.pk), kind__in=VERBS).first()
        return f"{VERBS[job.kind]} {progress_text(job.progress, job.progress_of)}" if job else ""

    work_until(settled, how_far)


def wait_for_judgments(judgment_set: JudgmentSet) -> None:
    def settled() -> bool:
        judgment_set.refresh_from_db()
        return judgment_set.state in SETTLED

    work_until(settled)


def wait_for_runs(track: Track, runs: Iterable[Run]) -> None:
    """Until they are through, and compared with the others."""
    ids = [run.pk for run in runs]
    unfinished = Run.objects.unfinished().filter(pk__in=ids)

    def settled() -> bool:
        track.refresh_from_db(fields=["edition"])
        edition = Job.objects.open().filter(target_id=str(track.edition_id))
        return not (unfinished.exists() or edition.filter(kind="compare").exists())

    work_until(settled, lambda: f"{progress_text(len(ids) - unfinished.count(), len(ids))} runs")


class ProgressBar(threading.Thread):
    """A line of the terminal that is written again while the work goes on.

    It asks the database by a connection of its own: a worker elsewhere may be doing the job.
    """

    def __init__(self, how_far: Callable[[], str]) -> None:
        super().__init__(name="bar", daemon=True)
        self.how_far = how_far
        self.over = threading.Event()
        self.start()

    def run(self) -> None:
        while not self.over.wait(PAUSE):
            print(f"\r\x1b[K{self.how_far()}", end="", file=sys.stderr, flush=True)
        connection.close()

    def end(self) -> None:
        self.over.set()
        self.join()
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def progress_text(done: int, of: int) -> str:
    """How much of it is done; without a total only how much.

    >>> progress_text(5, 10)
    '###############...............  5 of 10'
    """
    if not of:
        return f"{done:,}"
    return f"{'#' * (BAR_WIDTH * done // of):.<{BAR_WIDTH}}  {done:,} of {of:,}"
