"""Endpoints for tracks: create, change, extend deadlines, release."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.urls import reverse
from ninja import Query, Router, Status

from leaderboard.actions import benchmark_setup, people
from leaderboard.actions import tracks as track_actions
from leaderboard.actions.lone_tracks import RULES
from leaderboard.actions.refusals import ActionError
from leaderboard.actions.track_settings import (
    SettingProblem,
    check,
    drop_repeated_measures,
    match_spelling,
)
from leaderboard.analysis.checklist import build_checklist
from leaderboard.api.auth import ORGANISE, PUBLIC, viewer
from leaderboard.api.errors import ApiError, field_error, field_problem, permission_error
from leaderboard.api.listing import page_by_slug
from leaderboard.api.schemas import (
    CopyIn,
    DeadlineIn,
    Paging,
    TeamDeadline,
    TrackIn,
    TrackList,
    TrackOut,
    TrackPatch,
    TrackSettings,
    response_schemas,
)
from leaderboard.boards.disclosure import Sight, sight_of, track_or_404
from leaderboard.models import Collection, JudgmentSet, Run, Track
from leaderboard.models.collections import ImportState
from leaderboard.models.people import team_key
from leaderboard.runs.quotas import find_quota
from leaderboard.scoring import editions
from leaderboard.sight.tracks import Viewer

router = Router(tags=["tracks"])

# Settings that something is made of before it is stored; the others are stored as they come.
DERIVED_SETTINGS = ("judgments", "public_topics", "public_share")
# Names of layers of marks, which exist for who may see what they give.
OF_MARKS = ("assignments", "support")
PLAIN_SETTINGS = [
    name for name in TrackSettings.model_fields if name not in (*DERIVED_SETTINGS, *RULES)
]


@router.post("", auth=ORGANISE, response=response_schemas(TrackOut, 201), exclude_unset=True)
def create_track(request: HttpRequest, body: TrackIn) -> Status[dict[str, Any]]:
    user = viewer(request)
    refuse_without_right_to_open(user)
    collection = ready_collection_or_error(user, body.collection)
    if Track.objects.filter(slug=body.slug).exists():
        raise field_error("slug", "is already in use; choose another", body.slug)
    track = Track(slug=body.slug, collection=collection)
    for name, value in read_changes(track, body, [*PLAIN_SETTINGS, *DERIVED_SETTINGS]).items():
        setattr(track, name, value)
    if track.judgment_set and "relevance_threshold" not in body.model_fields_set:
        track.relevance_threshold = track.judgment_set.relevant_from
    try:
        rules = {name: getattr(body, name) for name in RULES}
        track_actions.open_track(track, user, **rules)
    except IntegrityError:
        raise field_error("slug", "is already in use", body.slug) from None
    return Status(201, serialise_track(track_or_404(user, track.slug)))


@router.post(
    "/{slug:slug}/copy", auth=ORGANISE, response=response_schemas(TrackOut, 201), exclude_unset=True
)
def copy_track(request: HttpRequest, slug: str, body: CopyIn) -> Status[dict[str, Any]]:
    """Create a draft in the same benchmark, with the same settings, dates and texts."""
    user = viewer(request)
    track = organised_sight_or_403(user, slug).track
    refuse_without_right_to_open(user)
    if Track.objects.filter(slug=body.slug).exists():
        raise field_error("slug", "is already in use; choose another", body.slug)
    collection = ready_collection_or_error(user, body.collection or track.collection.slug)
    if problems := check(benchmark_setup.plan_copy(track, collection), {}):
        raise setting_error(problems)
    try:
        benchmark_setup.copy_track(track, user, body.slug, body.name, collection)
    except ActionError as refusal:
        raise permission_error(str(refusal)) from None
    except IntegrityError:
        raise field_error("slug", "is already in use", body.slug) from None
    return Status(201, serialise_track(track_or_404(user, body.slug)))


def ready_collection_or_error(user: Viewer, slug: str) -> Collection:
    collection = Collection.objects.visible_to(user).filter(slug=slug).first()
    if collection is None:
        raise field_error("collection", "is not one that you can see", slug)
    if not collection.is_organised_by(user):
        raise permission_error("Only the collection's organisers can open tracks on it.")
    if collection.state != ImportState.READY:
        raise ApiError(409, "E_CONFLICT", f"The collection {slug} is not ready yet.")
    return collection


def read_changes(track: Track, body: TrackSettings, names: list[str]) -> dict[str, Any]:
    """Return the fields that `body` changes, checked together with the unchanged ones."""
    changes = {name: getattr(body, name) for name in names if name in PLAIN_SETTINGS}
    if "judgments" in names:
        changes["judgment_set"] = find_judgments(track, body.judgments)
    changes |= read_public_topics(track, body, names, changes)
    if problems := check(track, changes):
        raise setting_error(problems)
    return changes | spell_once(track, changes)


def setting_error(problems: list[SettingProblem]) -> ApiError:
    """Build the error of settings that do not go together; its message is that of the first."""
    found = [field_problem(each.field, each.message, each.found) for each in problems]
    return ApiError(422, "E_FIELD", found[0].message, found)


def spell_once(track: Track, changes: dict[str, Any]) -> dict[str, Any]:
    """Return changed topics and measures each once, and the ranking measure as it is listed."""
    spelled = {
        name: list(dict.fromkeys(changes[name]))
        for name in ("excluded_topics", "public_topics")
        if name in changes
    }
    if "measures" in changes:
        spelled["measures"] = drop_repeated_measures(changes["measures"])
    if "primary_measure" in changes:
        measures = spelled.get("measures", track.measures)
        spelled["primary_measure"] = match_spelling(changes["primary_measure"], measures)
    return spelled


def find_judgments(track: Track, version: str | None) -> JudgmentSet | None:
    if version is None and track.judgment_set_id is not None:
        raise field_error("judgments", "can be replaced by another version, but not removed")
    if version is None:
        return None
    judgment_set = track.collection.judgment_sets.filter(version=version).first()
    if judgment_set is None:
        raise field_error("judgments", "is not a version of the collection's judgments", version)
    if judgment_set.state != ImportState.READY:
        raise ApiError(409, "E_CONFLICT", f"The judgments {version} are not ready yet.")
    return judgment_set


def read_public_topics(
    track: Track, body: TrackSettings, names: list[str], changes: dict[str, Any]
) -> dict[str, list[str]]:
    """Return the public topics if the body lists them or asks to draw a share."""
    if "public_share" in names and body.public_share is not None:
        left_out = changes.get("excluded_topics", track.excluded_topics)
        return {
            "public_topics": editions.draw_public_topics(
                track.collection, left_out, body.public_share
            )
        }
    return {"public_topics": body.public_topics} if "public_topics" in names else {}


@router.get("", auth=PUBLIC, response=response_schemas(TrackList), exclude_unset=True)
def list_tracks(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    tracks = Track.objects.visible_to(viewer(request)).select_related(
        "benchmark", "collection", "judgment_set"
    )
    page = page_by_slug(tracks, paging)
    items = [serialise_track(sight_of(track, viewer(request))) for track in page.items]
    return {"items": items, "next": page.next}


@router.get("/{slug:slug}", auth=PUBLIC, response=response_schemas(TrackOut), exclude_unset=True)
def get_track(request: HttpRequest, slug: str) -> dict[str, Any]:
    """Get a track's settings and your team's remaining quota."""
    sight = track_or_404(viewer(request), slug)
    quota = {} if sight.team is None else {"quota": find_quota(sight.track, sight.team)}
    return serialise_track(sight) | quota


def serialise_track(sight: Sight) -> dict[str, Any]:
    """Serialise a track; what reveals its judgments only if the viewer may see scores."""
    track = sight.track
    hidden = {*(() if sight.can_see_scores else OF_MARKS)}
    if track.systems and not sight.can_see_systems:
        hidden |= {"systems", "systems_measure"}
    if not sight.can_see_topics:
        # Its numbers are of topics that are not out yet.
        hidden.add("excluded_topics")
    answer = {name: getattr(track, name) for name in PLAIN_SETTINGS if name not in hidden}
    answer |= {name: getattr(track.benchmark, name) for name in RULES}
    answer |= {
        "slug": track.slug,
        "url": reverse("api-1:get_track", args=[track.slug]),
        "page": reverse("overview", args=[track.address]),
        "collection": track.collection.slug,
        "benchmark": track.benchmark.slug,
        "state": sight.state,
        "phase": str(sight.phase),
        "released_at": track.released_at,
    }
    if sight.has_own_deadline:
        answer["your_deadline"] = sight.deadline
    if sight.can_see_means:
        answer["judgments"] = track.judgment_set.version if track.judgment_set else None
        answer["edition"] = str(sight.shown_edition.pk) if sight.shown_edition else None
        answer["baseline"] = track.baseline_id
    if sight.is_organiser:
        answer["public_topics"] = track.public_topics
        answer["invitation"] = track.benchmark.invitation
    return answer


def refuse_without_right_to_open(user: Viewer) -> None:
    """Raise ApiError for an account that may not open tracks."""
    if not user.may_organise:
        raise permission_error("Your account cannot open tracks. Ask an administrator for access.")


def organised_sight_or_403(user: Viewer, slug: str) -> Sight:
    sight = track_or_404(user, slug)
    if not sight.is_organiser:
        raise permission_error("Only organisers of this track can do this.")
    return sight


@router.patch(
    "/{slug:slug}", auth=ORGANISE, response=response_schemas(TrackOut), exclude_unset=True
)
def change_track(request: HttpRequest, slug: str, body: TrackPatch) -> dict[str, Any]:
    """Change the given settings. The old board remains until new scores are complete.

    Runs of a blind track appear only on release, even if `disclosure` changes.
    """
    user = viewer(request)
    sight = organised_sight_or_403(user, slug)
    refuse_changes_of_fixed_fields(sight.track, body)
    names = [name for name in TrackSettings.model_fields if name in body.model_fields_set]
    changes = read_changes(sight.track, body, names)
    rules = {name: getattr(body, name) for name in RULES if name in names}
    with transaction.atomic():
        if changes or rules:
            track_actions.change_track(sight.track, user, changes, rules=rules)
        if "baseline" in body.model_fields_set:
            run = None if body.baseline is None else ranked_run_or_error(sight, body.baseline)
            track_actions.choose_baseline(sight.track, user, run)
    return serialise_track(track_or_404(user, slug))


def refuse_changes_of_fixed_fields(track: Track, body: TrackPatch) -> None:
    for name, value in (("slug", track.slug), ("collection", track.collection.slug)):
        if name in body.model_fields_set and getattr(body, name) != value:
            raise field_error(name, "cannot be changed", getattr(body, name))


def ranked_run_or_error(sight: Sight, run_id: str) -> Run:
    run = sight.runs().on_the_board().filter(pk=run_id).first()
    if run is None:
        raise field_error("baseline", "is not a run on the board of this track", run_id)
    return run


@router.post("/{slug:slug}/deadlines", auth=ORGANISE, response=response_schemas(TeamDeadline))
def extend_deadline(request: HttpRequest, slug: str, body: DeadlineIn) -> dict[str, Any]:
    """Give one team a later deadline; with `closes_at` null it has the track's deadline again.

    Runs of the team are on time until then. Other teams do not see the deadline. The activity log
    has the reason.
    """
    user = viewer(request)
    track = organised_sight_or_403(user, slug).track
    team = track.benchmark.teams.filter(key=team_key(body.team)).first()
    if team is None:
        raise field_error("team", "is not a team of this track", body.team)
    try:
        deadline = people.extend_deadline(track, team, user, body.closes_at, body.reason)
    except ActionError as refusal:
        raise ApiError(409, "E_CONFLICT", str(refusal)) from None
    return {"track": track.slug, "team": team.name, "deadline": deadline}


@router.post(
    "/{slug:slug}/open", auth=ORGANISE, response=response_schemas(TrackOut), exclude_unset=True
)
def open_track(request: HttpRequest, slug: str) -> dict[str, Any]:
    """Open a draft, once it has a description, a licence or a source of its data, and its dates."""
    user = viewer(request)
    sight = organised_sight_or_403(user, slug)
    missing = [step.title for step in build_checklist(sight).missing]
    if missing:
        raise ApiError(409, "E_CONFLICT", f"First: {', '.join(missing)}.")
    try:
        track_actions.open_draft(sight.track, user)
    except ActionError as refusal:
        raise ApiError(409, "E_CONFLICT", str(refusal)) from None
    return serialise_track(track_or_404(user, slug))


@router.post(
    "/{slug:slug}/release", auth=ORGANISE, response=response_schemas(TrackOut), exclude_unset=True
)
def release_track(request: HttpRequest, slug: str) -> dict[str, Any]:
    """Release the scores to everyone who sees the track. You cannot undo this."""
    user = viewer(request)
    try:
        track_actions.release_track(organised_sight_or_403(user, slug).track, user)
    except ActionError as refusal:
        raise ApiError(409, "E_CONFLICT", str(refusal)) from None
    return serialise_track(track_or_404(user, slug))
