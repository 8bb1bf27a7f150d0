"""What befalls the database: it crashes, stays away, and has many writers."""

from __future__ import annotations

import sqlite3
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

from tests.faults.catalogue import fault
from tests.faults.reading import watching
from tests.faults.stage import Scene
from tests.services.machines import going_on

AWAY = 10
# Nobody waits longer to write.
LONGEST_WAIT = 5.0


@fault("F8", "servers", often="servers")
def database_crashes_in_scoring_and_in_uploads(scene: Scene) -> Iterator[None]:
    scene.is_begun(scene.send("large"))
    with ThreadPoolExecutor(1) as aside:
        sending = aside.submit(scene.send_many, 24)
        for _ in range(2):
            time.sleep(0.7)
            scene.site.postgres.stop()
            scene.site.postgres.start()
        answers = sending.result()
    yield
    statuses = {answer.status for answer in answers}
    assert statuses <= {200, 201, 503}, f"senders were told {sorted(statuses)}"
    assert all(answer.retry_after for answer in answers if answer.status == 503), "when to retry"


@fault("F9", "servers")
def database_stays_away(scene: Scene) -> Iterator[None]:
    scene.is_begun(scene.send("large"))
    scene.site.postgres.stop()
    began = time.monotonic()
    refused = scene.post(scene.another("small"))
    pages = [
        status_of(scene, path) for path in ("/", "/healthz", f"/benchmarks/{scene.slug}/board/")
    ]
    workers = scene.site.workers()
    time.sleep(max(0.0, AWAY - (time.monotonic() - began)))
    assert scene.site.workers() == workers, "no worker ended of it"
    scene.site.postgres.start()
    scene.send()
    yield
    assert (refused.status, bool(refused.retry_after)) == (503, True), refused
    assert set(pages) == {503}, pages


def status_of(scene: Scene, path: str) -> int:
    try:
        return urllib.request.urlopen(scene.site.url + path, timeout=30).status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@fault("F18", "embedded")
def many_write_and_read_at_once(scene: Scene) -> Iterator[None]:
    """Eight send, fifty read, two slots score, all on one SQLite file."""
    with (
        watching(scene, f"/benchmarks/{scene.slug}/board/", every=3, readers=50) as seen,
        waiting_to_write(scene) as waits,
    ):
        answers = scene.send_many(80, at_once=8)
    yield
    assert {answer.status for answer in answers} == {201}, "everything was taken at once"
    assert set(seen.statuses) == {200}, f"readers saw {sorted(set(seen.statuses))}"
    assert "database is locked" not in scene.site.said("serve"), "nobody was locked out"
    assert max(waits) < LONGEST_WAIT, f"a writer waited {max(waits):.1f} s"


@contextmanager
def waiting_to_write(scene: Scene) -> Iterator[list[float]]:
    """How long one more writer waits for its turn, again and again."""
    waits, over = [0.0], threading.Event()

    def go_on() -> None:
        path = scene.site.home / "rankfield.sqlite3"
        with closing(sqlite3.connect(path, timeout=60, isolation_level=None)) as line:
            while not over.wait(0.1):
                began = time.monotonic()
                line.execute("begin immediate")
                waits.append(time.monotonic() - began)
                line.execute("rollback")

    with going_on(over, [go_on]):
        yield waits
