"""T15: every page, with names, topics and documents that are scripts, in a real browser.

What would run says so by a dialog, and what the policy stops says so on the console; neither may
be heard, and no element of the attacker's may stand in any page.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.browser.crawling import pages_of
from tests.builders import OTHER_RUN, QRELS, RUN
from tests.security.hostile import DOCUMENTS, EVIL, SCRIPTS, TAG, TOPICS
from tests.services.machines import Site, until

WORD = "a-word-that-nobody-guesses"
# What an attacker's name would make of a page, where it were not text.
THEIRS = "[onerror], [onload], iframe, img[src=x], a[href^='javascript:'], main script"

MAKE_HOSTILE = f"""
from leaderboard.models import *
from leaderboard.models import User, Team, Run, Track, Collection
evil = {SCRIPTS!r}
Track.objects.filter(slug='hostile').update(name=evil[1], description=evil[0] + evil[7])
Collection.objects.filter(slug='hostile').update(name=evil[2], description=evil[3])
for n, team in enumerate(Team.objects.filter(benchmark__tracks__slug='hostile')):
    Team.objects.filter(pk=team.pk).update(name=(str(n) + evil[1])[:80], key=str(n))
runs = Run.objects.filter(track__slug='hostile')
runs.update(description=evil[4] + evil[1], filename=evil[1])
user = User.objects.get(username='mallory')
user.set_password({WORD!r}); user.first_name = evil[1]; user.save()
"""


@pytest.fixture(scope="package")
def hostile(scene: Site) -> Site:
    """A track of Mallory's in which everything that may be named is named to do harm."""
    token = scene.manage("create_token", "mallory", "--organiser")
    texts = {"topics": TOPICS, "documents": DOCUMENTS, "judgments": QRELS}
    files = {name: SimpleUploadedFile(EVIL, text.encode()) for name, text in texts.items()}
    scene.ask("/collections", token, slug="hostile", name=EVIL, **files)
    until(lambda: scene.ask("/collections/hostile", token)["state"] == "ready", "it is imported")
    track = {"slug": "hostile", "name": EVIL, "collection": "hostile", "judgments": "v1"}
    measures = {"measures": ["AP", "nDCG@10"], "primary_measure": "AP", "disclosure": "open"}
    scene.ask("/tracks", token, {**track, **measures, "description": EVIL})
    for text in (RUN.replace("ben-bm25", TAG), OTHER_RUN, TAG + "\n", "1 Q0 " + TAG + " 1 1 a\n"):
        file = SimpleUploadedFile("evil.run", text.encode())
        scene.ask("/tracks/hostile/runs", token, file=file, description=EVIL)
    done = {"scored", "refused"}
    until(
        lambda: {run["state"] for run in scene.ask("/tracks/hostile/runs", token)["items"]} <= done,
        "its runs are done",
    )
    scene.manage("shell", "-c", MAKE_HOSTILE)
    return scene


# What names stand on by day; by night every page that links lead to.
KINDS = [
    "/",
    "/benchmarks/hostile/board/",
    "/benchmarks/hostile/",
    "/benchmarks/hostile/topic/?number=1",
    "/benchmarks/hostile/desk/",
    "/benchmarks/hostile/manage/people/",
    "/collections/hostile/",
]


@pytest.fixture
def watched(browser, hostile: Site) -> Iterator[tuple[object, list[str]]]:
    """A tab of Mallory's, and what it said or tried to run."""
    context = browser.new_context(base_url=hostile.url)
    tab, said = context.new_page(), []
    tab.on("dialog", lambda dialog: (said.append(f"dialog {dialog.message}"), dialog.dismiss()))
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.goto("/account/login/")
    tab.get_by_label("Name").fill("mallory")
    tab.get_by_label("Password").fill(WORD)
    tab.get_by_role("button", name="Sign in").click()
    yield tab, said
    context.close()


def test_t15_no_kind_of_page_runs_what_a_name_says(watched):
    tab, said = watched
    assert opened(tab, KINDS) == [200] * len(KINDS)
    assert heard(said) == []


@pytest.mark.night
def test_t15_no_page_runs_what_a_name_says(watched):
    tab, said = watched
    pages = pages_of(tab, "/benchmarks/hostile/board/")
    assert {"board", "run", "topic", "ranking", "document", "desk", "collection"} <= set(pages)
    addresses = [*pages.values(), "/", "/collections/hostile/document/?docno=d1"]
    opened(tab, [*addresses, *(f"/search/?q={text}" for text in SCRIPTS[:4])])
    assert heard(said) == []


def opened(tab, addresses: list[str]) -> list[int]:
    """The statuses of pages of which none holds an element of theirs."""
    statuses = []
    for address in addresses:
        statuses.append(tab.goto(address).status)
        assert tab.locator(THEIRS).count() == 0, address
    return statuses


def heard(said: list[str]) -> list[str]:
    """What the tab said, but that something was refused."""
    refused = ("status of 403", "status of 404")
    return [words for words in said if not any(each in words for each in refused)]
