"""Create, approve and discard pools."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.utils import timezone

from leaderboard.actions.refusals import ActionError
from leaderboard.assessments.samples import (
    NUM_DRAWN,
    fill_sample,
    find_machine_version,
)
from leaderboard.collections.pools import select_by_team
from leaderboard.infrastructure.whole_numbers import next_name
from leaderboard.jobs import queue
from leaderboard.models import (
    Assessment,
    AuditEvent,
    JudgmentSet,
    MarkLayer,
    Pool,
    Run,
    Track,
    User,
)
from leaderboard.models.nuggets import SETTING_OF
from leaderboard.models.pools import OF_ANSWERS
from leaderboard.scoring.answer_marks import find_layer
from leaderboard.scoring.kinds import kind_of

# How many documents a sample may have: what a public board needs, and more for shorter intervals.
SAMPLE_SIZES = (NUM_DRAWN, 500, 1000, 2000)


def create_pool(
    track: Track,
    user: User,
    runs: Sequence[Run],
    method: str,
    size: int,
    runs_per_team: int | None = None,
    drawn: int | None = None,
) -> Pool:
    """Create a pool of these runs, or of the first of each team, and queue its gathering.

    Of answers, `drawn` pairs are judged, with known probabilities. An organiser then approves or
    discards it.  Raises ActionError.
    """
    if not runs:
        raise ActionError("A pool needs at least one run.")
    if runs_per_team is not None:
        runs = select_by_team(runs, runs_per_team)
    if method in OF_ANSWERS and not kind_of(track).has_texts:
        raise ActionError("Runs of this track are no answers.")
    if drawn is not None and method not in OF_ANSWERS:
        raise ActionError("Only pairs of answers are drawn here; a sample checks a machine.")
    pool = Pool(
        track=track,
        name=next_name("pool-", track.pools.values_list("name", flat=True)),
        method=method,
        size=size,
        runs_per_team=runs_per_team,
        drawn=drawn,
        judged_in=None if method in OF_ANSWERS else track.judgment_set,
        created_by=user,
    )
    if method in OF_ANSWERS:
        _choose_layer(pool)
    try:
        with transaction.atomic():
            pool.save(force_insert=True)
            pool.runs.set(runs)
            queue.enqueue("gather_pool", pool)
    except IntegrityError:
        raise ActionError("Someone else just created a pool. Check it first.") from None
    return pool


def _choose_layer(pool: Pool) -> None:
    """Leave out what people marked for the board; name the nuggets.  Raises ActionError."""
    is_support = pool.about == MarkLayer.About.SUPPORT
    layer = find_layer(pool.track, SETTING_OF[pool.about])
    if layer is not None and layer.made_by == MarkLayer.MadeBy.PEOPLE:
        pool.marked_in = layer
    if is_support:
        return
    pool.nuggets = layer.nuggets if layer else pool.track.nugget_versions.ready().last()
    if pool.nuggets is None:
        raise ActionError("Import nuggets first: they are what assessors look for.")


@transaction.atomic
def draw_sample(judgment_set: JudgmentSet, track: Track, user: User, size: int = NUM_DRAWN) -> Pool:
    """Draw documents on which people check a machine; the pool is approved at once.

    They are the first documents of the runs as far as these suffice, with known probabilities.
    Raises ActionError.
    """
    by_machine = find_machine_version(judgment_set)
    if by_machine is None or by_machine.collection_id != track.collection_id:
        raise ActionError("A sample checks judgments by a machine.")
    # Two who draw at once wait for each other.
    Track.objects.select_for_update(no_key=True).get(pk=track.pk)
    waiting = find_waiting_sample(by_machine, track)
    if waiting is not None:
        raise ActionError(f"Judge the sample {waiting} first.")
    runs = list(track.runs.accepted().not_removed().order_by("received_at", "pk"))
    pool = Pool.objects.create(
        track=track,
        name=next_name("pool-", track.pools.values_list("name", flat=True)),
        method=Pool.Method.SAMPLE,
        size=size,
        checks=by_machine,
        state=Pool.State.KEPT,
        kept_at=timezone.now(),
        created_by=user,
    )
    pool.runs.set(runs)
    fill_sample(pool, runs)
    if not pool.summary["new"]:
        raise ActionError("Earlier samples have every document.")
    after = {"checks": by_machine.version, "sha256": pool.sha256}
    AuditEvent.objects.record(user, "draw sample", pool, after=after)
    return pool


def find_waiting_sample(by_machine: JudgmentSet, track: Track) -> Pool | None:
    """Return the sample of a track whose judging is not closed, if any."""
    closed = Assessment.objects.filter(state=Assessment.State.CLOSED)
    return track.pools.filter(checks=by_machine).exclude(assessments__in=closed).first()


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
