"""Authentication: a user by a bearer token, or anyone if a call is public.

A browser's session is enough to read what pages link to; it never writes, so no page elsewhere can
act for its user.  A token in the address does not count, since addresses
end up in logs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.http import HttpRequest
from ninja.security import HttpBearer

from leaderboard.actions.people import lacks_second_factor
from leaderboard.actions.tokens import record_use
from leaderboard.actions.upload_limits import limit_for
from leaderboard.api.errors import ApiError, permission_error
from leaderboard.infrastructure import request_bodies
from leaderboard.infrastructure.outages import redis_error
from leaderboard.models import ApiToken, Track, User
from leaderboard.sight.tracks import Viewer

log = logging.getLogger(__name__)

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
MINUTE = 60


@dataclass(frozen=True)
class Caller:
    user: Viewer
    token: ApiToken | None = None

    def has_scope(self, scope: str) -> bool:
        return self.token is not None and scope in self.token.scopes


class Token(HttpBearer):
    """Require a token with `scope`; `public` calls also work without a token.

    `is_exempt` says which requests do not count towards the writes per minute.
    """

    def __init__(
        self,
        scope: str,
        public: bool = False,
        is_exempt: Callable[[HttpRequest, ApiToken], bool] | None = None,
    ) -> None:
        super().__init__()
        self.scope = scope
        self.public = public
        self.is_exempt = is_exempt

    def __call__(self, request: HttpRequest) -> Caller | None:
        if "Authorization" in request.headers:
            return super().__call__(request)
        if not self.public:
            return None
        if request.method not in SAFE_METHODS:
            return Caller(AnonymousUser())
        # Checked here, so that every answer has `Vary: Cookie`, even if nothing is found.
        if request.user.is_authenticated:
            refuse_without_second_factor(request.user)
        return Caller(request.user)

    def authenticate(self, request: HttpRequest, token: str) -> Caller | None:
        known = ApiToken.objects.find(token.strip())
        if known is None:
            return None
        refuse_without_second_factor(known.user)
        if self.scope not in known.scopes:
            raise permission_error(f"This token lacks the scope {self.scope}.")
        if request.method not in SAFE_METHODS and not (
            self.is_exempt and self.is_exempt(request, known)
        ):
            limit_writes(known.user_id)
        refuse_large(request, known.user)
        record_use(known)
        return Caller(known.user, known)


def is_run_for_own_track(request: HttpRequest, token: ApiToken) -> bool:
    """Return whether an organiser submits a run to their own track."""
    if "organise" not in token.scopes or request.resolver_match is None:
        return False
    slug = request.resolver_match.kwargs["slug"]
    return Track.objects.organised_by(token.user).filter(slug=slug).exists()


def is_piece(request: HttpRequest, token: ApiToken) -> bool:
    """Whether it is a piece of a file: announcing the file counts, and its pieces are bounded."""
    return True


PUBLIC = Token("read", public=True)
READ = Token("read")
SUBMIT = Token("submit")
SUBMIT_PIECE = Token("submit", is_exempt=is_piece)
SUBMIT_RUN = Token("submit", is_exempt=is_run_for_own_track)
ORGANISE = Token("organise")


def viewer(request: HttpRequest) -> Viewer:
    return request.auth.user  # type: ignore[attr-defined]


def refuse_without_second_factor(user: User) -> None:
    if lacks_second_factor(user):
        raise permission_error("This site requires a second factor. Sign in to set one up.")


def refuse_large(request: HttpRequest, user: User) -> None:
    """Refuse a body that is larger than this user may send, before it is read."""
    if (
        not request_bodies.is_chunked(request.META)
        and request_bodies.content_length(request.META) <= request_bodies.FORM_LIMIT
    ):
        return
    limit = limit_for(request, user)
    if not request_bodies.enforce_limit(request, limit):
        raise ApiError(413, "E_SIZE", f"The limit is {limit:,} bytes.")


def current_second() -> int:
    return int(time.time())


def limit_writes(user_id: int) -> None:
    """Count the writes of a user in this minute, by all tokens together."""
    now = current_second()
    key = f"api-writes-{user_id}-{now // MINUTE}"
    try:
        cache.add(key, 0, 2 * MINUTE)
        writes = cache.incr(key)
    except (redis_error(), ValueError) as error:
        # Better some writes too many than none at all while the cache is away.
        log.warning("the writes of a user were not counted: %s", error)
        return
    if writes > settings.API_WRITES_PER_MINUTE:
        raise ApiError(
            429,
            "E_RATE",
            f"Limit: {settings.API_WRITES_PER_MINUTE} writes per minute per user.",
            retry_after=MINUTE - now % MINUTE,
        )
