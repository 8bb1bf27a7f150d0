"""Invitations: their links, and what people without an account read behind them."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from leaderboard.actions import people
from leaderboard.models import Benchmark, Membership, Track


def invitation_link(request: HttpRequest, track: Track) -> str:
    """Return the link to share: the overview where anyone can join, else one with a secret."""
    benchmark = track.benchmark
    if benchmark.has_several_tracks:
        return benchmark_invitation_link(request, benchmark)
    if benchmark.joining == Benchmark.Joining.EVERYONE:
        return request.build_absolute_uri(reverse("overview", args=[track.address]))
    query = urlencode({"invitation": benchmark.invitation})
    return request.build_absolute_uri(f"{reverse('join', args=[track.address])}?{query}")


def benchmark_invitation_link(request: HttpRequest, benchmark: Benchmark) -> str:
    """Return the link to share: the home page where anyone can join, else one with a secret."""
    if benchmark.joining == Benchmark.Joining.EVERYONE:
        return request.build_absolute_uri(reverse("benchmark_home", args=[benchmark.slug]))
    query = urlencode({"invitation": benchmark.invitation})
    return request.build_absolute_uri(f"{reverse('benchmark_join', args=[benchmark.slug])}?{query}")


def read_invitation(request: HttpRequest) -> people.JoinDetails:
    """Return the codes of a link: of a place, of a team, or none."""
    return people.JoinDetails(
        invitation=request.GET.get("invitation", ""), team_code=request.GET.get("team", "")
    )


def invite_stranger(request: HttpRequest, place: Track | Benchmark | None) -> HttpResponse:
    """Say who invites to what before an account is made; others learn nothing of what is hidden."""
    benchmark = place.benchmark if isinstance(place, Track) else place
    codes = read_invitation(request)
    inviting = benchmark and people.find_inviting_team(benchmark, codes.team_code)
    is_invited = benchmark is not None and people.has_invitation(benchmark, codes.invitation)
    is_known = inviting is not None or is_invited or _is_public(request, place)
    if place is None or not is_known or request.method == "POST":
        return redirect_to_login(request.get_full_path())
    leaders = Membership.objects.filter(team=inviting, role=Membership.Role.LEADER)
    context = {
        "place": place,
        "benchmark": benchmark,
        "track": place,
        "kind": "track" if isinstance(place, Track) else "benchmark",
        "home": reverse("overview", args=[place.address])
        if isinstance(place, Track)
        else reverse("benchmark_home", args=[place.slug]),
        "inviting": inviting,
        "hosts": [leader.user for leader in leaders] if inviting else place.organisers(),
        "is_invited": is_invited or inviting is not None,
        "had_code": "invitation" in request.GET or "team" in request.GET,
    }
    return render(request, "team/invitation.html", context)


def _is_public(request: HttpRequest, place: Track | Benchmark | None) -> bool:
    if place is None:
        return False
    return type(place).objects.visible_to(request.user).filter(pk=place.pk).exists()
