"""Nuggets and layers of marks of a track of answers: versions that are read from files."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import Http404, HttpRequest, StreamingHttpResponse
from ninja import File, Form, Query, Router, Schema, Status, UploadedFile
from pydantic import Field, StringConstraints

from leaderboard.actions import versions
from leaderboard.analysis.nuggets import find_bank
from leaderboard.api.auth import ORGANISE, PUBLIC, viewer
from leaderboard.api.errors import ApiError, field_error
from leaderboard.api.fields import Text, Version, only_file, refuse_truncated_body
from leaderboard.api.schemas import ProblemOut, response_schemas
from leaderboard.api.tracks import organised_sight_or_403
from leaderboard.boards.disclosure import Sight, track_or_404
from leaderboard.boards.nugget_files import (
    NUGGET_FORMATS,
    marks_name,
    nuggets_name,
    render_marks,
    render_nuggets,
    render_results,
    results_name,
)
from leaderboard.infrastructure.downloads import streamed_text
from leaderboard.models import MarkLayer, NuggetVersion
from leaderboard.models.collections import ImportedVersion
from leaderboard.scoring.kinds import kind_of
from leaderboard.sight.tracks import Viewer

router = Router(tags=["nuggets"])

Note = Annotated[Text, StringConstraints(max_length=2000)]


class NuggetsIn(Schema):
    version: Version
    note: Note = ""
    confirm: Literal["auto", "ask"] = "auto"


class LayerIn(NuggetsIn):
    version: Version = Field(description="The name of the layer.")
    about: Literal["nuggets", "support"] = "nuggets"
    nuggets: Version | None = Field(
        None, description="The version of the nuggets that it marks. Default: the latest."
    )
    machine: Annotated[Text, StringConstraints(max_length=120)] = Field(
        "", description="Which machine marked: model and prompt. Empty for people."
    )


class FileIn(Schema):
    format: Literal[NUGGET_FORMATS] = "nuggetizer"  # type: ignore[valid-type]


class MarksFileIn(Schema):
    format: Literal["columns", "argue"] = Field(
        "columns",
        description="`argue`: marks of nuggets, with those of support on the board, as the results "
        "of ARGUE's evaluator.",
    )


class ImportedOut(Schema):
    """Nuggets or a layer of marks; what a check found is for organisers."""

    version: str
    state: str
    counts: dict[str, int]
    about: str = Field("", description="Of a layer: nuggets or support.")
    nuggets: str | None = Field(None, description="Of a layer: the version that it marks.")
    origin: str = Field("", description="Of a layer: people, or the machine.")
    in_use: bool = Field(description="Whether measures of the track read it.")
    note: str = ""
    sha256: str = ""
    preview: dict[str, Any] = {}
    problems: list[ProblemOut] = []
    problem_totals: dict[str, int] = {}


class ImportedList(Schema):
    items: list[ImportedOut]


@router.get("/{slug:slug}/nuggets", auth=PUBLIC, response=response_schemas(ImportedList))
def list_nuggets(request: HttpRequest, slug: str) -> dict[str, Any]:
    """List the versions of a track's nuggets that you may read."""
    sight = track_or_404(viewer(request), slug)
    return {"items": [serialise(sight, each) for each in visible_nuggets(sight)]}


@router.get("/{slug:slug}/layers", auth=PUBLIC, response=response_schemas(ImportedList))
def list_layers(request: HttpRequest, slug: str) -> dict[str, Any]:
    """List the layers of marks of a track whose scores you may see."""
    sight = track_or_404(viewer(request), slug)
    return {"items": [serialise(sight, each) for each in visible_layers(sight)]}


def visible_nuggets(sight: Sight) -> list[NuggetVersion]:
    """Return the bank in use for who may read it; organisers see every version."""
    if sight.is_organiser:
        return list(sight.track.nugget_versions.all())
    bank = find_bank(sight)
    return [] if bank is None else [bank]


def visible_layers(sight: Sight) -> list[MarkLayer]:
    """Return the layers in use for who may see scores by topic; organisers see every layer."""
    layers = sight.track.mark_layers.select_related("nuggets")
    if sight.is_organiser:
        return list(layers)
    used = (sight.track.assignments, sight.track.support)
    return list(layers.ready().filter(version__in=used)) if sight.can_see_scores else []


