"""The people of a benchmark: organisers, teams, and requests to join."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.actions import benchmark_setup
from leaderboard.actions import people as membership
from leaderboard.actions.merged_teams import merge_teams
from leaderboard.actions.refusals import ActionError
from leaderboard.pages.forms.people import MergeTeamsForm, OrganiserForm
from leaderboard.pages.forms.rejections import rejections_on
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.invitations import invitation_link
from leaderboard.pages.views.lookups import organised_benchmark_or_403


@login_required
@require_http_methods(["GET", "POST"])
def people(request: HttpRequest, slug: str) -> HttpResponse:
    """List who asks to join a benchmark, organises it and takes part; a POST adds an organiser."""
    sight = organised_benchmark_or_403(request, slug)
    benchmark = sight.benchmark
    form = OrganiserForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with rejections_on(form, "name"):
            added = membership.add_organiser(benchmark, request.user, **form.cleaned_data)
            messages.success(request, f"{added} is now an organiser.")
            return redirect("people", slug=slug)
    waiting = benchmark.join_requests.waiting()
    members = benchmark.memberships.select_related("team", "user")
    context = {
        "sight": sight,
        "benchmark": benchmark,
        "form": form,
        "requests": shorten(
            request, "requests", "request", waiting.select_related("user").order_by("asked_at")
        ),
        "organisers": benchmark.organisers(),
        "members": shorten(
            request, "members", "member", members.order_by("team__name", "joined_at")
        ),
        "invitation": invitation_link(request, benchmark),
    }
    return render(request, "team/people.html", context, status=422 if form.is_bound else 200)


@login_required
@require_POST
def remove_organiser(request: HttpRequest, slug: str, user_id: int) -> HttpResponse:
    benchmark = organised_benchmark_or_403(request, slug).benchmark
    organiser = get_object_or_404(benchmark.organisers(), pk=user_id)
    try:
        membership.remove_organiser(benchmark, request.user, organiser)
    except membership.OrganiserError as reason:
        messages.error(request, str(reason))
    if not benchmark.is_organised_by(request.user):
        return redirect("home")
    return redirect("people", slug=slug)


@login_required
@require_POST
def renew_invitation(request: HttpRequest, slug: str) -> HttpResponse:
    """Replace the invitation link of a benchmark."""
    benchmark = organised_benchmark_or_403(request, slug).benchmark
    try:
        benchmark_setup.renew_invitation(benchmark, request.user)
    except ActionError as reason:
        messages.error(request, str(reason))
    return redirect("people", slug=slug)


@login_required
@require_POST
def decide_request(request: HttpRequest, slug: str, request_id: int) -> HttpResponse:
    """Approve or decline a request to join a benchmark."""
    sight = organised_benchmark_or_403(request, slug)
    asked = get_object_or_404(sight.benchmark.join_requests, pk=request_id)
    try:
        if "approve" in request.POST:
            # The name that the organiser saw, because the request may have changed since.
            asked.team_name = request.POST["approve"].replace("\0", "")
            membership.approve_request(asked, request.user)
        else:
            membership.decline_request(asked, request.user)
    except membership.JoinError as reason:
        messages.error(request, str(reason))
    return redirect("people", slug=slug)


@login_required
@require_http_methods(["GET", "POST"])
def merge_two_teams(request: HttpRequest, slug: str) -> HttpResponse:
    """Make two teams of a benchmark one."""
    sight = organised_benchmark_or_403(request, slug)
    form = MergeTeamsForm(request.POST or None, benchmark=sight.benchmark)
    if request.method == "POST" and form.is_valid():
        with rejections_on(form):
            merge_teams(**form.cleaned_data, user=request.user)
            messages.success(request, f"Both are the team {form.cleaned_data['kept']} now.")
            return redirect("people", slug=slug)
    context = {"sight": sight, "benchmark": sight.benchmark, "form": form}
    return render(request, "team/merge.html", context, status=422 if form.is_bound else 200)
