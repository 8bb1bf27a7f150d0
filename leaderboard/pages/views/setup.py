"""The checklist of a draft: from an empty page to an open track."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from leaderboard.actions import tracks
from leaderboard.actions.submission_rules import ActionError
from leaderboard.analysis.checklist import build_checklist
from leaderboard.boards.shared_judgments import find_conflicts
from leaderboard.pages.views.invitations import invitation_link
from leaderboard.pages.views.lookups import organised_sight_or_403


@login_required
@require_GET
def setup(request: HttpRequest, slug: str) -> HttpResponse:
    sight = organised_sight_or_403(request, slug)
    context = {
        "sight": sight,
        "track": sight.track,
        "checklist": build_checklist(sight),
        "conflicts": find_conflicts(sight.track, request.user),
        "organisers": sight.track.organisers(),
        "invitation": invitation_link(request, sight.track),
    }
    return render(request, "track/setup.html", context)


@login_required
@require_POST
def make_baseline(request: HttpRequest, slug: str) -> HttpResponse:
    track = organised_sight_or_403(request, slug).track
    try:
        tracks.make_baseline(track, request.user)
        messages.success(request, "BM25 is ranking the documents.")
    except ActionError as reason:
        messages.error(request, str(reason))
    return redirect("setup", slug=slug)


@login_required
@require_POST
def open_track(request: HttpRequest, slug: str) -> HttpResponse:
    """Open a draft once its first steps are done."""
    sight = organised_sight_or_403(request, slug)
    if not build_checklist(sight).can_open:
        messages.error(request, "Describe the track, add the data and set the dates first.")
        return redirect("setup", slug=slug)
    try:
        tracks.open_draft(sight.track, request.user)
    except ActionError as reason:
        messages.error(request, str(reason))
        return redirect("setup", slug=slug)
    messages.success(request, "Track opened.")
    return redirect("overview", slug=slug)
