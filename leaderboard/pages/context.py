"""Template context that every page shares."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import cached_property

from leaderboard.display.page_gaps import is_leaving_gaps, leave_gap
from leaderboard.models import Job, Notice, Worker


def site(request: HttpRequest) -> dict[str, Any]:
    return {
        "version": settings.VERSION,
        "standstill": StalledQueue(),
        "place": section_of(request.path),
        "signup_open": settings.SIGNUP_OPEN,
        "mails": bool(settings.EMAIL_HOST),
        "single_sign_on": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
        "proxy_name": settings.PROXY_NAME if settings.PROXY_USER_HEADER else "",
        "num_unread": cache(partial(count_unread, request)),
        **({"csrf_token": leave_gap("token")} if is_leaving_gaps() else {}),
    }


def count_unread(request: HttpRequest) -> int:
    """Count the unread notices of a reader; one about this page is read once it was answered."""
    unread = Notice.objects.unread_by(request.user).values_list("address", flat=True)
    pages = [address.partition("#")[0] for address in unread]
    request.reads_notice = request.get_full_path() in pages  # type: ignore[attr-defined]
    return len(pages)


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
