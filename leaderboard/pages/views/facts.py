"""The facts of a run and its description: editing and download."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from leaderboard.boards.disclosure import VisibleRun, run_or_404
from leaderboard.infrastructure.downloads import text_file
from leaderboard.models import Run
from leaderboard.pages.forms.runs import DescriptionForm
from leaderboard.runs.fact_changes import (
    change_description,
    change_facts,
    find_runs_described_alike,
)
from leaderboard.runs.facts import FactsForm, all_facts, render_metadata


@login_required
@require_http_methods(["GET", "POST"])
def run_facts(request: HttpRequest, run_id: str) -> HttpResponse:
    """Edit description and facts of a run: its team until the release, organisers at any time."""
    seen = run_or_404(request.user, run_id)
    if not seen.sight.can_state_facts(seen.run):
        raise PermissionDenied
    form, about = _build_forms(request, seen)
    if request.method == "POST" and all([form.is_valid(), about.is_valid()]):
        described = about.cleaned_data
        of_all = described.get("of_all", False)
        # The form has changed its run.
        run = Run.objects.get(pk=seen.run.pk)
        change_description(run, request.user, described["description"], of_all)
        change_facts(run, request.user, form.facts)
        messages.success(request, "Description and facts saved. Earlier values are kept.")
        return redirect("run", run_id=run_id)
    context = {"sight": seen.sight, "track": seen.sight.track, "run": seen.run}
    context |= {"form": form, "about": about}
    return render(request, "run/facts.html", context, status=422 if form.is_bound else 200)


def _build_forms(request: HttpRequest, seen: VisibleRun) -> tuple[FactsForm, DescriptionForm]:
    data = request.POST if request.method == "POST" else None
    strict = not seen.sight.is_organiser
    facts = FactsForm(data, track=seen.sight.track, is_strict=strict, facts=all_facts(seen.run))
    alike = find_runs_described_alike(seen.run).count()
    return facts, DescriptionForm(data, instance=seen.run, num_alike=alike)


@require_GET
def run_metadata(request: HttpRequest, run_id: str) -> HttpResponse:
    """Return the facts of a run as ir_metadata."""
    seen = run_or_404(request.user, run_id)
    if not seen.sight.can_see_file(seen.run) and not seen.sight.can_see_scores_of(seen.run):
        raise Http404("no facts to see")
    return text_file(f"metadata-{seen.run.pk}.yml", render_metadata(seen.run), "application/yaml")
