"""Queue jobs for tests that are too slow to compute in a request."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum

from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from leaderboard.boards.standings import Board
from leaderboard.jobs import queue
from leaderboard.models import Benchmark, BenchmarkComparison, Comparison, Edition, Run
from leaderboard.scoring.benchmark_comparisons import Contest
from leaderboard.scoring.comparisons import ALL_PAIRS
from leaderboard.scoring.families import family_of

# The most comparisons of an edition that wait at a time, even if a robot follows every link.
MOST_WAITING = 20
# Tests whose job failed are tried again after this time, if somebody looks.
RETRY = timedelta(hours=1)


class Awaited(StrEnum):
    """What a page says of tests that it lacks; the first is false."""

    NOTHING = ""
    TESTS = "tests"
    RETRY = "retry"


def request_missing_tests(board: Board) -> Awaited:
    """Request the tests that a board lacks; return whether a job will compute them."""
    if not board.is_untested:
        return Awaited.NOTHING
    if not board.compares_all:
        return request_tests(board.edition, board.measure, board.baseline, board.sight.track.test)
    return request_all_pairs(board)


def request_all_pairs(board: Board) -> Awaited:
    """Request the decisions about all pairs; a job makes them for an edition's family alone."""
    is_family = list(board.tests.family) == family_of(board.edition)
    if not is_family:
        return Awaited.NOTHING
    return request_tests(board.edition, board.measure, None, ALL_PAIRS)


def request_tests(edition: Edition, measure: str, baseline: Run | None, test: str) -> Awaited:
    """Queue tests against a baseline, or of all pairs; return whether they will be done."""
    waiting = Comparison.objects.filter(edition=edition).pending()
    wanted = {"measure": measure, "baseline": baseline, "test": test}
    if asked := waiting.filter(**wanted).first():
        return await_tests(asked, "compare", edition)
    if waiting.count() >= MOST_WAITING:
        return Awaited.NOTHING
    with transaction.atomic():
        # The worker that ends this job locks the job before its comparisons too. In the other
        # order each could wait for the other.
        queue.enqueue("compare", edition)
        Comparison.objects.update_or_create(
            edition=edition, **wanted, defaults={"family": [], "results": {}, "failed_at": None}
        )
    return Awaited.TESTS


def request_contest_tests(benchmark: Benchmark, contest: Contest) -> Awaited:
    """Queue the tests of systems over several tracks; return whether they will be made."""
    waiting = BenchmarkComparison.objects.filter(benchmark=benchmark, results={})
    if asked := waiting.filter(key=contest.key).first():
        return await_tests(asked, "compare_systems", asked)
    if waiting.count() >= MOST_WAITING:
        return Awaited.NOTHING
    with transaction.atomic():
        wanted, is_new = BenchmarkComparison.objects.get_or_create(
            benchmark=benchmark, key=contest.key, defaults={"request": contest.pack()}
        )
        if is_new:
            queue.enqueue("compare_systems", wanted)
    return Awaited.TESTS


def await_tests(asked: Comparison | BenchmarkComparison, kind: str, target: Model) -> Awaited:
    """Say what becomes of tests that were requested before; those that failed are tried again."""
    if asked.failed_at is None:
        return Awaited.TESTS
    if asked.failed_at > timezone.now() - RETRY:
        return Awaited.RETRY
    with transaction.atomic():
        queue.enqueue(kind, target)
        type(asked).objects.filter(pk=asked.pk).update(failed_at=None)
    return Awaited.TESTS
