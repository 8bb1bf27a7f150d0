"""Queue jobs for tests that are too slow to compute in a request."""

from __future__ import annotations

from django.db import transaction

from leaderboard.boards.standings import Board
from leaderboard.jobs import queue
from leaderboard.models import Comparison, Edition, Run, Task, TaskComparison
from leaderboard.scoring.comparisons import ALL_PAIRS
from leaderboard.scoring.families import family_of
from leaderboard.scoring.task_comparisons import Contest

# The most comparisons of an edition that wait at a time, even if a robot follows every link.
MOST_WAITING = 20


def request_missing_tests(board: Board) -> bool:
    """Request the tests that a board lacks; return whether a job will compute them."""
    if not board.is_untested:
        return False
    if not board.compares_all:
        return request_tests(board.edition, board.measure, board.baseline, board.sight.track.test)
    return request_all_pairs(board)


def request_all_pairs(board: Board) -> bool:
    """Request the decisions about all pairs; a job makes them for an edition's family alone."""
    is_family = list(board.tests.family) == family_of(board.edition)
    return is_family and request_tests(board.edition, board.measure, None, ALL_PAIRS)


def request_tests(edition: Edition, measure: str, baseline: Run | None, test: str) -> bool:
    """Queue tests against a baseline, or of all pairs; return whether they will be done."""
    waiting = Comparison.objects.filter(edition=edition).pending()
    wanted = {"measure": measure, "baseline": baseline, "test": test}
    if waiting.filter(**wanted).exists():
        return True
    if waiting.count() >= MOST_WAITING:
        return False
    with transaction.atomic():
        # The worker that ends this job locks the job before its comparisons too. In the other
        # order each could wait for the other.
        queue.enqueue("compare", edition)
        Comparison.objects.update_or_create(
            edition=edition, **wanted, defaults={"family": [], "results": {}}
        )
    return True


def request_contest_tests(task: Task, contest: Contest) -> bool:
    """Queue the tests of systems over the tracks of a task; return whether they will be made."""
    waiting = TaskComparison.objects.filter(task=task, results={})
    if waiting.filter(key=contest.key).exists():
        return True
    if waiting.count() >= MOST_WAITING:
        return False
    with transaction.atomic():
        wanted, is_new = TaskComparison.objects.get_or_create(
            task=task, key=contest.key, defaults={"request": contest.pack()}
        )
        if is_new:
            queue.enqueue("compare_systems", wanted)
    return True
