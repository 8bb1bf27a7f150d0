"""The organiser's desk: open work, announcements, extra quota and activity."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from leaderboard.actions import people, runs, submission_rules, tracks
from leaderboard.actions.submission_rules import NotAccepted
from leaderboard.analysis.desk import FailedJob, build_desk, find_failed_jobs
from leaderboard.boards import receipts
from leaderboard.boards.disclosure import Sight
from leaderboard.models import JoinRequest
from leaderboard.notifications import notices
from leaderboard.pages.forms.desk import AnnouncementForm, GrantForm
from leaderboard.pages.views.lookups import organised_sight_or_403, page_number
from leaderboard.pages.views.repeated_forms import submit_once
from leaderboard.pages.views.undo import undo_context
from leaderboard.pages.wording.trail import describe_events

LATEST_EVENTS = 8
EVENTS = 100


@login_required
@require_GET
def desk(request: HttpRequest, slug: str) -> HttpResponse:
    return _render_desk(request, organised_sight_or_403(request, slug))


def _render_desk(
    request: HttpRequest,
    sight: Sight,
    announcement: AnnouncementForm | None = None,
    grant: GrantForm | None = None,
) -> HttpResponse:
    """Render the desk; an invalid form is shown again."""
    track = sight.track
    asked = track.join_requests.filter(state=JoinRequest.State.WAITING).select_related("user")
    context = {
        "sight": sight,
        "track": track,
        "desk": build_desk(sight),
        "join_requests": asked,
        "unfinished": receipts.build_receipts(sight, sight.runs().unfinished()),
        "trail": describe_events(track.events.latest_first()[:LATEST_EVENTS]),
        **undo_context(track),
        "announcement_form": announcement or AnnouncementForm(),
        "grant_form": grant or GrantForm(track=track),
    }
    return render(request, "desk.html", context, status=422 if announcement or grant else 200)


@login_required
@require_POST
@submit_once
def announce(request: HttpRequest, slug: str) -> HttpResponse:
    sight = organised_sight_or_403(request, slug)
    form = AnnouncementForm(request.POST)
    if not form.is_valid():
        return _render_desk(request, sight, announcement=form)
    notices.announce(sight.track, request.user, form.cleaned_data["text"])
    messages.success(request, "Announcement posted. All teams were notified.")
    return redirect("desk", slug=slug)


@login_required
@require_POST
@submit_once
def grant(request: HttpRequest, slug: str) -> HttpResponse:
    sight = organised_sight_or_403(request, slug)
    form = GrantForm(request.POST, track=sight.track)
    if not form.is_valid():
        return _render_desk(request, sight, grant=form)
    people.grant_runs(user=request.user, **form.cleaned_data)
    messages.success(request, "Granted. The team is notified.")
    return redirect("desk", slug=slug)


@login_required
@require_POST
def try_job_again(request: HttpRequest, slug: str, job_id: int) -> HttpResponse:
    """Queue a failed job again."""
    sight = organised_sight_or_403(request, slug)
    for failed in find_failed_jobs(sight.track):
        if failed.job.pk == job_id:
            _retry_job(request, failed)
    return redirect("desk", slug=slug)


def _retry_job(request: HttpRequest, failed: FailedJob) -> None:
    try:
        runs.retry_job(failed.job, failed.target, request.user)
        messages.success(request, "Back in the queue.")
    except NotAccepted as refusal:
        messages.error(request, refusal.message)
    except submission_rules.ActionError as reason:
        messages.error(request, str(reason))


@login_required
@require_POST
def call_again(request: HttpRequest, slug: str, webhook_id: int) -> HttpResponse:
    """Queue the failed calls of a webhook again."""
    track = organised_sight_or_403(request, slug).track
    runs.retry_webhook(get_object_or_404(track.webhooks, pk=webhook_id), request.user)
    messages.success(request, "The calls are queued again.")
    return redirect("desk", slug=slug)


@login_required
@require_POST
def score_all_again(request: HttpRequest, slug: str) -> HttpResponse:
    track = organised_sight_or_403(request, slug).track
    try:
        tracks.rescore_track(track, request.user)
        messages.success(request, "Rescoring all runs. The board stays up meanwhile.")
    except submission_rules.ActionError as reason:
        messages.error(request, str(reason))
    return redirect("desk", slug=slug)


@login_required
@require_GET
def trail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the activity of a track, newest first."""
    sight = organised_sight_or_403(request, slug)
    page = Paginator(sight.track.events.latest_first(), EVENTS).get_page(page_number(request))
    context = {
        "sight": sight,
        "track": sight.track,
        "page": page,
        "trail": describe_events(page.object_list),
    }
    return render(request, "trail.html", context)
