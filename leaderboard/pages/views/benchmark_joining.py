"""Joining a benchmark: one team on all its tracks."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.actions import people
from leaderboard.actions.systems import find_benchmark_team
from leaderboard.boards.disclosure import benchmark_or_404
from leaderboard.models import Benchmark, JoinRequest, Team
from leaderboard.pages.forms.benchmark_setup import BenchmarkJoinForm
from leaderboard.pages.views.invitations import invite_stranger
from leaderboard.pages.views.lookups import text_of


@require_http_methods(["GET", "POST"])
def benchmark_join(request: HttpRequest, slug: str) -> HttpResponse:
    """Join a benchmark; an invitation link also opens a benchmark that is not public."""
    if not request.user.is_authenticated:
        return _invite_stranger(request, slug)
    benchmark = get_object_or_404(Benchmark, slug=slug)
    asking = people.JoinDetails(
        invitation=text_of(request.GET, "invitation"), team_code=text_of(request.GET, "team")
    )
    admission = people.find_admission(benchmark, asking)
    if not admission.is_invited:
        benchmark_or_404(request.user, slug)
    requests = JoinRequest.objects.filter(
        track__benchmark_place__benchmark=benchmark, user=request.user
    )
    asked = requests.order_by("asked_at").last()
    form = BenchmarkJoinForm(request.POST or None, benchmark=benchmark, asked=asked)
    if request.method == "POST" and admission.is_possible and form.is_valid():
        asking = replace(asking, **form.cleaned_data)
        try:
            return _join_or_ask(request, benchmark, asking, admission.needs_approval)
        except people.JoinError as reason:
            form.add_error("team_name", str(reason))
    context = {
        "benchmark": benchmark,
        "form": form,
        "team": _own_row(benchmark, request),
        "is_open": admission.track is not None,
        "inviting": admission.inviting,
        "invited": admission.is_invited,
        "asks": admission.needs_approval,
        "asked": asked,
    }
    return render(request, "benchmark/join.html", context, status=422 if form.is_bound else 200)


def _invite_stranger(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = Benchmark.objects.filter(slug=slug).first()
    code = text_of(request.GET, "team")
    inviting = None if benchmark is None else people.find_inviting_team(benchmark, code)
    return invite_stranger(request, benchmark, inviting)


def _own_row(benchmark: Benchmark, request: HttpRequest) -> Team | None:
    """Return the row of the user's team on the first track that is open."""
    team = find_benchmark_team(benchmark, request.user)
    if team is None:
        return None
    rows = team.teams.filter(track__is_draft=False).order_by("track__benchmark_place__position")
    return rows.select_related("track").first()


def _join_or_ask(
    request: HttpRequest, benchmark: Benchmark, asking: people.JoinDetails, asks: bool
) -> HttpResponse:
    track = people.find_track_to_join(benchmark)
    if asks and track is not None:
        people.request_to_join(track, request.user, asking)
        return redirect("benchmark_join", slug=benchmark.slug)
    joined = people.admit(benchmark, request.user, asking)
    messages.success(request, f"You are in team {joined.name} on every track.")
    return redirect("benchmark_submit", slug=benchmark.slug)
