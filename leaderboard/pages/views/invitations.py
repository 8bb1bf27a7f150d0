"""Invitations: their links, and what people without an account read behind them."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlencode

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from leaderboard.actions import people
from leaderboard.models import Benchmark, Invitation, Membership, Track, User


def invitation_link(request: HttpRequest, benchmark: Benchmark) -> str:
    """Return the link to share: the overview where anyone can join, else one with a secret."""
    if benchmark.joining == Benchmark.Joining.EVERYONE:
        return request.build_absolute_uri(reverse("overview", args=[benchmark.slug]))
    query = urlencode({"invitation": benchmark.invitation})
    return request.build_absolute_uri(f"{reverse('join', args=[benchmark.slug])}?{query}")


def place_to_join(benchmark: Benchmark) -> Track | Benchmark:
    """Return what people read that they join: its track if that is alone, else the benchmark."""
    track = None if benchmark.has_several_tracks else benchmark.first_track
    return track or benchmark


def read_invitation(request: HttpRequest) -> people.JoinDetails:
    """Return the codes of a link: of a place, of a team, or none."""
    return people.JoinDetails(
        invitation=request.GET.get("invitation", ""), team_code=request.GET.get("team", "")
    )


def invite_stranger(request: HttpRequest, benchmark: Benchmark | None) -> HttpResponse:
    """Say who invites to what before an account is made; others learn nothing of what is hidden."""
    codes = read_invitation(request)
    inviting = benchmark and people.find_inviting_team(benchmark, codes.team_code)
    is_invited = benchmark is not None and people.has_invitation(benchmark, codes.invitation)
    is_known = inviting is not None or is_invited or _is_public(request, benchmark)
    is_open = benchmark is not None and benchmark.tracks.opened().exists()
    if not is_open or not is_known or request.method == "POST":
        return redirect_to_login(request.get_full_path())
    place = place_to_join(benchmark)
    personal = people.find_invitation(benchmark, codes.invitation)
    leaders = Membership.objects.filter(team=inviting, role=Membership.Role.LEADER)
    context = {
        "place": place,
        "benchmark": benchmark,
        "track": place,
        "kind": "track" if isinstance(place, Track) else "benchmark",
        "home": reverse("overview", args=[benchmark.slug]),
        "inviting": inviting,
        "hosts": _find_hosts(benchmark, personal, leaders if inviting else None),
        "is_invited": is_invited or inviting is not None,
        "had_code": "invitation" in request.GET or "team" in request.GET,
    }
    return render(request, "team/invitation.html", context)


def _find_hosts(
    benchmark: Benchmark, personal: Invitation | None, leaders: Iterable[Membership] | None
) -> Iterable[User]:
    """Return who invites: the leaders of a team, whoever wrote to this address, or organisers."""
    if leaders is not None:
        return [leader.user for leader in leaders]
    return [personal.invited_by] if personal is not None else benchmark.organisers()


def _is_public(request: HttpRequest, benchmark: Benchmark | None) -> bool:
    known = Benchmark.objects.visible_to(request.user)
    return benchmark is not None and known.filter(pk=benchmark.pk).exists()
