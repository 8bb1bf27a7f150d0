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
from dataclasses import dataclass
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
from django.db.models import Exists, Model

from leaderboard import celery, sweeping
from leaderboard.collections import checking, importing, pools
from leaderboard.infrastructure.logs import job_number
from leaderboard.infrastructure.outages import outage_of
from leaderboard.leases import Lease, LeaseLost, TooLong, memory_limit, time_limit
from leaderboard.models import Delivery, Job, Mail, Run, Worker
from leaderboard.models.jobs import MAX_ATTEMPTS, MAX_HANDED_BACK, JobQuerySet, Progress, Publish
from leaderboard.notifications import email, webhooks
from leaderboard.scoring import comparisons, files
from leaderboard.scoring import work as scoring_work

log = logging.getLogger(__name__)

Result = TypeVar("Result")

# A long job may take this many times JOB_TIME_LIMIT.
LONG = 24
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


def told_by_the_job(target_id: str, reason: str) -> None:
    """What the work was about is as it was; the row of the job says why."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a kind of job does, and what is written once it has failed for good."""

    do: Callable[[str, Progress], Publish]
    failed: Callable[[str, str], None] = told_by_the_job
    # Takes hours where others take minutes.
    long: bool = False
    # Of a lane one at a time in a worker, so that a slot stays free for what somebody waits for;
    # all long jobs share one.
    own_lane: str = ""
    # Seconds, where that is less than JOB_TIME_LIMIT.
    most: int | None = None
    # Held to JOB_MEMORY_LIMIT: whatever reads files nobody has checked yet, or scores.
    limited: bool = True

    @property
    def lane(self) -> str:
        return "long" if self.long else self.own_lane

    @property
    def seconds(self) -> int:
        return self.most or settings.JOB_TIME_LIMIT * (LONG if self.long else 1)


WORK = {
    "check_run": Work(scoring_work.check_run, scoring_work.run_failed),
    "build_edition": Work(scoring_work.build_edition, long=True),
    "try_judgments": Work(scoring_work.try_on_every_track),
    "score_again": Work(scoring_work.score_again, long=True),
    "compare": Work(comparisons.compare_edition),
    # Its address is anybody's: twice what a call may take, and never all slots.
    "deliver": Work(
        webhooks.deliver, Delivery.give_up, own_lane="calls", most=2 * webhooks.SECONDS
    ),
    "mail": Work(email.mail, Mail.give_up),
    "gather_pool": Work(pools.gather_pool, pools.pool_failed, long=True),
    "check_collection": Work(checking.check_collection, importing.collection_failed, long=True),
    "import_collection": Work(
        importing.import_collection,
        importing.collection_failed,
        long=True,
        limited=False,
    ),
    "check_judgments": Work(checking.check_judgments, importing.judgments_failed),
    "import_judgments": Work(
        importing.import_judgments,
        importing.judgments_failed,
        long=True,
        limited=False,
    ),
}


def enqueue(kind: str, target: Model) -> Job:
    """Queue this work; a worker hears of it when the transaction has committed."""
    job = Job.objects.enqueue(kind, target, share=share_of(target))
    transaction.on_commit(ring, robust=True)
    return job


def share_of(target: Model) -> str:
    """The team whose work this is: teams take turns, however many runs each of them has sent."""
    return f"team {target.team_id}" if isinstance(target, Run) else ""


def ring() -> None:
    """Tell the workers to look now.  Never raises, and takes no longer than two seconds.

    Without Redis nobody can be told, and nobody need be: the worker looks by itself.
    """
    if not settings.REDIS_URL:
        return
    try:
        celery.send_work()
    except Exception as error:
        # Whatever keeps the message from going out costs two seconds, not the upload.
        log.warning("no worker was told of the new job; they look by themselves: %s", error)


@shared_task(name="work")
def work(*_: object, **__: object) -> None:
    """The one message there is.  It ignores arguments: an older or newer sender may add some."""
    try:
        run_due(celery.worker_name(), limit=AT_A_TIME)
    except Exception as error:
        if outage_of(error) is None:
            raise
        log.warning("looks again later: %s", str(error).strip())
        time.sleep(1)


def run_due(worker: str, limit: int | None = None) -> int:
    """Do the jobs that are due, one after the other, until none is; how many were done."""
    done = 0
    while (limit is None or done < limit) and not celery.is_stopping():
        beat(worker)
        free_dead_leases()
        job = claim(worker)
        if job is None:
            break
        told = job_number.set(str(job.pk))
        run(job, worker)
        job_number.reset(told)
        done += 1
    sweeping.sweep_now_and_then()
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
            if outage_of(error) is None:
                raise
            log.warning("again in %s s: %s", pause, str(error).strip())
            connection.close()
            time.sleep(pause)
    return do()


def end_badly(job: Job, error: Exception) -> None:
    """Our own bug does the same again, so the job fails at once; an outage is waited out."""
    log.error("%s broke", named(job), exc_info=error)
    if outage_of(error) is None:
        fail(job, OUR_FAULT)
    else:
        put_off(job)


def put_off(job: Job) -> None:
    """Back into the queue, as soon as the database takes it; else it would cost an attempt."""
    while True:
        try:
            job.put_off(WAITS, wait=WAIT)
            return
        except (OperationalError, InterfaceError) as error:
            log.warning("%s cannot be put back: %s", named(job), str(error).strip())
            connection.close()
            if celery.is_stopping():
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
        Worker.objects.beat(worker)
        _beats[worker] = now
