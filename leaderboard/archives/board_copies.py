"""A copy of a released board: pages and files for any web server, or for none.

Every page is what the site answers to a reader who has not signed in, and so are the topics and
the judgments in `data/`. Links between the files of the copy are relative; links to other pages
lead to the site, or are removed if it has no address.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser
from io import BytesIO
from posixpath import dirname, relpath
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, urljoin, urlsplit

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files import File
from django.core.files.storage import default_storage
from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIRequest
from django.db import transaction
from django.http.request import validate_host
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone

from leaderboard.archives.citations import build_citation_members
from leaderboard.archives.zip_files import ZipEntry, stream_zip
from leaderboard.jobs import queue
from leaderboard.models import PagesCopy, Track
from leaderboard.models.jobs import Progress, Publish
from leaderboard.sight.tracks import TrackSight

# The pages and files of a track that a copy has; rankings and pairs of runs would be too many.
PAGES = {
    "board",
    "computed",
    "cost",
    "history",
    "judgments",
    "measures_correlation",
    "overview",
    "run",
    "run_details",
    "run_failures",
    "run_metadata",
    "run_topics",
    "run_topics_csv",
    "significance",
    "snapshot",
    "snapshots",
    "statistic",
    "topic",
    "topic_map",
    "topic_map_image",
    "topics",
}
# The files of its collection, which a copy has too.
DATA = {"qrels_file", "topics_download"}
DATA_FOLDER = "data/"
# A link with another parameter is one of many choices of the reader: it leads to the site.
PARAMETERS = {"all", "format", "number", "page", "table"}
BY_MEASURE = {"board", "cost", "significance", "topic_map", "topics"}
PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}")
PLAIN_PART = re.compile(r"[a-z0-9][a-z0-9_.-]{0,60}")
# What does nothing without a server or a script, by element and class.
USELESS = {("script", ""), ("form", ""), ("details", "filters"), ("span", "sign-in")}
ADDRESSES = {"href", "src"}


class NotReleasedError(Exception):
    """Why a track cannot be copied; the organiser sees the text."""


def is_released(track: Track) -> bool:
    """Return whether everybody sees the track and all scores of its board."""
    visible = Track.objects.visible_to(AnonymousUser()).filter(pk=track.pk).exists()
    return visible and track.edition is not None and TrackSight.of_everybody(track).can_see_scores


def note_nothing(done: int, of: int) -> None:
    """Tell nobody how many pages are done."""


def copy_board(
    track: Track, site: str = "", progress: Progress = note_nothing
) -> Iterator[ZipEntry]:
    """Yield the files of a copy, whose other links lead to `site`; raises NotReleasedError."""
    if not is_released(track):
        raise NotReleasedError(
            "Not everybody sees the scores of this track yet. Release a public track first."
        )
    return BoardCopy(track, site.rstrip("/"), progress).members()


@dataclass
class BoardCopy:
    """The answers that a copy is made of, by address; packed, because a track has many."""

    track: Track
    site: str
    progress: Progress
    answers: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    # Files of the pages' style, by the address that the pages give them.
    statics: set[str] = field(default_factory=set)

    def members(self) -> Iterator[ZipEntry]:
        self._collect()
        names = {address: name_file(self.track, address) for address in self.answers}
        for address, (kind, packed) in self.answers.items():
            content = zlib.decompress(packed)
            if kind == "text/html":
                page = CopiedPage(self, address, names)
                content = page.rewrite(content.decode()).encode()
            yield ZipEntry(names[address], [content])
        for address in sorted(self.statics):
            yield ZipEntry(address.removeprefix("/"), [read_static(address)])
        data = {
            address: (names[address], zlib.decompress(packed))
            for address, (_, packed) in self.answers.items()
            if names[address].startswith(DATA_FOLDER)
        }
        yield from build_citation_members(self.track, self.site, data)

    def _collect(self) -> None:
        """Ask for the board, and for every page of the track that its pages link to."""
        reader, asked = StrangerAtTheSite(self.site), set()
        waiting = [reverse("board", args=[self.track.address])]
        while waiting:
            address = waiting.pop()
            if address in asked:
                continue
            self.progress(len(asked), len(asked.union(waiting)) + 1)
            asked.add(address)
            response = reader.get(address)
            if response.status_code >= 500 or response.status_code == 400:
                raise RuntimeError(f"{address} has the status {response.status_code}.")
            if response.status_code != 200:
                continue
            content = b"".join(response)  # type: ignore[arg-type]
            kind = response["Content-Type"].split(";")[0]
            self.answers[address] = kind, zlib.compress(content)
            if kind == "text/html":
                waiting += [link for link in find_links(content, address) if self.has_page(link)]

    def has_page(self, address: str) -> bool:
        """Return whether an address is of a page or a file of this track that copies have."""
        parts = urlsplit(address)
        try:
            match = resolve(parts.path)
        except Resolver404:
            return False
        allowed = PARAMETERS | ({"measure"} if match.url_name in BY_MEASURE else set())
        if match.url_name not in PAGES | DATA or not allowed.issuperset(
            dict(parse_qsl(parts.query))
        ):
            return False
        if "run_id" in match.kwargs:
            return self.track.runs.filter(pk=match.kwargs["run_id"]).exists()
        if match.url_name == "topics_download":
            return match.kwargs["slug"] == self.track.collection.slug
        return match.kwargs.get("address") == self.track.address


class StrangerAtTheSite:
    """Asks the site for pages as a reader without an account does, without a network."""

    def __init__(self, site: str) -> None:
        self.host = allowed_host(urlsplit(site or settings.SITE_URL))
        self.handler = BaseHandler()
        self.handler.load_middleware()

    def get(self, address: str) -> HttpResponseBase:
        parts = urlsplit(address)
        request = WSGIRequest(
            {
                "REQUEST_METHOD": "GET",
                "PATH_INFO": parts.path,
                "QUERY_STRING": parts.query,
                "HTTP_HOST": self.host,
                "SERVER_NAME": "localhost",
                "SERVER_PORT": "443" if settings.HTTPS else "80",
                "REMOTE_ADDR": "127.0.0.1",
                "wsgi.url_scheme": "https" if settings.HTTPS else "http",
                "wsgi.input": BytesIO(),
            }
        )
        # The response is not closed: that would end the request which asks for the copy.
        return self.handler.get_response(request)


def allowed_host(site: SplitResult) -> str:
    """Return the host to ask for: that of the address, or the first that the site answers to."""
    if site.hostname and validate_host(site.hostname, settings.ALLOWED_HOSTS):
        return site.netloc
    return settings.ALLOWED_HOSTS[0].removeprefix(".").replace("*", "localhost")


def name_file(track: Track, address: str) -> str:
    """Return the file of an address in the copy of a track: `topics.html`, `runs/RUN/index.html`,
    `data/topics.trec`.

    The name has small letters alone where people chose it, because some computers ignore case.
    """
    parts = urlsplit(address)
    match = resolve(parts.path)
    if match.url_name in DATA:
        kind = match.kwargs.get("kind")
        return DATA_FOLDER + (
            f"topics.{kind}" if kind else f"qrels-{safe_name(match.kwargs['version'])}.txt"
        )
    path = parts.path.removeprefix(reverse("overview", args=[track.address])).removeprefix("/")
    given = dict(parse_qsl(parts.query))
    form = given.pop("format", "")
    parts_of_path = path.removesuffix("/").split("/")
    stem = "/".join(
        part if PLAIN_PART.fullmatch(part) else safe_name(part) for part in parts_of_path
    )
    if not path:
        stem = "overview"
    elif path == "board/":
        stem = "board" if form else "index"
    elif re.fullmatch(r"runs/[^/]+", stem):
        stem += "/index"
    # The number of a topic and the measure need no name; other parameters have theirs.
    chosen = [safe_name(given.pop(name)) for name in ("number", "measure") if name in given]
    chosen += [f"{name}-{safe_name(given[name])}" for name in sorted(given)]
    if chosen:
        stem += f"-{'--'.join(chosen)}"
    if form:
        return f"{stem}.{safe_name(form)}"
    return f"{stem}.html" if path.endswith("/") or not path else stem


def safe_name(text: str) -> str:
    """Return a name for a file, different for different texts.

    >>> safe_name("301")
    '301'
    >>> safe_name("../A")
    'a-80dd8502'
    """
    # Two dashes separate the parts of a name.
    if PLAIN_NAME.fullmatch(text) and "--" not in text:
        return text
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40]
    return f"{plain}-{hashlib.sha256(text.encode()).hexdigest()[:8]}".removeprefix("-")


def is_static(address: str) -> bool:
    """Return whether an address is of a file of ours; an organiser may link to any address."""
    name = address.removeprefix(settings.STATIC_URL)
    if name in ("", address):
        return False
    found = finders.find(name)
    return os.path.isfile(found) if found else staticfiles_storage.exists(name)


def read_static(address: str) -> bytes:
    name = address.removeprefix(settings.STATIC_URL)
    found = finders.find(name)
    with open(found, "rb") if found else staticfiles_storage.open(name) as file:
        return file.read()


def find_links(content: bytes, address: str) -> list[str]:
    """Return the addresses on a page that lead to the same site, without their fragments."""
    finder = LinkFinder()
    finder.feed(content.decode())
    links = [urljoin(address, link) for link in finder.links if is_local(urlsplit(link))]
    return [urlsplit(link)._replace(fragment="").geturl() for link in links]


def is_local(link: SplitResult) -> bool:
    return not link.scheme and not link.netloc


class LinkFinder(HTMLParser):
    """The addresses of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value for name, value in attrs if name in ADDRESSES and value]


