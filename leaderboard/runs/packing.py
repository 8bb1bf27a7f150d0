"""Runs as submitted, packed a year later: four fifths of a file of text are saved.

Once a month the sweep queues a job.  It packs one run after the other, so one that is killed
continues where it was.  The file before is deleted by the sweep, as no row names it any more.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import datetime, timedelta

from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.utils import timezone

from evaluation.reading.containers import PACKED
from leaderboard.infrastructure.packed_files import END, PackedFileError, pack_stored_file
from leaderboard.models import Job, Run
from leaderboard.models.jobs import Progress, Publish
from leaderboard.models.runs import RunQuerySet

log = logging.getLogger(__name__)

KIND = "pack_runs"
YEAR = timedelta(days=365)
LONGEST_START = max(map(len, PACKED))


def old_runs(now: datetime) -> RunQuerySet:
    """Return the runs that were submitted a year ago and are stored as they were."""
    old = Run.objects.filter(received_at__lt=now - YEAR)
    return old.exclude(file="").exclude(file__endswith=END)


def enqueue_due_packing() -> None:
    """Queue the packing of old runs, once in each month."""
    now = timezone.now()
    month = f"{now:%Y-%m}"
    if Job.objects.filter(kind=KIND, target_id=month).exists() or not old_runs(now).exists():
        return
    with suppress(IntegrityError), transaction.atomic():
        Job.objects.create(kind=KIND, target_id=month, priority=Job.PRIORITIES[KIND])


def pack_old_runs(_: str, progress: Progress) -> Publish:
    """Pack each old run whose file is plain text; one that fails is logged and stays."""
    runs = list(old_runs(timezone.now()).order_by("received_at").only("pk", "file", "sha256"))
    for number, run in enumerate(runs):
        progress(number, len(runs))
        try:
            pack_run(run)
        except (FileNotFoundError, PackedFileError):
            log.exception("the file of run %s is not packed", run.pk)
    return lambda: None


def pack_run(run: Run) -> None:
    """Pack the file of a run, if it is not packed by who submitted it."""
    name = run.file.name
    with default_storage.open(name) as file:
        if file.read(LONGEST_START).startswith(PACKED):
            return
    if packed := pack_stored_file(name, run.sha256):
        Run.objects.filter(pk=run.pk, file=name).update(file=packed)