def serialise(sight: Sight, version: ImportedVersion) -> dict[str, Any]:
    """Serialise nuggets or a layer; what a check found is for organisers."""
    counts = ("num_nuggets", "num_vital", "num_marks", "num_runs", "num_topics")
    answer: dict[str, Any] = {
        "version": version.version,
        "state": version.state,
        "counts": {
            name.removeprefix("num_"): getattr(version, name)
            for name in counts
            if hasattr(version, name)
        },
        "in_use": is_used(sight, version),
        "note": version.note,
        "sha256": version.sha256,
    }
    if isinstance(version, MarkLayer):
        nuggets = version.nuggets.version if version.nuggets is not None else None
        answer |= {"about": version.about, "nuggets": nuggets, "origin": version.origin}
    if sight.is_organiser:
        found = ("preview", "problems", "problem_totals")
        answer |= {name: getattr(version, name) for name in found}
    return answer


def is_used(sight: Sight, version: ImportedVersion) -> bool:
    if isinstance(version, NuggetVersion):
        return version == find_bank(sight)
    return version.version in (sight.track.assignments, sight.track.support)


@router.post("/{slug:slug}/nuggets", auth=ORGANISE, response=response_schemas(ImportedOut, 202))
def create_nuggets(
    request: HttpRequest, slug: str, form: Form[NuggetsIn], file: File[UploadedFile]
) -> Status[dict[str, Any]]:
    """Add a version of the nuggets of a track of answers, from a file of any known tool."""
    sight = sight_of_answers_or_error(viewer(request), slug)
    version = NuggetVersion(track=sight.track, **read_version(request, sight, form, "nuggets"))
    versions.accept_version(version, only_file(request, "file") or file)
    return Status(202, serialise(sight, version))


@router.post("/{slug:slug}/layers", auth=ORGANISE, response=response_schemas(ImportedOut, 202))
def create_layer(
    request: HttpRequest, slug: str, form: Form[LayerIn], file: File[UploadedFile]
) -> Status[dict[str, Any]]:
    """Add a layer of marks: which nuggets are in each answer, or what supports its sentences.

    Marks of people and of a machine are in layers of their own, which are never added up.
    """
    sight = sight_of_answers_or_error(viewer(request), slug)
    made_by = MarkLayer.MadeBy.MACHINE if form.machine else MarkLayer.MadeBy.PEOPLE
    layer = MarkLayer(
        track=sight.track,
        about=form.about,
        nuggets=find_marked_nuggets(sight, form),
        machine=form.machine,
        made_by=made_by,
        **read_version(request, sight, form, "mark_layers"),
    )
    versions.accept_version(layer, only_file(request, "file") or file)
    return Status(202, serialise(sight, layer))


def sight_of_answers_or_error(user: Viewer, slug: str) -> Sight:
    sight = organised_sight_or_403(user, slug)
    if not kind_of(sight.track).has_texts:
        raise ApiError(409, "E_CONFLICT", "Runs of this track are no answers.")
    return sight


def read_version(request: HttpRequest, sight: Sight, form: NuggetsIn, rows: str) -> dict[str, Any]:
    """Return the fields of a new version; its name must be new on the track."""
    refuse_truncated_body(request)
    known = sight.track.mark_layers if rows == "mark_layers" else sight.track.nugget_versions
    if known.filter(version=form.version).exists():
        raise field_error("version", "already exists; versions are never replaced", form.version)
    return {
        "version": form.version,
        "note": form.note,
        "asks_first": form.confirm == "ask",
        "created_by": viewer(request),
    }


def find_marked_nuggets(sight: Sight, form: LayerIn) -> NuggetVersion | None:
    if form.about == MarkLayer.About.SUPPORT:
        return None
    ready = sight.track.nugget_versions.ready()
    found = ready.last() if form.nuggets is None else ready.filter(version=form.nuggets).first()
    if found is None:
        raise field_error("nuggets", "is not a version of the track's nuggets", form.nuggets or "")
    return found


def nuggets_or_404(user: Viewer, slug: str, version: str) -> tuple[Sight, NuggetVersion]:
    sight = track_or_404(user, slug)
    return sight, named_or_404(visible_nuggets(sight), version)


