"""Health checks for an installation; each yields findings with a fix."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import stat
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from cryptography.x509 import load_der_x509_certificate
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.mail import get_connection
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from leaderboard.display.numbers import counted, mebibytes
from leaderboard.infrastructure.packed_files import open_unpacked
from leaderboard.infrastructure.read_only import is_read_only
from leaderboard.infrastructure.storage import sha256_of, stored_file_names
from leaderboard.jobs import backups, cleanup
from leaderboard.models import Digest, Invitation, Job, Mail, Run, Worker
from leaderboard.safeguards import LOCAL_HOSTS, find_insecure_settings

MOST_SKEW = 2.0  # seconds between two clocks
LOW_SHARE, TOO_LOW_SHARE = 0.10, 0.03  # of the disk
LEAST_BYTES = 1024 * settings.MIB
LONG_WAIT = timedelta(minutes=5)
SOON = timedelta(days=14)  # before a certificate ends
NETWORK_FILE_SYSTEMS = (
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "fuse.sshfs",
    "ceph",
    "glusterfs",
)


@dataclass(frozen=True)
class Finding:
    """One result of a check, with what to do about it.

    The level is `good`, `look` if an administrator should check it, or `bad` if the site fails.
    """

    level: str
    what: str
    do: str = ""

    @property
    def sign(self) -> str:
        """The shape that a page shows beside it."""
        return {"good": "ok", "look": "warn"}.get(self.level, self.level)


def report_good(what: str) -> Finding:
    return Finding("good", what)


def report_warning(what: str, do: str) -> Finding:
    return Finding("look", what, do)


def report_error(what: str, do: str) -> Finding:
    return Finding("bad", what, do)


Check = Callable[[], Iterator[Finding]]


def run_checks(without: Collection[str] = ()) -> Iterator[tuple[str, Finding]]:
    """Yield every finding with the subject of its check; a failed check is a finding too.

    `without` names checks that take too long for a page.
    """
    for name, examination in CHECKS.items():
        if name in without:
            continue
        try:
            yield from ((name, finding) for finding in examination())
        except Exception as error:
            yield (
                name,
                report_error(f"could not be checked: {error}".strip(), "Fix the error above."),
            )


def check_settings() -> Iterator[Finding]:
    for _, what, do in find_insecure_settings():
        yield report_error(what, do)
    public = [host for host in settings.ALLOWED_HOSTS if host not in LOCAL_HOSTS]
    if public and not settings.HTTPS:
        yield report_warning(
            f"{public[0]} is served without HTTPS: passwords are sent unencrypted.",
            "Terminate TLS in a proxy and set HTTPS=1 and BEHIND_PROXY=1.",
        )
    if settings.HTTPS and not settings.BEHIND_PROXY:
        yield report_warning(
            "HTTPS=1 without BEHIND_PROXY=1: web treats every request as HTTP.",
            "Set BEHIND_PROXY=1 where a proxy ends TLS and sets X-Forwarded-Proto.",
        )
    home = Path(settings.RANKFIELD_HOME)
    if stat.S_IMODE(home.stat().st_mode) & 0o077:
        yield report_error(f"Other accounts of this machine may open {home}.", f"chmod 700 {home}")
    key = home / "secret_key"
    if key.exists() and stat.S_IMODE(key.stat().st_mode) & 0o077:
        yield report_error(f"Others may read {key}.", f"chmod 600 {key}")
    if settings.S3_BUCKET and key.exists() and key.read_text().strip() == settings.SECRET_KEY:
        yield report_warning(
            "Hosts with different secret keys sign out each other’s users.",
            "Give all hosts the same SECRET_KEY.",
        )
    if is_read_only():
        yield report_warning(
            "The site is read-only: no one can change anything, and workers begin no job.",
            "Run `manage.py read_only off` when the maintenance is over.",
        )
    yield report_good(f"Rankfield {settings.VERSION}, in {settings.RANKFIELD_HOME}")


def check_database() -> Iterator[Finding]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    pending = MigrationExecutor(connection)
    plan = pending.migration_plan(pending.loader.graph.leaf_nodes())
    if plan:
        yield report_error(
            f"{counted(len(plan), 'migration')} not applied.",
            "Run `manage.py migrate`; `serve` and `web` do so when they start.",
        )
    if connection.vendor == "sqlite":
        yield from check_sqlite()
    else:
        yield report_good(f"PostgreSQL {connection.pg_version // 10000} answers")


def check_sqlite() -> Iterator[Finding]:
    path = Path(connection.settings_dict["NAME"])
    if find_file_system(path) in NETWORK_FILE_SYSTEMS:
        yield report_error(
            f"{path} is on a network file system, where SQLite loses data.",
            "Put RANKFIELD_HOME on a local disk, or use PostgreSQL.",
        )
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA quick_check(1)")
        said = cursor.fetchone()[0]
    if said != "ok":
        yield report_error(f"SQLite reports: {said}", "Stop the site and restore the last backup.")
    else:
        yield report_good("SQLite answers and is intact")


def find_file_system(path: Path) -> str:
    """Return the type of the file system of a path; empty if it is unknown."""
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return ""
    lines = [line.split() for line in mounts.read_text().splitlines()]
    holding = [words for words in lines if path.is_relative_to(words[1])]
    return max(holding, key=lambda words: len(words[1]))[2] if holding else ""


def check_clock() -> Iterator[Finding]:
    """Compare the clocks of database and web: leases use the first, deadlines the second."""
    if connection.vendor == "sqlite":
        yield report_good("one host, one clock")
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        there: datetime = cursor.fetchone()[0]
    skew = abs((timezone.now() - there).total_seconds())
    if skew > MOST_SKEW:
        yield report_error(
            f"The clocks of this host and of the database are {skew:.0f} s apart.",
            "Let NTP set both; deadlines use the clock of web.",
        )
    else:
        yield report_good(f"{skew:.1f} s from the clock of the database")


def check_disk() -> Iterator[Finding]:
    for name in ("RANKFIELD_HOME", "FILE_UPLOAD_TEMP_DIR"):
        folder = Path(getattr(settings, name))
        room = shutil.disk_usage(folder)
        share = room.free / room.total
        what = f"{mebibytes(room.free)} ({share:.0%}) free on the disk of {folder}"
        if share < TOO_LOW_SHARE or room.free < min(LEAST_BYTES, room.total * LOW_SHARE):
            yield report_error(
                f"Only {what}.", "Free some space, or move RANKFIELD_HOME to a larger disk."
            )
        elif share < LOW_SHARE:
            yield report_warning(
                f"Only {what}.", "Plan a larger disk: runs and collections are kept."
            )
        else:
            yield report_good(what)
        if not os.access(folder, os.W_OK):
            yield report_error(f"{folder} cannot be written.", f"chown it to {os.geteuid()}.")


def check_storage() -> Iterator[Finding]:
    """Check that a stored file is read back unchanged."""
    content = os.urandom(64)
    name = default_storage.save("uploads/doctor", ContentFile(content))
    try:
        with default_storage.open(name) as file:
            same = file.read() == content
    finally:
        default_storage.delete(name)
    if same:
        yield report_good("a stored file was read back unchanged")
    else:
        yield report_error(
            "A stored file was read back changed.", "Check the disk or the object store."
        )


def check_broker() -> Iterator[Finding]:
    if not settings.REDIS_URL:
        yield report_good("none: the worker has its own broker")
        return
    from redis import Redis

    server = Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2)
    version = str(server.info("server")["redis_version"])
    parts = urlsplit(settings.REDIS_URL)
    if parts.scheme != "unix" and not parts.password:
        yield report_warning(
            f"Redis at {parts.hostname} has no password: anyone who can reach it can write to it.",
            "Set a password (`requirepass`) and put it into REDIS_URL.",
        )
    there = datetime.fromtimestamp(server.time()[0], timezone.get_current_timezone())
    if abs((timezone.now() - there).total_seconds()) > MOST_SKEW + 1:
        yield report_warning("The clock of Redis is off.", "Let NTP set it.")
    yield report_good(f"Redis {version} answers")


def check_certificate() -> Iterator[Finding]:
    """Check when the certificate that browsers get ends; whether they trust it is theirs to say."""
    parts = urlsplit(settings.SITE_URL)
    if parts.scheme != "https":
        yield report_good("none: SITE_URL does not begin with https://")
        return
    try:
        ends = find_end_of_certificate(parts.hostname or "", parts.port or 443)
    except OSError as error:
        yield report_warning(
            f"{settings.SITE_URL} cannot be reached from here: {error}",
            "Nothing to do if this host may not; else check the proxy and its certificate.",
        )
        return
    left = ends - timezone.now()
    if left < timedelta(0):
        yield report_error(
            f"The certificate ended on {ends:%Y-%m-%d}: browsers do not open the site.",
            "Renew it and reload the proxy.",
        )
    elif left < SOON:
        yield report_warning(
            f"The certificate ends on {ends:%Y-%m-%d}.", "Renew it and reload the proxy."
        )
    else:
        yield report_good(f"the certificate is good until {ends:%Y-%m-%d}")


def find_end_of_certificate(host: str, port: int) -> datetime:
    """Return when the certificate of a server ends, trusted or not; OSError if none answers."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection((host, port), timeout=2) as plain,
        trusting.wrap_socket(plain, server_hostname=host) as safe,
    ):
        return load_der_x509_certificate(safe.getpeercert(binary_form=True)).not_valid_after_utc


