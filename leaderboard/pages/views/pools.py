"""Pools of a track, for its organisers."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from leaderboard.actions import pools as pool_actions
from leaderboard.actions.refusals import ActionError
from leaderboard.actions.uploads import accept_judgments
from leaderboard.assessments.kinds import DOCUMENTS
from leaderboard.assessments.workload import expect_pace
from leaderboard.collections import pools as pool_files
from leaderboard.collections.pool_frames import list_strata
from leaderboard.infrastructure.downloads import streamed_text
from leaderboard.models import Pool
from leaderboard.pages import wording
from leaderboard.pages.forms.collections import CostForm, JudgmentsForm, PoolForm
from leaderboard.pages.forms.rejections import rejections_on
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.lookups import organised_sight_or_403, text_of
from leaderboard.pages.views.repeated_forms import submit_once

# Minutes per document: what assessors of short documents keep up over a day.
MINUTES = 1.0


@login_required
@require_http_methods(["GET", "POST"])
@submit_once
def pools(request: HttpRequest, address: str) -> HttpResponse:
    """List the pools and show the form for a new one."""
    sight = organised_sight_or_403(request, address)
    asked = {"method": text_of(request.GET, "method")}
    form = PoolForm(request.POST or None, track=sight.track, initial=asked)
    if request.method == "POST" and form.is_valid():
        with rejections_on(form):
            made = pool_actions.create_pool(sight.track, request.user, **form.cleaned_data)
            return redirect("pool", address=address, name=made.name)
    context = {
        "sight": sight,
        "track": sight.track,
        "form": form,
        "pools": shorten(request, "pools", "pool", sight.track.pools.order_by("-created_at")),
    }
    return render(request, "judging/pools.html", context, status=422 if form.is_bound else 200)


@login_required
@require_GET
def pool(request: HttpRequest, address: str, name: str) -> HttpResponse:
    sight = organised_sight_or_403(request, address)
    found = get_object_or_404(sight.track.pools, name=name)
    return render(request, "judging/pool.html", _pool_context(request, found) | {"sight": sight})


def _pool_context(
    request: HttpRequest, found: Pool, form: JudgmentsForm | None = None
) -> dict[str, Any]:
    version = f"v{found.track.collection.judgment_sets.count() + 1}"
    cost = CostForm(request.GET if "minutes" in request.GET else None)
    minutes = cost.cleaned_data["minutes"] if cost.is_valid() else _usual_minutes(found)
    cost.fields["minutes"].label = f"Minutes per {found.noun}"
    cost.fields["minutes"].initial = minutes
    return {
        "track": found.track,
        "pool": found,
        "runs": pool_files.pooled_runs(found),
        "overlap": pool_files.list_overlaps(found),
        "strata": list_strata(found),
        "depths": pool_files.list_depth_costs(found, minutes),
        "hours": pool_files.count_hours(found.summary.get("new"), minutes),
        "minutes": minutes,
        "cost_form": cost,
        "came_back": [(each, wording.name_judges(each)) for each in found.judgment_sets.all()],
        "judging": found.assessments.unfinished().first(),
        "form": form or JudgmentsForm(initial={"version": version}),
    }


def _usual_minutes(found: Pool) -> float:
    """Return the minutes for one document, or for a pair at the pace seen or usual."""
    is_of_documents = found.about == DOCUMENTS.name
    return MINUTES if is_of_documents else round(expect_pace(found).seconds / 60, 2)


@login_required
@require_POST
def keep_pool(request: HttpRequest, address: str, name: str) -> HttpResponse:
    track = organised_sight_or_403(request, address).track
    try:
        pool_actions.approve_pool(get_object_or_404(track.pools, name=name), request.user)
        messages.success(
            request, "Approved. Judge it here, or download it and upload the judgments."
        )
    except ActionError as reason:
        messages.error(request, str(reason))
    return redirect("pool", address=address, name=name)


@login_required
@require_POST
def discard_pool(request: HttpRequest, address: str, name: str) -> HttpResponse:
    track = organised_sight_or_403(request, address).track
    try:
        pool_actions.discard_pool(get_object_or_404(track.pools, name=name), request.user)
    except ActionError as reason:
        messages.error(request, str(reason))
        return redirect("pool", address=address, name=name)
    return redirect("pools", address=address)


@login_required
@require_GET
def pool_file(request: HttpRequest, address: str, name: str, kind: str) -> HttpResponse:
    """Return the unjudged documents of a pool, or with `?all=1` the whole pool."""
    track = organised_sight_or_403(request, address).track
    found = get_object_or_404(track.pools.exclude(file=""), name=name)
    if kind not in pool_files.FILES:
        raise Http404("no such kind of file")
    lines, media_type = pool_files.FILES[kind]
    everything = request.GET.get("all") == "1"
    return streamed_text(f"{track.slug}-{name}.{kind}", lines(found, everything), media_type)


@login_required
@require_POST
def judge_pool(request: HttpRequest, address: str, name: str) -> HttpResponse:
    """Upload the judgments of an approved pool as a new version."""
    sight = organised_sight_or_403(request, address)
    found = get_object_or_404(sight.track.pools.filter(state=Pool.State.KEPT), name=name)
    form = JudgmentsForm(request.POST, request.FILES)
    if form.is_valid():
        with rejections_on(form):
            accept_judgments(
                sight.track.collection, user=request.user, pool=found, **form.cleaned_data
            )
            return redirect("collection", slug=sight.track.collection.slug)
    return render(
        request,
        "judging/pool.html",
        _pool_context(request, found, form) | {"sight": sight},
        status=422,
    )
