"""What prompts, repeats and versions of machines do to a board."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard.analysis.judge_noise import JudgeNoiseFound, find_judge_noise
from leaderboard.analysis.people_and_machine import find_versions_by_machine
from leaderboard.display.charts import grade_bar
from leaderboard.pages import wording
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.lookups import organised_sight_or_403
from leaderboard.pages.views.tables import csv_file, wants_csv
from leaderboard.sight.visible_rows import is_judging

PAGE = "machine/judge_noise.html"


@login_required
@require_GET
def judge_noise(request: HttpRequest, address: str) -> HttpResponse:
    """Show how much a board by machine depends on the version of the machine."""
    sight = organised_sight_or_403(request, address)
    context: dict[str, object] = {"sight": sight, "track": sight.track}
    if is_judging(request.user, sight.track.collection):
        return render(request, PAGE, {**context, "judges_here": True})
    versions = find_versions_by_machine(sight)
    if len(versions) < 2:
        return render(request, PAGE, context)
    found = find_judge_noise(sight, versions, request.GET.get("measure", ""))
    if wants_csv(request):
        table = found.tables.get(request.GET.get("table", "runs"))
        if table is None or (found.boards is None and table.head[0] == "run"):
            raise Http404("no such table")
        return csv_file(f"{sight.track.slug}-judge-noise", *table)
    context |= {
        "found": found,
        "by_judge": found.by_judge,
        "boards": found.boards,
        "verdict": wording.describe_flips(found.boards) if found.boards is not None else None,
        "uses": draw_grade_use(found),
        "runs": shorten(request, "runs", "run", found.runs, carried=("measure",)),
    }
    return render(request, PAGE, context)


def draw_grade_use(found: JudgeNoiseFound) -> list[tuple[object, object]]:
    """Return each version with a bar for every grade."""
    return [
        (
            version,
            [
                (use, grade_bar(use.count, version.most, use.grade, found.top_grade))
                for use in version.uses
            ],
        )
        for version in found.versions
    ]
