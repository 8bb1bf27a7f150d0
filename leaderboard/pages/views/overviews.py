"""The overview of a track, its data, and the form that organisers fill in for both."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from leaderboard.actions import overviews
from leaderboard.actions.collections import record_download
from leaderboard.boards.data_files import (
    baseline_name,
    find_data_files,
    find_shared_baseline,
    write_commands,
)
from leaderboard.boards.disclosure import Sight, track_at_or_404
from leaderboard.boards.schedules import build_schedule
from leaderboard.display.numbers import counted
from leaderboard.models import Collection, Track
from leaderboard.models.registrations import FileReaders
from leaderboard.pages import limits
from leaderboard.pages.forms.overviews import READERS, DataForm, OverviewForm
from leaderboard.pages.ranges import send_file
from leaderboard.pages.views.lookups import organised_sight_or_403
from leaderboard.pages.views.tokens import accept_token
from leaderboard.runs.facts import find_label
from leaderboard.sight.visible_rows import can_read_documents

BIBTEX = "application/x-bibtex; charset=utf-8"


@require_GET
def overview(request: HttpRequest, address: str) -> HttpResponse:
    sight = track_at_or_404(request.user, address)
    track = sight.track
    page = overviews.find_overview(track)
    authors = overviews.list_authors(track, page)
    here = request.build_absolute_uri(reverse("overview", args=[address]))
    if request.GET.get("format") == "bib":
        text = overviews.render_track_bibtex(track, authors, here)
        return HttpResponse(text, content_type=BIBTEX)
    context = {
        "sight": sight,
        "track": track,
        "overview": page,
        "authors": authors,
        "schedule": build_schedule(track, team=sight.team),
        "files": find_data_files(sight),
        "limits": limits.track_limits(track),
        "announcements": track.announcements.all(),
        "everybody": Sight.of_everybody(track)
        if track.visibility == Track.Visibility.PUBLIC
        else None,
        "badge_address": request.build_absolute_uri(reverse("badge", args=[address])),
        "asked": [find_label(name) for name in track.required_facts],
        "site": request.build_absolute_uri("/").rstrip("/"),
        "how_many": f"up to {counted(track.quota_total, 'run')}"
        if track.quota_total
        else "your runs",
    }
    return render(request, "track/overview.html", context)


@require_GET
def data(request: HttpRequest, address: str) -> HttpResponse:
    """List the files of a track with sizes, digests and the commands that fetch them."""
    sight = track_at_or_404(request.user, address)
    collection, files = sight.track.collection, find_data_files(sight)
    readers = {getattr(collection, name) for name in READERS} | {sight.track.baseline_readers}
    has_readers = not readers <= {FileReaders.EVERYONE, ""}
    context = {
        "sight": sight,
        "track": sight.track,
        "collection": collection,
        "files": files,
        "reads_documents": can_read_documents(request.user, collection),
        "has_readers": has_readers,
        "commands": write_commands(
            files,
            request.build_absolute_uri("/").rstrip("/"),
            needs_token=sight.track.visibility != Track.Visibility.PUBLIC or has_readers,
        ),
        "first_topics": collection.topics.all()[:3] if sight.can_see_topics else [],
    }
    return render(request, "track/data.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def manage_overview(request: HttpRequest, address: str) -> HttpResponse:
    """Change the texts of the home page, the schedule and the terms of the data."""
    sight = organised_sight_or_403(request, address)
    track, collection = sight.track, sight.track.collection
    sent = request.POST or None
    form = OverviewForm(sent, track=track)
    data_form = None
    if collection.is_organised_by(request.user):
        data_form = DataForm(sent, instance=Collection.objects.get(pk=collection.pk))
    if form.is_valid() and (data_form is None or data_form.is_valid()):
        values = form.cleaned_data
        overviews.change_overview(
            track, request.user, values["description"], form.texts, values["schedule"]
        )
        if data_form is not None:
            overviews.change_data_terms(collection, request.user, data_form.terms)
        messages.success(request, "Overview saved.")
        # A draft goes on with its checklist.
        return redirect("setup" if track.is_draft else "overview", address=address)
    says_terms = collection.licence or collection.source_url
    context = {
        "sight": sight,
        "track": track,
        "form": form,
        "data_form": data_form,
        "asks_terms": bool(data_form and data_form.errors) or (track.is_draft and not says_terms),
    }
    return render(
        request, "track/manage_overview.html", context, status=422 if form.is_bound else 200
    )


@require_GET
@accept_token
def baseline_file(request: HttpRequest, address: str) -> HttpResponseBase:
    """Return the organisers' baseline run, if they hand it out."""
    sight = track_at_or_404(request.user, address)
    run = find_shared_baseline(sight)
    if run is None:
        raise Http404("no baseline run to download")
    readers = sight.track.baseline_readers or FileReaders.EVERYONE
    record_download(request.user, sight.track.collection, baseline_name(run), readers)
    return send_file(request, run.file, baseline_name(run), run.sha256)
