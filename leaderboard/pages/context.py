"""Template context that every page shares."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import cached_property

from leaderboard.display.holes import is_leaving_holes, leave_hole
from leaderboard.models import Job, Notice, Worker


def site(request: HttpRequest) -> dict[str, Any]:
    return {
        "version": settings.VERSION,
        "standstill": StalledQueue(),
        "place": section_of(request.path),
        "signup_open": settings.SIGNUP_OPEN,
        "mails": bool(settings.EMAIL_HOST),
        "single_sign_on": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
        "num_unread": cache(lambda: Notice.objects.unread_by(request.user).count()),
        **({"csrf_token": leave_hole("token")} if is_leaving_holes() else {}),
    }


def section_of(path: str) -> str:
    """Return the section of the site that a path belongs to, for the navigation bar."""
    first = path.split("/")[1]
    return {"": "tracks", "runs": "tracks"}.get(first, first)


class StalledQueue:
    """Jobs that wait while no worker is alive; queried only if a page shows it."""

    def __bool__(self) -> bool:
        return self.waiting > 0 and not Worker.objects.alive().exists()

    @cached_property
    def waiting(self) -> int:
        return Job.objects.open().count()
