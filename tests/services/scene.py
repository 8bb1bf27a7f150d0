"""A track with judgments and large runs, made over HTTP the way a program would."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import psycopg
from django.core.files.uploadedfile import SimpleUploadedFile

from tests import builders as bread
from tests.services.holding import begun
from tests.services.machines import Site, until

TOPICS = 300
DEPTH = 1000
JUDGED = 20
MEASURES = ["AP", "nDCG@10", "P@10"]


@dataclass(frozen=True)
class Job:
    state: str
    worker: str
    attempts: int
    handed_back: int


@dataclass(frozen=True)
class Track:
    """Ada's open track on a site; she submits for the organisers."""

    site: Site
    token: str

    def submit(self, tag: str) -> str:
        """Upload a run that takes a moment to score; its id."""
        file = SimpleUploadedFile("run.txt", run_file(tag))
        return self.site.ask("/tracks/large/runs", self.token, file=file)["id"]

    def run(self, run: str) -> dict:
        return self.site.ask(f"/runs/{run}", self.token)

    def job(self, run: str) -> Job:
        [row] = self.site.rows(
            "select state, worker, attempts, handed_back from leaderboard_job "
            f"where kind = 'check_run' and target_id = '{run}'"
        )
        return Job(*row)

    def begun(self, tag: str) -> AbstractContextManager[str]:
        """Upload a run that a worker begins and cannot end meanwhile; its id."""
        return begun(self.site, lambda: self.submit(tag))

    def worker_of(self, run: str) -> int:
        """The main process of the worker that has this run in hand."""
        return self.site.worker_named(self.job(run).worker)

    def at_work(self, runs: list[str]) -> set[str]:
        """The names of the workers that have one of these runs in hand."""
        jobs = [self.job(run) for run in runs]
        return {job.worker for job in jobs if job.state == "running"}

    @contextmanager
    def held(self) -> Iterator[None]:
        """On servers: nothing is written about the track, so whatever is begun waits."""
        with psycopg.connect(self.site.environment["DATABASE_URL"]) as other:
            other.execute("select 1 from leaderboard_track where slug = 'large' for no key update")
            yield

    def is_held(self, run: str) -> bool:
        """Whether the lease of its job lasts."""
        held = f"select lease_until > now() from leaderboard_job where target_id = '{run}'"
        return self.site.rows(held) == [(True,)]

    def scored_once(self, run: str) -> bool:
        """Scored, by one job, with one set of scores that has every measure once."""
        until(lambda: self.run(run)["state"] == "scored", f"run {run} is scored")
        sets = self.site.rows(
            "select count(distinct s.id), count(v.id) from leaderboard_scoreset s "
            f"join leaderboard_score v on v.score_set_id = s.id where s.run_id = '{run}'"
        )
        return sets == [(1, len(MEASURES))] and self.job(run).state == "done"


def make_track(site: Site) -> Track:
    token = site.manage("create_token", "ada", "--organiser")
    site.ask(
        "/collections",
        token,
        slug="large",
        name="Large",
        topics=SimpleUploadedFile("topics.tsv", topics_file()),
        judgments=SimpleUploadedFile("qrels.txt", qrels_file()),
    )
    until(
        lambda: site.ask("/collections/large", token)["state"] == "ready", "the collection is ready"
    )
    site.ask(
        "/tracks",
        token,
        body={
            "slug": "large",
            "name": "Large",
            "collection": "large",
            "judgments": "v1",
            "measures": MEASURES,
            "primary_measure": "AP",
            "disclosure": "open",
        },
    )
    return Track(site, token)


def topics_file() -> bytes:
    return "".join(f"{number}\ttopic {number}\n" for number in range(TOPICS)).encode()


def qrels_file() -> bytes:
    return "".join(
        f"{number} 0 d{docno} {docno % 4}\n" for number in range(TOPICS) for docno in range(JUDGED)
    ).encode()


def run_file(tag: str) -> bytes:
    """Some ten megabytes; no two tags give the same bytes or the same order."""
    chance = random.Random(tag)
    lines = []
    for number in range(TOPICS):
        docnos = chance.sample(range(5 * DEPTH), DEPTH)
        lines += [
            f"{number} Q0 d{docno} {rank} {DEPTH - rank}.5 {tag}\n"
            for rank, docno in enumerate(docnos, start=1)
        ]
    return "".join(lines).encode()


def scored_run(site: Site, token: str, slug: str) -> str:
    """A small collection with a track of this name, and a run that is scored on it; its id."""
    files = {"topics": bread.TOPICS, "documents": bread.DOCUMENTS, "judgments": bread.QRELS}
    parts = {name: bread.upload(name, text) for name, text in files.items()}
    site.ask("/collections", token, slug=slug, name=slug.title(), **parts)
    until(lambda: site.ask(f"/collections/{slug}", token)["state"] == "ready", "the collection")
    track = {"slug": slug, "name": slug.title(), "collection": slug, "judgments": "v1"}
    measures = {"measures": ["AP"], "primary_measure": "AP", "disclosure": "open"}
    site.ask("/tracks", token, body={**track, **measures})
    run: str = site.ask(f"/tracks/{slug}/runs", token, file=bread.upload("run", bread.RUN))["id"]
    until(lambda: site.ask(f"/runs/{run}", token)["state"] == "scored", "the run is scored")
    return run
