"""Endpoints for the failed jobs of a track, as its desk lists them."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest
from ninja import Router, Status

from leaderboard.actions import runs
from leaderboard.actions.refusals import ActionError, NotAccepted
from leaderboard.analysis.desk import FailedJob, find_failed_jobs
from leaderboard.api.auth import ORGANISE, viewer
from leaderboard.api.errors import ApiError
from leaderboard.api.schemas import FailedJobOut, response_schemas
from leaderboard.api.tracks import organised_sight_or_403

router = Router(tags=["tracks"])


@router.get(
    "/{slug:slug}/failed-jobs", auth=ORGANISE, response=response_schemas(list[FailedJobOut])
)
def list_failed_jobs(request: HttpRequest, slug: str) -> list[dict[str, Any]]:
    """List what failed and was not repeated: runs, tests and other calculations."""
    track = organised_sight_or_403(viewer(request), slug).track
    return [describe(failed) for failed in find_failed_jobs(track)]


@router.post(
    "/{slug:slug}/failed-jobs/{int:job}/again",
    auth=ORGANISE,
    response=response_schemas(FailedJobOut, 202),
)
def try_job_again(request: HttpRequest, slug: str, job: int) -> Status[dict[str, Any]]:
    """Queue a failed job again."""
    user = viewer(request)
    found = find_failed_jobs(organised_sight_or_403(user, slug).track)
    failed = next((each for each in found if each.job.pk == job), None)
    if failed is None:
        raise Http404("no such failed job")
    try:
        runs.retry_job(failed.job, failed.target, user)
    except NotAccepted as refusal:
        raise ApiError(409, "E_CONFLICT", refusal.message) from None
    except ActionError as reason:
        raise ApiError(409, "E_CONFLICT", str(reason)) from None
    return Status(202, describe(failed))


def describe(failed: FailedJob) -> dict[str, Any]:
    job = failed.job
    about = {"id": job.pk, "what": f"{failed.what} {failed.target}"}
    return {**about, "reason": job.reason, "failed_at": job.finished_at}
