"""Withdraw, remove, restore and repair runs, and retry failed jobs and webhook calls."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Model, Q
from django.utils import timezone

from evaluation.reading.repairs import TAG, TAG_RULE
from leaderboard.actions import collections
from leaderboard.actions.refusals import ActionError, NotAccepted
from leaderboard.actions.submission_rules import (
    lock_team,
    refuse_outside_dates,
    refuse_over_benchmark_quota,
    refuse_over_quota,
    refuse_repeated_file,
    refuse_repeated_replacement,
    refuse_repeated_tag,
    refuse_repeated_version,
    refuse_replaced,
)
from leaderboard.actions.tracks import enqueue_comparison
from leaderboard.jobs import queue
from leaderboard.models import (
    AuditEvent,
    Calculation,
    Delivery,
    Edition,
    Job,
    JudgmentSet,
    Pool,
    Run,
    Track,
    User,
    Webhook,
)
from leaderboard.runs.fact_changes import change_facts


@transaction.atomic
def retry_job(job: Job, target: Model, user: User) -> None:
    """Queue a failed job's work again.

    Raises NotAccepted for a run that no longer fits the quota, and ActionError if the work needs no
    retry.
    """
    if isinstance(target, Run):
        retry_run(target, user)
        return
    if isinstance(target, JudgmentSet) and job.kind != "try_judgments":
        collections.check_judgments_again(target, user)
        return
    if isinstance(target, Pool):
        failed = Pool.objects.filter(pk=target.pk, state=Pool.State.FAILED)
        failed.update(state=Pool.State.QUEUED, reason="")
    queue.enqueue(job.kind, target)
    if isinstance(target, Edition):
        Calculation.objects.of(Calculation.Kind.TESTS, target).failed().ask_again()
    if isinstance(target, Calculation):
        Calculation.objects.filter(pk=target.pk).ask_again()
        target = target.owner
    AuditEvent.objects.record(user, "try again", target)


@transaction.atomic
def retry_webhook(webhook: Webhook, user: User) -> None:
    """Repeat the calls that were given up, counting attempts from the start."""
    given_up = webhook.deliveries.filter(state=Delivery.State.GIVEN_UP)
    calls = list(given_up.select_for_update())
    if not calls:
        return
    given_up.update(state=Delivery.State.WAITING, tries=0)
    webhook.switch_on()
    for call in calls:
        queue.enqueue("deliver", call)
    AuditEvent.objects.record(user, "call again", webhook, after={"calls": len(calls)})


# How an organiser removes a run from the board, and the act that the activity log records.
REMOVALS = {"disqualified": "disqualify", "hidden": "hide"}


def withdraw_run(run: Run, user: User, reason: str = "") -> None:
    """Withdraw a run from the board; its file and its page stay."""
    with transaction.atomic():
        withdrawn = Run.objects.filter(pk=run.pk, withdrawn_at=None).update(
            withdrawn_at=timezone.now(), withdrawn_by=user, withdrawn_reason=reason
        )
        if not withdrawn:
            return
        AuditEvent.objects.record(user, "withdraw", run, after={"reason": reason})
        _update_board(run)


def undo_withdrawal(run: Run, user: User) -> None:
    """Undo a withdrawal.

    Raises NotAccepted for its team once the track is closed, and for everyone if the tag, the file
    or the quota is used by a later run.
    """
    if not run.track.is_organised_by(user):
        refuse_outside_dates(run.track, timezone.now(), run.team)
    with transaction.atomic():
        if Run.objects.not_rejected().filter(pk=run.pk).exists():
            refuse_replaced(run)
            _refuse_uncountable(run, user)
        withdrawn = Run.objects.filter(pk=run.pk, withdrawn_at__isnull=False)
        if withdrawn.update(withdrawn_at=None, withdrawn_by=None, withdrawn_reason=""):
            before = {"reason": run.withdrawn_reason}
            AuditEvent.objects.record(user, "undo withdrawal", run, before=before)
            enqueue_comparison(run.track)


def _refuse_uncountable(run: Run, user: User) -> None:
    """Raise NotAccepted if the file, the tag or the quota does not allow the run to count again.

    This locks the team's row, as uploads do.  Organisers have no quota.
    """
    team = lock_team(run.team_id)
    refuse_repeated_file(run)
    refuse_repeated_version(run)
    refuse_repeated_tag(run)
    refuse_repeated_replacement(run)
    counts = Run.objects.using_quota().filter(pk=run.pk).exists()
    if not counts and not run.track.is_organised_by(user):
        refuse_over_quota(run.track, team, run.received_at, run.replaces)
        refuse_over_benchmark_quota(team, run.received_at, run.replaces)


def remove_run(run: Run, user: User, how: str, reason: str) -> None:
    """Disqualify a run (`disqualified`, its page shows the reason) or hide it (`hidden`).

    Only its team sees a hidden run.  Organisers can restore both.  Raises ActionError.
    """
    if not reason.strip():
        raise ActionError("Enter a reason. The team and the public will see it.")
    with transaction.atomic():
        fields = {f"{how}_at": timezone.now(), f"{how}_by": user, f"{how}_reason": reason}
        if Run.objects.filter(pk=run.pk, **{f"{how}_at": None}).update(**fields):
            AuditEvent.objects.record(user, REMOVALS[how], run, after={"reason": reason})
            _update_board(run)


def restore_run(run: Run, user: User) -> None:
    """Restore a run that organisers disqualified or hid."""
    fields = {f"{how}_{part}": None for how in REMOVALS for part in ("at", "by")}
    fields |= {f"{how}_reason": "" for how in REMOVALS}
    with transaction.atomic():
        taken_off = Q(disqualified_at__isnull=False) | Q(hidden_at__isnull=False)
        if Run.objects.filter(taken_off, pk=run.pk).update(**fields):
            AuditEvent.objects.record(user, "bring back", run)
            enqueue_comparison(run.track)


# What organisers do to several runs at once; the first three want a reason.
WITH_REASON = ("withdraw", "disqualify", "hide")
ACTS = (*WITH_REASON, "restore")


def change_runs(
    runs: Iterable[Run], user: User, act: str, reason: str = ""
) -> list[tuple[Run, str]]:
    """Withdraw, disqualify, hide or restore several runs, and return those that refused, and why.

    Runs are changed one by one, so one that cannot be restored does not hold up the others.
    """
    refused = []
    for run in runs:
        try:
            _change_run(run, user, act, reason)
        except (ActionError, NotAccepted) as refusal:
            refused.append((run, str(refusal)))
    return refused


def prioritise_runs(runs: Iterable[Run], user: User, priority: int) -> None:
    """State with which priority pools take several runs; 1 is the first."""
    for run in runs:
        change_facts(run, user, {"priority": priority})


def _change_run(run: Run, user: User, act: str, reason: str) -> None:
    if act == "withdraw":
        withdraw_run(run, user, reason)
    elif act in REMOVALS.values():
        [how] = [each for each, name in REMOVALS.items() if name == act]
        remove_run(run, user, how, reason)
    elif run.removal == "withdrawn":
        undo_withdrawal(run, user)
    else:
        restore_run(run, user)


def _update_board(run: Run) -> None:
    """Drop a removed run as baseline and queue the tests again."""
    Track.objects.filter(pk=run.track_id, baseline=run).update(baseline=None)
    enqueue_comparison(run.track)


def rename_run(run: Run, user: User, tag: str) -> None:
    """Correct the tag of a run; the run page keeps the earlier one, and its file stays unchanged.

    Raises ActionError for a tag that is not valid, and NotAccepted for one of another run where the
    track wants different tags.
    """
    if tag == run.tag:
        return
    if not TAG.fullmatch(tag.encode()):
        raise ActionError(f"The tag is not valid: {TAG_RULE}.")
    with transaction.atomic():
        lock_team(run.team_id)
        before, run.tag = run.tag, tag
        refuse_repeated_tag(run)
        Run.objects.filter(pk=run.pk).update(tag=tag)
        AuditEvent.objects.record(user, "state facts", run, {"tag": before}, {"tag": tag})


def repair_run(run: Run, user: User, fix: str, tag: str = "") -> None:
    """Check a rejected run again with one more repair; the stored file does not change.

    Raises ActionError if there is nothing to repair, and NotAccepted as a new upload does.
    """
    if run.state != Run.State.REFUSED or not run.file:
        raise ActionError("Only a rejected run whose file is still here can be repaired.")
    if tag and not TAG.fullmatch(tag.encode()):
        raise ActionError(f"The tag is not valid: {TAG_RULE}.")
    fixes = [*run.fixes, *({fix} - set(run.fixes))]
    asked = {"fixes": fixes, "tag": tag if fix == "tag" and tag else run.tag}
    if asked == {"fixes": run.fixes, "tag": run.tag}:
        raise ActionError("This repair was already made. Submit a fixed file.")
    if not run.track.is_organised_by(user):
        refuse_outside_dates(run.track, timezone.now(), run.team)
    with transaction.atomic():
        run.tag = asked["tag"]
        _refuse_uncountable(run, user)
        if Run.objects.change_state(run.pk, Run.State.QUEUED, only_from=[Run.State.REFUSED]):
            cleared = {"problems": [], "problem_totals": {}, "checked_at": None}
            Run.objects.filter(pk=run.pk).update(**asked, **cleared, problems_file="")
            AuditEvent.objects.record(user, "repair", run, after=asked)
            queue.enqueue("check_run", run)


def retry_run(run: Run, user: User) -> None:
    """Queue a run again that failed by our fault.  Raises NotAccepted."""
    with transaction.atomic():
        _refuse_uncountable(run, user)
        if Run.objects.change_state(run.pk, Run.State.QUEUED, only_from=[Run.State.FAILED]):
            AuditEvent.objects.record(user, "try again", run)
            queue.enqueue("check_run", run)
