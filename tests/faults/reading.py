"""Somebody who looks at a page again and again, while something happens."""

from __future__ import annotations

import http.client
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.faults.stage import Scene
from tests.services.machines import going_on


@dataclass
class Seen:
    """The statuses of the answers, 0 where the connection broke, and the seconds of each."""

    statuses: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    last: bytes = b""

    def look(self, address: str) -> None:
        began = time.monotonic()
        try:
            with urllib.request.urlopen(address, timeout=60) as answer:
                self.last = answer.read()
                status = answer.status
        except urllib.error.HTTPError as error:
            with error:
                status = error.code
        except (OSError, http.client.HTTPException):
            status = 0
        self.statuses.append(status)
        self.seconds.append(time.monotonic() - began)


@contextmanager
def reading(scene: Scene, path: str, every: float = 0.1, readers: int = 1) -> Iterator[list[int]]:
    with watching(scene, path, every, readers) as seen:
        yield seen.statuses


@contextmanager
def watching(scene: Scene, path: str, every: float, readers: int) -> Iterator[Seen]:
    seen, over = Seen(), threading.Event()

    def go_on() -> None:
        seen.look(scene.site.url + path)
        while not over.wait(every):
            seen.look(scene.site.url + path)

    with going_on(over, [go_on] * readers):
        yield seen
