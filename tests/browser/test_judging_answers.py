"""Nuggets and support are judged by keys and on a phone, and close as marks of people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.browser.test_judging import ARMED, PAINTED
from tests.browser.test_pages import faults
from tests.services import judging_scene
from tests.services.machines import Site, until

pytestmark = pytest.mark.night

SCENE = Path(judging_scene.__file__).read_text() + "\nmake_answers('ivy', 'joe')\n"
COUNT = (
    "import json; from leaderboard.models import Mark;"
    " print(json.dumps(list(Mark.objects.filter(assessor__user__username='{}',"
    " document__assignment__assessor__assessment__pool__method='{}').order_by('pk')"
    ".values_list('kind', 'grade'))))"
)


@pytest.fixture(scope="package")
def answered(scene: Site) -> Site:
    scene.manage("shell", "-c", SCENE)
    return scene


def sign_in(page, name: str) -> None:
    page.goto("/account/login/")
    page.fill("[name=login]", name)
    page.fill("[name=password]", f"{name}-s-word")
    with page.expect_navigation():
        page.get_by_role("button", name="Sign in").click()


def begin(page, what: str) -> None:
    """Go to the answers or the pairs that wait for the one who signed in."""
    page.goto("/judging/?all=next")
    page.locator("tbody tr").filter(has_text=what).first.get_by_role("link").first.click()
    page.get_by_role("button", name="Start judging").click()
    page.wait_for_url("**/?tab=*")


def press(page, key: str) -> None:
    page.evaluate(PAINTED)
    page.wait_for_timeout(ARMED)
    page.keyboard.press(key)


def marks_of(site: Site, name: str, method: str, number: int) -> list[list]:
    def read() -> list[list] | None:
        said = site.manage("shell", "-c", COUNT.format(name, method))
        got = json.loads(said.splitlines()[-1])
        return got if len(got) >= number else None

    return until(read, f"{number} marks")


def test_two_people_judge_ten_answers_by_keys(page, answered):
    for name, keys in (("ivy", "1234"), ("joe", "3214")):
        sign_in(page, name)
        begin(page, "nuggets in answers")
        for number in range(60):
            page.locator("[data-asked] [aria-current]").wait_for()
            press(page, keys[number % 4])
        page.wait_for_url("**/end/**")
        assert len(marks_of(answered, name, "answers", 60)) == 60
        page.context.clear_cookies()


def test_support_is_judged_on_a_phone(page, answered):
    sign_in(page, "ivy")
    begin(page, "support of sentences")
    assert not faults(page)
    for key in "FPNC":
        press(page, key)
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(300)
    page.get_by_role("button", name="In full").click()
    assert [grade for _, grade in marks_of(answered, "ivy", "citations", 5)] == [2, 1, 0, 3, 2]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
