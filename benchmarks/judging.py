"""How fast documents are judged: a pool of 50,000 documents and twenty assessors at once.

    python -m benchmarks.judging [--only documents answers]

Web, workers, PostgreSQL and Redis run as in production.  Every second another assessor begins a
topic, then sends a mark a second, far faster than anybody reads; what is measured is the time until
the answer with the next document has arrived.  In Chromium it is the time from a key until the
next document is painted. Of answers, one assessor has 2,000 nuggets and 2,000 sentences to judge.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import threading
import time
from dataclasses import dataclass, field
from io import BytesIO
from random import Random

from benchmarks import tables
from benchmarks.loading import processor_of
from benchmarks.submission import processes_of
from benchmarks.tables import seconds
from tests.services.browsers import Browser
from tests.services.machines import Site

TOPICS, DEPTH, ASSESSORS = 50, 1000, 20
DOCUMENTS, WORDS = 20_000, 300
ANSWERS, FACTS = 20, 100
MARKS = 40
KEYS = 60
# Longer than the keys sleep after a document is painted.
ARMED = 260
PAINTED = """() => new Promise((done) => {
  const before = document.querySelector("[data-text]").textContent;
  const began = performance.now();
  const press = { key: "1", bubbles: true, cancelable: true };
  document.dispatchEvent(new KeyboardEvent("keydown", press));
  const look = () => document.querySelector("[data-text]").textContent === before
    ? requestAnimationFrame(look) : requestAnimationFrame(() => done(performance.now() - began));
  requestAnimationFrame(look);
})"""


def fill() -> None:
    """Make the pool and its assessors; runs in a shell of the site."""
    from django.core.files.uploadedfile import SimpleUploadedFile

    from leaderboard.actions import assessments, pools, submissions, tracks, uploads
    from leaderboard.models import Assessment, Collection, Pool, Track, User
    from leaderboard.models.assessments import GradeText
    from tests.services.machines import until

    ada = User.objects.create_user("ada", password="ada-s-word", can_organise=True)
    collection = Collection(slug="bench", name="Bench", owner=ada, asks_first=False)
    topics = "".join(f"{n}\t{_words(Random(n), 4)}\n" for n in range(1, TOPICS + 1))
    files = uploads.CollectionFiles(
        SimpleUploadedFile("topics.tsv", topics.encode()),
        SimpleUploadedFile("documents.jsonl", _documents()),
    )
    uploads.accept_collection(collection, files)
    until(
        lambda: Collection.objects.filter(pk=collection.pk, state="ready").exists(), "import", 600
    )
    collection.refresh_from_db()
    track = Track(slug="bench", name="Bench", collection=collection, measures=["AP"])
    track.primary_measure, track.depth = "AP", DEPTH
    tracks.open_track(track, ada)
    file = SimpleUploadedFile("bench.run", _run())
    run = submissions.accept_run(track, ada, file).run
    until(lambda: track.runs.filter(pk=run.pk, state="valid").exists(), "the run", 600)
    pool = pools.create_pool(track, ada, [run], Pool.Method.DEPTH, DEPTH)
    until(lambda: Pool.objects.filter(pk=pool.pk, state="proposed").exists(), "the pool", 600)
    pools.approve_pool(pool, ada)
    pool.refresh_from_db()
    assessment = Assessment(pool=pool, overlap="sample", overlap_size=10)
    scale = [GradeText(grade, f"Grade {grade}") for grade in (3, 2, 1, 0)]
    assessments.plan_assessment(assessment, ada, "Judge what is written.", scale)
    for number in range(ASSESSORS):
        user = User.objects.create_user(f"judge{number}", password=f"judge{number}-s-word")
        assessments.add_assessor(assessment, user)
    assessments.open_assessment(assessment, ada)


def fill_answers() -> None:
    """Make twenty answers with a hundred nuggets and sentences; runs in a shell of the site."""
    from tests.services.judging_scene import make_answers

    facts = [f"the harbour has {number} boats of class {number}" for number in range(FACTS)]
    make_answers("judge", opinions=1, answers=ANSWERS, facts=facts, said_of_each=FACTS)


def _words(random: Random, number: int) -> str:
    """Words of which few are frequent, as in a language."""
    return " ".join(f"word{int(random.paretovariate(0.7)) % 30_000}" for _ in range(number))


def _documents() -> bytes:
    written = BytesIO()
    for number in range(DOCUMENTS):
        random = Random(number)
        text = ". ".join(_words(random, 15) for _ in range(WORDS // 15))
        title = _words(random, 6)
        written.write(f'{{"_id": "d{number}", "title": "{title}", "text": "{text}."}}\n'.encode())
    return written.getvalue()


def _run() -> bytes:
    """A run with documents of its own for each topic, as far as there are enough."""
    step = DOCUMENTS // TOPICS
    lines = (
        f"{topic} Q0 d{(topic * step + rank) % DOCUMENTS} {rank} {DEPTH - rank} bench\n"
        for topic in range(1, TOPICS + 1)
        for rank in range(DEPTH)
    )
    return "".join(lines).encode()


@dataclass
class Told:
    """What the assessors measured, in seconds."""

    first: list[float] = field(default_factory=list)
    marks: list[float] = field(default_factory=list)


def judge(url: str, name: str, told: Told, place: int = 0) -> None:
    """One assessor: the first document of the topic in this place, then a mark a second."""
    browser = Browser(url, name)
    assignment = browser.assignments()[place]
    began = time.perf_counter()
    token = browser.start(assignment)
    told.first.append(time.perf_counter() - began)
    page = browser.read(f"/judging/{assignment}/")
    tab = re.search(r'data-tab="(\w+)"', page)[1]
    waiting = [int(re.search(r'data-document="(\d+)"', page)[1])]
    for number in range(MARKS):
        document = waiting.pop(0)
        mark = {"key": f"{name}-{number}", "document": document, "grade": number % 4, "seconds": 9}
        began = time.perf_counter()
        body = {"tab": tab, "marks": [mark], "have": [document, *waiting]}
        answer = browser.send(assignment, token, body)
        took = time.perf_counter() - began
        assert answer["results"][0]["code"] == "", answer
        told.marks.append(took)
        waiting += [one["document"] for one in answer["next"]]
        time.sleep(max(0.0, 1 - took))


def press_keys(url: str) -> list[float]:
    """Return the seconds from each key until the next document is painted."""
    from playwright.sync_api import sync_playwright

    took = []
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_context(base_url=url).new_page()
        page.goto("/account/login/")
        page.fill("[name=login]", "judge0")
        page.fill("[name=password]", "judge0-s-word")
        with page.expect_navigation():
            page.get_by_role("button", name="Sign in").click()
        page.goto("/judging/")
        page.get_by_role("link", name="Begin").first.click()
        page.get_by_role("button", name="Start judging").click()
        page.wait_for_url("**/?tab=*")
        for _ in range(KEYS):
            page.wait_for_timeout(ARMED)
            took.append(page.evaluate(PAINTED) / 1000)
        browser.close()
    return took


def row(what: str, measured: list[float], goal: str) -> tuple[str, ...]:
    ordered = sorted(measured)
    late = ordered[max(0, -(-len(ordered) * 95 // 100) - 1)]
    figures = (statistics.median(ordered), late, ordered[-1])
    return (what, str(len(ordered)), *map(seconds, figures), goal)


def measure_documents(site: Site) -> None:
    """Twenty assessors at once."""
    site.manage("shell", "-c", "from benchmarks.judging import fill; fill()")
    told = Told()
    threads = [
        threading.Thread(target=judge, args=(site.url, f"judge{number}", told))
        for number in range(ASSESSORS)
    ]
    for thread in threads:
        thread.start()
        # Not a whole second, so that they do not press their keys all at once.
        time.sleep(1.05)
    for thread in threads:
        thread.join()
    tables.heading(f"{TOPICS * DEPTH:,} documents, {ASSESSORS} assessors at once, PostgreSQL")
    rows = [
        row("first document of a topic", told.first, "1 s"),
        row("a mark, until the next document is there", told.marks, "100 ms (95th of 100)"),
        row("from a key to the next document", press_keys(site.url), "50 ms"),
    ]
    tables.table(HEAD, rows)


def measure_answers(site: Site) -> None:
    """One assessor with all pairs of a topic."""
    site.manage("shell", "-c", "from benchmarks.judging import fill_answers; fill_answers()")
    tables.heading(f"{ANSWERS * FACTS:,} open pairs of one assessor, PostgreSQL")
    rows, web = [], processes_of(site)[0]
    for place, what in enumerate(("nugget", "sentence")):
        told = Told()
        before = processor_of(web)
        judge(site.url, "judge", told, place)
        each = (processor_of(web) - before) / MARKS
        rows.append(row(f"first {what} of a topic", told.first, "1 s"))
        rows.append(row(f"a mark, until the next {what} is there", told.marks, "50 ms"))
        rows.append(row("processor of web for each mark, first pages included", [each], "50 ms"))
    tables.table(HEAD, rows)


HEAD = ("what", "times", "median", "95th of 100", "slowest", "goal")
PARTS = {"documents": measure_documents, "answers": measure_answers}


def main() -> None:
    from benchmarks.load import server_site

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    print(tables.machine(), flush=True)
    for name in parser.parse_args().only:
        with server_site() as site:
            PARTS[name](site)


if __name__ == "__main__":
    main()
