"""Endpoints for uploads in pieces: announce a file, send its pieces, ask what has arrived."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from django.http import Http404, HttpRequest
from ninja import Header, Router, Status

from leaderboard.actions import partial_uploads
from leaderboard.actions.partial_uploads import BegunUpload
from leaderboard.actions.refusals import NotAccepted
from leaderboard.actions.upload_limits import can_submit, can_submit_systems
from leaderboard.api.auth import SUBMIT, SUBMIT_PIECE, viewer
from leaderboard.api.errors import field_error
from leaderboard.api.schemas import UploadIn, UploadOut, response_schemas
from leaderboard.boards.disclosure import benchmark_or_404, track_or_404
from leaderboard.infrastructure.request_bodies import content_length, is_chunked
from leaderboard.models import PartialUpload

router = Router(tags=["uploads"])

PIECE = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post(
    "/tracks/{slug:slug}/uploads", auth=SUBMIT, response=response_schemas(UploadOut, 201, 200)
)
def begin_upload(request: HttpRequest, slug: str, body: UploadIn) -> Status[PartialUpload]:
    """Announce a large run, to send it in pieces: a connection that breaks costs one of them.

    The same file again returns the same upload with 200 and what has arrived. It is deleted a day
    after its last piece. Submit the run with `upload` instead of `file`; it is received then.
    """
    user = viewer(request)
    track_or_404(user, slug)
    if not can_submit(user, {"slug": slug}):
        raise NotAccepted("E_NO_TEAM", "Join this track before you submit to it.")
    return answer_begun(partial_uploads.begin_upload(user, **body.dict()))


@router.post(
    "/benchmarks/{slug:slug}/uploads", auth=SUBMIT, response=response_schemas(UploadOut, 201, 200)
)
def begin_benchmark_upload(
    request: HttpRequest, slug: str, body: UploadIn
) -> Status[PartialUpload]:
    """Announce a large file of a system; submit the system with `uploads` besides `files`."""
    user = viewer(request)
    benchmark_or_404(user, slug)
    if not can_submit_systems(user, {"slug": slug}):
        raise NotAccepted("E_NO_TEAM", "Join this benchmark before you submit to it.")
    return answer_begun(partial_uploads.begin_upload(user, **body.dict()))


def answer_begun(begun: BegunUpload) -> Status[PartialUpload]:
    return Status(201 if begun.is_new else 200, begun.upload)


@router.get("/uploads/{slug:upload_id}", auth=SUBMIT, response=response_schemas(UploadOut))
def get_upload(request: HttpRequest, upload_id: str) -> PartialUpload:
    """Get how much of a file has arrived."""
    return upload_or_404(request, upload_id)


@router.patch(
    "/uploads/{slug:upload_id}",
    auth=SUBMIT_PIECE,
    response=response_schemas(UploadOut),
    openapi_extra=PIECE,
)
def append_upload(
    request: HttpRequest,
    upload_id: str,
    offset: Annotated[int, Header(alias="Upload-Offset", ge=0)],
) -> PartialUpload:
    """Append a piece, the bytes of the file from `Upload-Offset` on, as the body.

    If the connection breaks, what arrived stays: get the upload and continue at `received`. A
    wrong offset is answered with 409.
    """
    if is_chunked(request.META) or not content_length(request.META):
        raise field_error("Content-Length", "is missing")
    upload = upload_or_404(request, upload_id)
    partial_uploads.append_piece(upload, offset, request, content_length(request.META))
    return upload


@router.delete("/uploads/{slug:upload_id}", auth=SUBMIT, response=response_schemas(None, 204))
def delete_upload(request: HttpRequest, upload_id: str) -> Status[None]:
    """Delete an upload and its pieces. Runs that were made of it stay."""
    partial_uploads.delete_upload(upload_or_404(request, upload_id))
    return Status(204, None)


def upload_or_404(request: HttpRequest, upload_id: str) -> PartialUpload:
    upload = partial_uploads.uploads_of(viewer(request)).filter(pk=upload_id).first()
    if upload is None:
        raise Http404("no such upload")
    return upload


def find_uploads(request: HttpRequest, name: str, ids: Iterable[str]) -> list[PartialUpload]:
    """Return the uploads that a field names; raises ApiError for one that is not there."""
    wanted = list(ids)
    found = partial_uploads.uploads_of(viewer(request)).in_bulk(wanted)
    for upload_id in wanted:
        if upload_id not in found:
            raise field_error(name, "is not an upload of yours, or it has expired", upload_id)
    return [found[upload_id] for upload_id in wanted]
