"""The board of a benchmark, which is a group of tracks."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard.boards.benchmark_boards import (
    EVERY_PHASE,
    BenchmarkBoard,
    SystemRow,
    find_benchmark_board,
)
from leaderboard.boards.board_files import FORMATS, download
from leaderboard.boards.columns import shown_columns
from leaderboard.boards.deferred_tests import request_missing_tests
from leaderboard.boards.disclosure import benchmark_or_404
from leaderboard.boards.exports import file_of
from leaderboard.boards.kept_pages import kept, leave_unkept
from leaderboard.boards.page_keys import find_seen_benchmark
from leaderboard.jobs.calculations import Awaited
from leaderboard.pages import wording
from leaderboard.pages.board_table import BenchmarkTable
from leaderboard.pages.views.lookups import requested_benchmark_choice
from leaderboard.pages.wording.benchmark_boards import name_first_systems
from leaderboard.pages.wording.phrases import Sentence

# Query parameters that links to other pages of a benchmark keep.
CARRIED_BY_BENCHMARKS = ("phase", "measure", "baseline", "family", "versions")


@dataclass(frozen=True)
class PhaseLink:
    """A phase, or all of them, with the address that shows it."""

    value: str
    name: str
    is_current: bool


@dataclass(frozen=True)
class MeasureOption:
    """A measure that can count on all tracks, and how many of them have it."""

    name: str
    num_tracks: int


@dataclass(frozen=True)
class SharedTracks:
    """Incomplete systems that answer the same tracks, with the address that compares them."""

    systems: Sentence
    names: list[str]
    query: str


@require_GET
@kept(find_seen_benchmark)
def benchmark_board(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the board of a benchmark, or return it as a file."""
    sight = benchmark_or_404(request.user, slug)
    board = find_benchmark_board(sight, requested_benchmark_choice(request))
    format = request.GET.get("format", "")
    if format in FORMATS:
        return download(file_of(board, shown_columns(board)), format)
    context = {
        "sight": sight,
        "benchmark": sight.benchmark,
        "board": board,
        "tests_follow": request_missing_tests(board),
        "table": BenchmarkTable(board, request.GET),
        "phases": link_phases(board),
        "measures": list_measures(board),
        "shared": group_incomplete(board),
        "exports": FORMATS,
        **describe_board(board),
    }
    page = render(request, "benchmark/board.html", context)
    return leave_unkept(page) if context["tests_follow"] == Awaited.FAILED else page


def describe_board(board: BenchmarkBoard) -> dict[str, object]:
    """Return the sentences of a board."""
    return {
        "verdict": wording.benchmark_verdict(board),
        "lead": wording.describe_lead(board),
        "mean": wording.explain_benchmark_mean(board),
        "family": wording.describe_benchmark_family(board),
        "judges": wording.describe_benchmark_judges(board),
        "rule": wording.describe_benchmark_selection(board),
        "unmeasured": wording.describe_unmeasured(board),
    }


def link_phases(board: BenchmarkBoard) -> list[PhaseLink]:
    """Return the phases of a benchmark; none if it has one only."""
    if len(board.phases) < 2:
        return []
    links = [PhaseLink(name, name or "no phase", name == board.phase) for name in board.phases]
    every = PhaseLink(EVERY_PHASE, "all phases", board.phase == EVERY_PHASE)
    return [*links, every]


def list_measures(board: BenchmarkBoard) -> list[MeasureOption]:
    """Return the measures of the tracks, those of most tracks first."""
    counts: dict[str, int] = {}
    for sight in board.choosable:
        for measure in sight.measures:
            counts[measure] = counts.get(measure, 0) + 1
    options = [MeasureOption(name, number) for name, number in counts.items()]
    return sorted(options, key=lambda option: -option.num_tracks)


def group_incomplete(board: BenchmarkBoard) -> list[SharedTracks]:
    """Return the incomplete systems by the tracks that they answer."""
    groups: dict[tuple[int, ...], list[SystemRow]] = {}
    for row in board.shown_incomplete:
        answered = tuple(place for place, value in enumerate(row.values) if value is not None)
        groups.setdefault(answered, []).append(row)
    carried = [("phase", board.phase)] if len(board.phases) > 1 else []
    carried += [("measure", board.choice.measure)] if board.choice.measure else []
    shared = []
    for places, rows in groups.items():
        columns = [board.columns[place] for place in places]
        asked = urlencode([*(("track", column.slug) for column in columns), *carried])
        names = [column.name for column in columns]
        shared.append(SharedTracks(name_first_systems(rows), names, asked))
    return shared
