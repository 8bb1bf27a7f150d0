"""Several runs at once, as Gil submits them in a browser."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
from pathlib import Path

import pytest

from tests.browser.test_journey import sign_up
from tests.browser.test_pages import faults
from tests.browser.waiting import reload_until
from tests.builders import OTHER_RUN, RUN
from tests.services.machines import until

FILES = {
    "good.run": RUN.replace("ben-bm25", "good").replace("9.0", "9.1"),
    "one.run": RUN.replace("ben-bm25", "run1").replace("9.0", "9.2"),
    "two.run": RUN.replace("ben-bm25", "run1").replace("9.0", "9.3"),
    "short.run": OTHER_RUN.replace("other", "short").replace("2 Q0 d4 1 9.0 short\n", ""),
    "twin.run": RUN.replace("ben-bm25", "twin").replace("9.0", "9.1"),
    "old.run": re.sub("^", "9", OTHER_RUN, flags=re.M).removesuffix("9"),
}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return {name: tmp_path / name for name in FILES}


def choose(page, *paths: Path) -> None:
    page.set_input_files("[name=file]", list(paths))
    page.get_by_text("Checked in your browser").wait_for()


def said_of(page, name: str) -> str:
    return page.locator(".uploads tbody tr", has_text=name).inner_text()


def test_each_file_has_a_row_with_what_was_found_and_a_fix(page, files):
    sign_up(page, "gil")
    page.goto("/benchmarks/open/submit/")
    choose(page, *files.values())
    assert "Five of six files can be submitted." in page.locator(".verdict").inner_text()
    assert "Tag run1 is used by two of these files." in said_of(page, "one.run")
    assert "Topic 2 has no results and scores 0." in said_of(page, "short.run")
    assert "only the tag differs" in said_of(page, "twin.run")
    assert "None of its topics is in this track" in said_of(page, "old.run")
    assert page.get_by_role("checkbox", name="Use one as tag").is_checked()
    page.get_by_role("checkbox", name="Leave it out").check()
    page.get_by_role("button", name="Submit 4 runs").wait_for()
    assert not page.locator("[name=tag]").is_visible()
    assert page.get_by_text("stored with each of these runs").is_visible()


BROKEN = {
    "columns.run": "\n1 Q0 d1 1 9.0 a\n\n1 d2 eight a\n",
    "scores.run": "1 Q0 d1 1 9.0 a\n1 Q0 d2 2 eight a\n",
    "twice.run": "1 Q0 d1 1 9.0 a\n1 Q0 d1 2 8.0 a\n",
}


def test_a_check_shows_the_line_that_it_names(page, files, tmp_path):
    sign_up(page, "ken")
    for name, text in BROKEN.items():
        page.goto("/benchmarks/open/submit/")
        (tmp_path / name).write_text(text)
        choose(page, tmp_path / name)
        assert page.locator(".checks .wrong").inner_text() in text.splitlines()[-1]
    choose(page, tmp_path / "columns.run", tmp_path / "scores.run")
    said = "Line 4 does not have six columns. 1 d2 eight a"
    until(lambda: said in " ".join(said_of(page, "columns.run").split()), "the line is named", 20)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_the_table_fits_and_axe_is_content(page, files, scheme, width):
    sign_up(page, f"gil-{scheme}")
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/benchmarks/open/submit/")
    choose(page, *files.values())
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_one_button_submits_what_can_be_submitted(page, files):
    sign_up(page, "hal")
    page.goto("/benchmarks/open/submit/")
    choose(page, files["good.run"], files["one.run"], files["two.run"])
    page.get_by_role("button", name="Submit 3 runs").click()
    page.wait_for_url("**/benchmarks/open/runs/")
    reload_until(page, lambda: page.get_by_text("Scored", exact=True).count() == 3, "scored")
    names = page.locator("main tbody th").all_inner_texts()
    assert sorted(names) == ["good", "one", "two"]


def test_a_rejected_upload_stays_with_its_reason_and_the_others_are_sent(page, files):
    sign_up(page, "ivy")
    page.goto("/benchmarks/open/submit/")
    choose(page, files["good.run"], files["one.run"])
    page.route("**/submit/", refuse_the_second)
    page.get_by_role("button", name="Submit 2 runs").click()
    page.get_by_text("Not submitted. Your team’s files may take 1 MiB.").wait_for()
    assert "One of two files was submitted." in page.locator(".verdict").inner_text()
    page.unroute("**/submit/")
    page.get_by_role("button", name="Submit 1 run").click()
    page.wait_for_url("**/benchmarks/open/runs/")
    assert len(page.locator("main tbody th").all_inner_texts()) == 2


REFUSAL = (
    '<form id="submit-form"><div class="form-errors"><b>Your team’s files may take 1 MiB.</b></div>'
)


def refuse_the_second(route) -> None:
    """Answer one.run as a full site does; the console may say that it was a 403."""
    if b'filename="one.run"' in (route.request.post_data_buffer or b""):
        route.fulfill(status=403, body=REFUSAL, content_type="text/html; charset=utf-8")
    else:
        route.continue_()


def test_an_archive_is_opened_in_the_browser(page, files, tmp_path):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.write(files["good.run"], "mine/good.run")
        packed.writestr("mine/one.run.gz", gzip.compress(FILES["one.run"].encode()))
        packed.writestr("mine/README.md", "About these runs.")
        packed.writestr("__MACOSX/mine/._good.run", "x")
    (tmp_path / "runs.zip").write_bytes(archive.getvalue())
    sign_up(page, "jan")
    page.goto("/benchmarks/open/submit/")
    choose(page, tmp_path / "runs.zip")
    assert "It is not a run file." in said_of(page, "README.md")
    page.get_by_role("button", name="Submit 2 runs").click()
    page.wait_for_url("**/benchmarks/open/runs/")
    reload_until(page, lambda: page.get_by_text("Scored", exact=True).count() == 2, "scored")


def test_a_failing_check_takes_the_prominence_from_the_button(page, files):
    sign_up(page, "kai")
    page.goto("/benchmarks/open/submit/")
    choose(page, files["old.run"])
    assert "main-button" not in page.get_by_role("button", name="Submit run").get_attribute("class")
    choose(page, files["good.run"])
    assert "main-button" in page.get_by_role("button", name="Submit run").get_attribute("class")
