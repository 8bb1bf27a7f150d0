"""Retry jobs and webhook calls that failed."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Model, Q
from django.utils import timezone

from evaluation.reading.repairs import TAG, TAG_RULE
from leaderboard.actions import collections, runs
from leaderboard.actions.submission_rules import (
    NotPossible,
    refuse_outside_dates,
    refuse_over_quota,
    refuse_repeated_tag,
    refuse_sent_again,
)
from leaderboard.actions.tracks import _compare_again
from leaderboard.jobs import queue
from leaderboard.models import (
    AuditEvent,
    Delivery,
    Job,
    JudgmentSet,
    Pool,
    Run,
    Team,
    Track,
    User,
    Webhook,
)


@transaction.atomic
def retry_job(job: Job, target: Model, user: User) -> None:
    """Queue a new job for the same work; what failed is open to it again.

    Raises NotAccepted for a run whose place is taken, NotPossible for what needs no other try.
    """
    if isinstance(target, Run):
        runs.try_again(target, user)
        return
    if isinstance(target, JudgmentSet) and job.kind != "try_judgments":
        collections.check_judgments_again(target, user)
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


# How an organiser takes a run off the board, and what the audit calls it.
TAKING_OFF = {"disqualified": "disqualify", "hidden": "hide"}


def withdraw(run: Run, user: User, reason: str = "") -> None:
    """Take a run off the board; its file and its address stay."""
    with transaction.atomic():
        withdrawn = Run.objects.filter(pk=run.pk, withdrawn_at=None).update(
            withdrawn_at=timezone.now(), withdrawn_by=user, withdrawn_reason=reason
        )
        if not withdrawn:
            return
        AuditEvent.objects.record(user, "withdraw", run, after={"reason": reason})
        _leave_the_board(run)


def undo_withdrawal(run: Run, user: User) -> None:
    """The run stands again where it stood.

    Raises NotAccepted: for its team once no run is taken any more, and for everybody where what
    came since has its place.
    """
    if not run.track.is_organised_by(user):
        refuse_outside_dates(run.track, timezone.now())
    with transaction.atomic():
        if Run.objects.not_rejected().filter(pk=run.pk).exists():
            _refuse_without_room(run, user)
        withdrawn = Run.objects.filter(pk=run.pk, withdrawn_at__isnull=False)
        if withdrawn.update(withdrawn_at=None, withdrawn_by=None, withdrawn_reason=""):
            before = {"reason": run.withdrawn_reason}
            AuditEvent.objects.record(user, "undo withdrawal", run, before=before)
            _compare_again(run.track)


def _refuse_without_room(run: Run, user: User) -> None:
    """What did not count may count again where the file, the tag and the quota leave it room.

    Under the lock on the team's row, as uploads are; organisers are held to no quota.
    """
    team = Team.objects.select_for_update(no_key=True).get(pk=run.team_id)
    refuse_sent_again(run)
    refuse_repeated_tag(run)
    counts = Run.objects.using_quota().filter(pk=run.pk).exists()
    if not counts and not run.track.is_organised_by(user):
        refuse_over_quota(run.track, team, run.received_at)


def take_off(run: Run, user: User, how: str, reason: str) -> None:
    """Disqualify a run (`disqualified`, its address says why) or hide it (`hidden`, from all
    but its team); the organisers can bring it back.  Raises NotPossible."""
    if not reason.strip():
        raise NotPossible("Enter a reason. The team and the public will see it.")
    with transaction.atomic():
        by = {f"{how}_at": timezone.now(), f"{how}_by": user, f"{how}_reason": reason}
        if Run.objects.filter(pk=run.pk, **{f"{how}_at": None}).update(**by):
            AuditEvent.objects.record(user, TAKING_OFF[how], run, after={"reason": reason})
            _leave_the_board(run)


def bring_back(run: Run, user: User) -> None:
    """Undo what organisers did: the run is neither disqualified nor hidden any more."""
    fields = {f"{how}_{part}": None for how in TAKING_OFF for part in ("at", "by")}
    fields |= {f"{how}_reason": "" for how in TAKING_OFF}
    with transaction.atomic():
        taken_off = Q(disqualified_at__isnull=False) | Q(hidden_at__isnull=False)
        if Run.objects.filter(taken_off, pk=run.pk).update(**fields):
            AuditEvent.objects.record(user, "bring back", run)
            _compare_again(run.track)


def _leave_the_board(run: Run) -> None:
    Track.objects.filter(pk=run.track_id, baseline=run).update(baseline=None)
    _compare_again(run.track)


def repair(run: Run, user: User, fix: str, tag: str = "") -> None:
    """Check a rejected run again with one more repair; the stored file stays as it was sent.

    Raises NotPossible where there is nothing to repair, and NotAccepted as a new upload does.
    """
    if run.state != Run.State.REFUSED or not run.file:
        raise NotPossible("Only a rejected run whose file is still here can be repaired.")
    if tag and not TAG.fullmatch(tag.encode()):
        raise NotPossible(f"The tag is not valid: {TAG_RULE}.")
    fixes = [*run.fixes, *({fix} - set(run.fixes))]
    asked = {"fixes": fixes, "tag": tag if fix == "tag" and tag else run.tag}
    if asked == {"fixes": run.fixes, "tag": run.tag}:
        raise NotPossible("This repair was already made. Submit a fixed file.")
    if not run.track.is_organised_by(user):
        refuse_outside_dates(run.track, timezone.now())
    with transaction.atomic():
        run.tag = asked["tag"]
        _refuse_without_room(run, user)
        if Run.objects.change_state(run.pk, Run.State.QUEUED, only_from=[Run.State.REFUSED]):
            cleared = {"problems": [], "problem_totals": {}, "checked_at": None}
            Run.objects.filter(pk=run.pk).update(**asked, **cleared, problems_file="")
            AuditEvent.objects.record(user, "repair", run, after=asked)
            queue.enqueue("check_run", run)


def try_again(run: Run, user: User) -> None:
    """Queue a run that failed by our fault once more.  Raises NotAccepted, as above."""
    with transaction.atomic():
        _refuse_without_room(run, user)
        if Run.objects.change_state(run.pk, Run.State.QUEUED, only_from=[Run.State.FAILED]):
            AuditEvent.objects.record(user, "try again", run)
            queue.enqueue("check_run", run)
