"""Long pages fold what is read second; what an address asks for is open."""

from __future__ import annotations

import pytest

from tests.builders import OTHER_RUN, make_run
from tests.pages.reading import page_at

COMPARE = "/benchmarks/bread/compare/"
TOPIC = "/benchmarks/bread/topic/?number=1"


@pytest.fixture
def pair(track, ben, cat) -> str:
    one, other = make_run(track, ben), make_run(track, cat, OTHER_RUN)
    return f"{COMPARE}?a={one.pk}&b={other.pk}"


def test_every_kind_of_measure_is_a_fold(client, db):
    page = page_at(client, "/measures/")
    assert page.count('<details class="fold">') == 9 and 'id="AP"' in page


def test_two_rankings_side_by_side_are_open_where_a_topic_is_asked_for(client, pair):
    assert 'id="topic"><summary>' in page_at(client, pair)
    assert 'id="topic" open>' in page_at(client, f"{pair}&number=1")


def test_on_a_topic_the_runs_are_open_and_the_documents_folded(client, pair):
    page = page_at(client, TOPIC)
    assert "<h2>All runs on this topic</h2>" in page
    assert '<details class="fold" id="judged"><summary><h2>Judged documents</h2>' in page


def test_the_curve_of_a_chosen_run_is_open(client, pair):
    run = pair.split("b=")[1]
    assert 'id="recall" open>' in page_at(client, f"{TOPIC}&run={run}")
    assert 'id="recall"><summary>' in page_at(client, TOPIC)


def test_the_form_of_the_benchmark_page_opens_the_group_with_an_error(track, as_ada):
    answer = as_ada.post("/benchmarks/bread/manage/overview/", {"contact": "nowhere"})
    assert "<details open><summary><b>People and citation</b>" in answer.text
