"""The board of a task, which is a group of tracks."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard.boards.deferred_tests import request_contest_tests
from leaderboard.boards.disclosure import task_or_404
from leaderboard.boards.kept_pages import kept
from leaderboard.boards.task_boards import (
    EVERY_PHASE,
    SystemRow,
    TaskBoard,
    TaskChoice,
    find_task_board,
)
from leaderboard.boards.task_columns import shown_task_columns
from leaderboard.boards.task_exports import TASK_FORMATS, download_task_board
from leaderboard.boards.versions import find_seen_task
from leaderboard.pages import wording
from leaderboard.pages.page_urls import carried_parameters
from leaderboard.pages.task_board_table import TaskBoardTable
from leaderboard.pages.views.lookups import text_of
from leaderboard.runs.facts import FILTERS

# Query parameters that links to other pages of a task keep.
CARRIED_BY_TASKS = ("phase", "measure", "baseline", "family", "versions")


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
class KeptField:
    """A query parameter that a form repeats."""

    name: str
    value: str


@dataclass(frozen=True)
class SharedTracks:
    """Incomplete systems that answer the same tracks, with the address that compares them."""

    rows: list[SystemRow]
    names: list[str]
    query: str


@require_GET
@kept(find_seen_task)
def task_board(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the board of a task, or return it as a file."""
    sight = task_or_404(request.user, slug)
    board = find_task_board(sight, requested_task_choice(request))
    format = request.GET.get("format", "")
    if format in TASK_FORMATS:
        return download_task_board(board, format, shown_task_columns(board))
    context = {
        "sight": sight,
        "task": sight.task,
        "board": board,
        "tests_follow": request_task_tests(board),
        "table": TaskBoardTable(
            board, request.GET, carried_parameters(request.GET, CARRIED_BY_TASKS)
        ),
        "phases": link_phases(board),
        "measures": list_measures(board),
        "shared": group_incomplete(board),
        "exports": TASK_FORMATS,
        "kept_fields": [
            KeptField(name, value)
            for name, values in request.GET.lists()
            for value in values
            if name not in ("column", "format")
        ],
        **describe_board(board),
    }
    return render(request, "task_board.html", context)


def requested_task_choice(request: HttpRequest) -> TaskChoice:
    """Read the reader's choice for the board of a task from the query parameters."""
    asked = request.GET
    return TaskChoice(
        phase=text_of(asked, "phase") if "phase" in asked else None,
        measure=text_of(asked, "measure"),
        tracks=tuple(asked.getlist("track")),
        versions=text_of(asked, "versions"),
        baseline=text_of(asked, "baseline"),
        family=text_of(asked, "family"),
        sort=text_of(asked, "sort"),
        team=text_of(asked, "team"),
        text=text_of(asked, "text"),
        facts={name: asked[name] for name in FILTERS if asked.get(name) in FILTERS[name].options},
        columns=tuple(asked.getlist("column")),
        opened=tuple(asked.getlist("open")),
        folded=tuple(asked.getlist("fold")),
    )


def request_task_tests(board: TaskBoard) -> bool:
    """Request the tests that a board lacks; return whether a job will make them."""
    if board.contest is None or not board.awaits_tests:
        return False
    return request_contest_tests(board.sight.task, board.contest)


def describe_board(board: TaskBoard) -> dict[str, object]:
    """Return the sentences of a board."""
    return {
        "verdict": wording.task_verdict(board),
        "lead": wording.describe_lead(board),
        "mean": wording.explain_task_mean(board),
        "family": wording.describe_task_family(board),
        "judges": wording.describe_task_judges(board),
        "rule": wording.describe_task_selection(board),
        "unmeasured": wording.describe_unmeasured(board),
    }


def link_phases(board: TaskBoard) -> list[PhaseLink]:
    """Return the phases of a task; none if it has one only."""
    if len(board.phases) < 2:
        return []
    links = [PhaseLink(name, name or "no phase", name == board.phase) for name in board.phases]
    every = PhaseLink(EVERY_PHASE, "all phases", board.phase == EVERY_PHASE)
    return [*links, every]


def list_measures(board: TaskBoard) -> list[MeasureOption]:
    """Return the measures of the tracks, those of most tracks first."""
    counts: dict[str, int] = {}
    for sight in board.choosable:
        for measure in sight.measures:
            counts[measure] = counts.get(measure, 0) + 1
    options = [MeasureOption(name, number) for name, number in counts.items()]
    return sorted(options, key=lambda option: -option.num_tracks)


def group_incomplete(board: TaskBoard) -> list[SharedTracks]:
    """Return the incomplete systems by the tracks that they answer."""
    groups: dict[tuple[int, ...], list[SystemRow]] = {}
    for row in board.shown_incomplete:
        answered = tuple(place for place, value in enumerate(row.values) if value is not None)
        groups.setdefault(answered, []).append(row)
    shared = []
    for places, rows in groups.items():
        columns = [board.columns[place] for place in places]
        query = "&".join(f"track={column.slug}" for column in columns)
        shared.append(SharedTracks(rows, [column.name for column in columns], query))
    return shared
