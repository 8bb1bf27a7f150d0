"""Joining a benchmark: one team on all its tracks."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.actions import people
from leaderboard.boards.disclosure import benchmark_or_404
from leaderboard.models import Benchmark
from leaderboard.pages.forms.people import JoinForm
from leaderboard.pages.views.invitations import invite_stranger, read_invitation


@require_http_methods(["GET", "POST"])
def benchmark_join(request: HttpRequest, slug: str) -> HttpResponse:
    """Join a benchmark; an invitation link also opens a benchmark that is not public."""
    if not request.user.is_authenticated:
        return invite_stranger(request, Benchmark.objects.filter(slug=slug).first())
    benchmark = get_object_or_404(Benchmark, slug=slug)
    asking = read_invitation(request)
    admission = people.find_admission(benchmark, asking)
    if not admission.is_invited:
        benchmark_or_404(request.user, slug)
    asked = benchmark.join_requests.filter(user=request.user).first()
    form = JoinForm(
        request.POST or None,
        benchmark=benchmark,
        asked=asked,
        known=benchmark.registrations.filter(user=request.user).first(),
        registers=admission.inviting is None,
    )
    if request.method == "POST" and admission.is_possible and form.is_valid():
        asking = replace(asking, **form.details)
        try:
            return _join_or_ask(request, benchmark, asking, admission.needs_approval)
        except people.JoinError as reason:
            form.add_error("team_name", str(reason))
    first_open = benchmark.tracks.opened().in_order().first()
    context = {
        "benchmark": benchmark,
        "form": form,
        "team": benchmark.team_of(request.user),
        "track": first_open,
        "inviting": admission.inviting,
        "invited": admission.is_invited,
        "asks": admission.needs_approval,
        "asked": asked,
    }
    return render(request, "benchmark/join.html", context, status=422 if form.is_bound else 200)


def _join_or_ask(
    request: HttpRequest, benchmark: Benchmark, asking: people.JoinDetails, asks: bool
) -> HttpResponse:
    if asks:
        people.request_to_join(benchmark, request.user, asking)
        return redirect("benchmark_join", slug=benchmark.slug)
    joined = people.admit(benchmark, request.user, asking)
    messages.success(request, f"You are in team {joined.name} on every track.")
    return redirect("benchmark_submit", slug=benchmark.slug)
