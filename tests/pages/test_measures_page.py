"""The page of measures: what each one says, worked on one ranking."""

import re

import pytest
from pytest_django.asserts import assertContains

from evaluation.answers.measures import ANSWER_MEASURES
from evaluation.answers.measures import example as example_of_answers
from evaluation.measures import MEASURES, example
from leaderboard.pages.views.measure_reference import example_grades, measure_families


@pytest.fixture(autouse=True)
def tables(db):
    """The page asks who is signed in."""


def test_every_measure_has_its_line(client):
    lines = re.findall(r'<tr role="row" id="([^"]+)"', client.get("/measures/").content.decode())
    of_answers = [f"{n}-of-answers" if n in MEASURES else n for n in ANSWER_MEASURES]
    assert lines == [*MEASURES, *of_answers]


def test_a_line_has_formula_source_and_trec_evals_name(client):
    page = client.get("/measures/")
    assertContains(page, "Mean of the precision at each relevant document")
    assertContains(page, "The sum of c_i / i over the relevant ranks i (up to k), divided by R.")
    assertContains(page, "Buckley and Voorhees, SIGIR 2000.")
    assertContains(page, "<code>map_cut_{k}</code>")
    assertContains(page, "also MAP")


def test_every_worked_value_is_that_of_the_example():
    worked = [each for family in measure_families() for each in family.measures]
    of_rankings = {name: example(definition.example) for name, definition in MEASURES.items()}
    of_answers = [example_of_answers(each.example) for each in ANSWER_MEASURES.values()]
    # Fewer than a hundred topics give no calibration.
    wanted = pytest.approx([*of_rankings.values(), *of_answers], nan_ok=True)
    assert [each.value for each in worked] == wanted


def test_the_details_hold_neither_source_nor_example():
    for family in measure_families():
        for each in family.measures:
            assert "Source:" not in each.details and ">>>" not in each.details


def test_values_are_printed_by_what_they_are():
    printed = {
        each.definition.name: (each.printed, each.range, each.direction)
        for family in measure_families()
        for each in family.measures
    }
    assert printed["AP"] == (".4821", "0 to 1", "higher is better")
    assert printed["NumRet"] == ("7", "0 to ∞", "higher is better")
    assert printed["MR"] == ("1.0000", "1 to ∞", "lower is better")


def test_the_worked_ranking_stands_above_the_values(client):
    assert example_grades() == [2, None, 0, 1, None, 0, 1]
    assertContains(client.get("/measures/"), "unjudged</span>", count=2)


def test_the_page_is_for_everybody_and_only_read(client):
    assert client.get("/measures/").status_code == 200
    assert client.post("/measures/").status_code == 405
