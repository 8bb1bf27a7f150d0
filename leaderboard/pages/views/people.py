"""The organisers and participants of a track, and later deadlines of single teams."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.actions import people as membership
from leaderboard.actions.merged_teams import merge_teams
from leaderboard.actions.people import extend_deadline
from leaderboard.boards.schedules import build_schedule
from leaderboard.infrastructure.whole_numbers import read_whole_number
from leaderboard.pages.forms.desk import ExtensionForm
from leaderboard.pages.forms.people import MergeTeamsForm, OrganiserForm
from leaderboard.pages.forms.rejections import rejections_on
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.lookups import organised_sight_or_403


@login_required
@require_http_methods(["GET", "POST"])
def people(request: HttpRequest, address: str) -> HttpResponse:
    """List organisers and members; a POST adds an organiser."""
    sight = organised_sight_or_403(request, address)
    form = OrganiserForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with rejections_on(form, "name"):
            added = membership.add_organiser(
                sight.track.benchmark, request.user, **form.cleaned_data
            )
            messages.success(request, f"{added} is now an organiser.")
            return redirect("people", address=address)
    members = sight.track.benchmark.memberships.select_related("team", "user")
    context = {
        "sight": sight,
        "track": sight.track,
        "form": form,
        "organisers": sight.track.organisers(),
        "members": shorten(
            request, "members", "member", members.order_by("team__name", "joined_at")
        ),
    }
    return render(request, "team/people.html", context, status=422 if form.is_bound else 200)


@login_required
@require_POST
def remove_organiser(request: HttpRequest, address: str, user_id: int) -> HttpResponse:
    track = organised_sight_or_403(request, address).track
    organiser = get_object_or_404(track.organisers(), pk=user_id)
    try:
        membership.remove_organiser(track.benchmark, request.user, organiser)
    except membership.OrganiserError as reason:
        messages.error(request, str(reason))
    if not track.is_organised_by(request.user):
        return redirect("home")
    return redirect("people", address=address)


@login_required
@require_http_methods(["GET", "POST"])
def merge_two_teams(request: HttpRequest, address: str) -> HttpResponse:
    """Make two teams of a benchmark one."""
    sight = organised_sight_or_403(request, address)
    form = MergeTeamsForm(request.POST or None, benchmark=sight.track.benchmark)
    if request.method == "POST" and form.is_valid():
        with rejections_on(form):
            merge_teams(**form.cleaned_data, user=request.user)
            messages.success(request, f"Both are the team {form.cleaned_data['kept']} now.")
            return redirect("people", address=address)
    context = {"sight": sight, "track": sight.track, "form": form}
    return render(request, "team/merge.html", context, status=422 if form.is_bound else 200)


@login_required
@require_http_methods(["GET", "POST"])
def deadlines(request: HttpRequest, address: str) -> HttpResponse:
    """List all dates, and the teams with a deadline of their own; a POST gives one or ends one."""
    sight = organised_sight_or_403(request, address)
    if "end" in request.POST:
        return _end_extension(request, address)
    form = ExtensionForm(request.POST or None, track=sight.track)
    if request.method == "POST" and form.is_valid():
        with rejections_on(form):
            extend_deadline(sight.track, user=request.user, **form.details)
            messages.success(request, "Deadline extended. The team is notified.")
            return redirect("deadlines", address=address)
    context = {
        "sight": sight,
        "track": sight.track,
        "form": form,
        "schedule": build_schedule(sight.track),
        "extended": sight.track.participations.exclude(closes_at=None)
        .select_related("team")
        .order_by("team__name"),
        "has_teams": form.fields["team"].queryset.exists(),
    }
    return render(request, "track/deadlines.html", context, status=422 if form.is_bound else 200)


def _end_extension(request: HttpRequest, address: str) -> HttpResponse:
    track = organised_sight_or_403(request, address).track
    team = get_object_or_404(track.benchmark.teams, pk=read_whole_number(request.POST["end"]))
    extend_deadline(track, team, request.user, None)
    messages.success(request, "Extension ended. The team has the deadline of the track again.")
    return redirect("deadlines", address=address)
