"""Health checks for an installation; each yields findings with a fix."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.mail import get_connection
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from leaderboard.display.numbers import counted, mebibytes
from leaderboard.infrastructure.storage import sha256_of
from leaderboard.jobs import cleanup
from leaderboard.models import Job, Mail, Run, Worker
from leaderboard.safeguards import LOCAL, open_doors

SKEW = 2.0  # seconds between two clocks
LITTLE_ROOM, NO_ROOM = 0.10, 0.03  # of the disk
LEAST_ROOM = 1024 * settings.MIB
LONG_WAIT = timedelta(minutes=5)
NETWORKS = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "ceph", "glusterfs")


@dataclass(frozen=True)
class Finding:
    """`good`, `look` where somebody should, `bad` where the site does not do its work."""

    level: str
    what: str
    do: str = ""


def good(what: str) -> Finding:
    return Finding("good", what)


def look(what: str, do: str) -> Finding:
    return Finding("look", what, do)


def bad(what: str, do: str) -> Finding:
    return Finding("bad", what, do)


Examination = Callable[[], Iterator[Finding]]


def examine() -> Iterator[tuple[str, Finding]]:
    """Every finding with what was looked at; an examination that fails is a finding too."""
    for name, examination in EXAMINATIONS.items():
        try:
            yield from ((name, finding) for finding in examination())
        except Exception as error:
            yield name, bad(f"could not be looked at: {error}".strip(), "Mend what is named here.")


def of_settings() -> Iterator[Finding]:
    for _, what, do in open_doors():
        yield bad(what, do)
    public = [host for host in settings.ALLOWED_HOSTS if host not in LOCAL]
    if public and not settings.HTTPS:
        yield look(
            f"{public[0]} is served without HTTPS: passwords travel in clear.",
            "End TLS in a proxy and set HTTPS=1 and BEHIND_PROXY=1.",
        )
    if settings.HTTPS and not settings.BEHIND_PROXY:
        yield look(
            "HTTPS=1 without BEHIND_PROXY=1: web takes every request for http.",
            "Set BEHIND_PROXY=1 where a proxy ends TLS and sets X-Forwarded-Proto.",
        )
    home = Path(settings.RANKFIELD_HOME)
    if stat.S_IMODE(home.stat().st_mode) & 0o077:
        yield bad(f"Other accounts of this machine may open {home}.", f"chmod 700 {home}")
    key = home / "secret_key"
    if key.exists() and stat.S_IMODE(key.stat().st_mode) & 0o077:
        yield bad(f"Others may read {key}.", f"chmod 600 {key}")
    if settings.S3_BUCKET and key.exists() and key.read_text().strip() == settings.SECRET_KEY:
        yield look(
            "Each host with a secret key of its own signs everybody of the others out.",
            "Give all hosts the same SECRET_KEY.",
        )
    yield good(f"Rankfield {settings.VERSION}, in {settings.RANKFIELD_HOME}")


def of_database() -> Iterator[Finding]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    pending = MigrationExecutor(connection)
    plan = pending.migration_plan(pending.loader.graph.leaf_nodes())
    if plan:
        yield bad(
            f"{counted(len(plan), 'migration')} not applied.",
            "Run `manage.py migrate`; `serve` and `web` do so at their start.",
        )
    if connection.vendor == "sqlite":
        yield from of_sqlite()
    else:
        yield good(f"PostgreSQL {connection.pg_version // 10000} answers")


def of_sqlite() -> Iterator[Finding]:
    path = Path(connection.settings_dict["NAME"])
    if file_system_of(path) in NETWORKS:
        yield bad(
            f"{path} lies on a network file system, where SQLite loses data.",
            "Put RANKFIELD_HOME on a local disk, or use PostgreSQL.",
        )
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA quick_check(1)")
        said = cursor.fetchone()[0]
    if said != "ok":
        yield bad(f"SQLite says: {said}", "Stop the site and restore the last backup.")
    else:
        yield good("SQLite answers and is whole")


def file_system_of(path: Path) -> str:
    """The kind of file system that a path lies on; empty where the system does not tell."""
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return ""
    lines = [line.split() for line in mounts.read_text().splitlines()]
    holding = [words for words in lines if path.is_relative_to(words[1])]
    return max(holding, key=lambda words: len(words[1]))[2] if holding else ""


def of_clock() -> Iterator[Finding]:
    """Leases go by the clock of the database, deadlines by that of web."""
    if connection.vendor == "sqlite":
        yield good("one host, one clock")
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        there: datetime = cursor.fetchone()[0]
    skew = abs((timezone.now() - there).total_seconds())
    if skew > SKEW:
        yield bad(
            f"The clocks of this host and of the database are {skew:.0f} s apart.",
            "Let NTP set both; deadlines go by the clock of web.",
        )
    else:
        yield good(f"{skew:.1f} s from the clock of the database")


def of_disk() -> Iterator[Finding]:
    for name in ("RANKFIELD_HOME", "FILE_UPLOAD_TEMP_DIR"):
        folder = Path(getattr(settings, name))
        room = shutil.disk_usage(folder)
        share = room.free / room.total
        what = f"{mebibytes(room.free)} ({share:.0%}) free on the disk of {folder}"
        if share < NO_ROOM or room.free < min(LEAST_ROOM, room.total * LITTLE_ROOM):
            yield bad(f"Only {what}.", "Make room, or move RANKFIELD_HOME to a larger disk.")
        elif share < LITTLE_ROOM:
            yield look(f"Only {what}.", "Plan for more: runs and collections are kept.")
        else:
            yield good(what)
        if not os.access(folder, os.W_OK):
            yield bad(f"{folder} cannot be written.", f"chown it to {os.geteuid()}.")


def of_storage() -> Iterator[Finding]:
    """What is stored comes back the same."""
    content = os.urandom(64)
    name = default_storage.save("uploads/doctor", ContentFile(content))
    try:
        with default_storage.open(name) as file:
            same = file.read() == content
    finally:
        default_storage.delete(name)
    if same:
        yield good("a file that was stored came back")
    else:
        yield bad("A file that was stored came back otherwise.", "Look at the disk or the store.")


def of_broker() -> Iterator[Finding]:
    if not settings.REDIS_URL:
        yield good("none: the worker is its own")
        return
    from redis import Redis

    server = Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2)
    version = str(server.info("server")["redis_version"])
    parts = urlsplit(settings.REDIS_URL)
    if parts.scheme != "unix" and not parts.password:
        yield look(
            f"Redis at {parts.hostname} has no password: anyone who reaches it can write to it.",
            "Set a password (`requirepass`) and put it into REDIS_URL.",
        )
    there = datetime.fromtimestamp(server.time()[0], timezone.get_current_timezone())
    if abs((timezone.now() - there).total_seconds()) > SKEW + 1:
        yield look("The clock of Redis is off.", "Let NTP set it.")
    yield good(f"Redis {version} answers")


def of_mail() -> Iterator[Finding]:
    """The mail server lets us in; whether it takes a mail shows with the first."""
    if not settings.EMAIL_HOST:
        yield good("none is sent")
        return
    if not settings.SITE_URL:
        yield look("Mails cannot say where the site is.", "Set SITE_URL.")
    with get_connection(fail_silently=False):
        yield good(f"{settings.EMAIL_HOST} answers")
    given_up = Mail.objects.filter(state=Mail.State.GIVEN_UP)
    if number := given_up.count():
        yield look(
            f"{counted(number, 'mail was,mails were')} given up; the last: {given_up[0].answer}",
            "The notices stand on the site; see why the server refused them.",
        )


def of_workers() -> Iterator[Finding]:
    alive = list(Worker.objects.alive())
    waiting = Job.objects.due().count()
    if not alive and waiting:
        yield bad(
            f"No worker is alive, and {counted(waiting, 'job waits,jobs wait')}.",
            "Start `manage.py work`, or see in the log why it ended.",
        )
    elif not alive:
        yield look("No worker is alive.", "Start `manage.py serve` or `manage.py work`.")
    others = sorted({each.version for each in alive} - {settings.VERSION})
    if others:
        yield look(f"A worker is of version {others[0]}.", "Start it again with this code.")
    if alive:
        yield good(f"{counted(len(alive), 'worker')} alive")


def of_jobs() -> Iterator[Finding]:
    now = timezone.now()
    late = Job.objects.due().filter(created_at__lt=now - LONG_WAIT).count()
    if late:
        yield look(
            f"{counted(late, 'job has,jobs have')} waited for more than 5 minutes.",
            "Start more workers, or see what the ones there are do.",
        )
    failed = Job.objects.filter(state=Job.State.FAILED, finished_at__gt=now - timedelta(days=1))
    number = failed.count()
    if number:
        last = failed.latest("finished_at")
        yield look(
            f"{counted(number, 'job')} failed since yesterday; the last, {last.pk} ({last.kind}): "
            f"{last.reason}",
            "The log has the reason; the desk of the track offers to try again.",
        )
    if not late and not number:
        yield good(f"{counted(Job.objects.open().count(), 'job')} open, none late, none failed")


def of_files() -> Iterator[Finding]:
    """Every row has its file, and no file lies there that nobody needs."""
    named = set(cleanup.stored_file_names())
    missing = [name for name in sorted(named) if not default_storage.exists(name)]
    if missing:
        yield bad(
            f"{counted(len(missing), 'file')} that rows name are gone, the first {missing[0]}.",
            "Put them back from the last backup.",
        )
    stray = len(list(cleanup.orphaned_files(cleanup.find_cutoff())))
    if stray:
        yield look(
            f"{counted(stray, 'file lies,files lie')} there without a row for over an hour.",
            "A worker removes them within minutes; where none is alive, start one.",
        )
    if not missing and not stray:
        yield good(f"{counted(len(named), 'file')}, each with its row")


EXAMINATIONS: dict[str, Examination] = {
    "settings": of_settings,
    "database": of_database,
    "clock": of_clock,
    "disk": of_disk,
    "storage": of_storage,
    "broker": of_broker,
    "mail": of_mail,
    "workers": of_workers,
    "jobs": of_jobs,
    "files": of_files,
}


def changed_files() -> Iterator[str]:
    """Runs whose stored file is not the one that was sent: each is read and hashed again."""
    for run in Run.objects.exclude(file="").only("pk", "file", "sha256").iterator():
        with default_storage.open(run.file.name) as file:
            if sha256_of(file) != run.sha256:
                yield run.pk
