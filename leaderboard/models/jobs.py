"""The job queue: slow work is a Job, and each running worker is a Worker."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, models, transaction
from django.db.models import F, Max, Min, Q
from django.db.models.functions import Now
from django.utils import timezone

MAX_ATTEMPTS = 3
MAX_HANDED_BACK = 10


class DatabaseStart(models.Func):
    """The start time of the database; 1970 for SQLite, which has no server."""

    function = "pg_postmaster_start_time"
    output_field = models.DateTimeField()

    def as_sqlite(self, compiler: Any, connection: Any, **_: Any) -> tuple[str, list[Any]]:
        return "'1970-01-01'", []


class JobQuerySet(models.QuerySet["Job"]):
    def enqueue(
        self,
        kind: str,
        target: models.Model,
        priority: int | None = None,
        share: str = "",
        request: str = "",
    ) -> Job:
        """Return the open job for this work: a new one, or one that is queued or running.

        A running job may have read its inputs before they changed, so it will run once more.
        The UPDATE also locks its row until the caller commits: no worker begins or ends the job
        before it can see what the caller wrote.

        Jobs of one priority take turns by `share`; jobs without a share wait for no turn. The log
        of the job names the request that asked for it first.
        """
        wanted = {"kind": kind, "target_id": str(target.pk)}
        priority = Job.PRIORITIES.get(kind, 5) if priority is None else priority
        while True:
            try:
                with transaction.atomic():
                    turn = self.next_turn(priority, share)
                    place = {"priority": priority, "share": share, "turn": turn}
                    return self.create(**wanted, **place, request=request)
            except IntegrityError:
                if self.open().filter(**wanted).update(not_before=Now()):
                    return self.open().get(**wanted)

    def next_turn(self, priority: int, share: str) -> int:
        """Return the turn of a new job: one after the last of its share, and none in the past.

        The present turn is the lowest that is still open, so a share that had nothing to do
        cannot save turns for later.
        """
        same = self.open().filter(priority=priority)
        turns = same.aggregate(now=Min("turn"), last=Max("turn", filter=Q(share=share)))
        now: int = turns["now"] or 0
        return now if not share or turns["last"] is None else max(now, turns["last"] + 1)

    def open(self) -> JobQuerySet:
        return self.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING])

    def due(self) -> JobQuerySet:
        """Return the jobs that can begin now in queue order, by the clock of the database."""
        return (
            self.filter(state=Job.State.QUEUED)
            .filter(Q(not_before=None) | Q(not_before__lte=Now()))
            .order_by("priority", "turn", "id")
        )

    def abandoned(self) -> JobQuerySet:
        """Return running jobs whose lease is over, or too long because the clock was set back.

        No worker can renew while the database is down, so after its restart every lease has its
        full time again.
        """
        lease = timedelta(seconds=settings.LEASE_SECONDS)
        over = Q(lease_until__lt=Now()) | Q(lease_until__gt=Now() + 2 * lease)
        just_back = Q(database_start__range=(Now() - lease, Now()))
        return self.alias(database_start=DatabaseStart()).filter(
            over, ~just_back, state=Job.State.RUNNING
        )

    def of(self, kind: str, target: models.Model) -> JobQuerySet:
        return self.filter(kind=kind, target_id=str(target.pk))

    def ahead_of(self, job: Job) -> JobQuerySet:
        same = Q(priority=job.priority)
        return self.filter(state=Job.State.QUEUED).filter(
            Q(priority__lt=job.priority)
            | (same & Q(turn__lt=job.turn))
            | (same & Q(turn=job.turn, id__lt=job.pk))
        )


class Job(models.Model):
    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    # Short work that a user waits for comes first.
    PRIORITIES = {
        "check_run": 3,
        "compare": 4,
        "judge_boards": 5,
        "correct_means": 5,
        "try_orders": 7,
        "check_judgments": 5,
        "import_judgments": 5,
        **dict.fromkeys(("check_nuggets", "import_nuggets", "check_marks", "import_marks"), 5),
        **dict.fromkeys(("check_results", "import_results"), 6),
        "try_judgments": 6,
        "build_edition": 6,
        "score_again": 6,
        "gather_pool": 6,
        "copy_pages": 7,
        "announce_judgments": 6,
        "announce_version": 6,
        "deliver": 8,
        **dict.fromkeys(("mail", "digest", "invite"), 8),
        "fetch_dataset": 7,
        "check_collection": 7,
        "import_collection": 7,
        "index_words": 7,
        "pack_runs": 9,
    }

    kind = models.CharField(max_length=30)
    target_id = models.CharField(max_length=40)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    priority = models.SmallIntegerField(default=5)
    # Whose work it is, such as "team 7", and its place in line: shares take turns.
    share = models.CharField(max_length=40, default="", db_default="", editable=False)
    turn = models.IntegerField(default=0, db_default=0, editable=False)
    # The number in the log of the request that asked for it, if one did.
    request = models.CharField(max_length=12, default="", db_default="", editable=False)
    attempts = models.SmallIntegerField(default=0)
    handed_back = models.SmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    lease_token = models.UUIDField(null=True)
    # Of a queued job: when it may begin.  Of a running one: when it was asked for once more.
    not_before = models.DateTimeField(null=True)
    worker = models.CharField(max_length=80, blank=True)
    progress = models.IntegerField(default=0)
    progress_of = models.IntegerField(default=0)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "target_id"],
                condition=Q(state__in=["queued", "running"]),
                name="one_open_job_a_piece_of_work",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["queued", "running", "done", "failed", "cancelled"]),
                name="job_state_is_known",
            ),
        ]
        indexes = [
            models.Index(fields=["state", "priority", "id"]),
            models.Index(fields=["state", "priority", "turn", "id"], name="jobs_in_turn"),
            models.Index(fields=["kind", "target_id"]),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.target_id} ({self.state})"

    def claim(self, worker: str, among: JobQuerySet | None = None) -> bool:
        """Claim this job for one attempt; return False if another worker was first.

        `among` are the jobs that this worker may claim now; by default all due jobs.
        """
        token = uuid.uuid4()
        among = Job.objects.due() if among is None else among
        taken = among.filter(pk=self.pk).update(
            state=Job.State.RUNNING,
            attempts=F("attempts") + 1,
            lease_token=token,
            lease_until=Now() + self._lease(),
            not_before=None,
            worker=worker,
            started_at=Now(),
            progress=0,
            progress_of=0,
        )
        if taken:
            self.refresh_from_db()
        return bool(taken) and self.lease_token == token

    def renew(self, done: int = 0, of: int = 0) -> bool:
        """Extend the lease and record the progress; return False if the lease was lost."""
        renewed = {"lease_until": Now() + self._lease(), "progress": done, "progress_of": of}
        return bool(self._own_row().update(**renewed))

    def finish(self, state: str = State.DONE, reason: str = "") -> bool:
        """End the attempt; return False if the lease was lost, and then write nothing.

        Call it first in the transaction that writes the result: the row stays locked until both
        are committed.  If the work was requested again meanwhile, a new job is queued.
        """
        ended = self._own_row().update(
            state=state, reason=reason, finished_at=Now(), lease_until=None, lease_token=None
        )
        if ended and Job.objects.filter(pk=self.pk, not_before__isnull=False).exists():
            turn = Job.objects.next_turn(self.priority, self.share)
            wanted = {"kind": self.kind, "target_id": self.target_id, "priority": self.priority}
            Job.objects.create(**wanted, share=self.share, turn=turn)
        return bool(ended)

    def requeue(self, reason: str, wait: int = 0, **changes: Any) -> bool:
        """Queue the job again, to begin in `wait` seconds; return False if the lease was lost."""
        begin = Now() + timedelta(seconds=wait) if wait else None
        return bool(
            self._own_row().update(
                state=Job.State.QUEUED,
                reason=reason,
                lease_until=None,
                lease_token=None,
                not_before=begin,
                **changes,
            )
        )

    def postpone(self, reason: str, wait: int) -> bool:
        """Requeue without counting the attempt, because no worker could do the job now."""
        return self.requeue(reason, wait, attempts=F("attempts") - 1)

    def hand_back(self, reason: str) -> bool:
        """Requeue without counting the attempt, because the worker stopped."""
        return self.requeue(reason, attempts=F("attempts") - 1, handed_back=F("handed_back") + 1)

    def _own_row(self) -> JobQuerySet:
        return Job.objects.filter(pk=self.pk, state=Job.State.RUNNING, lease_token=self.lease_token)

    @staticmethod
    def _lease() -> timedelta:
        return timedelta(seconds=settings.LEASE_SECONDS)


class WorkerQuerySet(models.QuerySet["Worker"]):
    def alive(self) -> WorkerQuerySet:
        """Return workers seen recently; a time in the future means the clock was set back."""
        silence = timedelta(seconds=Worker.SILENCE)
        return self.filter(last_seen__gt=Now() - silence, last_seen__lt=Now() + silence)

    def record_heartbeat(self, name: str) -> None:
        """Record that a worker is alive now, by the clock of the database."""
        self.bulk_create(
            [Worker(name=name, version=settings.VERSION, last_seen=Now())],
            update_conflicts=True,
            unique_fields=["name"],
            update_fields=["last_seen"],
        )


class Worker(models.Model):
    """One start of a worker process; after a restart it has another name."""

    SILENCE = 30

    name = models.CharField(max_length=120, primary_key=True)
    version = models.CharField(max_length=20)
    started_at = models.DateTimeField(default=timezone.now)
    last_seen = models.DateTimeField()

    objects = WorkerQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name


Progress = Callable[[int, int], None]
Publish = Callable[[], None]
