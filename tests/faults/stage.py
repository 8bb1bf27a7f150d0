"""A small collection on a site, a track for each fault, and what was sent to it."""

from __future__ import annotations

import hashlib
import http.client
import json
import random
import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO

from django.core.files.uploadedfile import SimpleUploadedFile

from evaluation.judging import judge, prepare
from evaluation.measures import parse_measure
from evaluation.reading.judging.qrels import read_qrels
from evaluation.reading.runs.reader import read_run_plainly
from tests.faults import witness
from tests.faults.judging import Judge, open_assessment
from tests.faults.profiles import Hurtable
from tests.services.holding import begun
from tests.services.machines import until
from tests.services.people import Person, sign_up

# A worker that lives begins again what was cut off, and looks at what waits, within so long.
PROMISE = 15.0
TOPICS = 300
JUDGED = 20
DEPTH = {"small": 10, "large": 500}
# So long may a worker take for one, on a machine that does other things too.
WORK = {"small": 0.6, "large": 8.0}
MEASURES = ["AP", "nDCG@10", "P@10"]
QUOTA = 100_000


def topics_file() -> bytes:
    return "".join(f"{number}\ttopic {number}\n" for number in range(TOPICS)).encode()


def qrels_file(version: str = "v1") -> bytes:
    """Those of v2 judge the same documents otherwise."""
    turn = int(version[1:])
    return "".join(
        f"{number} 0 d{docno} {(docno * turn + turn) % 4}\n"
        for number in range(TOPICS)
        for docno in range(JUDGED)
    ).encode()


def run_file(tag: str, size: str) -> bytes:
    """Some five megabytes, or a hundred kilobytes; no two tags give the same."""
    chance = random.Random(tag)
    lines = []
    for number in range(TOPICS):
        docnos = chance.sample(range(5 * DEPTH[size]), DEPTH[size])
        lines += [
            f"{number} Q0 d{docno} {rank} {DEPTH[size] - rank}.5 {tag}\n"
            for rank, docno in enumerate(docnos, start=1)
        ]
    return "".join(lines).encode()


@cache
def judgments(version: str):
    topics = [str(number).encode() for number in range(TOPICS)]
    return prepare(read_qrels(BytesIO(qrels_file(version))), topics)


def oracle(file: bytes, version: str = "v1") -> dict[str, bytes]:
    """What an undisturbed run scores, topic by topic, to the last bit."""
    judged = judge(read_run_plainly(BytesIO(file)), judgments(version))
    return {text: parse_measure(text).resolved(1).scores(judged).tobytes() for text in MEASURES}


@dataclass(frozen=True)
class Answer:
    """What a sender was told: 0 where the connection broke."""

    status: int
    body: dict
    retry_after: str
    seconds: float


