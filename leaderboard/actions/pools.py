"""Create, approve and discard pools."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.utils import timezone

from leaderboard.actions.submission_rules import ActionError
from leaderboard.collections.numbered_names import next_name
from leaderboard.collections.pools import select_by_team
from leaderboard.jobs import queue
from leaderboard.models import AuditEvent, Pool, Run, Track, User


def create_pool(
    track: Track,
    user: User,
    runs: Sequence[Run],
    method: str,
    size: int,
    runs_per_team: int | None = None,
) -> Pool:
    """Create a pool of these runs, or of the first of each team, and queue its gathering.

    An organiser then approves or discards it.  Raises ActionError.
    """
    if not runs:
        raise ActionError("A pool needs at least one run.")
    if runs_per_team is not None:
        runs = select_by_team(runs, runs_per_team)
    pool = Pool(
        track=track,
        name=next_name("pool-", track.pools.values_list("name", flat=True)),
        method=method,
        size=size,
        runs_per_team=runs_per_team,
        judged_in=track.judgment_set,
        created_by=user,
    )
    try:
        with transaction.atomic():
            pool.save(force_insert=True)
            pool.runs.set(runs)
            queue.enqueue("gather_pool", pool)
    except IntegrityError:
        raise ActionError("Someone else just created a pool. Check it first.") from None
    return pool


@transaction.atomic
def approve_pool(pool: Pool, user: User) -> None:
    """Approve a pool for judging; it can no longer change.  Raises ActionError."""
    preview = Pool.objects.filter(pk=pool.pk, state=Pool.State.PROPOSED)
    if not preview.update(state=Pool.State.KEPT, kept_at=timezone.now()):
        raise ActionError("This pool is not awaiting approval.")
    AuditEvent.objects.record(user, "keep", pool, after={"sha256": pool.sha256})


@transaction.atomic
def discard_pool(pool: Pool, user: User) -> None:
    """Delete a pool that is not approved.  Raises ActionError."""
    unkept = Pool.objects.filter(pk=pool.pk).exclude(state=Pool.State.KEPT)
    AuditEvent.objects.record(user, "discard", pool, before={"name": pool.name})
    if not unkept.delete()[0]:
        raise ActionError("You cannot delete an approved pool.")
