"""Calculations that pages lack: they ask for them here, and not again at once after a failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from leaderboard.jobs import queue
from leaderboard.models import Calculation, Job
from leaderboard.models.calculations import Owner, owned_by
from leaderboard.models.jobs import Progress, Publish

Kind = Calculation.Kind

# The kind of job that makes each; that of tests makes all tests of an edition.
JOBS = {
    Kind.TESTS: "compare",
    Kind.CONTEST: "compare_systems",
    Kind.JUDGES: "judge_boards",
    Kind.ORDERS: "try_orders",
    Kind.CORRECTED: "correct_means",
    Kind.BATTLES: "rank_battles",
    Kind.ENTRANTS: "compare_judges",
    Kind.REPORTED: "compare_reported",
}
# The most of a kind that wait for an owner at a time, even if a robot follows every link.
MOST_WAITING = 20
# What failed is tried again after this time, if somebody looks.
RETRY = timedelta(hours=1)


class Awaited(StrEnum):
    """What a page says of results that it lacks; the first is false."""

    NOTHING = ""
    FOLLOWS = "follows"
    FAILED = "failed"


@dataclass(frozen=True)
class Wanted:
    """What is to be calculated, and for whom; `key` is unique among those of a kind and owner."""

    kind: Calculation.Kind
    owner: Owner
    key: str
    request: Mapping[str, Any]

    def find(self) -> Calculation | None:
        """Return what is kept of it, with or without results."""
        return Calculation.objects.of(self.kind, self.owner).filter(key=self.key).first()


def request(wanted: Wanted) -> Awaited:
    """Have a job make what is missing or out of date; return what its page says meanwhile."""
    known = wanted.find()
    if known is not None and is_failed_lately(known):
        return Awaited.FAILED
    if known is not None and is_on_its_way(known):
        return Awaited.FOLLOWS
    others = Calculation.objects.of(wanted.kind, wanted.owner).waiting()
    if others.exclude(key=wanted.key).count() >= MOST_WAITING:
        return Awaited.NOTHING
    with transaction.atomic():
        if wanted.kind == Kind.TESTS:
            # The worker that ends this job locks the job before it writes such rows too. In the
            # other order each could wait for the other.
            queue.enqueue(JOBS[wanted.kind], wanted.owner)
        known, _ = Calculation.objects.get_or_create(
            **owned_by(wanted.owner),
            kind=wanted.kind,
            key=wanted.key,
            defaults={"request": dict(wanted.request)},
        )
        if wanted.kind != Kind.TESTS:
            queue.enqueue(JOBS[wanted.kind], known)
        Calculation.objects.filter(pk=known.pk).ask_again()
    return Awaited.FOLLOWS


def is_failed_lately(known: Calculation) -> bool:
    failed_at = known.failed_at
    return failed_at is not None and failed_at > timezone.now() - RETRY


def is_on_its_way(known: Calculation) -> bool:
    open_jobs = Job.objects.open().of(JOBS[Kind(known.kind)], job_target(known))
    return known.state == Calculation.State.ASKED and open_jobs.exists()


def job_target(known: Calculation) -> Model:
    """Return what its job is called for: one job makes all tests of an edition."""
    return known.owner if known.kind == Kind.TESTS else known


def work_of(
    make: Callable[[Calculation, Progress], Publish],
) -> Callable[[str, Progress], Publish]:
    """Return the work of a job that makes one calculation, unless it was deleted meanwhile."""

    def do(calculation_id: str, progress: Progress) -> Publish:
        asked = Calculation.objects.filter(pk=int(calculation_id)).first()
        return (lambda: None) if asked is None else make(asked, progress)

    return do


def mark_failed(calculation_id: str, reason: str) -> None:
    Calculation.objects.filter(pk=int(calculation_id)).mark_failed()


def mark_tests_failed(edition_id: str, reason: str) -> None:
    Calculation.objects.filter(kind=Kind.TESTS, edition=edition_id).mark_failed()
