"""The organisers and participants of a track."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.actions import people as membership
from leaderboard.pages.forms.people import OrganiserForm
from leaderboard.pages.forms.rejections import rejections_on
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.lookups import organised_sight_or_403


@login_required
@require_http_methods(["GET", "POST"])
def people(request: HttpRequest, slug: str) -> HttpResponse:
    """List organisers and members; a POST adds an organiser."""
    sight = organised_sight_or_403(request, slug)
    form = OrganiserForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with rejections_on(form, "name"):
            added = membership.add_organiser(sight.track, request.user, **form.cleaned_data)
            messages.success(request, f"{added} is now an organiser.")
            return redirect("people", slug=slug)
    members = sight.track.memberships.select_related("team", "user")
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
def remove_organiser(request: HttpRequest, slug: str, user_id: int) -> HttpResponse:
    track = organised_sight_or_403(request, slug).track
    organiser = get_object_or_404(track.organisers(), pk=user_id)
    try:
        membership.remove_organiser(track, request.user, organiser)
    except membership.OrganiserError as reason:
        messages.error(request, str(reason))
    if not track.is_organised_by(request.user):
        return redirect("home")
    return redirect("people", slug=slug)
