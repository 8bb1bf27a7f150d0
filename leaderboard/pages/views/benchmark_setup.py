"""The settings of a benchmark: its tracks in order, its copy and its end."""

from __future__ import annotations

from copy import copy
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.actions import benchmark_copies, benchmark_setup
from leaderboard.actions.refusals import ActionError
from leaderboard.boards.disclosure import BenchmarkSight
from leaderboard.models import Collection
from leaderboard.pages.forms.benchmark_sections import SECTIONS, TRACKS
from leaderboard.pages.forms.benchmark_setup import (
    AddTrackForm,
    BenchmarkForm,
    CopyForm,
    DeleteBenchmarkForm,
    NewTrackForm,
    PlaceForm,
)
from leaderboard.pages.views.lookups import organised_benchmark_or_403, text_of
from leaderboard.pages.views.repeated_forms import submit_once


@login_required
@require_http_methods(["GET", "POST"])
def benchmark_manage(request: HttpRequest, slug: str, section: str = TRACKS.name) -> HttpResponse:
    """Show a section of the settings of a benchmark; a POST saves it."""
    sight = organised_benchmark_or_403(request, slug)
    if section not in SECTIONS:
        raise Http404("no such section")
    part, tracks = SECTIONS[section], [seen.track for seen in sight.sights]
    form = BenchmarkForm(
        request.POST or None, instance=copy(sight.benchmark), tracks=tracks, section=part
    )
    if request.method == "POST" and form.is_valid():
        try:
            benchmark_setup.change_benchmark(sight.benchmark, request.user, form.changes)
            messages.success(request, "Saved.")
            return redirect("benchmark_section", slug=slug, section=section)
        except ActionError as reason:
            form.add_error(None, str(reason))
    return _render(request, sight, section=part, form=form)


def _render(request: HttpRequest, sight: BenchmarkSight, **shown: Any) -> HttpResponse:
    """Show a section: that of the tracks unless another is `shown`."""
    part = shown.get("section", TRACKS)
    context = {
        "benchmark": sight.benchmark,
        "sight": sight,
        "section": part,
        "sections": SECTIONS.values(),
        "last_save": sight.benchmark.events.last_save(part.names),
        "place_forms": _build_place_forms(sight),
        "add_form": AddTrackForm(user=request.user),
        **shown,
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "benchmark/manage.html", context, status=status)


def _build_place_forms(sight: BenchmarkSight, data: Any = None) -> list[PlaceForm]:
    return [
        PlaceForm(data, track=seen.track, number=number)
        for number, seen in enumerate(sight.sights, start=1)
    ]


@login_required
@require_POST
def place_tracks(request: HttpRequest, slug: str) -> HttpResponse:
    """Order the tracks of a benchmark and name their phases and groups."""
    sight = organised_benchmark_or_403(request, slug)
    forms = _build_place_forms(sight, request.POST)
    if not all([form.is_valid() for form in forms]):
        return _render(request, sight, place_forms=forms)
    ordered = sorted(forms, key=lambda form: form.cleaned_data["position"])
    benchmark_setup.place_tracks(sight.benchmark, request.user, [form.place for form in ordered])
    messages.success(request, "The tracks are in this order.")
    return redirect("benchmark_manage", slug=slug)


@login_required
@require_http_methods(["GET", "POST"])
@submit_once
def new_benchmark_track(request: HttpRequest, slug: str) -> HttpResponse:
    """Create a draft with the settings of the last track of a benchmark."""
    sight = organised_benchmark_or_403(request, slug)
    copied = sight.sights[-1].track
    initial = {"collection": _find_asked_collection(request) or copied.collection}
    form = NewTrackForm(request.POST or None, user=request.user, copied=copied, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            track = benchmark_setup.copy_track(copied, request.user, **form.cleaned_data)
            return redirect("setup", address=track.address)
        except ActionError as reason:
            form.add_error("collection", str(reason))
    context = {"benchmark": sight.benchmark, "sight": sight, "form": form, "copied": copied}
    status = 422 if form.is_bound else 200
    return render(request, "benchmark/new_track.html", context, status=status)


def _find_asked_collection(request: HttpRequest) -> Collection | None:
    """Return the collection that a link to the form names."""
    named = Collection.objects.ready().organised_by(request.user)
    return named.filter(slug=text_of(request.GET, "collection")).first()


@login_required
@require_POST
def add_benchmark_track(request: HttpRequest, slug: str) -> HttpResponse:
    """Add a track that the user organises to a benchmark."""
    sight = organised_benchmark_or_403(request, slug)
    form = AddTrackForm(request.POST, user=request.user)
    if form.is_valid():
        try:
            place = benchmark_setup.PlacedTrack(**form.cleaned_data)
            benchmark_setup.add_track(sight.benchmark, request.user, place)
            messages.success(request, f"{place.track} is part of the benchmark.")
            return redirect("benchmark_manage", slug=slug)
        except ActionError as reason:
            form.add_error("track", str(reason))
    return _render(request, sight, add_form=form)


@login_required
@require_POST
def remove_benchmark_track(request: HttpRequest, slug: str, track: str) -> HttpResponse:
    """Make a track of a benchmark stand alone again."""
    sight = organised_benchmark_or_403(request, slug)
    known = {seen.track.slug: seen.track for seen in sight.sights}
    if track not in known:
        raise Http404("no such track in this benchmark")
    removed = known[track]
    try:
        benchmark_setup.remove_track(sight.benchmark, request.user, removed)
        messages.success(request, f"{removed} stands alone again, with its teams and runs.")
    except ActionError as reason:
        messages.error(request, str(reason))
    return redirect("benchmark_manage", slug=slug)


@login_required
@require_http_methods(["GET", "POST"])
def copy_benchmark(request: HttpRequest, slug: str) -> HttpResponse:
    """Make next year's benchmark of this one, with a draft for each track."""
    sight = organised_benchmark_or_403(request, slug)
    if not request.user.may_organise:
        raise PermissionDenied
    tracks = [seen.track for seen in sight.sights]
    form = CopyForm(request.POST or None, user=request.user, tracks=tracks)
    if request.method == "POST" and form.is_valid():
        name, short = form.cleaned_data["name"], form.cleaned_data["slug"]
        copied = benchmark_copies.copy_benchmark(
            sight.benchmark, request.user, name, short, form.collections
        )
        messages.success(request, "Copied. Check the dates of each track before you open it.")
        return redirect("benchmark_manage", slug=copied.slug)
    context = {"benchmark": sight.benchmark, "sight": sight, "form": form}
    return render(request, "benchmark/copy.html", context, status=422 if form.is_bound else 200)


@login_required
@require_http_methods(["GET", "POST"])
def delete_benchmark(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete a benchmark; its tracks stay."""
    sight = organised_benchmark_or_403(request, slug)
    form = DeleteBenchmarkForm(request.POST or None, benchmark=sight.benchmark)
    if request.method == "POST" and form.is_valid():
        benchmark_setup.delete_benchmark(sight.benchmark, request.user)
        messages.success(request, "Benchmark deleted. Its tracks stand alone again.")
        return redirect("all_benchmarks")
    context = {"benchmark": sight.benchmark, "sight": sight, "form": form}
    return render(request, "benchmark/delete.html", context, status=422 if form.is_bound else 200)
