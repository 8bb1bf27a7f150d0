"""Files that programs fetch from pages with a token, as the printed commands do."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers

from leaderboard.actions.people import lacks_second_factor
from leaderboard.actions.tokens import record_use
from leaderboard.models import ApiToken, User

View = Callable[..., HttpResponseBase]


def accept_token(view: View) -> View:
    """Let the owner of a token with the scope `read` fetch a file, as if signed in."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            owner = _find_owner(secret)
            if owner is None:
                words = "Send a valid token with the scope read.\n"
                headers = {"WWW-Authenticate": "Bearer"}
                return HttpResponse(words, "text/plain", status=401, headers=headers)
            request.user = owner
        response = view(request, *args, **kwargs)
        patch_vary_headers(response, ["Authorization"])
        return response

    return answer


def _find_owner(secret: str) -> User | None:
    known = ApiToken.objects.find(secret.strip())
    if known is None or "read" not in known.scopes or lacks_second_factor(known.user):
        return None
    record_use(known)
    return known.user
