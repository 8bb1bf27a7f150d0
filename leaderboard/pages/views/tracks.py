"""Tracks: the front page, creation, the checklist of a draft, settings and release."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from leaderboard.actions import tracks
from leaderboard.actions import tracks as track_actions
from leaderboard.actions.default_tracks import build_internal_track, default_settings
from leaderboard.actions.refusals import ActionError
from leaderboard.analysis.checklist import build_checklist
from leaderboard.boards.shared_judgments import find_conflicts
from leaderboard.boards.standings import find_board
from leaderboard.models import Benchmark, Collection, Track
from leaderboard.pages.forms.presets import PRESETS, find_preset
from leaderboard.pages.forms.tracks import TrackForm
from leaderboard.pages.views.front_page import (
    TrackLine,
    build_front_page,
    group_tracks,
    latest_runs,
    track_lines,
)
from leaderboard.pages.views.invitations import invitation_link
from leaderboard.pages.views.lookups import organised_sight_or_403
from leaderboard.pages.views.repeated_forms import submit_once
from leaderboard.pages.wording.settings import describe_settings

LATEST_EVENTS = 10
# Benchmarks above the list of tracks.
FIRST_BENCHMARKS = 6
# Benchmarks to which a new track can be added instead.
LATEST_BENCHMARKS = 5


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Show a signed-in reader all tracks, and everyone else what this site is for."""
    if request.user.is_authenticated:
        return all_tracks(request)
    context = build_front_page(_visible_lines(request)) | {"benchmarks": _first_benchmarks(request)}
    return render(request, "site/front.html", context)


@require_GET
def all_tracks(request: HttpRequest) -> HttpResponse:
    lines = _visible_lines(request)
    context = {
        "groups": group_tracks(lines),
        "latest_runs": latest_runs(request.user, lines),
        "benchmarks": _first_benchmarks(request),
    }
    return render(request, "site/home.html", context)


def _first_benchmarks(request: HttpRequest) -> list[Benchmark]:
    """Return the newest benchmarks that the reader may know; their own page lists all."""
    return list(
        Benchmark.objects.visible_to(request.user)
        .of_several_tracks()
        .latest_first()[:FIRST_BENCHMARKS]
    )


def _visible_lines(request: HttpRequest) -> list[TrackLine]:
    tracks = Track.objects.visible_to(request.user).select_related(
        *("benchmark", "collection", "judgment_set", "baseline__team"),
        *("edition__judgment_set", "public_edition__judgment_set"),
    )
    return track_lines(list(tracks), request.user)


@require_GET
def organise(request: HttpRequest) -> HttpResponse:
    """Tell a first organiser the steps from documents to a board."""
    organised = Collection.objects.ready().organised_by(request.user)
    # Where not everyone may organise, a new user first reads whom to ask.
    first_step = reverse("new_collection" if settings.EVERYONE_ORGANISES else "organise")
    context = {"collections": organised, "first_step": first_step}
    return render(request, "track/organise.html", context)


@login_required
@require_http_methods(["GET", "POST"])
@submit_once
def new_track(request: HttpRequest, slug: str) -> HttpResponse:
    """Run a benchmark: it and its first track are made; another preset keeps what was entered."""
    collection = get_object_or_404(Collection.objects.ready().organised_by(request.user), slug=slug)
    preset = find_preset(request.POST.get("chosen") or request.GET.get("preset", ""))
    initial = default_settings(collection) | preset.values
    form = TrackForm(request.POST or None, collection=collection, initial=initial)
    if "preset" in request.POST:
        preset = find_preset(request.POST["preset"])
        initial = default_settings(collection) | preset.values | form.touched
        form = TrackForm(collection=collection, initial=initial)
    elif request.method == "POST" and form.is_valid():
        track = form.save(commit=False)
        track_actions.create_draft(track, request.user, **form.rules)
        return redirect("setup", address=track.address)
    others = Benchmark.objects.organised_by(request.user).latest_first()
    context = {
        "form": form,
        "lines": describe_settings(form),
        "collection": collection,
        "preset": preset,
        "presets": PRESETS.values(),
        "benchmarks": others[:LATEST_BENCHMARKS],
    }
    return render(request, "track/new.html", context, status=422 if form.is_bound else 200)


@login_required
@require_POST
@submit_once
def new_board(request: HttpRequest, slug: str) -> HttpResponse:
    """Create an internal track without a form: all users of this site see every score."""
    collection = get_object_or_404(Collection.objects.ready().organised_by(request.user), slug=slug)
    track = build_internal_track(collection)
    try:
        track_actions.open_track(track, request.user)
        messages.success(request, "Opened. All users of this site can see it and submit.")
    except IntegrityError:
        # Another organiser clicked at the same moment: the board is there.
        pass
    return redirect("board", address=track.address)


@login_required
@require_http_methods(["GET", "POST"])
def release(request: HttpRequest, address: str) -> HttpResponse:
    """Show what a release changes; a POST releases the scores."""
    sight = organised_sight_or_403(request, address)
    if request.method != "POST":
        context = {
            "sight": sight,
            "track": sight.track,
            "board": find_board(sight),
            "conflicts": find_conflicts(sight.track, request.user),
            "num_snapshots": sight.track.snapshots.count(),
            "extended": sight.track.participations.filter(closes_at__gt=timezone.now())
            .select_related("team")
            .order_by("team__name"),
            "told": sight.track.benchmark.memberships.count(),
        }
        return render(request, "track/release.html", context)
    if sight.track.shows_everything:
        return redirect("release", address=address)
    try:
        track_actions.release_track(sight.track, request.user)
    except ActionError as reason:
        messages.error(request, str(reason))
        return redirect("release", address=address)
    messages.success(request, "Released. Everyone who sees the track sees its scores.")
    return redirect("board", address=address)


@login_required
@require_GET
def setup(request: HttpRequest, address: str) -> HttpResponse:
    sight = organised_sight_or_403(request, address)
    context = {
        "sight": sight,
        "track": sight.track,
        "checklist": build_checklist(sight),
        "conflicts": find_conflicts(sight.track, request.user),
        "organisers": sight.track.organisers(),
        "invitation": invitation_link(request, sight.track.benchmark),
    }
    return render(request, "track/setup.html", context)


@login_required
@require_POST
def make_baseline(request: HttpRequest, address: str) -> HttpResponse:
    track = organised_sight_or_403(request, address).track
    try:
        tracks.make_baseline(track, request.user)
        messages.success(request, "BM25 is ranking the documents.")
    except ActionError as reason:
        messages.error(request, str(reason))
    return redirect("setup", address=address)


@login_required
@require_POST
def open_track(request: HttpRequest, address: str) -> HttpResponse:
    """Open a draft once its first steps are done."""
    sight = organised_sight_or_403(request, address)
    if not build_checklist(sight).can_open:
        messages.error(request, "Describe the track, add the data and set the dates first.")
        return redirect("setup", address=address)
    try:
        tracks.open_draft(sight.track, request.user)
    except ActionError as reason:
        messages.error(request, str(reason))
        return redirect("setup", address=address)
    messages.success(request, "Track opened.")
    return redirect("overview", address=address)
