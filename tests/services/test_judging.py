"""Three assessors in two tabs each, a failing network, killed web: no mark is lost or doubled."""

from __future__ import annotations

import http.client
import json
import os
import random
import secrets
import signal
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from evaluation.marks import replay
from evaluation.reading.judging.marks import read_marks
from evaluation.settlement import settle
from tests.services import judging_scene
from tests.services.browsers import Browser
from tests.services.conftest import servers_by_day
from tests.services.machines import Site, children, until

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("services")]

NAMES = ("dan", "eve", "fay")
MARKS = 1000
# By marks and not by the clock, so that a slow machine is as far when web is killed.
BETWEEN_KILLS = 100
SCENE = Path(judging_scene.__file__).read_text() + "\nmake('dan', 'eve', 'fay', opinions=3)\n"
EXPORT = """
import sys
from evaluation.reading.judging.marks import write_marks
from leaderboard.assessments.judgments import load_marks
from leaderboard.models import Assessment
assessment = Assessment.objects.get(track__slug="isle")
sys.stdout.write(b"".join(write_marks(load_marks(assessment))).decode())
"""
SETTLE = """
import json
from leaderboard.assessments.judgments import settle_marks
from leaderboard.models import Assessment
assessment = Assessment.objects.get(track__slug="isle")
print(json.dumps([[s.topic, s.docno, s.grade] for s in settle_marks(assessment)]))
"""


@dataclass
class Tab:
    """One tab: it judges what it is given, and sends what is not confirmed again."""

    browser: Browser
    chance: random.Random
    done: list[dict[str, Any]] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)

    def judge(self, assignments: list[int], stop: threading.Event) -> None:
        for assignment in assignments:
            if stop.is_set():
                return
            self.judge_topic(assignment, stop)

    def judge_topic(self, assignment: int, stop: threading.Event) -> None:
        token = self.insist(lambda: self.browser.start(assignment))
        tab, unsent, waiting = secrets.token_hex(8), [], []
        while not stop.is_set():
            body = {
                "tab": tab,
                "marks": list(unsent),
                "have": [*waiting, *(m["document"] for m in unsent)],
            }
            answer = self.insist(lambda body=body: self.exchange(assignment, token, body))
            codes = {result["key"]: result["code"] for result in answer["results"]}
            for mark in unsent:
                (self.refused if codes[mark["key"]] else self.done).append(mark)
            waiting += [one["document"] for one in answer["next"]]
            if not waiting:
                return
            unsent = [
                mark
                for _ in range(self.chance.randint(1, 3))
                if waiting
                for mark in self.answer(waiting.pop(0))
            ]

    def answer(self, document: int) -> list[dict[str, Any]]:
        """A grade, perhaps taken back and given again; or later; or no grade."""
        what = self.chance.random()
        mark = {
            "key": secrets.token_hex(16),
            "document": document,
            "grade": self.chance.randrange(3),
        }
        if what < 0.05:
            return [{"key": mark["key"], "document": document, "kind": "later"}]
        if what < 0.08:
            return [{"key": mark["key"], "document": document, "kind": "cannot", "reason": "topic"}]
        if what < 0.16:
            undo = {
                "key": secrets.token_hex(16),
                "document": document,
                "kind": "undo",
                "replaces": mark["key"],
            }
            again = {**mark, "key": secrets.token_hex(16), "grade": self.chance.randrange(3)}
            return [mark, undo, again]
        return [mark]

    def exchange(self, assignment: int, token: str, body: dict[str, Any]) -> dict[str, Any]:
        """One answer in ten is lost on its way back, so everything is sent again."""
        answer = self.browser.send(assignment, token, body)
        if self.chance.random() < 0.1:
            raise ConnectionError("the answer was lost")
        return answer

    @staticmethod
    def insist(ask: Any) -> Any:
        for _ in range(300):
            try:
                return ask()
            except urllib.error.HTTPError as error:
                assert error.code in (502, 503, 500), error.read()[:500]
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.1)
        raise AssertionError("web did not come back")


def web_processes(site: Site) -> list[int]:
    """The processes of web that answer requests."""
    own = [pid for pid in children(site.web.pid) if pid not in site.workers()]
    return [pid for parent in own for pid in children(parent)] or own


@pytest.mark.night
@servers_by_day
def test_no_mark_is_lost_or_doubled(site: Site) -> None:
    site.manage("shell", "-c", SCENE)
    stop = threading.Event()
    tabs = [
        Tab(Browser(site.url, name), random.Random(f"{name} {n}")) for name in NAMES for n in (1, 2)
    ]
    threads = [
        threading.Thread(target=tab.judge, args=(tab.browser.assignments(), stop)) for tab in tabs
    ]
    for thread in threads:
        thread.start()
    kills = 0
    for due in range(BETWEEN_KILLS, MARKS + 1, BETWEEN_KILLS):
        until(lambda due=due: sum(len(tab.done) for tab in tabs) >= due, "marks are confirmed")
        for pid in web_processes(site):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                kills += 1
    stop.set()
    for thread in threads:
        thread.join(60)
    confirmed = {mark["key"] for tab in tabs for mark in tab.done}
    rows = site.rows("select key from leaderboard_mark")
    assert kills > 3 and len(confirmed) >= MARKS
    assert len(rows) == len(set(rows)) and confirmed <= {key for (key,) in rows}
    check_log(site)


def check_log(site: Site) -> None:
    """The exported log stands for the same grades as the tables, and settles to the same."""
    text = site.manage("shell", "-v", "0", "-c", EXPORT)
    read = read_marks(BytesIO(text.encode() + b"\n"))
    assert not read.problems.errors
    standing = {(mark.assessor, mark.topic, mark.docno): mark.grade for mark in replay(read.marks)}
    rows = site.rows(
        "select a.name, t.number, d.docno, m.grade from leaderboard_assigneddocument d"
        " join leaderboard_assignment s on s.id = d.assignment_id"
        " join leaderboard_assessor a on a.id = s.assessor_id"
        " join leaderboard_topic t on t.id = s.topic_id"
        " join leaderboard_mark m on m.id = d.mark_id where not d.is_repeat"
    )
    assert standing == {tuple(row[:3]): row[3] for row in rows}
    settled = [[one.topic, one.docno, one.grade] for one in settle(read.marks, "first")]
    assert settled == json.loads(site.manage("shell", "-v", "0", "-c", SETTLE).splitlines()[-1])
