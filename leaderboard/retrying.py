"""Work that failed for good, begun once more."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Model

from leaderboard import jobs, organising
from leaderboard.models import AuditEvent, Job, Pool, Run, User


@transaction.atomic
def try_again(job: Job, target: Model, user: User) -> None:
    """Queue a new job for the same work; what failed is open to it again."""
    if isinstance(target, Run):
        organising.try_again(target, user)
        return
    if isinstance(target, Pool):
        failed = Pool.objects.filter(pk=target.pk, state=Pool.State.FAILED)
        failed.update(state=Pool.State.QUEUED, reason="")
    jobs.enqueue(job.kind, target)
    AuditEvent.objects.record(user, "try again", target)
