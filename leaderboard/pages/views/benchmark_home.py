"""Benchmarks: their list, a new one, and the home page of a benchmark."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from leaderboard.actions import benchmark_setup
from leaderboard.actions.refusals import ActionError
from leaderboard.boards.disclosure import BenchmarkSight, benchmark_or_404, benchmark_sight_of
from leaderboard.boards.schedules import ScheduleEntry, build_schedule
from leaderboard.boards.systems import visible_systems
from leaderboard.models import Benchmark, Collection, Team
from leaderboard.pages.forms.benchmark_setup import NewBenchmarkForm
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.repeated_forms import submit_once
from leaderboard.runs.quotas import Quota, find_benchmark_quota


@dataclass(frozen=True)
class BenchmarkLine:
    """A benchmark in the list, as its reader may see it."""

    sight: BenchmarkSight
    num_systems: int
    team: Team | None

    @property
    def num_open(self) -> int:
        """The number of tracks that accept runs of the reader."""
        return sum(seen.accepts_runs for seen in self.sight.sights)


@require_GET
def all_benchmarks(request: HttpRequest) -> HttpResponse:
    """List the benchmarks that the reader may know."""
    known = Benchmark.objects.visible_to(request.user).of_several_tracks()
    shown = shorten(request, "benchmarks", "benchmark", known)
    sights = [benchmark_sight_of(benchmark, request.user) for benchmark in shown.rows]
    lines = [BenchmarkLine(sight, visible_systems(sight).count(), sight.team) for sight in sights]
    return render(request, "benchmark/benchmarks.html", {"lines": lines, "list": shown})


@login_required
@require_http_methods(["GET", "POST"])
@submit_once
def new_benchmark(request: HttpRequest) -> HttpResponse:
    """Lead to the form of a collection, or make a benchmark of tracks and collections."""
    form = NewBenchmarkForm(request.POST or None, user=request.user)
    if request.method == "POST" and form.is_valid():
        try:
            benchmark = benchmark_setup.make_benchmark(
                request.user, form.save(commit=False), form.list_tracks()
            )
            messages.success(request, "Benchmark created. Teams join once for all its tracks.")
            return redirect("benchmark_home", slug=benchmark.slug)
        except ActionError as reason:
            form.add_error(None, str(reason))
    context = {
        "form": form,
        "collections": Collection.objects.ready().organised_by(request.user),
        "may_add": request.user.may_organise or settings.EVERYONE_ORGANISES,
    }
    return render(request, "benchmark/new.html", context, status=422 if form.is_bound else 200)


@require_GET
def benchmark_home(request: HttpRequest, slug: str) -> HttpResponse:
    """Present a benchmark: what it asks, its dates, tracks, organisers and terms."""
    sight = benchmark_or_404(request.user, slug)
    team = sight.team
    context = {
        "benchmark": sight.benchmark,
        "sight": sight,
        "team": team,
        "schedule": merge_schedules(sight),
        "organisers": sight.benchmark.organisers(),
        "quota": _find_quota(team),
        "accepts_runs": sight.accepts_runs,
        "join_url": reverse("join", args=[slug]),
        "example": f"{request.scheme}://{request.get_host()}",
    }
    return render(request, "benchmark/home.html", context)


def _find_quota(team: Team | None) -> Quota | None:
    """Return what is left of the benchmark's quota to a team, if the benchmark has one."""
    if team is None:
        return None
    quota = find_benchmark_quota(team)
    return quota if (quota.today, quota.in_all) != (None, None) else None


@dataclass(frozen=True)
class _Dated:
    entry: ScheduleEntry
    tracks: list[str]


def merge_schedules(sight: BenchmarkSight) -> list[ScheduleEntry]:
    """Return the dates of all tracks in one order; a date of some tracks alone names them."""
    found: dict[tuple[Any, ...], _Dated] = {}
    for seen in sight.sights:
        for entry in build_schedule(seen.track, team=seen.team):
            key = (entry.label, entry.at, entry.day, entry.until)
            dated = found.setdefault(key, _Dated(replace(entry, is_next=False), []))
            dated.tracks.append(seen.track.name)
    rows = sorted(found.values(), key=lambda dated: (dated.entry.ends, dated.entry.begins))
    following = next((dated for dated in rows if not dated.entry.is_past), None)
    return [
        replace(dated.entry, label=_label(dated, len(sight.sights)), is_next=dated is following)
        for dated in rows
    ]


def _label(dated: _Dated, num_tracks: int) -> str:
    if len(dated.tracks) == num_tracks:
        return dated.entry.label
    if len(dated.tracks) > 2:
        return f"{dated.entry.label}: {len(dated.tracks)} tracks"
    return f"{dated.entry.label}: {', '.join(dated.tracks)}"
