"""What administrators of the site do: users, tokens, failed jobs and a test email."""

from __future__ import annotations

import time
from collections.abc import Iterable

from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Model, Q

from leaderboard.actions import collections, runs
from leaderboard.actions.refusals import ActionError
from leaderboard.analysis.desk import find_failed_jobs
from leaderboard.models import (
    ApiToken,
    AuditEvent,
    Benchmark,
    Calculation,
    Collection,
    Edition,
    Job,
    JudgmentSet,
    Pool,
    Run,
    Track,
    User,
)

TEST_SUBJECT = "[Rankfield] Test email"
TEST_BODY = "An administrator of this site sent this email to test its email server.\n"
# What a failed job worked on; a desk tries these again.
TARGETS: dict[str, type[Model]] = {
    "check_run": Run,
    "build_edition": Edition,
    "score_again": Edition,
    "compare": Edition,
    "compare_systems": Calculation,
    "judge_boards": Calculation,
    "try_orders": Calculation,
    "gather_pool": Pool,
    "index_words": Collection,
    "try_judgments": JudgmentSet,
    "check_judgments": JudgmentSet,
    "import_judgments": JudgmentSet,
}
OF_COLLECTIONS = ("fetch_dataset", "check_collection", "import_collection")


class EmailTestError(Exception):
    """The email server did not accept the test; the message has its answer and the time it took."""


@transaction.atomic
def disable_user(user: User, by: User, reason: str) -> None:
    """Keep a user from signing in, and their tokens from working; runs and marks stay.

    Raises ActionError without a reason, and for one's own account.
    """
    _require_reason(reason)
    if user == by:
        raise ActionError("You cannot disable your own account.")
    if User.objects.filter(pk=user.pk, is_active=True).update(is_active=False):
        AuditEvent.objects.record(by, "disable", user, after={"reason": reason.strip()})


@transaction.atomic
def enable_user(user: User, by: User) -> None:
    """Let a disabled user sign in again.  Raises ActionError for a deleted account."""
    if not user.is_active and user.username.startswith("deleted-"):
        raise ActionError("This account was deleted.")
    if User.objects.filter(pk=user.pk, is_active=False).update(is_active=True):
        AuditEvent.objects.record(by, "enable", user)


@transaction.atomic
def let_organise(user: User, by: User | None) -> None:
    """Let a user create collections, benchmarks and tracks; `by` is missing for single sign-on."""
    if User.objects.filter(pk=user.pk, can_organise=False).update(can_organise=True):
        AuditEvent.objects.record(by, "let organise", user)


@transaction.atomic
def stop_organising(user: User, by: User | None, reason: str) -> None:
    """Let a user create nothing more; what they organise stays theirs.  Raises ActionError."""
    _require_reason(reason)
    if User.objects.filter(pk=user.pk, can_organise=True).update(can_organise=False):
        AuditEvent.objects.record(by, "stop organising", user, after={"reason": reason.strip()})


@transaction.atomic
def limit_storage(benchmark: Benchmark, by: User, max_bytes: int | None) -> None:
    """Limit the files of a benchmark; without a number, the limit of the site applies.

    What is stored stays, also beyond the new limit.
    """
    before = benchmark.max_bytes
    if before == max_bytes:
        return
    Benchmark.objects.filter(pk=benchmark.pk).update(max_bytes=max_bytes)
    AuditEvent.objects.record(
        by,
        "limit storage",
        benchmark,
        before={"bytes": before},
        after={"bytes": max_bytes},
    )


@transaction.atomic
def revoke_token_of_user(token: ApiToken, by: User) -> None:
    """Revoke a token of another user."""
    if ApiToken.objects.filter(pk=token.pk).revoke():
        AuditEvent.objects.record(by, "revoke", token.user, after={"token": token.prefix})


def retry_failed_job(job: Job, by: User) -> None:
    """Queue the work of a failed job again, as the desk of its track does.

    Raises ActionError if it was repeated since or cannot be repeated, and NotAccepted for a run
    that no longer fits the quota.
    """
    if job.state == Job.State.FAILED and job.kind in OF_COLLECTIONS:
        for collection in Collection.objects.filter(pk=job.target_id):
            collections.check_again(collection, by)
            return
    for track in _tracks_of(job):
        for failed in find_failed_jobs(track):
            if failed.job == job:
                runs.retry_job(job, failed.target, by)
                return
    raise ActionError(f"Job {job.pk} was repeated since, or its work needs no repetition.")


def _tracks_of(job: Job) -> Iterable[Track]:
    """Return tracks whose desks list the job if it failed."""
    model = TARGETS.get(job.kind)
    target = model._default_manager.filter(pk=job.target_id).first() if model else None
    if isinstance(target, Collection):
        return target.tracks.all()[:1]
    if isinstance(target, JudgmentSet):
        return target.collection.tracks.all()[:1]
    if isinstance(target, Calculation):
        of_target = Q(editions=target.edition_id) | Q(pk=target.track_id)
        of_benchmark = Q(benchmark=target.benchmark_id)
        return Track.objects.filter(of_target | of_benchmark)[:1]
    return [target.track] if isinstance(target, Run | Edition | Pool) else []


def send_test_email(address: str, by: User) -> float:
    """Send an email to one address and return the seconds until the server accepted it.

    Raises EmailTestError.
    """
    began = time.perf_counter()
    try:
        EmailMessage(TEST_SUBJECT, TEST_BODY, to=[address]).send()
    except OSError as error:
        seconds = time.perf_counter() - began
        answer = str(error) or type(error).__name__
        raise EmailTestError(f"after {seconds:.1f} s: {answer}") from error
    AuditEvent.objects.record(by, "test email", by)
    return time.perf_counter() - began


def _require_reason(reason: str) -> None:
    if not reason.strip():
        raise ActionError("Enter a reason. It is kept in the activity log.")
