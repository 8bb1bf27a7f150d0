"""Run jobs: claim a job, do its work under a lease, and write its result in one transaction.

A job's work reads only what cannot change, and returns a function that writes the result; what it
writes before may be written twice.  So a job can be started again at any time.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from typing import TypeVar

from celery import shared_task
from django.conf import settings
from django.db import (
    InterfaceError,
    OperationalError,
    connection,
    transaction,
)
from django.db.models import Exists

from leaderboard.infrastructure.logs import job_number, request_number
from leaderboard.infrastructure.outages import find_outage
from leaderboard.infrastructure.read_only import is_read_only
from leaderboard.infrastructure.traces import trace
from leaderboard.jobs import backups, broker, cleanup
from leaderboard.jobs.leases import JobTimeoutError, Lease, LeaseLostError, memory_limit, time_limit
from leaderboard.jobs.table import JOB_KINDS
from leaderboard.models import Job, Worker
from leaderboard.models.jobs import MAX_ATTEMPTS, MAX_HANDED_BACK, JobQuerySet, Publish
from leaderboard.scoring import files

log = logging.getLogger(__name__)

Result = TypeVar("Result")
# The seconds to wait after each failure of the database. After the last, the job goes back to the
# queue for OUTAGE_WAIT.
RETRY_PAUSES = (0.5, 1, 2, 4, 8)
OUTAGE_WAIT = 30
# The seconds between two attempts to put a job back while the database is away.
REQUEUE_PAUSE = 1.0
# How many jobs one message starts: after each message the pool may replace a large process.
JOBS_PER_MESSAGE = 100
# The seconds between two heartbeats of a worker.  A worker not seen OUTLIVED_AFTER the last renewal
# of a job's lease stopped together with the job.
HEARTBEAT_SECONDS = 1.5
OUTLIVED_AFTER = timedelta(seconds=4)

# The reasons that a page of the run or the collection shows.
OUR_FAULT = "This is an error in the code; the server log has the details."
TOO_LARGE = "Too large: processing needs over {:,} MiB of memory."
TOO_SLOW = "Timed out: processing took over {:,} seconds."
CRASHED = "Processing crashed {} times."
STOPPED = "The worker was stopped {} times during processing."
CHANGED = "The stored file is missing or damaged. Submit the run again."
# The reasons shown while the job waits for the next attempt.
CRASHED_ONCE = "Processing crashed."
STOPPED_ONCE = "The worker was stopped."
WAITING_FOR_OUTAGE = "Database unavailable, or disk full."


@shared_task(name="work")
def work(*_: object, **__: object) -> None:
    """Handle the only message; ignore arguments, which an older or newer sender may add."""
    try:
        run_due_jobs(broker.worker_name(), limit=JOBS_PER_MESSAGE)
    except Exception as error:
        if find_outage(error) is None:
            raise
        log.warning("looks again later: %s", str(error).strip())
        time.sleep(1)


def run_due_jobs(worker: str, limit: int | None = None) -> int:
    """Run the jobs that are due, one after the other, and return how many were run."""
    done = 0
    while (limit is None or done < limit) and not broker.is_stopping():
        record_heartbeat(worker)
        release_expired_leases()
        job = claim_job(worker)
        if job is None:
            break
        with log_as(job):
            run_job(job, worker)
        done += 1
    if not is_read_only():
        cleanup.sweep_if_due()
    return done


@contextmanager
def log_as(job: Job) -> Iterator[None]:
    """Give log and trace the numbers of this job and of the request that asked for it."""
    job_token, request_token = job_number.set(str(job.pk)), request_number.set(job.request)
    try:
        with trace(f"job {job.kind}", job=str(job.pk), request=job.request):
            yield
    finally:
        job_number.reset(job_token)
        request_number.reset(request_token)


def claim_job(worker: str) -> Job | None:
    """Claim and return the first job that this worker may take now; none while it is read-only."""
    if is_read_only():
        return None
    due = claimable_jobs(worker)
    while candidates := list(due[:5]):
        for job in candidates:
            if job.claim(worker, among=due):
                return job
    return None


def claimable_jobs(worker: str) -> JobQuerySet:
    """Return the jobs that are due, one per lane; skip kinds that only a newer version knows."""
    due = Job.objects.due().filter(kind__in=JOB_KINDS)
    if not settings.BACKUP_FOLDER:
        due = due.exclude(kind=backups.KIND)
    for kinds in kinds_by_lane().values():
        busy = Job.objects.filter(state=Job.State.RUNNING, worker=worker, kind__in=kinds)
        due = due.exclude(Exists(busy), kind__in=kinds)
    return due


def kinds_by_lane() -> dict[str, list[str]]:
    """Return the kinds of each lane."""
    kinds: dict[str, list[str]] = {}
    for name, kind in JOB_KINDS.items():
        if kind.lane:
            kinds.setdefault(kind.lane, []).append(name)
    return kinds


def run_job(job: Job, worker: str) -> None:
    """Make one attempt at a job and handle every error."""
    began = time.monotonic()
    try:
        with open_lease(job, worker) as lease:
            publish = retry_on_outage(lambda: compute_result(job, lease))
            retry_on_outage(lambda: finish_job(job, publish, lease))
    except LeaseLostError:
        log_lost_lease(job)
    except MemoryError:
        log.warning("%s needs too much memory", describe_job(job))
        fail_job(job, TOO_LARGE.format(settings.JOB_MEMORY_LIMIT // settings.MIB))
    except JobTimeoutError:
        fail_timed_out(job)
    except files.FileChangedError as error:
        log.error("%s: %s", describe_job(job), error)
        fail_job(job, CHANGED)
    except backups.BackupError as error:
        log.error("%s: %s", describe_job(job), error)
        fail_job(job, str(error))
    except Exception as error:
        handle_error(job, error)
    else:
        log.info("%s done in %.1f s", describe_job(job), time.monotonic() - began)


def describe_job(job: Job) -> str:
    """Return the job's number, kind and target for the log."""
    return f"job {job.pk} ({job.kind} {job.target_id})"


