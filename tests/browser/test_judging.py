"""Documents are judged by keys, by mouse and on a phone, and no mark is lost on the way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.browser.test_pages import faults
from tests.services import judging_scene
from tests.services.machines import Site, until

SCENE = Path(judging_scene.__file__).read_text() + "\nmake('pam')\n"
COUNT = (
    "import json; from leaderboard.models import Mark;"
    " print(json.dumps(list(Mark.objects.filter(document__assignment={}).order_by('pk')"
    ".values_list('kind', 'grade', 'document', 'spans'))))"
)
# Longer than the keys sleep after a document is painted.
ARMED = 260
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
topics = count(1)


@pytest.fixture(scope="package")
def judged(scene: Site) -> Site:
    scene.manage("shell", "-c", SCENE)
    return scene


class Judge:
    """Pam before the next topic that no test has used."""

    def __init__(self, page, site: Site, assignment: int) -> None:
        self.page, self.site, self.assignment = page, site, assignment

    def press(self, key: str) -> None:
        """Press a key once a document is painted and has been there for a moment."""
        self.page.locator("[data-text] h2").wait_for()
        self.page.evaluate(PAINTED)
        self.page.wait_for_timeout(ARMED)
        self.page.keyboard.press(key)

    def marks(self) -> list[list]:
        """Kind, grade, document and passages of every mark that the site has."""
        said = self.site.manage("shell", "-c", COUNT.format(self.assignment))
        return json.loads(said.splitlines()[-1])

    def wait_for_marks(self, number: int) -> list[list]:
        return until(lambda: (got := self.marks())[number - 1 :] and got, f"{number} marks")

    @property
    def title(self) -> str:
        return self.page.locator("[data-text] h2").inner_text()

    @property
    def status(self) -> str:
        return self.page.locator("[data-status]").inner_text()


@pytest.fixture
def judge(page, judged: Site) -> Iterator[Judge]:
    page.goto("/account/login/")
    page.fill("[name=login]", "pam")
    page.fill("[name=password]", "pam-s-word")
    with page.expect_navigation():
        page.get_by_role("button", name="Sign in").click()
    page.goto("/judging/?all=next")
    number = page.locator("th bdi").get_by_text(str(next(topics)), exact=True)
    page.locator("tbody tr").filter(has=number).get_by_role("link").click()
    page.get_by_role("button", name="Start judging").click()
    page.wait_for_url("**/?tab=*")
    yield Judge(page, judged, int(page.locator("main").get_attribute("data-assignment")))


def test_twenty_documents_take_twenty_presses(judge):
    for number in range(20):
        judge.press(str(number % 3))
    marks = judge.wait_for_marks(20)
    assert [grade for _, grade, *_ in marks] == [number % 3 for number in range(20)]
    assert len({document for _, _, document, _ in marks}) == 20


@pytest.mark.night
def test_a_double_press_grades_nothing_unseen(judge):
    judge.press("2")
    judge.page.keyboard.press("2")
    judge.page.keyboard.press("2")
    judge.press("0")
    assert [grade for _, grade, *_ in judge.wait_for_marks(2)] == [2, 0]


@pytest.mark.night
def test_a_key_that_is_held_down_grades_once(judge):
    judge.page.wait_for_timeout(ARMED)
    for _ in range(5):
        judge.page.keyboard.down("1")
        judge.page.wait_for_timeout(ARMED)
    judge.page.keyboard.up("1")
    judge.press("0")
    assert [grade for _, grade, *_ in judge.wait_for_marks(2)] == [1, 0]


@pytest.mark.night
def test_keys_sleep_in_text_fields(judge):
    judge.press("c")
    judge.page.keyboard.type("2 boats sail")
    judge.page.keyboard.press("Escape")
    judge.press("1")
    assert [grade for _, grade, *_ in judge.wait_for_marks(1)] == [1]


def test_an_undo_shows_the_document_again(judge):
    first = judge.title
    judge.press("2")
    assert judge.title != first
    judge.press("z")
    assert judge.title == first
    judge.press("0")
    assert [kind for kind, *_ in judge.wait_for_marks(3)] == ["grade", "undo", "grade"]


@pytest.mark.night
def test_a_document_is_kept_for_later_or_cannot_be_judged(judge):
    judge.press("s")
    judge.press("x")
    judge.page.keyboard.press("Enter")
    assert [kind for kind, *_ in judge.wait_for_marks(2)] == ["later", "cannot"]


@pytest.mark.night
def test_who_looks_back_may_change_the_grade(judge):
    first = judge.title
    judge.press("2")
    judge.press("ArrowLeft")
    assert judge.title == first
    judge.press("1")
    assert judge.title != first
    assert [grade for _, grade, *_ in judge.wait_for_marks(2)] == [2, 1]


def test_marks_wait_for_the_network(judge):
    judge.press("1")
    judge.wait_for_marks(1)
    judge.page.route("**/marks/", lambda route: route.abort())
    for grade in "20":
        judge.press(grade)
    judge.page.locator("[data-unsent]", has_text="2 unsent").wait_for()
    judge.page.unroute("**/marks/")
    assert [grade for _, grade, *_ in judge.wait_for_marks(3)] == [1, 2, 0]


PAUSE = (
    "from leaderboard.models import Assessment;"
    " Assessment.objects.filter(track__slug='isle').update(state='{}')"
)


@pytest.mark.night
def test_marks_wait_while_the_judging_is_paused(judge):
    judge.press("1")
    judge.wait_for_marks(1)
    judge.site.manage("shell", "-c", PAUSE.format("paused"))
    judge.press("2")
    judge.page.locator("[data-unsent]", has_text="1 unsent. The judging is paused.").wait_for()
    judge.site.manage("shell", "-c", PAUSE.format("open"))
    assert [grade for _, grade, *_ in judge.wait_for_marks(2)] == [1, 2]


@pytest.mark.night
def test_unsent_marks_outlive_the_page(judge):
    judge.page.route("**/marks/", lambda route: route.abort())
    judge.press("2")
    other = judge.page.context.new_page()
    judge.page.close()
    other.goto(f"/judging/{judge.assignment}/")
    assert [grade for _, grade, *_ in judge.wait_for_marks(1)] == [2]


@pytest.mark.night
def test_two_tabs_show_different_documents(judge):
    other = judge.page.context.new_page()
    other.goto(f"/judging/{judge.assignment}/")
    assert other.locator("[data-text] h2").inner_text() != judge.title


SELECT_FERRY = """() => {
  const text = document.createTreeWalker(document.querySelector("p[data-start]"), 4);
  while (text.nextNode() && !text.currentNode.data.includes("Ferry"));
  getSelection().selectAllChildren(text.currentNode.parentNode);
}"""


@pytest.mark.night
def test_a_marked_passage_counts_characters(judge):
    """A ship is one character, of which JavaScript makes two."""
    while "🚢" not in judge.page.locator("[data-text]").inner_text():
        judge.press("0")
    judge.page.evaluate(SELECT_FERRY)
    judge.press("h")
    assert judge.page.locator("mark.span").inner_text() == "Ferry"
    judge.press("2")
    marks = until(lambda: [m for m in judge.marks() if m[1] == 2], "the grade is stored")
    assert marks[0][3] == [[2, 7]]


def test_a_phone_judges_by_touch(judge):
    judge.page.set_viewport_size({"width": 390, "height": 844})
    judge.page.wait_for_timeout(ARMED)
    judge.page.get_by_role("button", name="Touches it").click()
    assert [grade for _, grade, *_ in judge.wait_for_marks(1)] == [1]


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.night)])
def test_the_page_fits_and_axe_is_content(judge, scheme):
    page = judge.page
    page.emulate_media(color_scheme=scheme)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert faults(page) == []
