"""Middleware: headers, compression, body limits and the second factor."""

from __future__ import annotations

import logging
import time
import zlib
from collections.abc import Callable
from secrets import randbelow
from urllib.parse import urlencode, urlsplit, urlunsplit

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.cache import patch_cache_control, patch_vary_headers
from isal import isal_zlib

from leaderboard.actions.people import lacks_second_factor
from leaderboard.actions.upload_limits import limit_before_token
from leaderboard.infrastructure import request_bodies
from leaderboard.infrastructure.logs import describe_request, new_request_number, request_number
from leaderboard.infrastructure.outages import READ_ONLY
from leaderboard.infrastructure.read_only import is_read_only
from leaderboard.infrastructure.traces import trace
from leaderboard.models import Notice
from leaderboard.notifications.notices import mark_read

log = logging.getLogger("leaderboard.requests")

GetResponse = Callable[[HttpRequest], HttpResponse]

# In bytes; a shorter answer hardly shrinks.
SHORTEST_PACKED = 200
MOST_PADDING = 100
GZIP = zlib.MAX_WBITS + 16
# Methods that change nothing.
READING = ("GET", "HEAD", "OPTIONS")
# No time and unknown system, but a file name.
HEAD_WITH_NAME = b"\x1f\x8b\x08\x08\0\0\0\0\0\xff"