def check_email() -> Iterator[Finding]:
    """Check that the email server accepts our connection; no email is sent."""
    if not settings.EMAIL_HOST:
        yield report_good("none is sent")
        return
    if not settings.SITE_URL:
        yield report_warning("Emails cannot link to the site.", "Set SITE_URL.")
    with get_connection(fail_silently=False):
        yield report_good(f"{settings.EMAIL_HOST} answers")
    given_up = [
        email
        for kind in (Digest, Invitation, Mail)
        for email in kind.objects.filter(state=Mail.State.GIVEN_UP)
    ]
    if given_up:
        number = len(given_up)
        last = max(given_up, key=lambda email: email.created_at)
        yield report_warning(
            f"{counted(number, 'email was,emails were')} given up; the last: {last.answer}",
            "The notices are on the site. Find out why the email server rejected them.",
        )


def check_workers() -> Iterator[Finding]:
    alive = list(Worker.objects.alive())
    waiting = Job.objects.due().count()
    if not alive and waiting:
        yield report_error(
            f"No worker is alive, and {counted(waiting, 'job waits,jobs wait')}.",
            "Start `manage.py work`, or check the log for why it ended.",
        )
    elif not alive:
        yield report_warning("No worker is alive.", "Start `manage.py serve` or `manage.py work`.")
    others = sorted({worker.version for worker in alive} - {settings.VERSION})
    if others:
        yield report_warning(f"A worker is of version {others[0]}.", "Restart it with this code.")
    if alive:
        yield report_good(f"{counted(len(alive), 'worker')} alive")


