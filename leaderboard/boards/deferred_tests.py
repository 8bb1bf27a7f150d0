"""Enqueue jobs for results too slow to compute in a request."""

from __future__ import annotations

from django.db import transaction

from leaderboard.boards.standings import Board
from leaderboard.jobs import queue
from leaderboard.models import Comparison, Edition, Run

# So many comparisons of an edition wait at a time, even for a robot that follows every link.
MOST_WAITING = 20


def tests_follow(board: Board) -> bool:
    """Whether a job makes the tests that a board lacks; it is told of them."""
    missing = board.is_untested
    return missing and commission_tests(board.edition, board.measure, board.baseline)


def commission_tests(edition: Edition, measure: str, baseline: Run | None) -> bool:
    """Have an edition's runs tested against one of them; whether that is going to be done."""
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
