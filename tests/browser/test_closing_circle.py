"""From runs to a board on judgments that were made here, without leaving the site."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.browser.conftest import track_called
from tests.browser.test_judging import ARMED
from tests.browser.test_walks import Walk
from tests.browser.waiting import reload_until
from tests.builders import DOCUMENTS, OTHER_RUN, RUN, TOPICS
from tests.services.machines import Site, until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PEOPLE = """
from leaderboard.models import User
for name in ("ada", "pia", "rex"):
    user, _ = User.objects.get_or_create(username=name)
    user.set_password(f"{name}-s-word")
    user.save()
"""


def fill(scene: Site) -> None:
    """An open track without judgments, with a run of the organisers and another."""
    token = scene.manage("create_token", "ada", "--organiser")
    files = {
        name: SimpleUploadedFile(name, text.encode())
        for name, text in {"topics": TOPICS, "documents": DOCUMENTS}.items()
    }
    scene.ask("/collections", token, slug="creek", name="Creek", **files)
    until(lambda: scene.ask("/collections/creek", token)["state"] == "ready", "Creek is ready")
    track = track_called("creek", collection="creek", judgments=None, disclosure="open")
    scene.ask("/tracks", token, track)
    for text in (RUN, OTHER_RUN):
        run = SimpleUploadedFile("a.run", text.encode())
        sent = scene.ask("/tracks/creek/runs", token, file=run)["id"]
        until(lambda sent=sent: scene.ask(f"/runs/{sent}", token)["state"] == "valid", "valid")
    scene.manage("shell", "-c", PEOPLE)


def sign_in(page: Page, name: str) -> Page:
    page.goto("/account/login/")
    page.fill("[name=login]", name)
    page.fill("[name=password]", f"{name}-s-word")
    with page.expect_navigation():
        page.get_by_role("button", name="Sign in").click()
    return page


def judge_all(page: Page, first: str) -> None:
    """Judge every topic by keys: this grade for the first document, 2 for all others."""
    for key in iter_keys(first):
        page.goto("/judging/")
        begin = page.get_by_role("link", name=re.compile("Begin|Next topic"))
        if not begin.count():
            return
        begin.first.click()
        page.get_by_role("button", name="Start judging").click()
        page.wait_for_url("**/?tab=*")
        while "/end/" not in page.url:
            page.wait_for_timeout(ARMED)
            page.keyboard.press(key)
            page.wait_for_timeout(ARMED)
            key = "2"
        page.get_by_role("button", name="Finish topic").click()


def iter_keys(first: str) -> list[str]:
    return [first, *["2"] * 9]


def judge_by_two(walk: Walk, browser: Browser, scene: Site) -> None:
    """Pia and Rex come by the link of the draft and judge all; they differ on the first one."""
    page = walk.page
    link = page.locator("#judging-link").inner_text().strip()
    contexts = [browser.new_context(base_url=scene.url) for _ in range(2)]
    assessors = [
        sign_in(context.new_page(), name)
        for context, name in zip(contexts, ("pia", "rex"), strict=True)
    ]
    for assessor in assessors:
        assessor.goto(link)
        assessor.get_by_role("button", name="Become an assessor").click()
    page.reload()
    walk.press("Open judging")
    for assessor, first in zip(assessors, "20", strict=True):
        judge_all(assessor, first)
    for context in contexts:
        context.close()


@pytest.mark.night
def test_an_organiser_gets_from_runs_to_a_board(page, browser, scene):
    fill(scene)
    walk = Walk(sign_in(page, "ada"))
    page.goto("/benchmarks/creek/board/")
    walk.click("^Judging")
    for box in page.locator("[name=runs]").all():
        if not box.is_checked():
            box.check()
            walk.clicks += 1
    walk.press("Create pool")
    keep = page.get_by_role("button", name="Approve pool")
    keep.wait_for()
    walk.press("Approve pool")
    walk.click("Judge it here")
    walk.press("Make the draft")
    judge_by_two(walk, browser, scene)
    walk.click("^Disagreements")
    walk.click("^Settle")
    page.locator("button[name=grade]").first.click()
    walk.clicks += 1
    walk.click("^Progress")
    walk.click("Close and make v1")
    walk.press("Close and make the version")
    page.get_by_role("link", name="v1", exact=True).wait_for()
    walk.click("^v1$")
    use = page.get_by_role("button", name=re.compile("^(Use v1|Try v1)"))
    with page.expect_navigation():
        use.first.click()
    walk.clicks += 1
    page.goto("/benchmarks/creek/board/")
    reload_until(page, page.get_by_text("ben-bm25").count, "a board")
    assert walk.clicks <= 14
