"""Periodic cleanup: orphaned files, rejected files, sessions and dead workers.

A file is stored before its row is written, and a job's file before its result; a process that
dies in between leaves it behind.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.files.storage import default_storage
from django.db.models import FileField, Min
from django.db.models.functions import Now
from django.utils import timezone

from leaderboard.collections.importing import delete_failed_imports
from leaderboard.infrastructure.storage import list_files_before
from leaderboard.jobs.erasure import erase_abandoned
from leaderboard.models import Delivery, Job, Mail, Notice, Run, SentForm, Worker
from leaderboard.models.notices import OutgoingMessage

log = logging.getLogger(__name__)

EVERY = 600
KEPT = 3600
FOLDERS = ("runs", "collections", "pools")
SILENT = timedelta(days=1)
# Jobs that are done, calls and mails that were made, notices that were read: the desk looks
# no further.
TRIFLES = timedelta(days=90)


def sweep_now_and_then() -> None:
    """Sweep, unless some worker on these files did so within the last minutes."""
    stamp = Path(settings.RANKFIELD_HOME) / "cache" / "swept"
    if stamp.exists() and time.time() - stamp.stat().st_mtime < EVERY:
        return
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.touch()
    sweep()


def sweep() -> None:
    delete_failed_imports()
    erase_abandoned()
    forget_refused_files()
    before = oldest_to_keep()
    for path in stray_uploads(before):
        path.unlink(missing_ok=True)
        log.info("removed %s: it belongs to nothing", path)
    for name in files_without_a_row(before):
        default_storage.delete(name)
        log.info("removed %s: it belongs to nothing", name)
    Session.objects.filter(expire_date__lt=timezone.now()).delete()
    Worker.objects.filter(last_seen__lt=Now() - SILENT).delete()
    forget_trifles()


def forget_refused_files() -> None:
    """A refused file has served its purpose; its row and its first problems stay."""
    kept = timedelta(days=settings.REFUSED_KEPT_DAYS)
    for run in Run.objects.rejected_before(timezone.now() - kept):
        Run.objects.filter(pk=run.pk).update(file="", problems_file="")
        for name in filter(None, (run.file.name, run.problems_file.name)):
            default_storage.delete(name)
        log.info("removed the file of run %s: it was refused long ago", run.pk)


def forget_trifles() -> None:
    """The job that checked a run stays: the run's page says how many attempts it took."""
    long_ago = timezone.now() - TRIFLES
    ended = [Job.State.DONE, Job.State.CANCELLED]
    old_jobs = Job.objects.filter(state__in=ended, finished_at__lt=long_ago)
    old_jobs.exclude(kind="check_run").delete()
    for sendings in (Delivery.objects, Mail.objects):
        old = sendings.filter(created_at__lt=long_ago)
        old.exclude(state=OutgoingMessage.State.WAITING).delete()
    Notice.objects.filter(read_at__lt=long_ago).delete()
    SentForm.objects.filter(sent_at__lt=timezone.now() - SILENT).delete()


def oldest_to_keep() -> float:
    """Younger files stay: their row may be on the way, or their job may still run."""
    hour_ago = time.time() - KEPT
    running = Job.objects.filter(state=Job.State.RUNNING).aggregate(first=Min("started_at"))
    return min(hour_ago, running["first"].timestamp() - KEPT) if running["first"] else hour_ago


def stray_uploads(before: float) -> Iterator[Path]:
    return list_files_before(Path(settings.FILE_UPLOAD_TEMP_DIR), before)


def files_without_a_row(before: float) -> Iterator[str]:
    """Files are looked for first: one whose row comes later is too young to be found."""
    found = [name for folder in FOLDERS for name in default_storage.stored_before(folder, before)]
    named = set(names_in_rows()) if found else set()
    return (name for name in found if name not in named)


def names_in_rows() -> Iterator[str]:
    """Every stored file that a row of any model names."""
    for model in apps.get_app_config("leaderboard").get_models():
        for field in model._meta.get_fields():
            if isinstance(field, FileField):
                names = model._base_manager.exclude(**{field.name: ""})
                yield from names.values_list(field.name, flat=True).iterator()
