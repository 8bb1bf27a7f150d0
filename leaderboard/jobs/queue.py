"""Queue a job and wake the workers.

The queue is the table of jobs.  A message on the broker says only "look", so a message that is lost
or arrives twice changes nothing.
"""

from __future__ import annotations

import logging

from django.conf import settings
from django.db import transaction
from django.db.models import Model

from leaderboard.jobs import broker
from leaderboard.models import Job, Run

log = logging.getLogger(__name__)


def enqueue(kind: str, target: Model) -> Job:
    """Queue this work and wake the workers once the transaction is committed."""
    job = Job.objects.enqueue(kind, target, share=share_of(target))
    transaction.on_commit(wake_workers, robust=True)
    return job


def share_of(target: Model) -> str:
    """Return the team whose work this is: teams take turns, however many runs each submits."""
    return f"team {target.team_id}" if isinstance(target, Run) else ""


def wake_workers() -> None:
    """Ask the workers to look for jobs now; never raises, and takes at most two seconds.

    Without Redis no message can be sent, and none is needed: the worker looks regularly.
    """
    if not settings.REDIS_URL:
        return
    try:
        broker.send_work()
    except Exception as error:
        # Any error here may cost two seconds, but not the upload.
        log.warning("no worker was notified of the new job; they look regularly: %s", error)
