"""Protection against forms that are sent twice, such as by a double click."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from leaderboard.actions.sent_forms import claim_form, keep_result

View = Callable[..., HttpResponse]


def list_sent_fields(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the fields of a form as hidden fields repeat them, without its token."""
    return [
        (name, value)
        for name, values in request.POST.lists()
        if name != "csrfmiddlewaretoken"
        for value in values
    ]


def submit_once(view: View) -> View:
    """Handle a form once; redirect a repeated submission to the result of the first.

    The claim is a row in the transaction of the view, so one of two parallel requests waits.
    An invalid form has changed nothing and can be sent again.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated or not request.POST.get("once"):
            return view(request, *args, **kwargs)
        digest = _digest(request)
        with transaction.atomic():
            known = claim_form(request.user, digest)
            if known is not None:
                return redirect(known)
            response = view(request, *args, **kwargs)
            address = response["Location"] if response.status_code == 302 else ""
            keep_result(request.user, digest, address)
            return response

    return answer


def _digest(request: HttpRequest) -> str:
    """Return a hash of the path and all fields: an edited form is a new one."""
    written = sorted((name, request.POST.getlist(name)) for name in request.POST)
    said = [request.path, *(pair for pair in written if pair[0] != "csrfmiddlewaretoken")]
    return hashlib.sha256(repr(said).encode()).hexdigest()
