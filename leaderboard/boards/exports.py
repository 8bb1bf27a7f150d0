"""The board of a track as files: what they say besides the cells of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.significance import TESTS
from leaderboard.boards.board_files import BoardFile
from leaderboard.boards.columns import Column
from leaderboard.boards.standings import Board
from leaderboard.display.csv_tables import is_missing
from leaderboard.display.numbers import counted
from leaderboard.models import Run
from leaderboard.scoring.verdicts import LEVEL

Columns = Sequence[Column]

# The test of all pairs, in words.
ALL_PAIRS_TEST = "the studentised maximum (sign flips)"


def file_of(board: Board, columns: Columns) -> BoardFile:
    """Return the board with these columns as its files are written."""
    # Means by different judges never share a column without a word about it.
    said = board.who_judged.full_text
    return BoardFile(
        f"{board.sight.track.slug}-leaderboard",
        columns,
        board.shown,
        lambda: _describe_board(board, columns),
        lambda: build_caption(board),
        has_verdicts=board.baseline is not None,
        told={"judged_by": said} if said else {},
    )


def _describe_board(board: Board, columns: Columns) -> dict[str, Any]:
    standings = [
        {
            field: None if is_missing(cell) else cell
            for column in columns
            for field, cell in zip(column.fields, column.cells(standing), strict=True)
        }
        for standing in board.shown
    ]
    return {
        "track": board.sight.track.slug,
        "measure": board.measure,
        "judgments": board.edition.judgment_set.version,
        "judged_by": board.who_judged.full_text or None,
        "edition": str(board.edition.pk),
        "baseline": board.baseline.pk if board.baseline is not None else None,
        "family": board.family,
        "test": board.test,
        "standings": standings,
    }


def build_caption(board: Board) -> str:
    """Describe the board: track, measure, judgments and test."""
    edition = board.edition
    words = [
        f"{board.sight.track.name}: {counted(len(board.shown), 'run')} by {board.measure}",
        f"judgments {edition.judgment_set.version}, {board.topics_text}",
        *filter(None, [board.who_judged.full_text]),
    ]
    if board.baseline is not None:
        words.append(describe_test(board, board.baseline))
    elif board.pairs is not None:
        words.append(f"all pairs of runs by {ALL_PAIRS_TEST}, at {LEVEL}")
    return "; ".join(words) + "."


def describe_test(board: Board, baseline: Run) -> str:
    if board.compares_all:
        return f"against {baseline.tag} within all pairs of runs by {ALL_PAIRS_TEST}, at {LEVEL}"
    adjusted = ", Holm's adjustment" if board.correction == "Holm" else ""
    return f"against {baseline.tag} by {TESTS[board.sight.track.test]}{adjusted}, at {LEVEL}"
