"""Webhooks of other machines that hang: a whole site goes on scoring."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.builders import DOCUMENTS, OTHER_RUN, QRELS, RUN, TOPICS, upload
from tests.services.conftest import servers_by_day
from tests.services.machines import (
    ServerSite,
    Site,
    SqliteSite,
    binary,
    folder,
    own_postgres,
    own_redis,
    until,
)
from tests.services.people import Person, organiser

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("services")]

ANYWHERE = {"WEBHOOKS_ANYWHERE": "1"}


@pytest.fixture(params=["servers", pytest.param("embedded", marks=pytest.mark.night)])
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    """A site of its own, whose webhooks may lead to this machine."""
    with ExitStack() as stack:
        home = stack.enter_context(folder())
        made = servers(stack, home) if request.param == "servers" else SqliteSite(home)
        made.environment |= ANYWHERE
        stack.callback(made.close)
        made.open()
        yield made


def servers(stack: ExitStack, home: Path) -> ServerSite:
    if binary("initdb") is None or binary("redis-server") is None:
        pytest.skip("no servers on this machine: apt-get install postgresql redis-server")
    postgres, redis = stack.enter_context(own_postgres()), stack.enter_context(own_redis())
    return ServerSite(home, postgres, redis)


@dataclass
class Dripping:
    """A server that takes every call and answers a byte now and then, without end."""

    server: socket.socket
    open: set[int] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.getsockname()[1]}/"

    def take_calls(self) -> None:
        with suppress(OSError):
            while True:
                line = self.server.accept()[0]
                threading.Thread(target=self.drip, args=(line,), daemon=True).start()

    def drip(self, line: socket.socket) -> None:
        self.open.add(id(line))
        with line, suppress(OSError):
            line.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while True:
                line.sendall(b"x")
                time.sleep(0.2)
        self.open.discard(id(line))


@contextmanager
def dripping() -> Iterator[Dripping]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        made = Dripping(server)
        threading.Thread(target=made.take_calls, daemon=True).start()
        yield made
        server.shutdown(socket.SHUT_RDWR)


def open_track(ada: Person, webhooks: list[str]) -> None:
    files = {"topics": upload("topics.trec", TOPICS), "judgments": upload("qrels.txt", QRELS)}
    files["documents"] = upload("documents.jsonl", DOCUMENTS)
    ada.ask("/collections", slug="bread", name="Bread", **files)
    until(lambda: ada.ask("/collections/bread")["state"] == "ready", "the collection is ready")
    track = {"slug": "bread", "name": "Bread", "collection": "bread", "judgments": "v1"}
    ada.ask("/tracks", {**track, "measures": ["AP"], "primary_measure": "AP"})
    for url in webhooks:
        page = ada.send(
            "/benchmarks/bread/manage/webhooks/", url=url, happenings=["run.scored"], format="json"
        )
        assert url in page.text and page.status == 200, page.text


def submit(ada: Person, text: str) -> str:
    return ada.ask("/tracks/bread/runs", file=upload("run.txt", text))["id"]


def is_scored(ada: Person, run: str) -> bool:
    return ada.ask(f"/runs/{run}")["state"] == "scored"


@pytest.mark.night
@servers_by_day
def test_two_webhooks_that_hang_do_not_stop_scoring(site: Site) -> None:
    ada = organiser(site, "hooks-ada")
    with dripping() as one, dripping() as other:
        open_track(ada, [one.url, other.url])
        first = submit(ada, RUN)
        until(lambda: is_scored(ada, first), "the first run is scored")
        until(lambda: one.open or other.open, "a webhook is called")
        second = submit(ada, OTHER_RUN)
        until(lambda: is_scored(ada, second), "the second run is scored meanwhile", 10)
        assert one.open or other.open
        until(lambda: calls_ended(site) >= 2, "both calls are given up", 60)


def calls_ended(site: Site) -> int:
    [(number,)] = site.rows("select count(*) from leaderboard_delivery where tries > 0")
    return number
