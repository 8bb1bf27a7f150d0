"""Ask for tests that are too slow to compute in a request."""

from __future__ import annotations

from evaluation.complete_cells import FEWEST_SYSTEMS
from leaderboard.boards.benchmark_boards import BenchmarkBoard
from leaderboard.boards.reported_boards import ReportedBoard
from leaderboard.boards.standings import Board
from leaderboard.jobs import calculations
from leaderboard.jobs.calculations import Awaited, Wanted
from leaderboard.scoring.contests import Contest, contest_on
from leaderboard.scoring.families import family_of
from leaderboard.scoring.reported_ranks import key_of, request_of


def request_missing_tests(board: Board | BenchmarkBoard) -> Awaited:
    """Request the tests that a board lacks; return whether a job will make them."""
    if not board.is_untested:
        return Awaited.NOTHING
    if isinstance(board, BenchmarkBoard):
        assert board.contest is not None
        return request_tests(board.contest)
    if board.compares_all or board.baseline is None:
        return request_all_pairs(board)
    family = board.tests.family.runs
    return request_tests(contest_on(board.edition, board.measure, family, board.baseline.pk))


def request_reported_ranks(board: ReportedBoard) -> Awaited:
    """Request the ranks that a board of reported scores lacks; return whether a job makes them."""
    if board.ranks is not None or len(board.rows) < FEWEST_SYSTEMS:
        return Awaited.NOTHING
    asked, owner = request_of(board.version, board.part), board.sight.benchmark
    return calculations.request(Wanted(calculations.Kind.REPORTED, owner, key_of(asked), asked))


def request_all_pairs(board: Board) -> Awaited:
    """Request the decisions about all pairs; a job makes them for an edition's family alone."""
    is_family = list(board.tests.family.runs) == family_of(board.edition)
    if not is_family:
        return Awaited.NOTHING
    return request_tests(contest_on(board.edition, board.measure, board.tests.family.valued))


def request_tests(contest: Contest) -> Awaited:
    """Request the tests of a contest; return whether a job will make them."""
    wanted = Wanted(contest.kind, contest.owner, contest.key, contest.pack())
    return calculations.request(wanted)
