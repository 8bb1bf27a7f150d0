"""Pages that are made once and kept: the same for all who see the same of a track or a benchmark.

A page is kept under everything that it depends on.  What belongs to one person or passes with time
is a gap in it, which is filled for each reader.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache, wraps
from itertools import chain
from pathlib import Path
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.messages import get_messages
from django.core.signals import setting_changed
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.http import parse_etags

import evaluation
from leaderboard.boards.page_keys import Seen
from leaderboard.display import page_gaps
from leaderboard.display.numbers import describe_time_taken, distance
from leaderboard.infrastructure import page_store
from leaderboard.infrastructure.page_store import KeptPage

View = Callable[..., HttpResponseBase]
Look = Callable[..., Seen | None]
# Longer queries are nobody's link, and would only fill the cache.
LONGEST_QUERY = 1000
# A longer file is sent as it is made.
LONGEST_FILE = 16 * 2**20
# How often we look again if somebody else made the answer while the track changed.
MOST_LOOKS = 3
# Headers of an answer that are part of what is kept.
OWN_HEADERS = ("Content-Type", "Content-Disposition")


def kept(look: Look) -> Callable[[View], View]:
    """Keep what a view answers to GET for all to whom `look` shows the same.

    `look` gets the viewer and what the view gets from its address.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def answer(request: HttpRequest, **asked: str) -> HttpResponseBase:
            return find_or_make(
                request, lambda: look(request.user, **asked), lambda: view(request, **asked)
            )

        return answer

    return decorate


def leave_unkept(response: HttpResponse) -> HttpResponse:
    """Let nobody keep an answer that shows more than its key decides, such as progress."""
    patch_cache_control(response, no_store=True)
    return response


def find_or_make(
    request: HttpRequest, look: Callable[[], Seen | None], make: Callable[[], HttpResponseBase]
) -> HttpResponseBase:
    """Return the kept answer to a request, or make it and keep it."""
    if not _may_be_kept(request):
        return make()
    for _ in range(MOST_LOOKS):
        seen = look()
        if seen is None or seen.is_stalled:
            return make()
        reader, key = Reader(request, seen), _key_of(request, seen)
        found = page_store.find(key)
        if found is not None:
            return reader.respond(found)
        with page_store.turn_to_make(key) as turn:
            if not turn.waited:
                return _make(reader, key, look, make)
    return make()


def _may_be_kept(request: HttpRequest) -> bool:
    """Return whether the answer is the same for others; messages are for one reader, once."""
    return (
        request.method in ("GET", "HEAD")
        and not settings.DEBUG
        and len(request.META.get("QUERY_STRING", "")) <= LONGEST_QUERY
        and not len(get_messages(request))
    )


def _make(
    reader: Reader,
    key: str,
    look: Callable[[], Seen | None],
    make: Callable[[], HttpResponseBase],
) -> HttpResponseBase:
    """Make an answer, and keep it if nothing that it depends on changed meanwhile."""
    with page_gaps.leaving_gaps() as word:
        response = _read_short_file(make())
    if response.streaming:
        return response
    assert isinstance(response, HttpResponse)
    texts, left = word.split(response.content)
    if response.status_code != 200 or response.has_header("Cache-Control") or response.cookies:
        response.content = page_gaps.join(texts, [reader.fill(gap) for gap in left])
        return response
    made = KeptPage.pack(
        headers={name: response[name] for name in OWN_HEADERS if name in response},
        digest=hashlib.sha256(response.content.replace(word.word.encode(), b"")).hexdigest(),
        texts=texts,
        gaps=[(gap.name, gap.value) for gap in left],
    )
    now = look()
    if now is not None and now.key == reader.seen.key:
        page_store.keep(key, made)
    return reader.respond(made)


def _read_short_file(response: HttpResponseBase) -> HttpResponseBase:
    """Return a streamed file as one text, unless it is long."""
    if not isinstance(response, StreamingHttpResponse) or response.is_async:
        return response
    pieces: list[bytes] = []
    length, stream = 0, iter(response)
    for piece in stream:
        pieces.append(piece)
        length += len(piece)
        if length > LONGEST_FILE:
            response.streaming_content = chain(pieces, stream)
            return response
    return HttpResponse(b"".join(pieces), status=response.status_code, headers=response.headers)


def _key_of(request: HttpRequest, seen: Seen) -> str:
    """Return the key of an answer: the release, the address, and what is seen there."""
    # The order of parameters has no meaning, but that of several values of one has.
    asked = sorted(request.GET.lists())
    address = [request.scheme, request.get_host(), request.path, urlencode(asked, doseq=True)]
    # Days of this year are printed without it.
    parts = [release_digest(), timezone.now().year, address, seen.key]
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()


