"""From two files of a collection to a board of answers, with its matrix, an answer and a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.test_closing_circle import sign_in
from tests.browser.test_walks import Walk, written
from tests.browser.waiting import reload_until
from tests.builders import DOCUMENTS, QRELS, TOPICS
from tests.scoring.test_answer_runs import ANSWERS
from tests.scoring.test_marks import ASSIGNMENTS, NUGGETS

pytestmark = pytest.mark.night

OTHER_ANSWERS = ANSWERS.replace("ben-rag", "two-step").replace("a day", "two days")
OTHER_MARKS = ASSIGNMENTS.replace("ben-rag", "two-step").replace("partial_support", "not_support")
KIM = """
from leaderboard.models import User
kim = User.objects.get(username="kim")
kim.set_password("kim-s-word")
kim.save()
"""


def import_version(walk: Walk, form: str, file: Path, version: str) -> None:
    """Send nuggets or marks, and import what was understood."""
    page = walk.page
    page.set_input_files(f"#{form} [name=file]", [file])
    page.locator(f"#{form} [name=version]").fill(version)
    page.locator(f"#{form} .actions button").click()
    review = page.locator(".main-button:has-text('Import')")
    page.wait_for_load_state()
    reload_until(page, review.count, f"the review of {version}")
    review.first.click()
    walk.clicks += 2


def test_from_an_empty_site_to_answers_compared_and_exported_in_twenty_clicks(
    page, scene, tmp_path
):
    """Files are chosen besides: three of the collection, two runs at once, nuggets and marks."""
    scene.manage("create_token", "kim", "--organiser")
    scene.manage("shell", "-c", KIM)
    texts = {"topics": TOPICS, "documents": DOCUMENTS, "judgments": QRELS, "bank": NUGGETS}
    *collection, bank = written(tmp_path, **texts)
    (marks,) = written(tmp_path, marks=ASSIGNMENTS + OTHER_MARKS)
    runs = written(tmp_path, **{"one.jsonl": ANSWERS, "two.jsonl": OTHER_ANSWERS})
    walk = Walk(sign_in(page, "kim"))
    page.goto("/collections/")
    walk.click("New collection|Add a collection|Create collection")
    walk.fill("name", "Said loaves")
    for path in collection:
        page.set_input_files(f"[name={path.name}]", [path])
    walk.press("Check|Upload")
    walk.press("Import")
    walk.click("Run a benchmark")
    walk.press("Generated answers")
    walk.fill("name", "Said track")
    walk.press("Create the draft")
    page.locator("main a[href*='/submit/']").first.click()
    walk.clicks += 1
    page.set_input_files("[name=file]", runs)
    walk.press("Submit 2 runs")
    page.wait_for_url("**/runs/")
    walk.click("^Data")
    walk.click("^Nuggets")
    import_version(walk, "new-nuggets", bank, "v1")
    reload_until(page, page.get_by_text("Bank v1").count, "the nuggets")
    import_version(walk, "new-marks", marks, "people")
    reload_until(page, page.get_by_text("Use on the board").count, "the marks")
    walk.press("Use on the board")
    reload_until(page, page.locator("th", has_text="Nuggets").count, "the board by marks")
    with page.expect_download() as table:
        walk.click("^CSV")
    assert "Nuggets" in table.value.path().read_text()
    walk.click("^Topics")
    page.locator("main a[href*='/topic/?'][href*='number=1']").first.click()
    walk.clicks += 1
    assert page.get_by_role("heading", name="Nuggets by run").count()
    assert page.locator("#texts .sentence").count() > 2
    walk.click("^two-step: ")
    page.wait_for_url("**/answer/**")
    assert page.get_by_text("two days").count()
    assert walk.clicks <= 20
