"""The boards of a track by people and by a machine, side by side."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET

from leaderboard.analysis.corrected_means import find_corrected_means
from leaderboard.analysis.people_and_machine import (
    PeopleAndMachine,
    PeopleBesideMachine,
    find_people_and_machine,
    find_versions_by_machine,
    find_versions_by_people,
)
from leaderboard.analysis.shifts import Shift
from leaderboard.assessments.samples import describe_check
from leaderboard.boards.disclosure import track_at_or_404
from leaderboard.display import charts
from leaderboard.pages import wording
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.corrected_means import choose_version
from leaderboard.pages.views.tables import csv_file, wants_csv
from leaderboard.sight.visible_rows import is_judging

# What a reader chooses on this page.
CHOICES = ("people", "machine", "measure")


@require_GET
def people_and_machine(request: HttpRequest, address: str) -> HttpResponse:
    """Show what judging by a machine does to a board, beside the board by people.

    Others than organisers compare the versions whose boards they see, with the names of runs.
    """
    sight = track_at_or_404(request.user, address)
    if not sight.can_compare_judges:
        raise Http404("no boards to compare")
    context: dict[str, object] = {"sight": sight, "track": sight.track}
    collection = sight.track.collection
    if is_judging(request.user, collection):
        return render(request, "machine/people_and_machine.html", {**context, "judges_here": True})
    people, machines = find_versions_by_people(sight), find_versions_by_machine(sight)
    context |= {"people": people, "machines": machines}
    one, other = (
        choose_version(versions, request.GET.get(name, ""))
        for name, versions in (("people", people), ("machine", machines))
    )
    if one is None or other is None:
        return render(request, "machine/people_and_machine.html", context)
    found = find_people_and_machine(sight, one, other, request.GET.get("measure", ""))
    if wants_csv(request):
        return _answer_with_table(request, f"{sight.track.slug}-{one}-{other}", found)
    context |= {
        "found": found,
        "by_judge": found.by_judge,
        "verdict": wording.machine_verdict(found),
        "check": describe_check(other),
    }
    if sight.is_organiser:
        corrected = find_corrected_means(sight, other, found.by_judge.measure)
        context["corrected"] = corrected.means
    if found.boards is not None:
        context |= _describe(request, found.boards)
    return render(request, "machine/people_and_machine.html", context)


def _answer_with_table(request: HttpRequest, name: str, found: PeopleAndMachine) -> HttpResponse:
    boards, asked = found.boards, request.GET.get("table", "runs")
    if boards is None or asked not in ("runs", "turned"):
        raise Http404("no such table")
    table = boards.table if asked == "runs" else boards.turned_table
    return csv_file(f"{name}-{asked}", *table)


def _describe(request: HttpRequest, boards: PeopleBesideMachine) -> dict[str, object]:
    """Return what the page prints of both boards."""
    return {
        "boards": boards,
        "chart": draw_slopes(boards.shift),
        "turned": shorten(request, "turned", "pair", boards.turned, carried=CHOICES),
        "turned_count": wording.describe_turned(boards),
        "family": wording.warn_of_family(boards) if boards.family else None,
        "family_moves": wording.describe_moves(boards.of_family) if boards.family else None,
    }


def draw_slopes(shift: Shift) -> SafeString:
    """Draw a line for each run from its row by people to its row by the machine."""
    row_after = {move.run: row for row, move in enumerate(shift.by_rank_after, 1)}
    slopes = [
        charts.Slope(str(move.run), row, row_after[move.run], move.side if move.is_large else "")
        for row, move in enumerate(shift.by_rank_before, 1)
    ]
    return charts.slope_chart(slopes, "Ranks by people and by the machine")
