"""What no page makes while its reader waits: a job is told to make it."""

from __future__ import annotations

from django.db import transaction

from leaderboard import jobs
from leaderboard.models import Comparison
from leaderboard.standings import Board

# So many comparisons of an edition wait at a time, even for a robot that follows every link.
MOST_WAITING = 20


def commission_tests(board: Board) -> bool:
    """Have the board's runs tested against its baseline; whether that is going to be done."""
    waiting = Comparison.objects.filter(edition=board.edition).asked_for()
    wanted = {"measure": board.measure, "baseline": board.baseline, "test": board.sight.track.test}
    if waiting.filter(**wanted).exists():
        return True
    if waiting.count() >= MOST_WAITING:
        return False
    with transaction.atomic():
        Comparison.objects.update_or_create(
            edition=board.edition, **wanted, defaults={"family": [], "results": {}}
        )
        jobs.enqueue("compare", board.edition)
    return True
