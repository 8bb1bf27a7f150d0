"""What every answer carries: the content security policy, how long it took, and how packed."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.middleware.gzip import GZipMiddleware

Answer = Callable[[HttpRequest], HttpResponse]

POLICY = (
    "default-src 'self'; base-uri 'none'; object-src 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)


def content_security_policy(get_response: Answer) -> Answer:
    """Only what this server sends may run: no inline script or style anywhere."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        # The page of the API draws its icons from data: addresses.
        docs = request.path == "/api/v1/docs"
        response["Content-Security-Policy"] = POLICY + ("; img-src 'self' data:" if docs else "")
        return response

    return answer


def pack_text(get_response: Answer) -> Answer:
    """Pages and tables travel compressed, to who takes them so; files to keep go as they are."""
    packing = GZipMiddleware(get_response)

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        is_text = response.get("Content-Type", "").startswith(("text/", "application/json"))
        if response.streaming or not is_text:
            return response
        return packing.process_response(request, response)

    return answer


def time_the_answer(get_response: Answer) -> Answer:
    """`request.started` lets the foot of a page say how long the server took."""

    def answer(request: HttpRequest) -> HttpResponse:
        request.started = time.perf_counter()  # type: ignore[attr-defined]
        return get_response(request)

    return answer
