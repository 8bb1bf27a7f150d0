"""Joining a task: one team on all its tracks."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.actions import people
from leaderboard.actions.systems import find_task_team
from leaderboard.boards.disclosure import task_or_404
from leaderboard.models import JoinRequest, Task, Team, Track
from leaderboard.pages.forms.task_setup import TaskJoinForm
from leaderboard.pages.views.lookups import text_of


@login_required
@require_http_methods(["GET", "POST"])
def task_join(request: HttpRequest, slug: str) -> HttpResponse:
    """Join a task; an invitation link also opens a task that is not public."""
    task = get_object_or_404(Task, slug=slug)
    track = people.find_track_to_join(task)
    asking = people.JoinDetails(
        text_of(request.GET, "invitation"), "", text_of(request.GET, "team")
    )
    inviting = people.find_inviting_task_team(task, asking.team_code)
    invited = track is not None and (
        inviting is not None or people.can_join(track, asking.invitation)
    )
    if not invited:
        task_or_404(request.user, slug)
    asks = track is not None and not invited and task.joining == Track.Joining.APPROVAL
    requests = JoinRequest.objects.filter(track__task_place__task=task, user=request.user)
    asked = requests.order_by("asked_at").last()
    form = TaskJoinForm(request.POST or None, task=task, asked=asked)
    if request.method == "POST" and (invited or asks) and form.is_valid():
        try:
            return _join_or_ask(request, task, replace(asking, **form.cleaned_data), asks)
        except people.JoinError as reason:
            form.add_error("team_name", str(reason))
    context = {
        "task": task,
        "form": form,
        "team": _own_row(task, request),
        "is_open": track is not None,
        "inviting": inviting,
        "invited": invited,
        "asks": asks,
        "asked": asked,
    }
    return render(request, "task_join.html", context, status=422 if form.is_bound else 200)


def _own_row(task: Task, request: HttpRequest) -> Team | None:
    """Return the row of the user's team on the first track that is open."""
    team = find_task_team(task, request.user)
    if team is None:
        return None
    rows = team.teams.filter(track__is_draft=False).order_by("track__task_place__position")
    return rows.select_related("track").first()


def _join_or_ask(
    request: HttpRequest, task: Task, asking: people.JoinDetails, asks: bool
) -> HttpResponse:
    track = people.find_track_to_join(task)
    if asks and track is not None:
        people.request_to_join(track, request.user, asking)
        return redirect("task_join", slug=task.slug)
    joined = people.join_task(task, request.user, asking)
    messages.success(request, f"You are in team {joined.name} on every track.")
    return redirect("task_submit", slug=task.slug)
