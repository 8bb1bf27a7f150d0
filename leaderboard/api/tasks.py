"""The endpoint for a task and its tracks."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router

from leaderboard.api.auth import PUBLIC, viewer
from leaderboard.api.schemas import response_schemas
from leaderboard.api.task_schemas import TaskOut
from leaderboard.boards.disclosure import task_or_404

router = Router(tags=["tasks"])


@router.get("/{slug:slug}", auth=PUBLIC, response=response_schemas(TaskOut))
def get_task(request: HttpRequest, slug: str) -> dict[str, Any]:
    """Get a task with the tracks that you may know, in order."""
    sight = task_or_404(viewer(request), slug)
    return {
        "slug": sight.task.slug,
        "name": sight.task.name,
        "main_branch": sight.task.main_branch,
        "tracks": [seen.track.slug for seen in sight.sights],
    }
