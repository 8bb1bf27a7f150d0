"""The organiser's desk: open work, announcements, extra quota and activity."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from leaderboard.actions import people, runs, tracks
from leaderboard.actions.refusals import ActionError, NotAccepted
from leaderboard.actions.undo import find_undoable_change
from leaderboard.analysis.desk import (
    Desk,
    FailedJob,
    build_desk,
    find_failed_jobs,
    find_findings,
)
from leaderboard.boards import receipts
from leaderboard.boards.disclosure import Sight
from leaderboard.boards.schedules import build_schedule
from leaderboard.models import AuditEvent, Track
from leaderboard.notifications import notices
from leaderboard.pages.forms.desk import AnnouncementForm, GrantForm
from leaderboard.pages.short_lists import ShortList, shorten
from leaderboard.pages.views.lookups import organised_sight_or_403
from leaderboard.pages.views.repeated_forms import submit_once
from leaderboard.pages.wording.changes import describe_undoable_change
from leaderboard.pages.wording.desk import describe_place
from leaderboard.pages.wording.trail import describe_events

LATEST_EVENTS = 8


@login_required
@require_GET
def desk(request: HttpRequest, address: str) -> HttpResponse:
    return _render_desk(request, organised_sight_or_403(request, address))


def _render_desk(
    request: HttpRequest,
    sight: Sight,
    announcement: AnnouncementForm | None = None,
    grant: GrantForm | None = None,
) -> HttpResponse:
    """Render the desk; an invalid form is shown again."""
    track = sight.track
    desk = build_desk(sight)
    context = {
        "sight": sight,
        "track": track,
        "desk": desk,
        "place": describe_place(sight, desk),
        "following": next((entry for entry in build_schedule(track) if entry.is_next), None),
        **_short_lists(request, sight, desk),
        "trail": describe_events(AuditEvent.objects.about(track).latest_first()[:LATEST_EVENTS]),
        "readers": notices.count_readers(track),
        **undo_context(track),
        "announcement_form": announcement or AnnouncementForm(),
        "grant_form": grant or GrantForm(track=track),
    }
    return render(request, "track/desk.html", context, status=422 if announcement or grant else 200)


def _short_lists(request: HttpRequest, sight: Sight, desk: Desk) -> dict[str, ShortList]:
    """Return the lists of the desk, ten rows each unless the reader asked for all of one."""
    shorten_here = partial(shorten, request, path=reverse("desk", args=[sight.track.address]))
    unfinished = shorten_here("unfinished", "run", sight.runs().unfinished())
    return {
        "decisions": shorten_here("decisions", "decision", desk.decisions),
        "unfinished": unfinished.with_rows(receipts.build_receipts(sight, unfinished.rows)),
        "names": shorten_here("names", "team", desk.names),
        "teams": shorten_here("quotas", "team", desk.teams),
    }


@login_required
@require_GET
def findings(request: HttpRequest, address: str) -> HttpResponse:
    """Show what is unusual on a track, and what chance alone would give."""
    sight = organised_sight_or_403(request, address)
    found = find_findings(sight)
    context = {
        "sight": sight,
        "track": sight.track,
        "findings": found,
        "alike": shorten(request, "alike", "pair", found.alike),
        "little_judged": shorten(request, "little-judged", "run", found.little_judged),
        "odd_topics": shorten(request, "odd-topics", "topic", found.odd_topics.rows),
    }
    return render(request, "track/findings.html", context)


@login_required
@require_POST
@submit_once
def announce(request: HttpRequest, address: str) -> HttpResponse:
    sight = organised_sight_or_403(request, address)
    form = AnnouncementForm(request.POST)
    if not form.is_valid():
        return _render_desk(request, sight, announcement=form)
    notices.announce(sight.track, request.user, form.cleaned_data["text"])
    messages.success(request, "Announcement posted. All teams were notified.")
    return redirect("desk", address=address)


@login_required
@require_POST
@submit_once
def grant(request: HttpRequest, address: str) -> HttpResponse:
    sight = organised_sight_or_403(request, address)
    form = GrantForm(request.POST, track=sight.track)
    if not form.is_valid():
        return _render_desk(request, sight, grant=form)
    people.grant_runs(sight.track, user=request.user, **form.cleaned_data)
    messages.success(request, "Runs granted. The team was notified.")
    return redirect("desk", address=address)


@login_required
@require_POST
def try_job_again(request: HttpRequest, address: str, job_id: int) -> HttpResponse:
    """Queue a failed job again."""
    sight = organised_sight_or_403(request, address)
    for failed in find_failed_jobs(sight.track):
        if failed.job.pk == job_id:
            _retry_job(request, failed)
    return redirect("desk", address=address)


def _retry_job(request: HttpRequest, failed: FailedJob) -> None:
    try:
        runs.retry_job(failed.job, failed.target, request.user)
        messages.success(request, "Back in the queue.")
    except NotAccepted as refusal:
        messages.error(request, refusal.message)
    except ActionError as reason:
        messages.error(request, str(reason))


@login_required
@require_POST
def call_again(request: HttpRequest, address: str, webhook_id: int) -> HttpResponse:
    """Queue the failed calls of a webhook again."""
    track = organised_sight_or_403(request, address).track
    runs.retry_webhook(get_object_or_404(track.webhooks, pk=webhook_id), request.user)
    messages.success(request, "The calls are queued again.")
    return redirect("desk", address=address)


@login_required
@require_POST
def score_all_again(request: HttpRequest, address: str) -> HttpResponse:
    track = organised_sight_or_403(request, address).track
    try:
        tracks.rescore_track(track, request.user)
        messages.success(request, "Rescoring all runs. The board stays visible meanwhile.")
    except ActionError as reason:
        messages.error(request, str(reason))
    return redirect("desk", address=address)


@login_required
@require_GET
def trail(request: HttpRequest, address: str) -> HttpResponse:
    """Show the activity of a track, newest first."""
    sight = organised_sight_or_403(request, address)
    told = AuditEvent.objects.about(sight.track).latest_first()
    events = shorten(request, "trail", "entry,entries", told)
    context = {
        "sight": sight,
        "track": sight.track,
        "events": events,
        "trail": describe_events(events.rows),
    }
    return render(request, "track/trail.html", context)


def undo_context(track: Track) -> dict[str, Any]:
    """Return what `_undo.html` shows; nothing if no change can be undone."""
    change = find_undoable_change(track)
    if change is None:
        return {}
    return {"undoable": change, "undoable_parts": describe_undoable_change(change)}
