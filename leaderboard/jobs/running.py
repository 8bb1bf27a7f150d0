"""Slow work, done once: claim a job, do it under a lease, write its result in one transaction.

The rows of Job are the truth.  A message on the broker says only "look"; losing one, or getting
it twice, changes nothing.  A job's work reads what cannot change and returns what is to be
written, so it may be begun again as often as need be.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import nullcontext
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

from leaderboard.infrastructure.logs import job_number
from leaderboard.infrastructure.outages import find_outage
from leaderboard.jobs import broker, cleanup
from leaderboard.jobs.leases import Lease, LeaseLost, TooLong, memory_limit, time_limit
from leaderboard.jobs.table import WORK
from leaderboard.models import Job, Worker
from leaderboard.models.jobs import MAX_ATTEMPTS, MAX_HANDED_BACK, JobQuerySet, Publish
from leaderboard.scoring import files

log = logging.getLogger(__name__)

Result = TypeVar("Result")
# After each failure of the database wait so many seconds; then the job goes back for WAIT.
PAUSES = (0.5, 1, 2, 4, 8)
WAIT = 30
# While it is away, so many seconds lie between two tries to say so.
BETWEEN = 1.0
# How many jobs are done for one message: after it the pool may replace a process grown large.
AT_A_TIME = 100
# A living worker is seen this often.  One not seen OUTLIVED after the last renewal of a job's
# lease went down together with the job.
BEAT = 1.5
OUTLIVED = timedelta(seconds=4)

# What a reader of the run or the collection is told.
OUR_FAULT = "Something went wrong on our side. The server log has the details."
TOO_LARGE = "Too large: processing needs over {:,} MiB of memory."
TOO_SLOW = "Timed out: processing took over {:,} seconds."
CRASHED = "Processing crashed {} times."
STOPPED = "The worker was stopped {} times during processing."
CHANGED = "The stored file is missing or damaged. Submit the run again."
# What is told while it waits for the next attempt.
BROKE_OFF = "Processing crashed."
WENT_DOWN = "The worker was stopped."
WAITS = "Database unavailable, or disk full."


@shared_task(name="work")
def work(*_: object, **__: object) -> None:
    """The one message there is.  It ignores arguments: an older or newer sender may add some."""
    try:
        run_due(broker.worker_name(), limit=AT_A_TIME)
    except Exception as error:
        if find_outage(error) is None:
            raise
        log.warning("looks again later: %s", str(error).strip())
        time.sleep(1)


def run_due(worker: str, limit: int | None = None) -> int:
    """Do the jobs that are due, one after the other, until none is; how many were done."""
    done = 0
    while (limit is None or done < limit) and not broker.is_stopping():
        beat(worker)
        free_dead_leases()
        job = claim(worker)
        if job is None:
            break
        told = job_number.set(str(job.pk))
        run(job, worker)
        job_number.reset(told)
        done += 1
    cleanup.sweep_now_and_then()
    return done


def claim(worker: str) -> Job | None:
    """The best job that this worker may take now, taken."""
    due = may_take(worker)
    while candidates := list(due[:5]):
        for job in candidates:
            if job.claim(worker, among=due):
                return job
    return None


def may_take(worker: str) -> JobQuerySet:
    """What is due and known here (a newer version may queue other kinds), one job a lane."""
    due = Job.objects.due().filter(kind__in=WORK)
    for kinds in lanes().values():
        busy = Job.objects.filter(state=Job.State.RUNNING, worker=worker, kind__in=kinds)
        due = due.exclude(Exists(busy), kind__in=kinds)
    return due


def lanes() -> dict[str, list[str]]:
    """Return the kinds of each lane."""
    kinds: dict[str, list[str]] = {}
    for kind, each in WORK.items():
        if each.lane:
            kinds.setdefault(each.lane, []).append(kind)
    return kinds


def run(job: Job, worker: str) -> None:
    """One attempt at a job, whatever comes of it."""
    began = time.monotonic()
    try:
        with hold(job, worker) as lease:
            publish = persistently(lambda: result_of(job, lease))
            persistently(lambda: finish(job, publish, lease))
    except LeaseLost:
        say_lost(job)
    except MemoryError:
        log.warning("%s needs too much memory", named(job))
        fail(job, TOO_LARGE.format(settings.JOB_MEMORY_LIMIT // settings.MIB))
    except TooLong:
        fail_slow(job)
    except files.FileChanged as error:
        log.error("%s: %s", named(job), error)
        fail(job, CHANGED)
    except Exception as error:
        end_badly(job, error)
    else:
        log.info("%s done in %.1f s", named(job), time.monotonic() - began)


def named(job: Job) -> str:
    return f"job {job.pk} ({job.kind} {job.target_id})"


def say_lost(job: Job) -> None:
    log.warning("%s is another worker's now; this attempt wrote nothing", named(job))


def hold(job: Job, worker: str) -> Lease:
    return Lease(
        job,
        beat=lambda: beat(worker),
        too_long=lambda: fail_slow(job),
    )


def result_of(job: Job, lease: Lease) -> Publish:
    """The work itself, within its limits of time and memory; each try has its own time."""
    each = WORK[job.kind]
    lease.allow(each.seconds)
    memory = memory_limit(settings.JOB_MEMORY_LIMIT) if each.limited else nullcontext()
    with time_limit(each.seconds), memory:
        return each.do(job.target_id, lease.progress)


def finish(job: Job, publish: Publish, lease: Lease) -> None:
    """The job is done and its result is written, or neither; each try has its own time."""
    lease.allow(WORK[job.kind].seconds)
    with transaction.atomic():
        if not job.finish():
            raise LeaseLost
        publish()


def persistently(do: Callable[[], Result]) -> Result:
    """Do it, and again after a pause when the database or the disk could not just now."""
    for pause in PAUSES:
        try:
            return do()
        except Exception as error:
            if find_outage(error) is None:
                raise
            log.warning("again in %s s: %s", pause, str(error).strip())
            connection.close()
            time.sleep(pause)
    return do()


def end_badly(job: Job, error: Exception) -> None:
    """Our own bug does the same again, so the job fails at once; an outage is waited out."""
    log.error("%s broke", named(job), exc_info=error)
    if find_outage(error) is None:
        fail(job, OUR_FAULT)
    else:
        put_off(job)


def put_off(job: Job) -> None:
    """Back into the queue, as soon as the database takes it; else it would cost an attempt."""
    while True:
        try:
            job.postpone(WAITS, wait=WAIT)
            return
        except (OperationalError, InterfaceError) as error:
            log.warning("%s cannot be put back: %s", named(job), str(error).strip())
            connection.close()
            if broker.is_stopping():
                raise
            time.sleep(BETWEEN)


def fail_slow(job: Job) -> bool:
    log.warning("%s took too long", named(job))
    return fail(job, TOO_SLOW.format(WORK[job.kind].seconds))


def fail(job: Job, reason: str) -> bool:
    """The job has failed for good, and its noun says so; False when the lease was lost."""
    try:
        with transaction.atomic():
            ended = job.finish(Job.State.FAILED, reason)
            if ended:
                WORK[job.kind].failed(job.target_id, reason)
            else:
                say_lost(job)
            return ended
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        # Else the job would be begun again for ever.
        log.exception("%s has failed, and could not say so", named(job))
        return job.finish(Job.State.FAILED, reason)


def free_dead_leases() -> None:
    """Queue again what a worker began and did not end, or fail it where that went on too long."""
    for job in Job.objects.abandoned().filter(kind__in=WORK):
        if has_outlived(job):
            again, end = job.attempts < MAX_ATTEMPTS, CRASHED.format(job.attempts)
            freed = job.requeue(BROKE_OFF) if again else fail(job, end)
        else:
            again, end = job.handed_back < MAX_HANDED_BACK, STOPPED.format(job.handed_back)
            freed = job.hand_back(WENT_DOWN) if again else fail(job, end)
        if freed:
            log.warning("%s: %s let its lease end", named(job), job.worker)


def has_outlived(job: Job) -> bool:
    """Whether the worker lived on when this job's lease was no longer renewed."""
    renewed = job.lease_until - timedelta(seconds=settings.LEASE_SECONDS)
    return Worker.objects.filter(name=job.worker, last_seen__gt=renewed + OUTLIVED).exists()


_beats: dict[str, float] = {}


def beat(worker: str) -> None:
    """Say that this worker lives, at most every few seconds."""
    now = time.monotonic()
    if now - _beats.get(worker, -BEAT) >= BEAT:
        Worker.objects.record_heartbeat(worker)
        _beats[worker] = now