@dataclass(frozen=True)
class Sent:
    tag: str
    size: str
    file: str = "run.txt"

    @property
    def bytes(self) -> bytes:
        return run_file(self.tag, self.size)

    @property
    def key(self) -> str:
        """A sender who was not answered asks again with the same key."""
        return hashlib.sha256(self.tag.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Job:
    state: str
    worker: str
    attempts: int
    handed_back: int


@dataclass
class Stage:
    """A site with Ada, Ben, a collection, Cat at an open assessment, and the database watched."""

    site: Hurtable
    ada: str = ""
    ben: Person = None
    cat: Judge = None
    # Stored files that a fault itself took away or changed.
    damaged: set[str] = field(default_factory=set)

    def prepare(self) -> None:
        self.ada = self.site.manage("create_token", "ada", "--organiser")
        self.ben = sign_up(self.site, "ben")
        witness.watch(self.site)
        self.site.ask(
            "/collections",
            self.ada,
            slug="small",
            name="Small",
            topics=SimpleUploadedFile("topics.tsv", topics_file()),
            judgments=SimpleUploadedFile("qrels.txt", qrels_file()),
        )
        until(lambda: self.site.ask("/collections/small", self.ada)["state"] == "ready", "ready")
        self.cat = open_assessment(self.site, self.ada)

    def scene(self, name: str) -> Scene:
        """A new track, open to all."""
        slug = f"{name[:40].lower()}-{secrets.token_hex(3)}"
        self.site.ask(
            "/tracks",
            self.ada,
            body={
                "slug": slug,
                "name": slug,
                "collection": "small",
                "judgments": "v1",
                "measures": MEASURES,
                "primary_measure": "AP",
                "disclosure": "open",
                "quota_total": QUOTA,
                "quota_per_day": None,
            },
        )
        return Scene(self, slug)


@dataclass
class Scene:
    """A track, and everything that was sent to it and answered."""

    stage: Stage
    slug: str
    version: str = "v1"
    sent: dict[str, Sent] = field(default_factory=dict)
    # Those that do not end as scored, by the state that they end in; erased ones have none.
    otherwise: dict[str, str] = field(default_factory=dict)
    number: int = 0
    # Since when everything is there that healing needs.
    whole_since: float = 0.0

    @property
    def site(self) -> Hurtable:
        return self.stage.site

    def another(self, size: str, file: str = "run.txt") -> Sent:
        self.number += 1
        return Sent(f"{self.slug[-6:]}-{self.number}", size, file)

    def post(self, sent: Sent, timeout: float = 60) -> Answer:
        """One try to send it."""
        form = {"file": SimpleUploadedFile(sent.file, sent.bytes)}
        token = self.stage.ben.token
        request = self.site.request(f"/tracks/{self.slug}/runs", token, **form)
        request.add_header("Idempotency-Key", sent.key)
        began = time.monotonic()
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                status, said, after = answer.status, answer.read(), ""
        except urllib.error.HTTPError as error:
            with error:
                status, said = error.code, error.read()
                after = error.headers.get("Retry-After") or ""
        except (OSError, http.client.HTTPException):
            return Answer(0, {}, "", time.monotonic() - began)
        answer = Answer(status, read_json(said), after, time.monotonic() - began)
        if status in (200, 201):
            self.sent[answer.body["id"]] = sent
        return answer

    def send(self, size: str = "small", file: str = "run.txt", ends: str = "scored") -> str:
        """Upload a run; its id."""
        answer = self.post(self.another(size, file))
        assert answer.status == 201, answer
        if ends != "scored":
            self.otherwise[answer.body["id"]] = ends
        return answer.body["id"]

    def send_until_taken(self, sent: Sent) -> list[Answer]:
        """Try again as a careful program does, until there is an answer with an id."""
        answers = [self.post(sent)]
        while answers[-1].status not in (200, 201):
            assert len(answers) < 200, answers[-1]
            time.sleep(0.3)
            answers.append(self.post(sent))
        return answers

    def send_many(self, number: int, size: str = "small", at_once: int = 8) -> list[Answer]:
        """Every try of each."""
        runs = [self.another(size) for _ in range(number)]
        with ThreadPoolExecutor(at_once) as threads:
            return [answer for each in threads.map(self.send_until_taken, runs) for answer in each]

    def job(self, run: str) -> Job:
        rows = self.site.rows(
            "select state, worker, attempts, handed_back from leaderboard_job "
            f"where kind = 'check_run' and target_id = '{run}' order by id"
        )
        return Job(*rows[-1])

    def run(self, run: str) -> dict:
        return self.site.ask(f"/runs/{run}", self.stage.ben.token)

    def begun(self) -> AbstractContextManager[str]:
        """Upload a run that a worker begins and cannot end meanwhile; its id."""
        return begun(self.site, lambda: self.send("large"))

    def is_begun(self, run: str) -> None:
        """Or even done, by a quick worker."""
        until(lambda: self.job(run).state != "queued", f"run {run} is begun")

    def worker_of(self, run: str) -> int:
        """The main process of the worker that has this run in hand."""
        return self.site.worker_named(self.job(run).worker)

    def heal(self) -> float:
        """Seconds until nothing more happens to what was sent; fails beyond the promise."""
        began = self.whole_since or time.monotonic()
        work = sum(WORK[each.size] for each in self.sent.values())
        until(lambda: not self.unfinished(), f"all of {self.slug} is done", PROMISE + work)
        return time.monotonic() - began

    def is_begun_again(self, run: str) -> None:
        """Within the promise from now on; whatever there is to do is done later."""
        self.whole_since = time.monotonic()
        again = "begins again what was cut off"
        until(lambda: sum(self.tries(run)) == 2, f"a worker that lives {again}", PROMISE)

    def tries(self, run: str) -> tuple[int, int]:
        """Attempts, and those that were handed back."""
        job = self.job(run)
        return job.attempts, job.handed_back

    def unfinished(self) -> list:
        return self.site.rows(
            "select run.id from leaderboard_run run join leaderboard_track track "
            f"on track.id = run.track_id where track.slug = '{self.slug}' "
            "and run.state in ('queued', 'checking', 'scoring')"
        ) or self.site.rows(f"select id from leaderboard_job where {OPEN} limit 1")

    def erased(self, runs: Iterable[str]) -> None:
        for run in runs:
            self.sent.pop(run)


# What a newer version queued is left alone.
# What waits for its time, such as an announcement in ten minutes, is not open yet.
OPEN = "state in ('queued', 'running') and kind not in ('of_tomorrow', 'announce_judgments')"


def read_json(said: bytes) -> dict:
    try:
        return json.loads(said)
    except ValueError:
        return {"text": said.decode(errors="replace")}
