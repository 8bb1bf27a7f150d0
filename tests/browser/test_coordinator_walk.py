"""A coordinator from nothing to next year, and a team from its invitation to a score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.test_walks import Walk, written
from tests.builders import DOCUMENTS, QRELS, RUN, TOPICS
from tests.services.machines import Site, until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.night

HOME = "/benchmarks/walked-lab"
# To open a list and to choose from it.
CHOICE = 2
INVITE = """
from leaderboard.models import Benchmark
from leaderboard.notifications.email import invitation_path
lab = Benchmark.objects.get(slug="walked-lab")
made = lab.invitations.create(email="{name}@example.org", invited_by=lab.owner)
print(invitation_path(made))
"""


def open_gated_lab(walk: Walk, folder: Path) -> None:
    """Files, a draft, who may download what, registration and agreement; then open it."""
    walk.page.goto("/")
    walk.click("Organise a benchmark")
    walk.click("Create account")
    walk.create_account("lea")
    walk.fill("name", "Walked data")
    for path in written(folder, topics=TOPICS, documents=DOCUMENTS, judgments=QRELS):
        walk.choose(path.name, path)
    walk.press("Check|Upload")
    walk.press("Import")
    walk.click("Run a benchmark")
    walk.fill("name", "Walked lab")
    walk.fill("closes_at", "2036-01-01T23:59")
    walk.press("Create the draft")
    walk.click("Describe the track")
    walk.fill("description", "Find what is written about loaves.")
    walk.fill("licence", "For the lab only")
    walk.page.locator("[name=topics_readers]").select_option("signed")
    walk.clicks += CHOICE
    walk.press("Save overview")
    walk.click("^Registration$")
    walk.click("Affiliation", "checkbox")
    walk.press("^Save$")
    walk.fill("text", "Do not pass the data on.")
    walk.press("Save as a new version")
    walk.click("^Set up$|^Organise$")
    walk.press("Open the track")
    walk.page.get_by_text("Track opened.").wait_for()


def join_by_mail(page, scene: Site, name: str) -> Walk:
    """Follow the link of a mail, make an account, and register with a signature."""
    link = scene.manage("shell", "-v", "0", "-c", INVITE.format(name=name)).strip()
    page.context.clear_cookies()
    walk = Walk(page)
    page.goto(link)
    page.get_by_text("You are invited by lea to take part in Walked lab").wait_for()
    walk.click("Create an account and join")
    walk.create_account(name)
    for field in ("person", "signed_name"):
        walk.fill(field, f"{name.capitalize()} Ode")
    walk.fill("affiliation", "University of Loaves")
    walk.page.locator("[name=signs]").check()
    walk.clicks += 1
    walk.press("^Join")
    page.wait_for_url("**/submit/", timeout=10_000)
    return walk


def test_a_coordinator_and_teams_from_nothing_to_the_next_year(page, scene, tmp_path):
    lea = Walk(page)
    open_gated_lab(lea, tmp_path)
    assert lea.clicks <= 20
    cookies = page.context.cookies()
    collection = "/collections/walked-data"
    page.context.clear_cookies()
    assert page.request.get(f"{collection}/topics.txt").status == 404

    team = join_by_mail(page, scene, "mia")
    assert page.request.get(f"{collection}/topics.txt").status == 200
    team.choose("file", *written(tmp_path, run=RUN.replace("ben-bm25", "mia-bm25")))
    team.press("Submit run|Submit 1 run")
    page.get_by_text("Scored").first.wait_for(timeout=30_000)
    assert team.clicks <= 6
    join_by_mail(page, scene, "noa")
    noa = page.context.cookies()

    sign_in_as(page, cookies)
    page.goto(f"{HOME}/manage/messages/")
    lea.click("Teams without a run: 1 team", "checkbox")
    lea.fill("subject", "Three days left")
    lea.fill("text", "Runs close *soon*.")
    lea.press("Preview message")
    lea.press("Send to 1 person")
    page.get_by_text("Sent to 1 person.").wait_for()
    sign_in_as(page, noa)
    page.goto("/account/notices/")
    page.get_by_role("link", name="Three days left").click()
    page.locator("em", has_text="soon").wait_for()

    sign_in_as(page, cookies)
    assert page.request.get(f"{HOME}/manage/archive.zip").status == 200
    page.goto(f"{HOME}/manage/next-year/")
    until(lambda: page.get_by_role("button").count(), "the form of a copy")


def sign_in_as(page, cookies: list[dict[str, object]]) -> None:
    page.context.clear_cookies()
    page.context.add_cookies(cookies)
