"""The settings of a track in sections, each saved by itself, and their undoing."""

from __future__ import annotations

from copy import copy
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.actions import tracks, undo
from leaderboard.actions.refusals import ActionError
from leaderboard.actions.undo import (
    UNDOABLE,
    find_files_taken_back,
    find_runs_made_late,
    find_visible_changes,
    moves_deadline,
    shows_more,
)
from leaderboard.boards.disclosure import Sight
from leaderboard.models import AuditEvent, Track
from leaderboard.models.collections import ImportState
from leaderboard.notifications.notices import count_notified_of_judgments
from leaderboard.pages.forms.desk import BaselineForm
from leaderboard.pages.forms.track_sections import DATES, SECTIONS, WORDS, Section, list_sections
from leaderboard.pages.forms.tracks import TrackForm
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.dates import render_dates
from leaderboard.pages.views.desk import undo_context
from leaderboard.pages.views.lookups import organised_sight_or_403
from leaderboard.pages.views.repeated_forms import list_sent_fields
from leaderboard.pages.wording.changes import describe_visible_changes


@login_required
@require_http_methods(["GET", "POST"])
def manage(request: HttpRequest, address: str, section: str = WORDS.name) -> HttpResponse:
    """Show a section of the settings; a POST saves it."""
    sight = organised_sight_or_403(request, address)
    track, part = sight.track, _section_or_404(sight.track, section)
    # The form writes into its own copy, so that the track stays unchanged until it is saved.
    form = TrackForm(
        request.POST or None, instance=copy(track), collection=track.collection, section=part
    )
    if request.method == "POST" and form.is_valid():
        visible = _find_changes_to_confirm(track, form.changes)
        if visible and "confirmed" not in request.POST:
            return _confirm_changes(request, sight, form, visible)
        try:
            tracks.change_track(track, request.user, form.changes, rules=form.rules)
            messages.success(request, "Saved.")
            return redirect("setup" if track.is_draft else _page_of(part), **_names(track, part))
        except ActionError as reason:
            form.refuse(str(reason))
    if part is DATES:
        return render_dates(request, sight, form if form.is_bound else None)
    return _render_section(request, sight, part, form)


def _section_or_404(track: Track, name: str) -> Section:
    if name != DATES.name and name not in {section.name for section in list_sections(track)}:
        raise Http404("no such section")
    return SECTIONS[name]


def _page_of(part: Section) -> str:
    return "deadlines" if part is DATES else "manage_section"


def _names(track: Track, part: Section) -> dict[str, str]:
    """Return what the page after a save is called by."""
    is_section = not track.is_draft and part is not DATES
    return {"address": track.address} | ({"section": part.name} if is_section else {})


def _find_changes_to_confirm(track: Track, changes: dict[str, Any]) -> list[str]:
    """Return the changes that are asked about once before they are saved."""
    visible = find_visible_changes(track, changes)
    if moves_deadline(track, changes):
        visible.append("closes_at")
    visible += find_files_taken_back(track, changes)
    if shows_more(track, changes):
        visible.append("disclosure")
    return visible


def _render_section(
    request: HttpRequest, sight: Sight, part: Section, form: TrackForm
) -> HttpResponse:
    track = sight.track
    context = {
        "sight": sight,
        "track": track,
        "section": part,
        "sections": list_sections(track),
        "form": form,
        "last_save": AuditEvent.objects.about(track).last_save(part.names),
        "baseline_form": BaselineForm(track=track),
        "other_judgments": track.collection.judgment_sets.filter(state=ImportState.READY).exclude(
            pk=track.judgment_set_id
        ),
        "off_the_board": shorten(
            request, "off-the-board", "run", track.runs.removed().select_related("team")
        ),
        "badge_address": _badge_address(request, track),
        **undo_context(track),
    }
    return render(request, "track/manage.html", context, status=422 if form.is_bound else 200)


def _confirm_changes(
    request: HttpRequest, sight: Sight, form: TrackForm, visible: list[str]
) -> HttpResponse:
    """Ask once before a change that everybody sees; the answer sends the whole form again."""
    told = count_notified_of_judgments(sight.track)
    late = find_runs_made_late(sight.track, form.changes)
    context = {
        "sight": sight,
        "track": sight.track,
        "changes": describe_visible_changes(sight.track, visible, form.changes, told, late),
        "can_undo": not {*visible}.isdisjoint(UNDOABLE),
        "sent": list_sent_fields(request),
    }
    return render(request, "track/confirm_changes.html", context)


@login_required
@require_POST
def undo_change(request: HttpRequest, address: str, event_id: int) -> HttpResponse:
    """Undo a change that everybody sees, within ten minutes."""
    track = organised_sight_or_403(request, address).track
    try:
        track = undo.undo_change(track, request.user, event_id)
        messages.success(request, "Undone. No one was notified of the change.")
    except ActionError as reason:
        messages.error(request, str(reason))
    return redirect("desk", address=track.address)


def _badge_address(request: HttpRequest, track: Track) -> str:
    """Return the secret badge URL of a track; "" if there is none."""
    path = reverse("badge_by_code", args=[track.badge_code]) if track.badge_code else ""
    return request.build_absolute_uri(path) if path else ""


@login_required
@require_POST
def choose_baseline(request: HttpRequest, address: str) -> HttpResponse:
    sight = organised_sight_or_403(request, address)
    form = BaselineForm(request.POST, track=sight.track)
    if form.is_valid():
        tracks.choose_baseline(sight.track, request.user, form.cleaned_data["baseline"])
        messages.success(request, "The board now uses this baseline.")
    return redirect("manage_section", address=address, section="judgments")
