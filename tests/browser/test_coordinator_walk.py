"""A coordinator from nothing to next year, and a team from its invitation to a score."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.browser.crawling import pages_of
from tests.browser.test_closing_circle import PEOPLE, judge_by_two
from tests.browser.test_pages import seen
from tests.browser.test_walks import Walk, written
from tests.builders import DOCUMENTS, OTHER_RUN, QRELS, RUN, TOPICS
from tests.services.machines import Site, until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.night

HOME = "/benchmarks/walked-lab"
# Where the first track is once there are others.
FIRST = f"{HOME}/tracks/walked-lab"
OTHERS = ("noa", "oli", "pam", "quin", "ria", "sam", "tea", "uma", "viv", "wim", "xen")
# To open a list and to choose from it.
CHOICE = 2
# In CSS pixels, at a width of 1280.
TALLEST_PAGE, TALLEST_FORM = 2000, 1000
HEIGHTS = """[document.documentElement, ...document.querySelectorAll("main .form")]
  .filter((each) => each.checkVisibility()).map((each) => Math.round(each.scrollHeight))"""
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


def test_a_coordinator_and_teams_from_nothing_to_the_next_year(page, browser, scene, tmp_path):
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
    for name in OTHERS:
        join_by_mail(page, scene, name)
    last = page.context.cookies()
    submit_again(page, tmp_path, OTHER_RUN)

    sign_in_as(page, cookies)
    page.goto(f"{HOME}/manage/messages/")
    lea.click("Teams without a run: 10 teams", "checkbox")
    lea.fill("subject", "Three days left")
    lea.fill("text", "Runs close *soon*.")
    lea.press("Preview message")
    lea.press("Send to 10 people")
    page.get_by_text("Sent to 10 people.").wait_for()

    judge_with_a_second_opinion(lea, browser, scene)
    add_a_part(lea, tmp_path)
    add_tracks(lea)
    release(lea)
    sign_in_as(page, last)
    page.goto(f"{FIRST}/board/")
    page.get_by_role("link", name="mia-bm25").first.wait_for()

    sign_in_as(page, cookies)
    assert page.request.get(f"{HOME}/manage/archive.zip").status == 200
    page.goto(f"{HOME}/manage/next-year/")
    lea.fill("name", "Walked lab, next year")
    lea.press("Copy benchmark")
    page.get_by_text("Copied. Check the dates of each track").wait_for()
    assert page.get_by_role("button", name="Remove").count() == 3

    wrong = measure_pages(page)
    assert not wrong, "\n".join(wrong)


def measure_pages(page) -> list[str]:
    """What is too long, too wide or a finding of axe on a page of this year or the next one."""
    wrong = []
    for address in pages_of(page, f"{HOME}/", f"{HOME}/manage/", within=("/benchmarks/",)).values():
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(address)
        # As it is opened: `seen` unfolds nothing either.
        tall, *forms = page.evaluate(HEIGHTS)
        wrong += [f"{address} is {tall} px tall"] if tall > TALLEST_PAGE else []
        wrong += [f"{address}: a form of {each} px" for each in forms if each > TALLEST_FORM]
        wrong += [f"{address} {each}" for each in seen(page)]
    return wrong


def submit_again(page, folder: Path, run: str) -> None:
    """The team that joined last submits another run."""
    page.set_input_files("[name=file]", written(folder, other=run))
    page.get_by_role("button", name=re.compile("Submit run|Submit 1 run")).first.click()
    page.wait_for_url("**/runs/*/")
    page.get_by_text("Scored").first.wait_for(timeout=30_000)


def judge_with_a_second_opinion(lea: Walk, browser, scene: Site) -> None:
    """Hide the scores, pool all runs, let two judge everything, and settle what differs."""
    page = lea.page
    scene.manage("shell", "-c", PEOPLE)
    page.goto(f"{HOME}/manage/section/scores/")
    page.locator("[name=disclosure][value=blind]").check()
    lea.press("Save this section")
    page.goto(f"{HOME}/pools/")
    for box in page.locator("[name=runs]").all():
        box.set_checked(True)
    lea.press("Create pool")
    page.get_by_role("button", name="Approve pool").wait_for(timeout=30_000)
    lea.press("Approve pool")
    lea.click("Judge it here")
    lea.press("Make the draft")
    judge_by_two(lea, browser, scene)
    lea.click("^Disagreements")
    lea.click("^Settle")
    page.locator("button[name=grade]").first.click()
    lea.click("^Progress")
    lea.click("Close and make v2")
    lea.press("Close and make the version")
    page.get_by_role("link", name="v2", exact=True).wait_for()


def add_a_part(lea: Walk, folder: Path) -> None:
    """Add a file with some judgments to those that were made here, and use both."""
    page = lea.page
    page.goto("/collections/walked-data/")
    page.set_input_files("[name=file]", written(folder, part="3 0 d12 1\n"))
    lea.press("Upload judgments")
    page.locator("[name=joining][value=join]").check(timeout=30_000)
    lea.press("^Import judgments")
    until(
        lambda: (
            page.goto(f"{HOME}/judgments/v3/impact/").status == 200
            and page.get_by_role("button", name=re.compile("Use v3|Try v3|Switch")).count()
        ),
        "a version of both parts",
    )
    page.get_by_role("button", name=re.compile("Use v3|Try v3|Switch")).first.click()


def add_tracks(lea: Walk) -> None:
    """Two further tracks, for which nobody joins again."""
    for name in ("Second track", "Third track"):
        lea.page.goto("/collections/walked-data/")
        lea.click("Run a benchmark")
        lea.click("Add a track to Walked lab")
        lea.fill("name", name)
        lea.press("Create the draft")
        lea.press("Open the track")
        lea.page.get_by_text("Track opened.").wait_for()


def release(lea: Walk) -> None:
    lea.page.goto(f"{FIRST}/manage/release/")
    lea.press("Release scores permanently")
    lea.page.get_by_text("Released. Everyone who sees the track").wait_for()


def sign_in_as(page, cookies: list[dict[str, object]]) -> None:
    page.context.clear_cookies()
    page.context.add_cookies(cookies)