POLICY = (
    "default-src 'self'; base-uri 'none'; object-src 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)


def add_request_id(get_response: GetResponse) -> GetResponse:
    """Give every request an id, in a response header and in the log.

    The query of the URL is not logged: invitation links contain a secret there.
    """

    def answer_traced(request: HttpRequest, number: str) -> HttpResponse:
        with trace(str(request.method), request=number) as told:
            response = get_response(request)
            match = request.resolver_match
            told.name = f"{request.method} /{match.route}" if match else told.name
            told.facts["http.response.status_code"] = response.status_code
            return response

    def answer(request: HttpRequest) -> HttpResponse:
        number, began = new_request_number(), time.perf_counter()
        token = request_number.set(number)
        try:
            response = answer_traced(request, number)
            response["X-Request-Id"] = number
            seconds = time.perf_counter() - began
            figures = describe_request(request, response.status_code, seconds)
            log.info("%s %s", request.method, request.path, extra={"figures": figures})
            return response
        finally:
            request_number.reset(token)

    return answer


def set_content_security_policy(get_response: GetResponse) -> GetResponse:
    """Set a content security policy that allows no inline script and no other host."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response["Content-Security-Policy"] = POLICY
        return response

    return answer


def mark_private(get_response: GetResponse) -> GetResponse:
    """Keep answers to signed-in users out of shared caches.

    A header that a view sets stays: `public` for a badge, `no-store` for the account.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        asks = settings.SESSION_COOKIE_NAME in request.COOKIES or "Authorization" in request.headers
        signs_in = settings.SESSION_COOKIE_NAME in response.cookies
        if (asks or signs_in) and "Cache-Control" not in response:
            patch_cache_control(response, private=True)
        return response

    return answer


def compress_text(get_response: GetResponse) -> GetResponse:
    """Compress pages and tables for clients that accept gzip, but not streamed files.

    Django's middleware does the same by zlib, which takes ten times as long.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        is_text = response.get("Content-Type", "").startswith(("text/", "application/json"))
        if response.streaming or not is_text or len(response.content) < SHORTEST_PACKED:
            return response
        patch_vary_headers(response, ["Accept-Encoding"])
        if "gzip" in request.headers.get("Accept-Encoding", ""):
            response.content = pack_as_gzip(response.content)
            response["Content-Length"] = len(response.content)
            response["Content-Encoding"] = "gzip"
            if response.get("ETag", "").startswith('"'):
                response["ETag"] = f"W/{response['ETag']}"
        return response

    return answer


def pack_as_gzip(text: bytes) -> bytes:
    """Return a text as a gzip file whose length tells nothing of the secrets in it.

    A file name of random length stands in its head, as in those of Django's middleware.

    >>> import gzip
    >>> gzip.decompress(pack_as_gzip(b"bread " * 1000)) == b"bread " * 1000
    True
    """
    padding = b"a" * randbelow(MOST_PADDING)
    packed = isal_zlib.compress(text, level=1, wbits=GZIP)
    return HEAD_WITH_NAME + padding + b"\0" + packed[len(HEAD_WITH_NAME) :]


def answer_head(get_response: GetResponse) -> GetResponse:
    """Answer HEAD by the status and headers of GET, also where a view or the API knows only GET."""

    def answer(request: HttpRequest) -> HttpResponse:
        if request.method != "HEAD":
            return get_response(request)
        request.method = "GET"
        response = get_response(request)
        request.method = "HEAD"
        if response.streaming:
            response.streaming_content = []
        else:
            response.content = b""
        return response

    return answer


def refuse_writes(get_response: GetResponse) -> GetResponse:
    """Refuse whatever may change something while the site is read-only, before its body is read."""

    def answer(request: HttpRequest) -> HttpResponse:
        if request.method in READING or not is_read_only():
            return get_response(request)
        message, wait = READ_ONLY.message, {"Retry-After": str(READ_ONLY.retry_after)}
        if request.path.startswith("/api/v1/"):
            said = {"code": READ_ONLY.code, "message": message, "problems": []}
            return JsonResponse(said, status=READ_ONLY.status, headers=wait)
        page = render_to_string("site/outage.html", {"outage": READ_ONLY})
        return HttpResponse(page, status=READ_ONLY.status, headers=wait)

    return answer


class LimitBodySize:
    """Refuse a body that is too large for its view before any of it is read or stored.

    It runs before the CSRF check, which reads a form and stores its files. A page takes little from
    somebody who is not signed in, because a thread would wait for more.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        pipe = getattr(request, "_stream", None)
        if isinstance(pipe, request_bodies.ChunkedBody) and pipe.is_over:
            return refuse_body(request, pipe.limit)
        return response

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponse | None:
        is_chunked = request_bodies.is_chunked(request.META)
        length = request_bodies.content_length(request.META)
        if not is_chunked and length <= request_bodies.SMALL_BODY:
            return None
        limit = limit_before_token(request)
        if is_chunked and limit <= request_bodies.SMALL_BODY:
            return refuse_body(request, limit)
        if is_chunked:
            request_bodies.limit_chunked_body(request, limit)
        elif length > limit:
            return refuse_body(request, limit)
        return None


def refuse_body(request: HttpRequest, limit: int) -> HttpResponse:
    """Answer 413, as a page or as JSON for the API."""
    if not request.path.startswith("/api/v1/"):
        return render(request, "413.html", {"limit": limit}, status=413)
    message = f"The limit is {limit:,} bytes."
    return JsonResponse({"code": "E_SIZE", "message": message, "problems": []}, status=413)


def delete_unfinished_uploads(get_response: GetResponse) -> GetResponse:
    """Delete the temporary files of an upload when its request ends, even if it broke off.

    Django closes only complete files; the others would stay until garbage collection.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        for handler in request._upload_handlers:  # type: ignore[attr-defined]
            handler.upload_interrupted()
        return response

    return answer


def record_start_time(get_response: GetResponse) -> GetResponse:
    """Record when the request started, so that the page footer can show how long it took."""

    def answer(request: HttpRequest) -> HttpResponse:
        request.started = time.perf_counter()  # type: ignore[attr-defined]
        return get_response(request)

    return answer


def answer_scripts(get_response: GetResponse) -> GetResponse:
    """Tell a script that sent a form where its answer leads, without leading it there.

    Otherwise the script would fetch that page, and its messages would be shown to nobody.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if request.headers.get("X-Sent-By") == "script" and response.status_code == 302:
            response.status_code = 200
        return response

    return answer


def return_to_form(get_response: GetResponse) -> GetResponse:
    """Lead back to the page of a form whose session had ended, and say that it was not sent.

    The address of the form itself may answer no GET.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        sign_in = reverse(settings.LOGIN_URL)
        location = response.get("Location", "")
        if request.method == "POST" and location.startswith(f"{sign_in}?"):
            messages.warning(
                request, "You were signed out, so your form was not sent. Sign in to go back to it."
            )
            response["Location"] = f"{sign_in}?{urlencode({'next': _page_of_form(request)})}"
        return response

    return answer


def _page_of_form(request: HttpRequest) -> str:
    """Return the page of this site from which a form was sent, without its host."""
    page = urlsplit(request.headers.get("Referer", ""))
    if page.netloc != request.get_host():
        return request.get_full_path()
    return urlunsplit(("", "", page.path, page.query, ""))


def read_notice(get_response: GetResponse) -> GetResponse:
    """Mark a notice as read once its reader has opened the page that it leads to."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        has_read = getattr(request, "reads_notice", False) and response.status_code in (200, 304)
        # A program that reads by a token sees no notices.
        if has_read and request.user.is_authenticated:
            mark_read(Notice.objects.unread_by(request.user).about(request.get_full_path()))
        return response

    return answer


# Users who still lack the second factor can reach these paths, to set it up or to sign out.  The
# API answers its clients itself.
ALLOWED_WITHOUT_SECOND_FACTOR = (
    "/account/second-factor/",
    "/account/reauthenticate/",
    "/account/logout/",
    "/api/v1/",
    "/healthz",
)


def require_second_factor(get_response: GetResponse) -> GetResponse:
    """Send users who need a second factor and have none to the page that sets it up."""

    def answer(request: HttpRequest) -> HttpResponse:
        asks = settings.SECOND_FACTOR != "offered"
        if (
            asks
            and not request.path.startswith(ALLOWED_WITHOUT_SECOND_FACTOR)
            and lacks_second_factor(request.user)
        ):
            return redirect(reverse("mfa_activate_totp") + "?asked=1")
        return get_response(request)

    return answer
