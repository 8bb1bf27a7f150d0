"""Ask for tests that are too slow to compute in a request."""

from __future__ import annotations

from leaderboard.boards.benchmark_boards import BenchmarkBoard
from leaderboard.boards.standings import Board
from leaderboard.jobs import calculations
from leaderboard.jobs.calculations import Awaited, Wanted
from leaderboard.models import Benchmark, Calculation, Edition
from leaderboard.scoring.benchmark_comparisons import Contest
from leaderboard.scoring.comparisons import ALL_PAIRS, name_tests
from leaderboard.scoring.families import family_of


def request_missing_tests(board: Board | BenchmarkBoard) -> Awaited:
    """Request the tests that a board lacks; return whether a job will compute them."""
    if not board.is_untested:
        return Awaited.NOTHING
    if isinstance(board, BenchmarkBoard):
        assert board.contest is not None
        return request_contest_tests(board.sight.benchmark, board.contest)
    if board.compares_all:
        return request_all_pairs(board)
    baseline = board.baseline.pk if board.baseline is not None else None
    return request_tests(board.edition, board.measure, baseline, board.sight.track.test)


def request_all_pairs(board: Board) -> Awaited:
    """Request the decisions about all pairs; a job makes them for an edition's family alone."""
    is_family = list(board.tests.family) == family_of(board.edition)
    if not is_family:
        return Awaited.NOTHING
    return request_tests(board.edition, board.measure, None, ALL_PAIRS)


def request_tests(edition: Edition, measure: str, baseline: str | None, test: str) -> Awaited:
    """Request tests against a baseline, or of all pairs; return whether they will be done."""
    key = name_tests(measure, baseline, test)
    asked = {"measure": measure, "baseline": baseline, "test": test}
    return calculations.request(Wanted(Calculation.Kind.TESTS, edition, key, asked))


def request_contest_tests(benchmark: Benchmark, contest: Contest) -> Awaited:
    """Request the tests of systems over several tracks; return whether they will be made."""
    kind = Calculation.Kind.CONTEST
    return calculations.request(Wanted(kind, benchmark, contest.key, contest.pack()))
