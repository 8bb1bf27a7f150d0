"""Slow work, done once: claim a job, do it under a lease, write its result in one transaction.

The rows of Job are the truth.  A message on the broker says only "look"; losing one, or getting
it twice, changes nothing.  A job's work reads what cannot change and returns what is to be
written, so it may be begun again as often as need be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings

from leaderboard.collections import checking, importing, pools
from leaderboard.models import Delivery, Mail
from leaderboard.models.jobs import Progress, Publish
from leaderboard.notifications import email, webhooks
from leaderboard.scoring import comparisons
from leaderboard.scoring import work as scoring_work

# A long job may take this many times JOB_TIME_LIMIT.
LONG = 24


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
        webhooks.deliver, Delivery.give_up, own_lane="calls", most=2 * webhooks.CALL_SECONDS
    ),
    "mail": Work(email.send_mail, Mail.give_up),
    "gather_pool": Work(pools.gather_pool, pools.mark_pool_failed, long=True),
    "check_collection": Work(
        checking.check_collection, importing.mark_collection_failed, long=True
    ),
    "import_collection": Work(
        importing.import_collection,
        importing.mark_collection_failed,
        long=True,
        limited=False,
    ),
    "check_judgments": Work(checking.check_judgments, importing.mark_judgments_failed),
    "import_judgments": Work(
        importing.import_judgments,
        importing.mark_judgments_failed,
        long=True,
        limited=False,
    ),
}
