"""Joining a track, requests to join, and the reader's team."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from leaderboard.actions import people
from leaderboard.boards.disclosure import track_at_or_404
from leaderboard.models import Membership, Team, Track
from leaderboard.pages.forms.people import JoinForm, MemberForm
from leaderboard.pages.views.invitations import invite_stranger, read_invitation


@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, address: str) -> HttpResponse:
    """Join a track; an invitation link also opens a track that is not public."""
    if not request.user.is_authenticated:
        return invite_stranger(request, Track.objects.opened().filter(address=address).first())
    opened = Track.objects.opened().select_related("benchmark")
    track = get_object_or_404(opened, address=address)
    asking = read_invitation(request)
    admission = people.find_admission(track.benchmark, asking)
    if not admission.is_invited:
        track_at_or_404(request.user, address)
    asked = track.benchmark.join_requests.filter(user=request.user).first()
    form = JoinForm(
        request.POST or None,
        benchmark=track.benchmark,
        asked=asked,
        known=track.benchmark.registrations.filter(user=request.user).first(),
        registers=admission.inviting is None,
    )
    if request.method == "POST" and admission.is_possible and form.is_valid():
        asking = replace(asking, **form.details)
        try:
            return _join_or_ask(request, track, asking, admission.needs_approval)
        except people.JoinError as reason:
            form.add_error("team_name", str(reason))
    context = {
        "track": track,
        "form": form,
        "team": track.team_of(request.user),
        "inviting": admission.inviting,
        "invited": admission.is_invited,
        "asks": admission.needs_approval,
        "asked": asked,
    }
    return render(request, "team/join.html", context, status=422 if form.is_bound else 200)


def _join_or_ask(
    request: HttpRequest, track: Track, asking: people.JoinDetails, asks: bool
) -> HttpResponse:
    if asks:
        people.request_to_join(track.benchmark, request.user, asking)
        return redirect("join", address=track.address)
    joined = people.admit(track.benchmark, request.user, asking)
    messages.success(request, f"You are in team {joined.name}.")
    return redirect("submit", address=track.address)


@login_required
@require_GET
def team(request: HttpRequest, address: str) -> HttpResponse:
    """Show the reader's team: its members and its invitation link."""
    sight = track_at_or_404(request.user, address)
    if sight.team is None:
        raise Http404("no team here")
    members = sight.team.memberships.select_related("user").order_by("joined_at")
    own = next((member for member in members if member.user_id == request.user.pk), None)
    context = {
        "sight": sight,
        "track": sight.track,
        "team": sight.team,
        "members": members,
        "leads": own is not None and own.role == Membership.Role.LEADER,
        "link": _team_link(request, sight.track, sight.team),
        "pseudonym": sight.track.aliases.get(sight.team.pk, ""),
    }
    return render(request, "team/team.html", context)


def _team_link(request: HttpRequest, track: Track, team: Team) -> str:
    query = urlencode({"team": team.invitation})
    return request.build_absolute_uri(f"{reverse('join', args=[track.address])}?{query}")


@login_required
@require_POST
def change_team(request: HttpRequest, address: str) -> HttpResponse:
    """Leave the team; leaders can also appoint leaders and remove members."""
    track, team = _team_or_404(request, address)
    if request.POST.get("act") == "leave":
        return _leave_team(request, track)
    get_object_or_404(team.memberships, user=request.user, role=Membership.Role.LEADER)
    form = MemberForm(request.POST, team=team)
    if not form.is_valid():
        raise Http404("no such member")
    act = people.make_leader if request.POST.get("act") == "lead" else people.remove_member
    act(team, request.user, form.cleaned_data["user"].pk)
    return redirect("team", address=address)


@login_required
@require_POST
def renew_team_link(request: HttpRequest, address: str) -> HttpResponse:
    """Replace the invitation link of a team, for its leaders."""
    _, team = _team_or_404(request, address)
    get_object_or_404(team.memberships, user=request.user, role=Membership.Role.LEADER)
    people.renew_team_link(team, request.user)
    return redirect("team", address=address)


def _team_or_404(request: HttpRequest, address: str) -> tuple[Track, Team]:
    sight = track_at_or_404(request.user, address)
    if sight.team is None:
        raise Http404("no team here")
    return sight.track, sight.team


def _leave_team(request: HttpRequest, track: Track) -> HttpResponse:
    try:
        people.leave_team(track.benchmark, request.user)
    except people.JoinError as reason:
        messages.error(request, str(reason))
        return redirect("team", address=track.address)
    return redirect("board", address=track.address)