class CopiedPage(HTMLParser):
    """Writes a page again, without what needs a server and with the addresses of the copy."""

    def __init__(self, copy: BoardCopy, address: str, names: dict[str, str]) -> None:
        super().__init__(convert_charrefs=False)
        self.copy, self.address, self.names = copy, address, names
        self.written: list[str] = []
        # The element that is left out now, and how many of its name are open.
        self.left_out, self.depth = "", 0

    def rewrite(self, text: str) -> str:
        self.feed(text)
        self.close()
        return "".join(self.written)

    def write(self, text: str) -> None:
        if not self.left_out:
            self.written.append(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        classes = (dict(attrs).get("class") or "").split()
        if not self.left_out and any((tag, name) in USELESS for name in ["", *classes]):
            self.left_out = tag
        if tag == self.left_out:
            self.depth += 1
        if self.left_out:
            return
        self.write(self._tag(tag, attrs))
        if (tag, classes) == ("span", ["served"]):
            self.write(self._origin())
            self.left_out, self.depth = tag, 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self.left_out:
            self.write(self._tag(tag, attrs, "/"))

    def handle_endtag(self, tag: str) -> None:
        if tag == self.left_out:
            self.depth -= 1
            if self.depth:
                return
            self.left_out = ""
            if not self.written[-1].endswith(self._origin()):
                return
        self.write(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.write(data)

    def handle_entityref(self, name: str) -> None:
        self.write(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.write(f"&#{name};")

    def handle_comment(self, data: str) -> None:
        self.write(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self.write(f"<!{decl}>")

    def _origin(self) -> str:
        """Return what the foot of a page says instead of the time that its answer took."""
        board = reverse("board", args=[self.copy.track.address])
        link = f' of <a href="{escape(self.copy.site)}{board}">this board</a>'
        return f"Rankfield {settings.VERSION} · a copy{link if self.copy.site else ''}"

    def _tag(self, tag: str, attrs: list[tuple[str, str | None]], end: str = "") -> str:
        kept = [
            (name, self._link(value) if name in ADDRESSES and value else value)
            for name, value in attrs
            if not name.startswith("hx-")
        ]
        texts = [
            f" {name}" if value is None else f' {name}="{escape(value)}"'
            for name, value in kept
            if not (name in ADDRESSES and value is None)
        ]
        return f"<{tag}{''.join(texts)}{end}>"

    def _link(self, link: str) -> str | None:
        """Return where a link leads in the copy, or on the site; None if it leads nowhere."""
        if link.startswith("#") or not is_local(urlsplit(link)):
            return link
        whole = urlsplit(urljoin(self.address, link))
        fragment = f"#{whole.fragment}" if whole.fragment else ""
        target = whole._replace(fragment="").geturl()
        name = self.names.get(target)
        if name is None and is_static(target):
            self.copy.statics.add(whole.path)
            name = whole.path.removeprefix("/")
        if name is not None:
            return quote(relpath(name, dirname(self.names[self.address]) or ".")) + fragment
        return f"{self.copy.site}{target}{fragment}" if self.copy.site else None


FOLDER = "copies"


@transaction.atomic
def ask_for_copy(track: Track, site: str) -> None:
    """Queue a new copy of the pages, unless not everybody sees the scores."""
    if is_released(track):
        copy, _ = PagesCopy.objects.update_or_create(track=track, defaults={"site": site})
        queue.enqueue("copy_pages", copy)


def copy_pages(copy_id: str, progress: Progress) -> Publish:
    """Store the public pages of a track as one zip file."""
    copy = PagesCopy.objects.select_related("track").get(pk=copy_id)
    copied_at = timezone.now()
    members = copy_board(copy.track, copy.site, progress)
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file:
        for piece in stream_zip(members):
            file.write(piece)
        size = file.tell()
        file.seek(0)
        name = default_storage.save(f"{FOLDER}/{copy.pk}-{secrets.token_hex(4)}", File(file))
    # The cleanup deletes the file of an earlier copy.
    made = {"file": name, "size": size, "copied_at": copied_at}
    return lambda: record_copy(copy.pk, made)


def record_copy(copy_id: int, made: dict[str, Any]) -> None:
    PagesCopy.objects.filter(pk=copy_id).update(**made)
