"""Queue a job and wake the workers.

The queue is the table of jobs.  A message on the broker says only "look", so a message that is lost
or arrives twice changes nothing.
"""

from __future__ import annotations

import logging

from django.conf import settings
from django.db import transaction
from django.db.models import Model
from django.utils.module_loading import import_string

from leaderboard.infrastructure.logs import request_number
from leaderboard.jobs import doorbell
from leaderboard.models import Job, Run

log = logging.getLogger(__name__)

# Loaded with the first message: without Redis a server never needs Celery, only its worker does.
SEND_WORK = "leaderboard.jobs.broker.send_work"


def enqueue(kind: str, target: Model) -> Job:
    """Queue this work and wake the workers once the transaction is committed."""
    share, request = share_of(target), request_number.get()
    job = Job.objects.enqueue(kind, target, share=share, request=request)
    transaction.on_commit(wake_workers, robust=True)
    return job


def share_of(target: Model) -> str:
    """Return the team whose work this is: teams take turns, however many runs each submits."""
    return f"team {target.team_id}" if isinstance(target, Run) else ""


def wake_workers() -> None:
    """Ask the workers to look for jobs now; never raises, and takes at most two seconds.

    Without Redis no message can be sent. Then the doorbell is rung, which only a worker of this
    machine hears.
    """
    if not settings.REDIS_URL:
        doorbell.ring()
        return
    try:
        import_string(SEND_WORK)()
    except Exception as error:
        # Any error here may cost two seconds, but not the upload.
        log.warning("no worker was notified of the new job; they look regularly: %s", error)
