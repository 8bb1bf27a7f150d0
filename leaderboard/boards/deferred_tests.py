"""Queue jobs for tests that are too slow to compute in a request."""

from __future__ import annotations

from django.db import transaction

from leaderboard.boards.standings import Board
from leaderboard.jobs import queue
from leaderboard.models import Comparison, Edition, Run

# The most comparisons of an edition that wait at a time, even if a robot follows every link.
MOST_WAITING = 20


def request_missing_tests(board: Board) -> bool:
    """Request the tests that a board lacks; return whether a job will compute them."""
    missing = board.is_untested
    return missing and request_tests(board.edition, board.measure, board.baseline)


def request_tests(edition: Edition, measure: str, baseline: Run | None) -> bool:
    """Queue tests of an edition's runs against a baseline; return whether they will be done."""
    waiting = Comparison.objects.filter(edition=edition).pending()
    wanted = {"measure": measure, "baseline": baseline, "test": edition.track.test}
    if waiting.filter(**wanted).exists():
        return True
    if waiting.count() >= MOST_WAITING:
        return False
    with transaction.atomic():
        Comparison.objects.update_or_create(
            edition=edition, **wanted, defaults={"family": [], "results": {}}
        )
        queue.enqueue("compare", edition)
    return True
