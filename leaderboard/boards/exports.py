"""Boards as files: what they say besides the cells of their columns.

Systems that lack a track follow the ranked ones in tables for programs, without rank and mean;
papers print the ranked ones only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.significance import TESTS
from leaderboard.boards.benchmark_boards import BenchmarkBoard, SystemRow
from leaderboard.boards.board_files import BoardFile
from leaderboard.boards.columns import (
    AGAINST,
    INTERVAL,
    LAST,
    RANK,
    TEAM,
    Column,
    fields_of,
    seen_columns,
)
from leaderboard.boards.standings import Board, Standing
from leaderboard.display.numbers import counted
from leaderboard.models import Run
from leaderboard.scoring.verdicts import LEVEL

# The test of all pairs, in words.
ALL_PAIRS_TEST = "the studentised maximum (sign flips)"
# Why a board has no mean, in words.
NO_MEAN = {
    "phases": "no mean is taken over phases",
    "sums": "no mean: a measure adds up over topics",
    "ranges": "no mean: the measures have different ranges",
    "directions": "no mean: of some measures more is better, of others less",
}


def file_of(board: Board | BenchmarkBoard, columns: Sequence[Column]) -> BoardFile:
    """Return the board with these columns as its files are written."""
    if isinstance(board, BenchmarkBoard):
        return _file_of_benchmark(board, columns)
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


def _file_of_benchmark(board: BenchmarkBoard, columns: Sequence[Column]) -> BoardFile:
    return BoardFile(
        f"{board.sight.benchmark.slug}-board",
        columns,
        board.shown,
        lambda: describe_benchmark_board(board),
        lambda: build_caption(board),
        has_verdicts=board.contest is not None and not board.compares_all,
        unranked=board.shown_incomplete,
    )


def build_caption(board: Board | BenchmarkBoard) -> str:
    """Describe the board: what it ranks, by which measures and judgments, and the test."""
    if isinstance(board, BenchmarkBoard):
        return _build_benchmark_caption(board)
    return _build_track_caption(board)


def _describe_board(board: Board, columns: Sequence[Column]) -> dict[str, Any]:
    return {
        "track": board.sight.track.slug,
        **describe_judgments(board),
        "baseline": board.baseline.pk if board.baseline is not None else None,
        "family": board.family,
        "test": board.test,
        "standings": [fields_of(standing, columns) for standing in board.shown],
    }


def describe_judgments(board: Board) -> dict[str, Any]:
    """Return what ranks the board of a track, as JSON."""
    return {
        "measure": board.measure,
        "judgments": board.edition.judgment_set.version,
        "judged_by": board.who_judged.full_text or None,
        "edition": str(board.edition.pk),
    }


def describe_common(row: Standing | SystemRow, shows_scores: bool) -> dict[str, Any]:
    """Return what rows of both boards tell programs, by field; missing values are null."""
    columns = (RANK, INTERVAL, TEAM, *AGAINST, *LAST)
    missing = dict.fromkeys(name for column in columns for name in column.fields)
    found = {**missing, **fields_of(row, seen_columns(columns, shows_scores))}
    unit = None if row.against is None else row.against.unit
    return {**found, "unit": unit, "verdict": row.verdict or None}


def _build_track_caption(board: Board) -> str:
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


def _build_benchmark_caption(board: BenchmarkBoard) -> str:
    benchmark, tracks = board.sight.benchmark.name, counted(len(board.columns), "track")
    words = [f"{benchmark}: {counted(len(board.shown), 'system')} on {tracks}"]
    if board.phase:
        words.append("all phases" if board.no_mean == "phases" else f"phase {board.phase}")
    if board.choice.until:
        words.append(f"collections up to {board.choice.until} alone")
    words.append(describe_measures(board))
    words.append(NO_MEAN.get(board.no_mean, "the mean counts every track the same"))
    if board.no_mean != "phases":
        words.append("Borda: a point for each system that is beaten on a track, half for a tie")
    if board.tests is not None:
        words.append(describe_benchmark_test(board))
    if len(kinds := [kind for kind in board.judges if kind]) > 1:
        words.append(f"tracks are judged by {' and by '.join(sorted(kinds))}")
    return "; ".join(words) + "."


def describe_measures(board: BenchmarkBoard) -> str:
    """Name the measure of all tracks, or that of each.

    Tracks keep their own names, since papers cite them.
    """
    measures = {column.measure for column in board.columns}
    if len(measures) == 1:
        return f"by {measures.pop()}"
    return "by " + ", ".join(f"{column.measure} on {column.name}" for column in board.columns)


def describe_benchmark_test(board: BenchmarkBoard) -> str:
    """Name the test of the benchmark and the systems that it counts."""
    over = "the mean over tracks of mean differences"
    if board.compares_all or board.baseline is None:
        return f"all pairs of systems by {ALL_PAIRS_TEST}, on {over}, at {LEVEL}"
    return f"against {board.baseline.name} by the maximum t (sign flips), on {over}, at {LEVEL}"


def describe_benchmark_board(board: BenchmarkBoard) -> dict[str, Any]:
    """Return the whole board as JSON; missing values are null."""
    baseline = board.baseline
    return {
        "benchmark": board.sight.benchmark.slug,
        "phase": board.phase,
        "phases": board.phases,
        "family": board.family,
        "test": _name_test(board),
        "tests_ready": board.tests is not None,
        "baseline": baseline.version.pk if baseline is not None else None,
        "no_mean": NO_MEAN.get(board.no_mean) if board.columns else "no track to see",
        "columns": [
            {
                "track": column.slug,
                "name": column.name,
                "measure": column.measure,
                "group": column.group,
                "judgments": column.edition.judgment_set.version,
                "judged_by": column.made_by or None,
                "edition": str(column.edition.pk),
                "topics": column.edition.num_evaluated,
            }
            for column in board.columns
        ],
        "groups": board.groups,
        "hidden": [sight.track.slug for sight in board.hidden],
        "standings": [describe_row(board, row) for row in board.shown],
        "incomplete": [describe_row(board, row) for row in board.shown_incomplete],
    }


def _name_test(board: BenchmarkBoard) -> str | None:
    if board.contest is None:
        return None
    return "all_pairs" if board.compares_all else "max_t"


def describe_row(board: BenchmarkBoard, row: SystemRow) -> dict[str, Any]:
    """Return a system on the board as JSON."""
    return {
        **describe_common(row, board.shows_scores),
        "system": row.version.system_id,
        "name": row.name,
        "version": row.version.pk,
        "label": row.version.label,
        "commit": row.version.commit,
        "branch": row.version.branch,
        "mean": row.mean,
        "group_means": dict(zip(board.groups, row.group_means, strict=False)),
        "borda": row.borda,
        "borda_rank": row.borda_rank,
        "answered": row.answered,
        "scores": {
            column.slug: value for column, value in zip(board.columns, row.values, strict=True)
        },
        "runs": {
            column.slug: row.runs[column.track_id]
            for column in board.columns
            if column.track_id in row.runs
        },
    }