def layer_or_404(user: Viewer, slug: str, name: str) -> tuple[Sight, MarkLayer]:
    sight = track_or_404(user, slug)
    return sight, named_or_404(visible_layers(sight), name)


def named_or_404(rows: list[Any], name: str) -> Any:
    found = next((row for row in rows if row.version == name), None)
    if found is None:
        raise Http404("no such version")
    return found


@router.get(
    "/{slug:slug}/nuggets/{slug:version}", auth=PUBLIC, response=response_schemas(ImportedOut)
)
def get_nuggets(request: HttpRequest, slug: str, version: str) -> dict[str, Any]:
    """Get a version of the nuggets; organisers see what its check found."""
    return serialise(*nuggets_or_404(viewer(request), slug, version))


@router.get(
    "/{slug:slug}/layers/{slug:version}", auth=PUBLIC, response=response_schemas(ImportedOut)
)
def get_layer(request: HttpRequest, slug: str, version: str) -> dict[str, Any]:
    """Get a layer of marks; organisers see what its check found."""
    return serialise(*layer_or_404(viewer(request), slug, version))


@router.get("/{slug:slug}/nuggets/{slug:version}/file", auth=PUBLIC, response={200: None})
def get_nuggets_file(
    request: HttpRequest, slug: str, version: str, asked: Query[FileIn]
) -> StreamingHttpResponse:
    """Download nuggets in the form of a tool."""
    _, found = nuggets_or_404(viewer(request), slug, version)
    name, lines = nuggets_name(slug, version), render_nuggets(found, asked.format)
    return streamed_text(name, lines, "application/jsonl")


@router.get("/{slug:slug}/layers/{slug:version}/file", auth=PUBLIC, response={200: None})
def get_layer_file(
    request: HttpRequest, slug: str, version: str, asked: Query[MarksFileIn]
) -> StreamingHttpResponse:
    """Download the marks of a layer, where judgments may be downloaded."""
    sight, layer = layer_or_404(viewer(request), slug, version)
    if not sight.can_download_judgments:
        raise Http404("no such file")
    if asked.format == "argue":
        if layer.nuggets_id is None:
            raise field_error("format", "is for marks of nuggets", "argue")
        lines = render_results(sight, layer)
        return streamed_text(results_name(slug, version), lines, "application/jsonl")
    return streamed_text(marks_name(slug, version), render_marks(sight, layer))


@router.post(
    "/{slug:slug}/nuggets/{slug:version}/confirm",
    auth=ORGANISE,
    response=response_schemas(ImportedOut, 202),
)
def confirm_nuggets(request: HttpRequest, slug: str, version: str) -> Status[dict[str, Any]]:
    """Import previewed nuggets."""
    return confirm(request, slug, version, visible_nuggets)


@router.post(
    "/{slug:slug}/layers/{slug:version}/confirm",
    auth=ORGANISE,
    response=response_schemas(ImportedOut, 202),
)
def confirm_layer(request: HttpRequest, slug: str, version: str) -> Status[dict[str, Any]]:
    """Import previewed marks."""
    return confirm(request, slug, version, visible_layers)


def confirm(request: HttpRequest, slug: str, version: str, rows: Any) -> Status[dict[str, Any]]:
    sight = organised_sight_or_403(viewer(request), slug)
    found = named_or_404(rows(sight), version)
    versions.confirm_version(found, viewer(request))
    found.refresh_from_db()
    return Status(202, serialise(sight, found))


@router.delete(
    "/{slug:slug}/nuggets/{slug:version}", auth=ORGANISE, response=response_schemas(None, 204)
)
def discard_nuggets(request: HttpRequest, slug: str, version: str) -> Status[None]:
    """Delete nuggets that were never imported."""
    sight = organised_sight_or_403(viewer(request), slug)
    versions.discard_version(named_or_404(visible_nuggets(sight), version), viewer(request))
    return Status(204, None)


@router.delete(
    "/{slug:slug}/layers/{slug:version}", auth=ORGANISE, response=response_schemas(None, 204)
)
def discard_layer(request: HttpRequest, slug: str, version: str) -> Status[None]:
    """Delete marks that were never imported."""
    sight = organised_sight_or_403(viewer(request), slug)
    versions.discard_version(named_or_404(visible_layers(sight), version), viewer(request))
    return Status(204, None)
