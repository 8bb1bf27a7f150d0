"""Endpoints for systems: submit the runs of a version at once, and read how it does."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import File, Form, Header, Query, Router, Status, UploadedFile

from leaderboard.actions import submissions
from leaderboard.actions.partial_uploads import finish_uploads, open_uploads
from leaderboard.actions.run_files import list_run_files
from leaderboard.actions.submissions import FilesRefusedError, SubmittedVersion, SystemDetails
from leaderboard.api.auth import PUBLIC, SUBMIT, viewer
from leaderboard.api.errors import ApiError, field_error, upload_error
from leaderboard.api.fields import Key, refuse_truncated_body
from leaderboard.api.listing import page_by_number
from leaderboard.api.schemas import (
    Paging,
    SystemIn,
    SystemList,
    SystemReceipt,
    VersionOut,
    response_schemas,
)
from leaderboard.api.uploads import find_uploads
from leaderboard.boards.disclosure import benchmark_or_404
from leaderboard.boards.systems import (
    find_verdict,
    load_systems,
    version_or_404,
    visible_systems,
)
from leaderboard.infrastructure.request_slots import received_at

router = Router(tags=["systems"])


@router.post("/{slug:slug}/systems", auth=SUBMIT, response=response_schemas(SystemReceipt, 202))
def submit_system(
    request: HttpRequest,
    slug: str,
    form: Form[SystemIn],
    idempotency_key: Annotated[Key, Header("", alias="Idempotency-Key")],
    files: File[list[UploadedFile]] = [],  # noqa: B006
) -> Status[SubmittedVersion]:
    """Submit the runs of a version of a system: several files, or one zip of them.

    A file is for the track that it or its folder is named by (`cranfield.run.gz`,
    `cranfield/my.run`), else for the one whose topics it answers. All files become runs or none
    does; then each of `problems` names its file in `found`. The same files again, or the same
    `Idempotency-Key` within a day, are the same runs. Submit files for `missing` tracks later,
    with the same `name` and `version`. Ask `url` how the version does.
    """
    user = viewer(request)
    sight = benchmark_or_404(user, slug)
    details = SystemDetails(**form.dict(exclude={"uploads"}), idempotency_key=idempotency_key)
    tracks = [seen.track for seen in sight.sights]
    uploads = find_uploads(request, "uploads", form.uploads)
    if not files and not uploads:
        raise field_error("files", "is missing")
    refuse_truncated_body(request)
    try:
        with open_uploads(uploads) as joined:
            sent = submissions.submit_version(
                *(sight.benchmark, user, tracks, list_run_files([*files, *joined])),
                *(details, received_at(request)),
            )
    except FilesRefusedError as refusal:
        raise files_error(refusal) from None
    finish_uploads(uploads)
    return Status(202, sent)


def files_error(refusal: FilesRefusedError) -> ApiError:
    """Build the error of a request without runs; its status is that of the first reason."""
    error = upload_error(refusal.first)
    error.message = f"Nothing was submitted. {refusal.problems[0].found}: {error.message}"
    error.problems = refusal.problems
    return error


@router.get("/{slug:slug}/systems", auth=PUBLIC, response=response_schemas(SystemList))
def list_systems(request: HttpRequest, slug: str, paging: Query[Paging]) -> dict[str, Any]:
    """List the systems of a benchmark that you can see, in the order in which they were made."""
    sight = benchmark_or_404(viewer(request), slug)
    page = page_by_number(visible_systems(sight), paging)
    return {"items": load_systems(sight, page.items), "next": page.next}


@router.get(
    "/{slug:slug}/systems/{int:system_id}/versions/{str:label}",
    auth=PUBLIC,
    response=response_schemas(VersionOut),
)
def get_version(request: HttpRequest, slug: str, system_id: int, label: str) -> dict[str, Any]:
    """Get the runs of a version, and once they are done how it compares with main.

    Means and the verdict count only the tracks whose scores you can see.
    """
    sight = benchmark_or_404(viewer(request), slug)
    seen = version_or_404(sight, system_id, label)
    return {
        "system": seen.version.system.name,
        "version": seen.version.label,
        "commit": seen.version.commit,
        "branch": seen.version.branch,
        "done": seen.is_done,
        "runs": seen.answered,
        "missing": seen.missing,
        "verdict": find_verdict(sight, seen.version) if seen.is_done else None,
    }
