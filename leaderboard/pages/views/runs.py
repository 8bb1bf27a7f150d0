"""Runs: progress, results, files and facts."""

from __future__ import annotations

from copy import copy

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from leaderboard.actions import runs as run_actions
from leaderboard.actions.refusals import ActionError, NotAccepted
from leaderboard.boards import receipts
from leaderboard.boards.disclosure import VisibleRun, run_or_404, track_at_or_404
from leaderboard.infrastructure.downloads import stored_file, text_file
from leaderboard.models import Run
from leaderboard.pages.forms.rejections import rejections_on
from leaderboard.pages.forms.runs import DescriptionForm
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.lookups import (
    managed_run_or_403,
    organised_sight_or_403,
)
from leaderboard.runs.fact_changes import (
    change_description,
    change_facts,
    find_runs_described_alike,
)
from leaderboard.runs.facts import FactsForm, all_facts, render_metadata
from leaderboard.runs.quotas import find_quota, find_used_up
from leaderboard.scoring.kinds import kind_of
from leaderboard.sight.visible_rows import visible_runs

# Runs per page of the list of all tracks.
SENT = 100


@login_required
@require_GET
def my_runs(request: HttpRequest, address: str) -> HttpResponse:
    sight = track_at_or_404(request.user, address)
    runs = [sight.with_shown_name(run) for run in sight.sent_runs()]
    listed = receipts.build_receipts(sight, runs)
    context = {
        "sight": sight,
        "track": sight.track,
        "runs": listed,
        "follows": not all(receipt.done for receipt in listed),
        "digits": sight.shown_decimals,
        "has_pack": sight.can_see_scores and sight.own_runs().on_the_board().exists(),
        "kept_days": settings.REFUSED_KEPT_DAYS,
        "quota": find_quota(sight.track, sight.team),
        "used_up": None if sight.is_organiser else find_used_up(sight.track, sight.team),
    }
    return render(request, "run/my_runs.html", context)


@login_required
@require_GET
def sent_runs(request: HttpRequest) -> HttpResponse:
    """List the runs of all tracks that the reader or the reader's teams submitted."""
    runs = visible_runs(request.user).sent_by(request.user).select_related("track", "team")
    page = Paginator(runs, SENT).get_page(request.GET.get("page"))
    listed = receipts.build_receipts_of_tracks(request.user, page.object_list)
    return render(request, "run/sent_runs.html", {"page": page, "runs": listed})


@login_required
@require_GET
def refused_runs(request: HttpRequest, address: str) -> HttpResponse:
    """List the rejected runs of all teams for the organisers."""
    sight = organised_sight_or_403(request, address)
    refused = sight.runs().filter(state=Run.State.REFUSED)
    files = shorten(request, "files", "file", refused)
    context = {
        "sight": sight,
        "track": sight.track,
        "files": files,
        "runs": receipts.build_receipts(sight, files.rows),
        "kept_days": settings.REFUSED_KEPT_DAYS,
    }
    return render(request, "run/refused_runs.html", context)


@require_GET
def run_state(request: HttpRequest, run_id: str) -> HttpResponse:
    """Return the state of a run; the page polls it until the run is done."""
    seen = run_or_404(request.user, run_id)
    receipt = receipts.build_receipt(seen.sight, seen.run)
    context = {
        "sight": seen.sight,
        "track": seen.sight.track,
        "run": seen.run,
        "inside": seen.sight.can_see_file(seen.run),
        "receipt": receipt,
        # The whole page has more to show then.
        "is_over": receipt.done,
    }
    return render(request, "run/_state.html", context)


@require_GET
def run_file(request: HttpRequest, run_id: str) -> FileResponse:
    """Return the uploaded file, always as a download."""
    run = _managed_run_or_404(request, run_id)
    return stored_file(run.file, run.saved_as)


@require_GET
def run_problems(request: HttpRequest, run_id: str) -> HttpResponse:
    """Return every problem of a run as CSV."""
    run = _managed_run_or_404(request, run_id)
    return text_file(f"problems-{run.pk}.csv", receipts.problems_as_csv(run), "text/csv")


def _managed_run_or_404(request: HttpRequest, run_id: str) -> Run:
    seen = run_or_404(request.user, run_id)
    if not seen.sight.can_see_file(seen.run):
        raise Http404("no such file")
    return seen.run


@login_required
@require_POST
def score_again(request: HttpRequest, run_id: str) -> HttpResponse:
    """Queue a run again that failed because of an error on our side."""
    seen = managed_run_or_403(request, run_id)
    try:
        run_actions.retry_run(seen.run, request.user)
    except NotAccepted as refusal:
        messages.error(request, refusal.message)
    return redirect("run", run_id=run_id)


@login_required
@require_POST
def repair(request: HttpRequest, run_id: str) -> HttpResponse:
    """Check a rejected run again with one of the repairs that its page offers."""
    seen = managed_run_or_403(request, run_id)
    fix = request.POST.get("fix", "")
    try:
        if fix not in kind_of(seen.run.track).fixes:
            raise ActionError("There is no such repair.")
        run_actions.repair_run(seen.run, request.user, fix, request.POST.get("tag", "").strip())
    except (NotAccepted, ActionError) as refusal:
        messages.error(request, str(refusal))
    return redirect("run", run_id=run_id)


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
        run = seen.run
        with rejections_on(about, "tag"):
            run_actions.rename_run(run, request.user, described["tag"])
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
    return facts, DescriptionForm(data, instance=copy(seen.run), num_alike=alike)


@require_GET
def run_metadata(request: HttpRequest, run_id: str) -> HttpResponse:
    """Return the facts of a run as ir_metadata."""
    seen = run_or_404(request.user, run_id)
    if not seen.sight.can_see_file(seen.run) and not seen.sight.can_see_scores_of(seen.run):
        raise Http404("no facts to see")
    return text_file(f"metadata-{seen.run.pk}.yml", render_metadata(seen.run), "application/yaml")
