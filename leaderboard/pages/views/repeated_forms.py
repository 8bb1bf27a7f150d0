"""Protection against forms that are sent twice, such as by a double click."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from leaderboard.models import SentForm

View = Callable[..., HttpResponse]


@dataclass(frozen=True)
class SentField:
    name: str
    value: str


def list_sent_fields(request: HttpRequest) -> list[SentField]:
    """Return the fields of a form as hidden fields repeat them, without its token."""
    return [
        SentField(name, value)
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
        with transaction.atomic():
            sent, is_first = SentForm.objects.get_or_create(
                user=request.user, digest=_digest(request)
            )
            if not is_first:
                return redirect(sent.address)
            response = view(request, *args, **kwargs)
            _store_address(sent, response)
            return response

    return answer


def _store_address(sent: SentForm, response: HttpResponse) -> None:
    if response.status_code == 302:
        SentForm.objects.filter(pk=sent.pk).update(address=response["Location"])
    else:
        sent.delete()


def _digest(request: HttpRequest) -> str:
    """Return a hash of the path and all fields: an edited form is a new one."""
    written = sorted((name, request.POST.getlist(name)) for name in request.POST)
    said = [request.path, *(pair for pair in written if pair[0] != "csrfmiddlewaretoken")]
    return hashlib.sha256(repr(said).encode()).hexdigest()
