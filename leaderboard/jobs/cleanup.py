"""Periodic cleanup: orphaned files, rejected files, sessions and dead workers.

A file is stored before its row is written, and a job's file before its result.  A process that
dies in between leaves an orphaned file.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.files.storage import default_storage
from django.db.models import Min
from django.db.models.functions import Now
from django.utils import timezone

from leaderboard.collections.importing import delete_failed_imports, record_missing_checksums
from leaderboard.collections.word_index import enqueue_missing_indexes
from leaderboard.infrastructure.logs import log_failure
from leaderboard.infrastructure.storage import list_files_before, stored_file_names
from leaderboard.jobs.backups import enqueue_due_backup
from leaderboard.jobs.erasure import erase_abandoned_imports
from leaderboard.models import (
    Delivery,
    Digest,
    Job,
    Mail,
    Notice,
    PagesCopy,
    PartialUpload,
    Run,
    SentForm,
    TrackChange,
    Worker,
)
from leaderboard.models.notices import OutgoingMessage
from leaderboard.notifications.reminders import send_due_reminders
from leaderboard.runs.packing import enqueue_due_packing

log = logging.getLogger(__name__)

SWEEP_SECONDS = 600
KEPT_SECONDS = 3600
FOLDERS = ("runs", "collections", "pools", "uploads", "copies")
SILENCE = timedelta(days=1)


def sweep_if_due() -> None:
    """Sweep, unless a worker on these files did so within the last SWEEP_SECONDS."""
    stamp = Path(settings.RANKFIELD_HOME) / "cache" / "swept"
    if stamp.exists() and time.time() - stamp.stat().st_mtime < SWEEP_SECONDS:
        return
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.touch()
    sweep()


def sweep() -> None:
    """Delete orphaned files and old rows; a step that fails is logged, and the others run."""
    for step in STEPS:
        with log_failure(step.__name__):
            step()


def delete_expired_uploads() -> None:
    """Delete uploads in pieces that nobody continued."""
    PartialUpload.objects.expired(timezone.now()).delete()


def delete_stray_uploads() -> None:
    """Delete what broken uploads left in the folder of uploads."""
    for path in stray_uploads(find_cutoff()):
        with log_failure(f"removing {path}"):
            path.unlink(missing_ok=True)
            log.info("removed %s: it belongs to nothing", path)


def delete_orphaned_files() -> None:
    """Delete stored files that no row names."""
    for name in orphaned_files(find_cutoff()):
        with log_failure(f"removing {name}"):
            default_storage.delete(name)
            log.info("removed %s: it belongs to nothing", name)


def delete_rejected_files() -> None:
    """Delete the files of runs rejected long ago; the rows and their first problems stay."""
    kept = timedelta(days=settings.REFUSED_KEPT_DAYS)
    for run in Run.objects.rejected_before(timezone.now() - kept):
        with log_failure(f"removing the file of run {run.pk}"):
            Run.objects.filter(pk=run.pk).update(file="", problems_file="")
            for name in filter(None, (run.file.name, run.problems_file.name)):
                default_storage.delete(name)
            log.info("removed the file of run %s: it was rejected long ago", run.pk)


def delete_old_rows() -> None:
    """Delete old sessions, workers, jobs, calls, emails, notices and copies of pages.

    Jobs that checked a run stay: its page shows how many attempts the check took.
    """
    Session.objects.filter(expire_date__lt=timezone.now()).delete()
    Worker.objects.filter(last_seen__lt=Now() - SILENCE).delete()
    long_ago = timezone.now() - timedelta(days=settings.ROWS_KEPT_DAYS)
    ended = [Job.State.DONE, Job.State.CANCELLED]
    old_jobs = Job.objects.filter(state__in=ended, finished_at__lt=long_ago)
    old_jobs.exclude(kind="check_run").delete()
    for sendings in (Delivery.objects, Digest.objects, Mail.objects):
        old = sendings.filter(created_at__lt=long_ago)
        old.exclude(state=OutgoingMessage.State.WAITING).delete()
    Notice.objects.filter(read_at__lt=long_ago).delete()
    day_ago = timezone.now() - SILENCE
    SentForm.objects.filter(sent_at__lt=day_ago).delete()
    # A copy has names that may be erased since, and is soon made again.
    PagesCopy.objects.filter(copied_at__lt=day_ago).delete()


def find_cutoff() -> float:
    """Return the time before which files count as orphaned.

    The row of a younger file may not be written yet, or its job may still run.
    """
    hour_ago = time.time() - KEPT_SECONDS
    running = Job.objects.filter(state=Job.State.RUNNING).aggregate(first=Min("started_at"))
    first = running["first"]
    return hour_ago if first is None else min(hour_ago, first.timestamp() - KEPT_SECONDS)


def stray_uploads(before: float) -> Iterator[Path]:
    return list_files_before(Path(settings.FILE_UPLOAD_TEMP_DIR), before)


def orphaned_files(before: float) -> Iterator[str]:
    """Return the stored files that no row names.

    Files are listed before rows, so a file whose row is written in between is too young to count.
    """
    found = [name for folder in FOLDERS for name in default_storage.stored_before(folder, before)]
    named = set(stored_file_names()) if found else set()
    return (name for name in found if name not in named)


# Each step runs, whatever happened to the one before; backups do not wait for the others.
STEPS: tuple[Callable[[], object], ...] = (
    enqueue_due_backup,
    enqueue_due_packing,
    send_due_reminders,
    delete_failed_imports,
    erase_abandoned_imports,
    delete_rejected_files,
    delete_expired_uploads,
    delete_stray_uploads,
    delete_orphaned_files,
    record_missing_checksums,
    enqueue_missing_indexes,
    delete_old_rows,
    TrackChange.objects.merge_old,
)
