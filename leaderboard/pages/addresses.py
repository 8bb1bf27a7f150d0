"""Addresses of tracks: their two shapes, what benchmarks share with them, and former ones.

The pages of a track that is alone are those of its benchmark, /benchmarks/news/topics/; of one
beside others they are beneath it, /benchmarks/news/tracks/first/topics/.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from leaderboard.boards.disclosure import TrackMoved
from leaderboard.models import Track

# Methods whose redirects need not keep a body.
READING = ("GET", "HEAD")
View = Callable[..., HttpResponseBase]


class AddressOfTrack:
    """The part of a path that is the address of a track."""

    regex = "[-a-zA-Z0-9_]+(?:/tracks/[-a-zA-Z0-9_]+)?"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


def either(of_track: View, of_benchmark: View) -> View:
    """Return the view of a page that tracks and benchmarks have: a track's where one is.

    Both decide what their viewer may know.
    """

    @wraps(of_track)
    def answer(request: HttpRequest, address: str, **rest: str) -> HttpResponseBase:
        if "/" in address or Track.objects.filter(address=address).exists():
            return of_track(request, address=address, **rest)
        return of_benchmark(request, slug=address, **rest)

    return answer


class FollowMovedTracks:
    """Lead to the page of a track that is at another address by now."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        match = request.resolver_match
        if not isinstance(error, TrackMoved) or match is None or "address" not in match.kwargs:
            return None
        page = reverse(match.view_name, kwargs={**match.kwargs, "address": error.address})
        return lead_to(page, request)


def former_page(request: HttpRequest, slug: str, rest: str) -> HttpResponse:
    """Lead for good from a page below /tracks/ to where it is.

    Whether a track exists that the viewer may not know, the answer does not tell.
    """
    track = Track.objects.visible_to(request.user).filter(slug=slug).first()
    page = f"{reverse('overview', args=[track.address if track else slug])}{quote(rest)}"
    return lead_to(page, request, permanent=True)


def lead_to(page: str, request: HttpRequest, *, permanent: bool = False) -> HttpResponse:
    """Redirect to a page with the query of a request, and with its method unless it only reads."""
    query = request.META.get("QUERY_STRING", "")
    page = f"{page}?{query}" if query else page
    return redirect(page, permanent=permanent, preserve_request=request.method not in READING)
