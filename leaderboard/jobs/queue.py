"""Slow work, done once: claim a job, do it under a lease, write its result in one transaction.

The rows of Job are the truth.  A message on the broker says only "look"; losing one, or getting
it twice, changes nothing.  A job's work reads what cannot change and returns what is to be
written, so it may be begun again as often as need be.
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
        broker.send_work()
    except Exception as error:
        # Whatever keeps the message from going out costs two seconds, not the upload.
        log.warning("no worker was told of the new job; they look by themselves: %s", error)