def log_lost_lease(job: Job) -> None:
    """Log that another worker has the job now."""
    log.warning("%s is another worker's now; this attempt wrote nothing", describe_job(job))


def open_lease(job: Job, worker: str) -> Lease:
    """Return a lease that also records the worker's heartbeat."""
    return Lease(
        job,
        beat=lambda: record_heartbeat(worker),
        fail_timed_out=lambda: fail_timed_out(job),
    )


def compute_result(job: Job, lease: Lease) -> Publish:
    """Do the work within its limits of time and memory; each attempt has its own time."""
    kind = JOB_KINDS[job.kind]
    lease.set_time_limit(kind.seconds)
    memory = memory_limit(settings.JOB_MEMORY_LIMIT) if kind.limited else nullcontext()
    with time_limit(kind.seconds), memory:
        return kind.do(job.target_id, lease.progress)


def finish_job(job: Job, publish: Publish, lease: Lease) -> None:
    """Mark the job as done and write its result, both or neither."""
    lease.set_time_limit(JOB_KINDS[job.kind].seconds)
    with transaction.atomic():
        JOB_KINDS[job.kind].lock(job.target_id)
        if not job.finish():
            raise LeaseLostError
        publish()


def retry_on_outage(do: Callable[[], Result]) -> Result:
    """Call a function, and again after a pause when the database or the disk fails."""
    for pause in RETRY_PAUSES:
        try:
            return do()
        except Exception as error:
            if find_outage(error) is None:
                raise
            log.warning("again in %s s: %s", pause, str(error).strip())
            connection.close()
            time.sleep(pause)
    return do()


def handle_error(job: Job, error: Exception) -> None:
    """Fail the job at once for our own bug, which would happen again; wait out an outage."""
    log.error("%s broke", describe_job(job), exc_info=error)
    if find_outage(error) is None:
        fail_job(job, OUR_FAULT)
    else:
        requeue_later(job)


def requeue_later(job: Job) -> None:
    """Put the job back into the queue once the database works, so that no attempt is used."""
    while True:
        try:
            job.postpone(WAITING_FOR_OUTAGE, wait=OUTAGE_WAIT)
            return
        except (OperationalError, InterfaceError) as error:
            log.warning("%s cannot be put back: %s", describe_job(job), str(error).strip())
            connection.close()
            if broker.is_stopping():
                raise
            time.sleep(REQUEUE_PAUSE)


def fail_timed_out(job: Job) -> bool:
    """Fail a job that used all its time; return False if its lease was lost."""
    log.warning("%s took too long", describe_job(job))
    return fail_job(job, TOO_SLOW.format(JOB_KINDS[job.kind].seconds))


def fail_job(job: Job, reason: str) -> bool:
    """Fail the job and its target for good; return False if its lease was lost."""
    try:
        with transaction.atomic():
            ended = job.finish(Job.State.FAILED, reason)
            if ended:
                JOB_KINDS[job.kind].failed(job.target_id, reason)
            else:
                log_lost_lease(job)
            return ended
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        # Otherwise the job would be started again for ever.
        log.exception("%s failed, and its target could not be updated", describe_job(job))
        return job.finish(Job.State.FAILED, reason)


def release_expired_leases() -> None:
    """Queue jobs again whose worker stopped, or fail them after too many attempts."""
    for job in Job.objects.abandoned().filter(kind__in=JOB_KINDS):
        if has_live_worker(job):
            again, end = job.attempts < MAX_ATTEMPTS, CRASHED.format(job.attempts)
            freed = job.requeue(CRASHED_ONCE) if again else fail_job(job, end)
        else:
            again, end = job.handed_back < MAX_HANDED_BACK, STOPPED.format(job.handed_back)
            freed = job.hand_back(STOPPED_ONCE) if again else fail_job(job, end)
        if freed:
            log.warning("%s: %s let its lease end", describe_job(job), job.worker)


def has_live_worker(job: Job) -> bool:
    """Whether the worker lived on after this job's last lease renewal."""
    renewed = job.lease_until - timedelta(seconds=settings.LEASE_SECONDS)
    return Worker.objects.filter(name=job.worker, last_seen__gt=renewed + OUTLIVED_AFTER).exists()


last_heartbeats: dict[str, float] = {}


def record_heartbeat(worker: str) -> None:
    """Record that this worker is alive, at most once per HEARTBEAT_SECONDS."""
    now = time.monotonic()
    if now - last_heartbeats.get(worker, -HEARTBEAT_SECONDS) >= HEARTBEAT_SECONDS:
        Worker.objects.record_heartbeat(worker)
        last_heartbeats[worker] = now
