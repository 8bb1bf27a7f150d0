"""Endpoints for tasks: list, create, change, join."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest
from ninja import Query, Router, Status

from leaderboard.actions import people, task_setup
from leaderboard.actions.default_tracks import build_internal_track
from leaderboard.actions.submission_rules import ActionError
from leaderboard.actions.task_setup import Place
from leaderboard.api.auth import ORGANISE, PUBLIC, SUBMIT, viewer
from leaderboard.api.errors import ApiError, field_error, permission_error
from leaderboard.api.listing import page_by_slug
from leaderboard.api.schemas import JoinIn, Paging, response_schemas
from leaderboard.api.task_schemas import (
    TaskIn,
    TaskList,
    TaskOut,
    TaskPatch,
    TaskPlace,
    TaskTeamOut,
)
from leaderboard.boards.disclosure import TaskSight, Viewer, task_or_404, task_sight_of
from leaderboard.models import Collection, System, Task, Track, User

router = Router(tags=["tasks"])

# Settings that are stored as they come.
PLAIN = (
    *("name", "description", "joining", "terms", "quota_per_day", "quota_total"),
    *("measure", "main_branch"),
)


@router.get("", auth=PUBLIC, response=response_schemas(TaskList))
def list_tasks(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    """List the tasks with a track that you may know."""
    user = viewer(request)
    page = page_by_slug(Task.objects.visible_to(user), paging)
    items = [serialise_task(task_sight_of(task, user)) for task in page.rows]
    return {"items": items, "next": page.next}


@router.get("/{slug:slug}", auth=PUBLIC, response=response_schemas(TaskOut))
def get_task(request: HttpRequest, slug: str) -> dict[str, Any]:
    """Get a task with the tracks that you may know, in order."""
    return serialise_task(task_or_404(viewer(request), slug))


def serialise_task(sight: TaskSight) -> dict[str, Any]:
    task = sight.task
    tracks = [seen.track for seen in sight.sights]
    teams = (seen.team for seen in sight.sights)
    return {
        "slug": task.slug,
        **{name: getattr(task, name) for name in PLAIN},
        "tracks": [track.slug for track in tracks],
        "places": [
            {
                "track": track.slug,
                "phase": track.task_place.phase,
                "group": track.task_place.group,
            }
            for track in tracks
        ],
        "team": next((team.name for team in teams if team is not None), None),
        "invitation": task.invitation if sight.is_organiser else "",
    }


@router.post("", auth=ORGANISE, response=response_schemas(TaskOut, 201))
def create_task(request: HttpRequest, body: TaskIn) -> Status[dict[str, Any]]:
    """Create a task of tracks that you organise; its teams are linked by their members.

    It has the strictest joining of its tracks, and the terms of all.
    """
    user = viewer(request)
    if body.collections and not user.may_organise:
        raise permission_error("Your account cannot open tracks. Ask an administrator for access.")
    if Task.objects.filter(slug=body.slug).exists():
        raise field_error("slug", "is already in use; choose another", body.slug)
    tracks = [_free_track_or_error(user, slug, "tracks") for slug in dict.fromkeys(body.tracks)]
    with transaction.atomic():
        for slug in dict.fromkeys(body.collections):
            found = Collection.objects.ready().organised_by(user).filter(slug=slug).first()
            if found is None:
                raise field_error("collections", "is not a ready collection of yours", slug)
            tracks.append(build_internal_track(found))
        try:
            task_setup.make_task(user, Task(slug=body.slug, name=body.name), tracks)
        except ActionError as refusal:
            raise ApiError(409, "E_CONFLICT", str(refusal)) from None
        except IntegrityError:
            raise field_error("slug", "is already in use", body.slug) from None
    return Status(201, serialise_task(task_or_404(user, body.slug)))


def _free_track_or_error(user: Viewer, slug: str, field: str) -> Track:
    """Return a track that the user organises and that belongs to no task."""
    track = Track.objects.organised_by(user).filter(slug=slug).first()
    if track is None:
        raise field_error(field, "is not a track that you organise", slug)
    if Task.objects.filter(places__track=track).exists():
        raise field_error(field, "belongs to a task already", slug)
    return track


@router.patch("/{slug:slug}", auth=ORGANISE, response=response_schemas(TaskOut))
def change_task(request: HttpRequest, slug: str, body: TaskPatch) -> dict[str, Any]:
    """Change the given settings; joining and terms change on all tracks of the task."""
    user = viewer(request)
    sight = task_or_404(user, slug)
    if not sight.is_organiser:
        raise permission_error("Only organisers of this task can do this.")
    changes = {name: getattr(body, name) for name in PLAIN if name in body.model_fields_set}
    if "measure" in changes:
        _check_measure(sight, changes["measure"])
    if "baseline" in body.model_fields_set:
        changes["baseline"] = _find_system(sight.task, body.baseline)
    try:
        with transaction.atomic():
            task_setup.change_task(sight.task, user, changes)
            if body.places:
                _place_tracks(sight, user, body.places)
    except ActionError as refusal:
        raise ApiError(409, "E_CONFLICT", str(refusal)) from None
    return serialise_task(task_or_404(user, slug))


def _check_measure(sight: TaskSight, measure: str) -> None:
    known = {name for seen in sight.sights for name in seen.track.measures}
    if measure and measure not in known and measure != sight.task.measure:
        raise field_error("measure", "is a measure of no track", measure)


def _find_system(task: Task, system_id: int | None) -> System | None:
    if system_id is None:
        return None
    found = task.systems.filter(pk=system_id).first()
    if found is None:
        raise field_error("baseline", "is not a system of this task", str(system_id))
    return found


def _place_tracks(sight: TaskSight, user: User, wanted: list[TaskPlace]) -> None:
    known = {seen.track.slug: seen.track for seen in sight.sights}
    places = []
    for place in wanted:
        track = known.get(place.track)
        if track is None:
            track = _free_track_or_error(user, place.track, "places")
            task_setup.add_track(sight.task, user, Place(track))
        places.append(Place(track, place.phase, place.group))
    task_setup.place_tracks(sight.task, user, places)


@router.post("/{slug:slug}/join", auth=SUBMIT, response=response_schemas(TaskTeamOut))
def join_task(request: HttpRequest, slug: str, body: JoinIn = None) -> dict[str, Any]:
    """Join all tracks of a task with a new team. Returns your team if you already have one."""
    user, body = viewer(request), body or JoinIn()
    task = Task.objects.filter(slug=slug).first()
    if task is None:
        raise Http404("no such task")
    track = people.find_track_to_join(task)
    inviting = people.find_inviting_task_team(task, body.team_code)
    invited = track is not None and (
        inviting is not None or people.can_join(track, body.invitation)
    )
    if not invited:
        task_or_404(user, slug)
    if track is not None and not invited and track.team_of(user) is None:
        raise ApiError(403, "E_NO_TEAM", people.JOIN_HINTS[track.joining])
    asking = people.JoinDetails(body.invitation, body.team, body.team_code, body.accepts_terms)
    try:
        team = people.join_task(task, user, asking)
    except people.JoinError as reason:
        raise field_error("team", str(reason), body.team) from None
    sight = task_sight_of(task, user)
    own = [seen.track.slug for seen in sight.sights if seen.team is not None]
    return {"task": task.slug, "team": team.name, "tracks": own}
