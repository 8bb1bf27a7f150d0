"""A real browser on a real site: `manage.py serve`, Chromium, and two watchers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.builders import DOCUMENTS, OTHER_RUN, QRELS, RUN, TOPICS
from tests.services.conftest import sqlite_site
from tests.services.machines import Site, until

__all__ = ["sqlite_site"]

# More than a page of topics, of a ranking, and of what is not dense.
MANY = range(1, 121)
RUNS = 45
CHROMIUM = shutil.which("chromium")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # One browser and one site serve all these tests, so they stay on one process.
    for item in items:
        if "tests/browser" in str(item.path):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.xdist_group("browser"))


# Playwright keeps a loop of asyncio, beside which Django reads no database: it ends with these
# tests, and others of the same process go on.
@pytest.fixture(scope="package")
def browser() -> Iterator[object]:
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright installed")
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        # Or axe measures colours in the middle of a change.
        chromium.new_context = partial(chromium.new_context, reduced_motion="reduce")
        yield chromium
        chromium.close()


MAKE_DRAFT = (
    "from leaderboard.models import Track; Track.objects.filter(slug='draft').update(is_draft=True)"
)


@pytest.fixture(scope="package")
def scene(sqlite_site: Site) -> Site:
    """Ada's open track with a baseline, a blind track, a draft, and a machine's judgments."""
    token = sqlite_site.manage("create_token", "ada", "--organiser")
    files = {"topics": TOPICS, "documents": DOCUMENTS, "judgments": QRELS}
    parts = {name: SimpleUploadedFile(name, text.encode()) for name, text in files.items()}
    sqlite_site.ask("/collections", token, slug="bread", name="Bread", **parts)
    until(
        lambda: sqlite_site.ask("/collections/bread", token)["state"] == "ready", "Bread is ready"
    )
    import_answers(sqlite_site, token)
    for slug in ("open", "blind"):
        sqlite_site.ask("/tracks", token, track_called(slug, disclosure=slug))
    sqlite_site.ask("/tracks", token, track_called("draft"))
    sqlite_site.manage("shell", "-c", MAKE_DRAFT)
    run = SimpleUploadedFile("baseline.run", OTHER_RUN.encode())
    sent = sqlite_site.ask("/tracks/open/runs", token, file=run)
    until(lambda: is_scored(sqlite_site, token, sent["id"]), "the baseline is scored")
    return sqlite_site


def import_answers(scene: Site, token: str) -> None:
    """Import a machine's judgments, so that its card and its board have pages."""
    file = SimpleUploadedFile("answers.qrels", QRELS.encode())
    card = {"model": "GPT-4o", "prompt": "Grade this."}
    scene.ask("/collections/bread/machine-judgments", token, file=file, version="m1", **card)
    version = "/collections/bread/judgments/m1"
    until(lambda: scene.ask(version, token)["state"] == "ready", "the machine's judgments")


def track_called(slug: str, **others: Any) -> dict[str, Any]:
    return {
        "slug": slug,
        "name": f"Bread, {slug}",
        "collection": "bread",
        "judgments": "v1",
        "measures": ["AP", "nDCG@10", "P@5"],
        "primary_measure": "AP",
        **others,
    }


# Tracks with little to show, or not yet, or not all of it.
ODD: dict[str, dict[str, Any]] = {
    "unjudged": {"judgments": None, "disclosure": "open"},
    "empty": {"disclosure": "open"},
    "planned": {"opens_at": "2036-01-01T00:00:00Z"},
    "rounded": {"disclosure": "leaderboard", "closes_at": "2036-01-01T00:00:00Z"},
}