@cache
def release_digest() -> str:
    """Return a digest of our code, templates and settings, which all decide what a page shows."""
    chosen = {name: getattr(settings, name) for name in dir(settings) if name.isupper()}
    told = [code_digest(), chosen]
    return hashlib.sha256(json.dumps(told, default=str, sort_keys=True).encode()).hexdigest()


@cache
def code_digest() -> str:
    """Return a digest of a thousand files, which stay as they are while a process runs."""
    digest = hashlib.sha256()
    for path in _sources():
        digest.update(str(path).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _sources() -> Iterator[Path]:
    package, measures = Path(__file__).parent.parent, Path(evaluation.__file__).parent
    templates = [folder for engine in settings.TEMPLATES for folder in engine["DIRS"]]
    folders: Iterable[tuple[Path, str]] = [
        *((package, ending) for ending in ("*.py", "*.html", "*.md")),
        (measures, "*.py"),
        *((Path(folder), "*.html") for folder in templates),
    ]
    for folder, ending in folders:
        yield from sorted(folder.rglob(ending))
    # The names of style sheets and scripts, which have a digest of their content.
    manifest = Path(settings.STATIC_ROOT) / "staticfiles.json"
    yield from [manifest] if manifest.exists() else []


def forget_release(**about: object) -> None:
    release_digest.cache_clear()


# Only tests change settings while a process runs.
setting_changed.connect(forget_release)


@dataclass(frozen=True)
class Reader:
    """Who asks for a page; fills its gaps."""

    request: HttpRequest
    seen: Seen

    def respond(self, answer: KeptPage) -> HttpResponse:
        """Return the answer for this reader, or 304 if the reader has it already."""
        left = [page_gaps.PageGap(*gap) for gap in answer.gaps]
        etag = self._etag_of(answer, left)
        asked = parse_etags(self.request.headers.get("If-None-Match", ""))
        if etag in asked or asked == ["*"]:
            response = HttpResponse(status=304)
            del response["Content-Type"]
        else:
            filled = [self.fill(gap) for gap in left]
            response = HttpResponse(page_gaps.join(answer.texts, filled), headers=answer.headers)
        response["ETag"] = etag
        patch_vary_headers(response, ["Accept-Encoding", "Authorization", "Cookie"])
        # Nothing is used again without asking; what a signed-in reader sees is for no shared cache.
        patch_cache_control(response, no_cache=True)
        if self.seen.viewer.is_authenticated:
            patch_cache_control(response, private=True)
        self.request.reads_notice = self.seen.num_unread > 0  # type: ignore[attr-defined]
        return response

    def _etag_of(self, answer: KeptPage, left: Iterable[page_gaps.PageGap]) -> str:
        """Return a weak tag: of answers with one tag, the time that each took differs."""
        filled = [self._identify(gap) for gap in left]
        shown = [release_digest(), answer.headers, answer.digest, filled]
        return f'W/"{hashlib.sha256(json.dumps(shown, default=str).encode()).hexdigest()[:32]}"'

    def fill(self, gap: page_gaps.PageGap) -> bytes:
        """Print what a gap has for this reader, now."""
        return str(self._print(gap)).encode()

    def _print(self, gap: page_gaps.PageGap) -> str:
        match gap.name:
            case "distance":
                return distance(datetime.fromisoformat(gap.value))
            case "answered":
                return describe_time_taken(self.request)
            case "token":
                return get_token(self.request)
            case "account":
                about = {"num_unread": self.seen.num_unread, "csrf_token": get_token(self.request)}
                return render_to_string("account/_menu.html", {"user": self.request.user, **about})
        raise ValueError(f"unknown gap {gap.name}")

    def _identify(self, gap: page_gaps.PageGap) -> object:
        """Return what a gap shows, without what differs in every answer."""
        match gap.name:
            case "distance":
                # The number of seconds is for the script, which goes on counting.
                return self._print(gap).split(">", 1)[1]
            case "answered":
                return ""
            case "token":
                return self._secret
            case "account":
                user = self.request.user
                return user.pk, user.get_username(), self.seen.num_unread, self._secret
        raise ValueError(f"unknown gap {gap.name}")

    @property
    def _secret(self) -> str:
        """The secret of the reader's forms: a form in a page that the reader has stays valid."""
        get_token(self.request)
        return str(self.request.META["CSRF_COOKIE"])
