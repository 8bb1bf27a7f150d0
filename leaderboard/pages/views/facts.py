"""The facts of a run: editing and download."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from leaderboard.boards.disclosure import run_or_404
from leaderboard.boards.exports import text_file
from leaderboard.runs.fact_changes import change_facts
from leaderboard.runs.facts import FactsForm, all_facts, render_metadata


@login_required
@require_http_methods(["GET", "POST"])
def run_facts(request: HttpRequest, run_id: str) -> HttpResponse:
    """Edit the facts of a run: its team until the release, organisers at any time."""
    seen = run_or_404(request.user, run_id)
    if not seen.sight.can_state_facts(seen.run):
        raise PermissionDenied
    form = FactsForm(
        request.POST if request.method == "POST" else None,
        track=seen.sight.track,
        is_strict=not seen.sight.is_organiser,
        facts=all_facts(seen.run),
    )
    if request.method == "POST" and form.is_valid():
        change_facts(seen.run, request.user, form.facts)
        messages.success(request, "Facts saved. Earlier values are kept.")
        return redirect("run", run_id=run_id)
    context = {"sight": seen.sight, "track": seen.sight.track, "run": seen.run, "form": form}
    return render(request, "run_facts.html", context, status=422 if form.is_bound else 200)


@require_GET
def run_metadata(request: HttpRequest, run_id: str) -> HttpResponse:
    """Return the facts of a run as ir_metadata."""
    seen = run_or_404(request.user, run_id)
    if not seen.sight.can_see_file(seen.run) and not seen.sight.can_see_scores_of(seen.run):
        raise Http404("no facts to see")
    return text_file(f"metadata-{seen.run.pk}.yml", render_metadata(seen.run), "application/yaml")
