"""Joining a benchmark, and the reader's team."""

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
from leaderboard.boards.disclosure import benchmark_or_404, find_moved, track_at_or_404
from leaderboard.models import Benchmark, Membership, Team, Track
from leaderboard.pages.addresses import lead_to
from leaderboard.pages.forms.people import JoinForm, MemberForm
from leaderboard.pages.views.invitations import invite_stranger, place_to_join, read_invitation


@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, address: str) -> HttpResponse:
    """Join a benchmark; an invitation link also opens one that is not public."""
    slug, _, below = address.partition("/")
    if below:
        return lead_to(reverse("join", args=[slug]), request)
    benchmark = Benchmark.objects.filter(slug=slug).first()
    if not request.user.is_authenticated:
        return invite_stranger(request, benchmark)
    if benchmark is None:
        raise find_moved(request.user, address)
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
    context = {
        "benchmark": benchmark,
        "place": place_to_join(benchmark),
        "kind": "benchmark" if benchmark.has_several_tracks else "track",
        "first_open": benchmark.tracks.opened().in_order().first(),
        "form": form,
        "team": benchmark.team_of(request.user),
        "inviting": admission.inviting,
        "invited": admission.is_invited,
        "asks": admission.needs_approval,
        "asked": asked,
    }
    return render(request, "team/join.html", context, status=422 if form.is_bound else 200)


def _join_or_ask(
    request: HttpRequest, benchmark: Benchmark, asking: people.JoinDetails, asks: bool
) -> HttpResponse:
    if asks:
        people.request_to_join(benchmark, request.user, asking)
        return redirect("join", address=benchmark.slug)
    joined = people.admit(benchmark, request.user, asking)
    everywhere = " on every track" if benchmark.has_several_tracks else ""
    messages.success(request, f"You are in team {joined.name}{everywhere}.")
    return redirect("submit", address=benchmark.slug)


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
