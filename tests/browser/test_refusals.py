"""What the server refuses stays on the page, in its words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.test_closing_circle import sign_in
from tests.browser.test_journey import WORD, choose, sign_up
from tests.browser.test_pages import faults
from tests.browser.test_walks import written
from tests.builders import RUN, make_result_lines

# A person needs about this long to look up; what was wiped before was never read.
LOOKS = 5_000


def submit(page, path: Path, content: str, button: str = "Submit run") -> None:
    choose(page, path, content)
    page.get_by_text("Checked in your browser").wait_for()
    page.get_by_role("button", name=button).click()


def change(scene, slug: str, **changed) -> None:
    token = scene.manage("create_token", "ada", "--organiser")
    scene.ask(f"/tracks/{slug}", token, changed, method="PATCH")


def alert_after(page, milliseconds: int = LOOKS) -> str:
    page.get_by_role("alert").wait_for()
    page.wait_for_timeout(milliseconds)
    assert page.get_by_role("alert").evaluate("box => getComputedStyle(box).backgroundColor")
    assert page.locator(".checks .ok").count() == 0
    return page.get_by_role("alert").inner_text()


@pytest.fixture
def sending(page, scene):
    """Fay on the form of a track that changes under her hands."""
    sign_up(page, f"fay-{next(NUMBERS)}")
    page.goto("/benchmarks/open/submit/")
    yield page
    change(scene, "open", closes_at=None, quota_total=None)


NUMBERS = iter(range(100))
REASONS = {
    "quota": ({"quota_total": 0}, "Your team has used 0 of 0 runs"),
    "deadline": ({"closes_at": "2020-01-01T00:00:00Z"}, "Closed: runs were accepted until"),
}


@pytest.mark.parametrize("changed, sentence", REASONS.values(), ids=REASONS)
def test_a_refusal_stays_in_red_with_what_to_do(sending, scene, tmp_path, changed, sentence):
    choose(sending, tmp_path / "a.run", RUN)
    sending.get_by_text("Checked in your browser").wait_for()
    change(scene, "open", **changed)
    sending.get_by_role("button", name="Submit run").click()
    said = alert_after(sending)
    assert sentence in said and "the organisers" in said and "kept below" in said
    assert "The server decided afterwards" in sending.locator("[data-check]").inner_text()
    assert faults(sending) == []


def test_what_is_said_of_a_repeated_file_outlives_the_way_to_its_run(sending, tmp_path):
    for _ in range(2):
        sending.goto("/benchmarks/open/submit/")
        submit(sending, tmp_path / "again.run", RUN.replace("9.0", "9.7"))
        sending.wait_for_url("**/runs/*/")
    sending.wait_for_timeout(LOOKS)
    assert "You already submitted this file" in sending.locator("#messages").inner_text()


def test_what_is_said_of_a_repeated_file_outlives_its_scoring(sending, scene, tmp_path):
    scene.pause_workers()
    for _ in range(2):
        sending.goto("/benchmarks/open/submit/")
        submit(sending, tmp_path / "again.run", RUN.replace("9.0", "9.6"))
        sending.wait_for_url("**/runs/*/")
    scene.continue_workers()
    sending.locator("#run-state").wait_for(state="detached")
    assert "You already submitted this file" in sending.locator("#messages").inner_text()


def test_what_is_said_of_results_outlives_their_import(page, scene, tmp_path):
    scene.manage("shell", "-c", WORD_OF_ADA)
    sign_in(page, "ada").goto("/benchmarks/open/manage/reported/")
    page.set_input_files("#import-results [name=file]", written(tmp_path, results=LINES))
    page.locator("[name=source]").fill("results.example.org")
    page.get_by_role("button", name="Check results").click()
    page.get_by_role("button", name="Import results").wait_for()
    scene.pause_workers()
    confirm_twice(page)
    assert "not awaiting confirmation" in page.locator("#messages").inner_text()
    scene.continue_workers()
    page.get_by_text("The newest is on the board of reported scores").wait_for()
    assert "not awaiting confirmation" in page.locator("#messages").inner_text()


WORD_OF_ADA = (
    "from leaderboard.models import User; ada = User.objects.get(username='ada');"
    " ada.set_password('ada-s-word'); ada.save()"
)
LINES = make_result_lines(one=0.5, two=0.25)


def confirm_twice(page) -> None:
    """In another tab first, then here."""
    other = page.context.new_page()
    other.goto(page.url)
    for tab in (other, page):
        with tab.expect_navigation():
            tab.get_by_role("button", name="Import results").click()
    other.close()


def test_an_answer_without_a_form_is_read_to_its_sender(sending, tmp_path):
    sending.route("**/submit/", lambda route: route.fulfill(status=403, body=FULL, headers=HTML))
    submit(sending, tmp_path / "b.run", RUN.replace("9.0", "9.8"))
    assert "The file is too large. Send 5 MiB." in alert_after(sending)


FULL = "<main><h1>The file is too large.</h1> <p>Send 5 MiB.</p></main>"
HTML = {"Content-Type": "text/html; charset=utf-8"}


def test_what_was_typed_outlives_a_session_that_ends(page, tmp_path):
    sign_up(page, "gus")
    page.goto("/benchmarks/open/submit/")
    choose(page, tmp_path / "c.run", RUN.replace("9.0", "9.9"))
    page.get_by_text("Checked in your browser").wait_for()
    page.locator("[name=description]").fill("Two hours of writing")
    page.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Submit run").click()
    page.get_by_text("You were signed out, so your form was not sent.").wait_for()
    page.get_by_label("Name", exact=True).fill("gus")
    page.get_by_label("Password", exact=True).fill(WORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/benchmarks/open/submit/")
    assert page.locator("[name=description]").input_value() == "Two hours of writing"
    assert "What you entered is back" in page.locator("#submit-form").inner_text()
