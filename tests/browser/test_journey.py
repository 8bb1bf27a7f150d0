"""From signing up to a judged document, as Ben does it."""

from __future__ import annotations

from pathlib import Path

from tests.builders import RUN

WORD = "a-word-that-nobody-guesses"


def sign_up(page, name: str) -> None:
    page.goto("/account/signup/")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Password", exact=True).fill(WORD)
    page.get_by_label("Repeat password").fill(WORD)
    page.get_by_role("button", name="Create account").click()
    page.wait_for_url("**/")


def choose(page, path: Path, content: str) -> None:
    path.write_text(content)
    page.set_input_files("[name=file]", path)


def test_a_run_is_sent_watched_and_opened(page, tmp_path):
    sign_up(page, "ben")
    page.goto("/benchmarks/open/board/")
    page.get_by_role("link", name="Submit a run").first.click()
    choose(page, tmp_path / "ben.run", RUN)
    page.get_by_text("Checked in your browser").wait_for()
    page.get_by_role("button", name="Submit run").click()
    page.wait_for_url("**/runs/*/")
    page.get_by_role("heading", name="Summary").wait_for(timeout=20_000)
    assert page.locator(".chip").inner_text() == "Scored"
    page.get_by_role("navigation", name="Run").get_by_role("link", name="Topics").click()
    page.get_by_role("link", name=".5833").click()
    page.get_by_role("heading", name="Retrieved documents").wait_for()
    page.get_by_text("Document 6").click()
    assert "Loaf 6 of twelve" in page.locator("main").inner_text()


def test_a_faulty_run_is_told_before_and_after_it_is_sent(page, tmp_path):
    sign_up(page, "dan")
    page.goto("/benchmarks/open/submit/")
    choose(page, tmp_path / "bad.run", RUN.replace("9.0", "nan", 1))
    page.get_by_text("not a finite number").wait_for()
    page.get_by_role("button", name="Submit run").click()
    page.wait_for_url("**/runs/*/")
    page.get_by_text("Rejected: 1 error of 1 type").wait_for(timeout=20_000)
    assert page.locator(".code").last.inner_text() == "E_SCORE"


def test_arrow_keys_go_from_topic_to_topic(page):
    page.goto("/benchmarks/open/topic/?number=1")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**number=2")


def test_a_deadline_is_said_in_the_readers_own_time(browser, scene):
    token = scene.manage("create_token", "ada", "--organiser")
    scene.ask("/tracks/blind", token, {"closes_at": "2036-01-01T00:00:00Z"}, method="PATCH")
    context = browser.new_context(base_url=scene.url, timezone_id="Asia/Tokyo", locale="en-GB")
    page = context.new_page()
    page.goto("/benchmarks/blind/board/")
    said = page.locator(".head").first.inner_text()
    assert "31 Dec 2035, 12:00 AoE (1 Jan, 09:00 your time), in " in said
    context.close()


def test_everything_works_without_javascript(browser, scene, tmp_path):
    context = browser.new_context(base_url=scene.url, java_script_enabled=False)
    page = context.new_page()
    sign_up(page, "eve")
    page.goto("/benchmarks/open/submit/")
    choose(page, tmp_path / "eve.run", RUN.replace("8.0", "8.5"))
    page.get_by_role("button", name="Submit run").click()
    for _ in range(100):
        if page.get_by_role("heading", name="Summary").count():
            break
        page.wait_for_timeout(200)
        page.reload()
    assert page.locator(".chip").inner_text() == "Scored"
    context.close()
