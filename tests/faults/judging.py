"""One assessment of support that stays open while things break, and an assessor who goes on.

She judges whenever the site answers. What it did not confirm waits with its key, as in the offline
queue of a page, and is sent again with what came since. Some marks wait from the beginning.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from tests.services.machines import Site, until
from tests.services.people import Person, sign_up

TRACK = "judged"
SENTENCES = 500
# Marks that she makes without a connection before each fault.
OFFLINE = 3
PAUSE = 1.0
FULL, CONTRADICTED = 2, 3


@dataclass
class Judge:
    """Cat with her assignment: what she holds, what waits to be sent, and what was confirmed."""

    person: Person
    assignment: int
    held: deque[int] = field(default_factory=deque)
    unsent: list[dict[str, Any]] = field(default_factory=list)
    # The grade of each confirmed mark, by its key.
    confirmed: dict[str, int] = field(default_factory=dict)

    def fetch(self) -> None:
        """Hold the next pairs, as a page does that looks ahead."""
        found = self.person.ask(f"/assignments/{self.assignment}/next?most=20")["documents"]
        waiting = {mark["document"] for mark in self.unsent} | set(self.held)
        self.held.extend(each["document"] for each in found if each["document"] not in waiting)

    def mark(self) -> None:
        """Judge the next pair that she holds, if there is one."""
        if self.held:
            document = self.held.popleft()
            grade = CONTRADICTED if document % 5 == 0 else FULL
            key = secrets.token_hex(16)
            self.unsent.append({"document": document, "grade": grade, "key": key})

    def send(self) -> None:
        """Send all that waits; what is not confirmed stays."""
        waiting = list(self.unsent)
        answer = self.person.ask(f"/assignments/{self.assignment}/marks", {"marks": waiting})
        refused = [result for result in answer["results"] if result["code"]]
        assert not refused, refused
        self.confirmed |= {mark["key"]: mark["grade"] for mark in waiting}
        self.unsent = self.unsent[len(waiting) :]

    def go_on(self, stop: threading.Event) -> None:
        """Judge until it is said to stop; a site that does not answer is asked again."""
        while not stop.wait(PAUSE):
            self.mark()
            try:
                self.send()
                self.fetch()
            except (AssertionError, OSError, ValueError):
                continue

    @contextmanager
    def judging(self) -> Iterator[None]:
        """Begin with marks that wait; in the end everything is sent."""
        self.fetch()
        for _ in range(OFFLINE):
            self.mark()
        stop = threading.Event()
        thread = threading.Thread(target=self.go_on, args=(stop,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(120)
        until(self.has_sent, "all marks are taken", 60)

    def has_sent(self) -> bool:
        try:
            self.send()
        except (AssertionError, OSError):
            time.sleep(PAUSE)
            return False
        return not self.unsent


def open_assessment(site: Site, ada: str) -> Judge:
    """Sentences with a document each, pooled, and opened for Cat."""
    body = {"slug": TRACK, "name": TRACK, "collection": "small", "judgments": "v1"}
    body |= {"measures": ["AP"], "primary_measure": "AP", "run_kind": "answers"}
    site.ask("/tracks", ada, body=body)
    said = [{"text": f"Fact {n} is true.", "citations": [f"d{n}"]} for n in range(SENTENCES)]
    line = json.dumps({"metadata": {"run_id": "facts", "topic_id": "0"}, "responses": said})
    file = SimpleUploadedFile("facts.jsonl", line.encode())
    run = site.ask(f"/tracks/{TRACK}/runs", ada, file=file)["id"]
    until(lambda: site.ask(f"/runs/{run}", ada)["state"] == "scored", "the answers are scored")
    pools = f"/tracks/{TRACK}/pools"
    pool = site.ask(pools, ada, body={"method": "citations", "size": 1})["name"]
    until(lambda: site.ask(f"{pools}/{pool}", ada)["state"] == "proposed", "the pool is gathered")
    site.ask(f"{pools}/{pool}/approve", ada, method="POST")
    planned = {"pool": pool, "overlap": "none"}
    assessment = site.ask(f"/tracks/{TRACK}/assessments", ada, body=planned)
    cat = sign_up(site, "cat")
    cat.ask("/assessments/join", {"invitation": assessment["invitation"]})
    name = assessment["name"]
    site.ask(f"/tracks/{TRACK}/assessments/{name}/open", ada, method="POST")
    (own,) = cat.ask("/assessments")["items"]
    (topic,) = own["assignments"]
    return Judge(cat, topic["id"])
