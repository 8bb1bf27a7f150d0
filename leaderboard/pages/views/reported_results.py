"""Files of results that others report: upload one, look at what was understood, import it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.actions import versions
from leaderboard.actions.refusals import NotAccepted
from leaderboard.actions.reported_scores import accept_results
from leaderboard.boards.disclosure import BenchmarkSight
from leaderboard.pages.forms.reported_results import ResultsForm
from leaderboard.pages.views.imported_versions import (
    act_on_version,
    follow_once_done,
    review_versions,
)
from leaderboard.pages.views.lookups import organised_benchmark_or_403


@login_required
@require_http_methods(["GET", "POST"])
def reported_results(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the reported scores with what waits; a file is checked before it is imported."""
    sight = organised_benchmark_or_403(request, slug)
    form = ResultsForm(request.POST or None, request.FILES or None, benchmark=sight.benchmark)
    if form.is_valid():
        file = form.save(commit=False)
        file.created_by = request.user
        try:
            accept_results(file, form.cleaned_data["file"])
            return redirect("reported_results", slug=slug)
        except NotAccepted as refusal:
            form.add_error("file", refusal.message)
    return _show(request, sight, form)


def _show(request: HttpRequest, sight: BenchmarkSight, form: ResultsForm) -> HttpResponse:
    benchmark = sight.benchmark
    waiting = review_versions(
        benchmark.results_files.waiting(),
        "reported_results",
        benchmark.slug,
        "benchmark/_found_results.html",
    )
    context = {
        "sight": sight,
        "benchmark": benchmark,
        "form": form,
        "waiting": waiting,
        "versions": benchmark.reported_scores.without_cells().latest_first(),
    }
    status = 422 if form.errors else 200
    shown = render(request, "benchmark/reported_results.html", context, status=status)
    return follow_once_done(request, shown, waiting)


@login_required
@require_POST
def confirm_results(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Import what was checked."""
    return _act_on_results(request, slug, name, versions.confirm_version)


@login_required
@require_POST
def replace_results(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Check a file again, or another one in its place if one is sent."""
    replace = partial(versions.replace_version, file=request.FILES.get("file"))
    return _act_on_results(request, slug, name, replace)


@login_required
@require_POST
def discard_results(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Discard what is not imported yet."""
    return _act_on_results(request, slug, name, versions.discard_version)


def _act_on_results(
    request: HttpRequest, slug: str, name: str, act: Callable[..., object]
) -> HttpResponse:
    benchmark = organised_benchmark_or_403(request, slug).benchmark
    act_on_version(request, get_object_or_404(benchmark.results_files, version=name), act)
    return redirect("reported_results", slug=slug)
