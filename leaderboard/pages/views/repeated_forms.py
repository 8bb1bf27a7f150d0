"""A form that is sent twice, as a double click does, acts once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from leaderboard.models import SentForm

View = Callable[..., HttpResponse]


def submit_once(view: View) -> View:
    """What a form asks is done once, and the second sending leads where the first one led.

    The claim is a row in the transaction of the act, so of two at once one waits for the other.
    A form that was not in order has done nothing and may be sent again.
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
    """Of the key of its page and of all that was written: a form that was changed is another."""
    written = sorted((name, request.POST.getlist(name)) for name in request.POST)
    said = [request.path, *(each for each in written if each[0] != "csrfmiddlewaretoken")]
    return hashlib.sha256(repr(said).encode()).hexdigest()
