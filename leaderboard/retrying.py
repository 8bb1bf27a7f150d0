"""Retry jobs and webhook calls that failed."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Model

from leaderboard import organising
from leaderboard.jobs import queue
from leaderboard.models import AuditEvent, Delivery, Job, JudgmentSet, Pool, Run, User, Webhook


@transaction.atomic
def retry_job(job: Job, target: Model, user: User) -> None:
    """Queue a new job for the same work; what failed is open to it again.

    Raises NotAccepted for a run whose place is taken, NotPossible for what needs no other try.
    """
    if isinstance(target, Run):
        organising.try_again(target, user)
        return
    if isinstance(target, JudgmentSet) and job.kind != "try_judgments":
        organising.check_judgments_again(target, user)
        return
    if isinstance(target, Pool):
        failed = Pool.objects.filter(pk=target.pk, state=Pool.State.FAILED)
        failed.update(state=Pool.State.QUEUED, reason="")
    queue.enqueue(job.kind, target)
    AuditEvent.objects.record(user, "try again", target)


@transaction.atomic
def call_again(webhook: Webhook, user: User) -> None:
    """Make the calls again that were given up, from their first try."""
    given_up = webhook.deliveries.filter(state=Delivery.State.GIVEN_UP)
    calls = list(given_up.select_for_update())
    if not calls:
        return
    given_up.update(state=Delivery.State.WAITING, tries=0)
    webhook.switch_on()
    for call in calls:
        queue.enqueue("deliver", call)
    AuditEvent.objects.record(user, "call again", webhook, after={"calls": len(calls)})
