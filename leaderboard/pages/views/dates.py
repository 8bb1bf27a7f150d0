"""The dates of a track: all in order, where they are changed, and later deadlines of teams."""

from __future__ import annotations

from copy import copy

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from leaderboard.actions.people import extend_deadline
from leaderboard.boards.disclosure import Sight
from leaderboard.boards.schedules import build_common_schedule, build_schedule
from leaderboard.infrastructure.whole_numbers import read_whole_number
from leaderboard.models import AuditEvent
from leaderboard.pages.forms.desk import ExtensionForm
from leaderboard.pages.forms.rejections import rejections_on
from leaderboard.pages.forms.track_sections import DATES
from leaderboard.pages.forms.tracks import TrackForm
from leaderboard.pages.views.lookups import organised_benchmark_or_403, organised_sight_or_403


@login_required
@require_http_methods(["GET", "POST"])
def deadlines(request: HttpRequest, address: str) -> HttpResponse:
    """Show all dates, and the teams with a deadline of their own; a POST gives one or ends one."""
    sight = organised_sight_or_403(request, address)
    if "end" in request.POST:
        return _end_extension(request, address)
    form = ExtensionForm(request.POST or None, track=sight.track)
    if request.method == "POST" and form.is_valid():
        with rejections_on(form):
            extend_deadline(sight.track, user=request.user, **form.details)
            messages.success(request, "Deadline extended. The team is notified.")
            return redirect("deadlines", address=address)
    return render_dates(request, sight, extension_form=form)


@login_required
@require_GET
def benchmark_dates(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the dates of all tracks of a benchmark in one order, each with its track."""
    sight = organised_benchmark_or_403(request, slug)
    tracks = [seen.track for seen in sight.sights]
    context = {
        "benchmark": sight.benchmark,
        "sight": sight,
        "tracks": tracks,
        "schedule": build_common_schedule(tracks),
    }
    return render(request, "benchmark/dates.html", context)


def render_dates(
    request: HttpRequest,
    sight: Sight,
    dates_form: TrackForm | None = None,
    extension_form: ExtensionForm | None = None,
) -> HttpResponse:
    """Show the page of dates; a form with errors is shown again."""
    track = sight.track
    dates = dates_form or TrackForm(
        instance=copy(track), collection=track.collection, section=DATES
    )
    extension = extension_form or ExtensionForm(track=track)
    context = {
        "sight": sight,
        "track": track,
        "dates_form": dates,
        "effect": DATES.effect,
        "last_save": AuditEvent.objects.about(track).last_save(DATES.names),
        "form": extension,
        "schedule": build_schedule(track),
        "extended": track.participations.exclude(closes_at=None)
        .select_related("team")
        .order_by("team__name"),
        "has_teams": extension.fields["team"].queryset.exists(),
    }
    status = 422 if dates.is_bound or extension.is_bound else 200
    return render(request, "track/deadlines.html", context, status=status)


def _end_extension(request: HttpRequest, address: str) -> HttpResponse:
    track = organised_sight_or_403(request, address).track
    team = get_object_or_404(track.benchmark.teams, pk=read_whole_number(request.POST["end"]))
    extend_deadline(track, team, request.user, None)
    messages.success(request, "Extension ended. The team has the deadline of the track again.")
    return redirect("deadlines", address=address)
