"""Messages reach their reader, whatever asks for the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.builders import RUN, make_track, upload
from tests.pages.reading import page_at

FORM = re.compile(r"<form[^>]*data-upload[^>]*>")
UPLOADS = [path for path in Path("templates").rglob("*.html") if FORM.search(path.read_text())]
SCRIPT = {"X-Sent-By": "script"}


@pytest.mark.parametrize("template", UPLOADS, ids=lambda path: path.name)
def test_a_script_can_find_the_form_that_a_refusal_is_for(template):
    for form in FORM.findall(template.read_text()):
        assert ' id="' in form


def test_a_refusal_is_in_one_place_of_the_form(collection, as_ben):
    make_track(collection, closes_at="2020-01-01T00:00:00Z")
    file = {"file": upload("a.run", RUN), "kind": "automatic"}
    page = as_ben.post("/benchmarks/bread/submit/", file).text
    assert page.count('class="form-errors"') == 1
    assert page.index('class="form-errors"') < page.index("Ask the organisers")


def test_a_script_hears_where_its_answer_leads_and_the_page_has_the_message(track, as_ben):
    for _ in range(2):
        file = {"file": upload("a.run", RUN), "kind": "automatic"}
        answer = as_ben.post("/benchmarks/bread/submit/", file, headers=SCRIPT)
    assert answer.status_code == 200 and "You already submitted" in page_at(
        as_ben, answer["Location"]
    )


def test_a_page_that_follows_along_keeps_what_was_said(track, as_ben):
    page = page_at(as_ben, "/benchmarks/bread/runs/")
    assert page.index('id="messages"') < page.index("<main")
    assert (
        "hx-swap-oob"
        not in as_ben.get("/benchmarks/bread/runs/", headers={"HX-Request": "true"}).text
    )
