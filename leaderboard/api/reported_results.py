"""Endpoints for organisers: files of results that others report, which have no runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import Http404, HttpRequest
from ninja import File, Form, Router, Schema, Status, UploadedFile
from pydantic import Field, StringConstraints

from evaluation.problems import Refused
from evaluation.reading.results import read_groups_of_collections
from leaderboard.actions import versions
from leaderboard.actions.reported_scores import accept_results
from leaderboard.api.auth import ORGANISE, PUBLIC, viewer
from leaderboard.api.benchmarks import organised_benchmark_or_403
from leaderboard.api.errors import answers_error
from leaderboard.api.fields import Text, only_file, refuse_truncated_body
from leaderboard.api.schemas import ProblemOut, response_schemas
from leaderboard.boards.reported_boards import MARK
from leaderboard.models import ResultsFile
from leaderboard.sight.tracks import Viewer

router = Router(tags=["benchmarks"])


class ResultsIn(Schema):
    source: Annotated[Text, StringConstraints(min_length=1, max_length=300)] = Field(
        description="Who reports these scores, or their URL."
    )
    confirm: Literal["auto", "ask"] = Field(
        "auto", description="`ask` waits for you to confirm the preview."
    )


class ResultsOut(Schema):
    """A file of results, and what its check found."""

    version: str
    state: str
    source: str
    status: str = Field(description="How its scores are marked: they are not recomputed here.")
    scores: int | None = Field(
        description="The version of the reported scores that it became; null before its import."
    )
    sha256: str
    preview: dict[str, Any]
    problems: list[ProblemOut]
    problem_totals: dict[str, int]


class ResultsList(Schema):
    items: list[ResultsOut]


def serialise(file: ResultsFile) -> dict[str, Any]:
    plain = ("version", "state", "source", "sha256", "preview", "problems", "problem_totals")
    return {
        **{name: getattr(file, name) for name in plain},
        "status": MARK,
        "scores": file.scores.version if file.scores is not None else None,
    }


@router.get("/{slug:slug}/reported-results", auth=PUBLIC, response=response_schemas(ResultsList))
def list_results(request: HttpRequest, slug: str) -> dict[str, Any]:
    """List the files of results that others report (organisers only)."""
    benchmark = organised_benchmark_or_403(viewer(request), slug).benchmark
    files = benchmark.results_files.with_scores()
    return {"items": [serialise(file) for file in files]}


@router.post(
    "/{slug:slug}/reported-results", auth=ORGANISE, response=response_schemas(ResultsOut, 202)
)
def create_results(
    request: HttpRequest,
    slug: str,
    form: Form[ResultsIn],
    file: File[UploadedFile],
    groups: Annotated[UploadedFile | None, File(None)],
) -> Status[dict[str, Any]]:
    """Add results of MTEB as scores that others report: a ZIP archive, or JSON lines.

    The archive has `SYSTEM/REVISION/COLLECTION.json`; a line has `model_name`, `model_revision`
    and one result as MTEB writes it, or several in `task_results`. `groups` is a CSV table of
    `collection,group`. The scores are marked as reported and not recomputed.
    """
    user = viewer(request)
    benchmark = organised_benchmark_or_403(user, slug).benchmark
    refuse_truncated_body(request)
    table = only_file(request, "groups") or groups
    try:
        named = {} if table is None else read_groups_of_collections(table.read())
    except Refused as refusal:
        raise answers_error(refusal) from None
    added = ResultsFile(
        benchmark=benchmark,
        source=form.source,
        groups=named,
        asks_first=form.confirm == "ask",
        created_by=user,
    )
    accept_results(added, only_file(request, "file") or file)
    return Status(202, serialise(added))


def results_or_404(user: Viewer, slug: str, version: str) -> ResultsFile:
    benchmark = organised_benchmark_or_403(user, slug).benchmark
    found = benchmark.results_files.with_scores().filter(version=version).first()
    if found is None:
        raise Http404("no such results")
    return found


@router.get(
    "/{slug:slug}/reported-results/{slug:version}",
    auth=PUBLIC,
    response=response_schemas(ResultsOut),
)
def get_results(request: HttpRequest, slug: str, version: str) -> dict[str, Any]:
    """Get a file of results, and what its check found (organisers only)."""
    return serialise(results_or_404(viewer(request), slug, version))


@router.post(
    "/{slug:slug}/reported-results/{slug:version}/confirm",
    auth=ORGANISE,
    response=response_schemas(ResultsOut, 202),
)
def confirm_results(request: HttpRequest, slug: str, version: str) -> Status[dict[str, Any]]:
    """Import the previewed results."""
    found = results_or_404(viewer(request), slug, version)
    versions.confirm_version(found, viewer(request))
    found.refresh_from_db()
    return Status(202, serialise(found))


@router.delete(
    "/{slug:slug}/reported-results/{slug:version}",
    auth=ORGANISE,
    response=response_schemas(None, 204),
)
def discard_results(request: HttpRequest, slug: str, version: str) -> Status[None]:
    """Delete results that were never imported."""
    user = viewer(request)
    versions.discard_version(results_or_404(user, slug, version), user)
    return Status(204, None)