@pytest.fixture(scope="package")
def odd(scene: Site) -> Site:
    """The same site with a track in each odd state; the rounded one lost a run to its organisers,
    the one without judgments has a run that waits for them."""
    token = scene.manage("create_token", "ada", "--organiser")
    for slug, others in ODD.items():
        scene.ask("/tracks", token, track_called(slug, **others))
    sent = [
        scene.ask(f"/tracks/{slug}/runs", token, file=SimpleUploadedFile("a.run", text.encode()))
        for slug, text in (
            ("unjudged", RUN),
            ("rounded", RUN),
            ("rounded", OTHER_RUN.replace("other", "more")),
            ("rounded", OTHER_RUN),
        )
    ]
    until(lambda: all(is_scored(scene, token, run["id"]) for run in sent[1:]), "they are scored")
    scene.manage("shell", "-c", TAKE_OFF)
    return scene


# As the form of the page does it.
TAKE_OFF = (
    "from leaderboard.actions import runs; from leaderboard.models import Run;"
    " r = Run.objects.get(track__slug='rounded', tag='other');"
    " runs.remove_run(r, r.track.collection.owner, 'disqualified', 'Trained on the topics.')"
)


@pytest.fixture(scope="package")
def crowd(scene: Site) -> Site:
    """The same site with a long board beside: tests, costs, and pages of everything."""
    token = scene.manage("create_token", "ada", "--organiser")
    parts = {"topics": many_topics(), "judgments": many_qrels()}
    files = {name: SimpleUploadedFile(name, text.encode()) for name, text in parts.items()}
    scene.ask("/collections", token, slug="many", name="Many topics", **files)
    until(lambda: scene.ask("/collections/many", token)["state"] == "ready", "it is ready")
    track = {
        "slug": "many",
        "name": "Many runs",
        "collection": "many",
        "judgments": "v1",
        "measures": ["AP", "nDCG@10", "P@10"],
        "primary_measure": "AP",
        "disclosure": "open",
    }
    scene.ask("/tracks", token, track)
    sent = [send_one_of_many(scene, token, number) for number in range(RUNS)]
    until(lambda: all(is_scored(scene, token, run) for run in sent[-3:]), "the runs are scored")
    scene.manage("shell", "-c", BASELINE)
    return scene


# As the form of the page does it.
BASELINE = (
    "from leaderboard.actions import tracks; from leaderboard.models import Track;"
    " t = Track.objects.get(slug='many');"
    " tracks.choose_baseline(t, t.collection.owner, t.runs.get(tag='run-20'))"
)


def many_topics() -> str:
    return "".join(f"<top>\n<num> {n}\n<title> about {n}\n</top>\n" for n in MANY)


def many_qrels() -> str:
    return "".join(f"{n} 0 d{n}-{k} {k % 3}\n" for n in MANY for k in range(30))


def send_one_of_many(scene: Site, token: str, number: int) -> str:
    """A run whose documents are shifted by its number, so no two are alike."""
    lines = [
        f"{n} Q0 d{n}-{(k * 7 + number * (n % 5 + 1)) % 45} {k + 1} {60 - k} run-{number}\n"
        for n in MANY
        for k in range(25)
    ]
    file = SimpleUploadedFile(f"run-{number}.run", "".join(lines).encode())
    figure = {"what": "seconds_per_topic", "value": 0.1 * (number + 1), "unit": "s"}
    facts = {"efficiency": [figure | {"origin": "tool"}]}
    return scene.ask("/tracks/many/runs", token, file=file, facts=json.dumps(facts))["id"]


def is_scored(scene: Site, token: str, run: str) -> bool:
    return scene.ask(f"/runs/{run}", token)["state"] == "scored"


@pytest.fixture
def page(browser, scene: Site) -> Iterator[object]:
    """A tab whose console must stay silent: what the policy forbids is said there."""
    context = browser.new_context(base_url=scene.url, viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    yield tab
    context.close()
    refused = ("status of 403", "status of 404", "status of 410", "net::ERR_FAILED")
    unasked = [words for words in said if not any(each in words for each in refused)]
    assert unasked == [], scene.said("serve")[-5000:]
