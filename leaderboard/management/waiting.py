"""Waiting for queued jobs, which workers or the command itself do."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable

from django.db import connection

from leaderboard.jobs import running
from leaderboard.models import Collection, Job, Run, Track, Worker
from leaderboard.models.collections import ImportedVersion, ImportState

PAUSE = 0.2
BAR_WIDTH = 30
SETTLED = (ImportState.PREVIEW, ImportState.READY, ImportState.REFUSED, ImportState.FAILED)
VERBS = {"check_collection": "checking", "import_collection": "importing"}


def work_until(settled: Callable[[], bool], how_far: Callable[[], str] | None = None) -> None:
    """Do queued jobs until `settled`, and wait for those that workers have begun.

    On a terminal, `how_far` shows the progress.
    """
    name = f"command-{os.getpid()}@{socket.gethostname()}"
    bar = WaitingBar(how_far) if how_far is not None and sys.stderr.isatty() else None
    try:
        while not settled():
            if not running.run_due_jobs(name, limit=1):
                time.sleep(PAUSE)
    finally:
        Worker.objects.filter(name=name).delete()
        if bar is not None:
            bar.end()


def wait_until(is_done: Callable[[], bool], seconds: float) -> bool:
    """Wait for workers of other processes; return whether it was done within these seconds."""
    deadline = time.monotonic() + seconds
    while not is_done():
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE / 2)
    return True


def wait_for_collection(collection: Collection) -> None:
    """Wait until the collection changes no more without a user."""

    def settled() -> bool:
        collection.refresh_from_db()
        return collection.state in SETTLED

    def how_far() -> str:
        job = Job.objects.open().filter(target_id=str(collection.pk), kind__in=VERBS).first()
        return f"{VERBS[job.kind]} {progress_text(job.progress, job.progress_of)}" if job else ""

    work_until(settled, how_far)


def wait_for_version(version: ImportedVersion) -> None:
    def settled() -> bool:
        version.refresh_from_db()
        return version.state in SETTLED

    work_until(settled)


def wait_for_board(track: Track) -> None:
    """Wait until every edition of the track is built that was asked for."""

    def settled() -> bool:
        building = map(str, track.editions.values_list("pk", flat=True))
        return not Job.objects.open().filter(kind="build_edition", target_id__in=building).exists()

    work_until(settled)


def wait_for_runs(track: Track, runs: Iterable[Run]) -> None:
    """Wait until the runs are checked, scored and compared."""
    ids = [run.pk for run in runs]
    unfinished = Run.objects.unfinished().filter(pk__in=ids)

    def settled() -> bool:
        track.refresh_from_db(fields=["edition"])
        edition = Job.objects.open().filter(target_id=str(track.edition_id))
        return not (unfinished.exists() or edition.filter(kind="compare").exists())

    work_until(settled, lambda: f"{progress_text(len(ids) - unfinished.count(), len(ids))} runs")


class WaitingBar(threading.Thread):
    """A line of the terminal that is updated during the work.

    It has its own database connection, because another worker may be doing the job.
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
    """Return the progress as a bar, or as a count if the total is unknown.

    >>> progress_text(5, 10)
    '###############...............  5 of 10'
    """
    if not of:
        return f"{done:,}"
    return f"{'#' * (BAR_WIDTH * done // of):.<{BAR_WIDTH}}  {done:,} of {of:,}"