def check_jobs() -> Iterator[Finding]:
    now = timezone.now()
    late = Job.objects.due().filter(created_at__lt=now - LONG_WAIT).count()
    if late:
        yield report_warning(
            f"{counted(late, 'job has,jobs have')} waited for more than 5 minutes.",
            "Start more workers, or check what the current ones are doing.",
        )
    failed = Job.objects.filter(state=Job.State.FAILED, finished_at__gt=now - timedelta(days=1))
    number = failed.count()
    if number:
        last = failed.latest("finished_at")
        yield report_warning(
            f"{counted(number, 'job')} failed since yesterday; the last, {last.pk} ({last.kind}): "
            f"{last.reason}",
            "The log has the reason; the desk of the track has a button to try again.",
        )
    if not late and not number:
        yield report_good(
            f"{counted(Job.objects.open().count(), 'job')} open, none late, none failed"
        )


def check_backups() -> Iterator[Finding]:
    """Check the schedule of backups, if there is one."""
    if not settings.BACKUP_FOLDER:
        yield report_good("no schedule: BACKUP_FOLDER is not set")
        return
    last = backups.find_last_backups()
    hours = 2 * settings.BACKUP_HOURS
    if last.failed is not None and last.is_failing:
        yield report_error(
            f"The last backup failed: {last.failed.reason}",
            "Fix that; it is tried again every hour.",
        )
    elif last.done is None:
        yield report_warning(
            "There is no scheduled backup yet.", "A worker writes one within ten minutes."
        )
    elif last.done.finished_at < timezone.now() - timedelta(hours=hours):
        yield report_error(
            f"The last backup is of {last.done.finished_at:%Y-%m-%d %H:%M} UTC.",
            "Check that a worker with BACKUP_FOLDER is alive.",
        )
    else:
        kept = len(backups.list_backups(Path(settings.BACKUP_FOLDER)))
        at = f"{last.done.finished_at:%H:%M}"
        yield report_good(f"{counted(kept, 'backup')}, the last of {at} UTC")


def check_files() -> Iterator[Finding]:
    """Check that every row has its file and every file its row."""
    named = set(stored_file_names())
    missing = [name for name in sorted(named) if not default_storage.exists(name)]
    if missing:
        yield report_error(
            f"Missing: {counted(len(missing), 'file')} of the database, the first {missing[0]}.",
            "Restore them from the last backup.",
        )
    stray = len(list(cleanup.orphaned_files(cleanup.find_cutoff())))
    if stray:
        yield report_warning(
            f"{counted(stray, 'file is,files are')} stored without a row for over an hour.",
            "A worker removes them within minutes; if none is alive, start one.",
        )
    if not missing and not stray:
        yield report_good(f"{counted(len(named), 'file')}, each with its row")


CHECKS: dict[str, Check] = {
    "settings": check_settings,
    "database": check_database,
    "clock": check_clock,
    "disk": check_disk,
    "storage": check_storage,
    "broker": check_broker,
    "https": check_certificate,
    "mail": check_email,
    "workers": check_workers,
    "jobs": check_jobs,
    "backups": check_backups,
    "files": check_files,
}


def find_changed_files() -> Iterator[str]:
    """Hash every stored run again and return those that have changed."""
    for run in Run.objects.exclude(file="").only("pk", "file", "sha256").iterator():
        with open_unpacked(run.file.name) as file:
            if sha256_of(file) != run.sha256:
                yield run.pk
