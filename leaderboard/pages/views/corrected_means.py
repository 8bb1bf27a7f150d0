"""The board of a machine with each mean corrected by the sample that people judged."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard.analysis.corrected_means import find_corrected_means
from leaderboard.analysis.people_and_machine import find_versions_by_machine
from leaderboard.models import JudgmentSet
from leaderboard.pages import wording
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.lookups import organised_sight_or_403
from leaderboard.pages.views.tables import csv_file, wants_csv
from leaderboard.sight.visible_rows import is_judging

PAGE = "machine/corrected_means.html"
# What a reader chooses on this page.
CHOICES = ("machine", "measure", "against")


@login_required
@require_GET
def corrected_means(request: HttpRequest, address: str) -> HttpResponse:
    """Show what people would have given the runs, as far as their sample says it."""
    sight = organised_sight_or_403(request, address)
    context: dict[str, object] = {"sight": sight, "track": sight.track}
    if is_judging(request.user, sight.track.collection):
        return render(request, PAGE, {**context, "judges_here": True})
    machines = find_versions_by_machine(sight)
    chosen = choose_version(machines, request.GET.get("machine", ""))
    if chosen is None:
        return render(request, PAGE, context)
    asked = [request.GET.get(name, "") for name in ("measure", "against")]
    found = find_corrected_means(sight, chosen, *asked)
    means = found.means
    if wants_csv(request):
        if means is None:
            raise Http404("no corrected means yet")
        return csv_file(f"{sight.track.slug}-{chosen}-corrected-means", *means.table)
    context |= {"found": found, "means": means, "machines": machines}
    if means is not None and means.runs:
        context |= {
            "verdict": wording.describe_correction(means),
            "gains": wording.describe_gains(means),
            "rows": shorten(request, "runs", "run", means.runs, carried=CHOICES),
        }
    return render(request, PAGE, context)


def choose_version(versions: list[JudgmentSet], asked: str) -> JudgmentSet | None:
    """Return the version that the address names, or the first; None if there is none."""
    if not asked:
        return next(iter(versions), None)
    for each in versions:
        if each.version == asked:
            return each
    raise Http404("no such version")
