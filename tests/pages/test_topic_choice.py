"""Topics chosen by their fields, on every page by topic: words, a group, a turn."""

from __future__ import annotations

import csv
import io

import pytest
from django.test import Client

from leaderboard.models import Run, Track, User
from tests.api.conftest import Program
from tests.pages.reading import page_at, words
from tests.scoring.test_groups import make_grouped_track

pytestmark = pytest.mark.long

# Twenty-four topics in six conversations.
SIZES = [1, 2, 3, 4, 5, 9]
TRACK = "/benchmarks/talks"


def make_scene(ada: User, ben: User, cat: User) -> None:
    make_grouped_track(ada, SIZES)
    Track.objects.get().collection.topics.filter(position=2).update(narrative="Of rye alone.")


@pytest.fixture
def runs(scene) -> list[Run]:
    return list(Run.objects.order_by("tag"))


def numbers_at(client: Client, address: str, column: str = "topic") -> list[str]:
    rows = csv.DictReader(io.StringIO(client.get(address).content.decode("utf-8-sig")))
    return sorted(row[column] for row in rows)


def topics(*places: int) -> list[str]:
    found = Track.objects.get().collection.topics.filter(position__in=places)
    return sorted(found.values_list("number", flat=True))


SECOND_TURNS = (2, 4, 7, 11, 16)
CHOICES = {
    "about=RYE": (2,),
    "group=g1": (1, 2),
    "turn=2": SECOND_TURNS,
    "turn=2&about=rye": (2,),
}


@pytest.mark.parametrize("query", CHOICES)
def test_the_list_of_topics_has_the_chosen_ones(runs, client, query):
    assert numbers_at(client, f"{TRACK}/topics/?format=csv&{query}") == topics(*CHOICES[query])


@pytest.mark.parametrize("query", CHOICES)
def test_so_have_the_topics_of_a_run_and_their_api(runs, client, query):
    run = runs[0].pk
    assert numbers_at(client, f"/runs/{run}/topics.csv?{query}") == topics(*CHOICES[query])
    found = Program().get(f"/api/v1/runs/{run}/topics?{query}").json()["topics"]
    assert sorted(each["number"] for each in found) == topics(*CHOICES[query])


def test_so_have_two_runs_compared(runs, client):
    pair = f"a={runs[0].pk}&b={runs[1].pk}"
    assert numbers_at(client, f"{TRACK}/compare/?format=csv&{pair}&group=g1") == topics(1, 2)
    found = Program().get(f"/api/v1/tracks/talks/compare?{pair}&group=g1").json()
    assert len(found["topics"]) == 2


def test_so_have_the_map_and_the_groups_of_a_run(runs, client):
    assert numbers_at(client, f"{TRACK}/topics/map/?format=csv&turn=2") == topics(*SECOND_TURNS)
    groups = f"/runs/{runs[0].pk}/?format=csv&table=groups&turn=2"
    assert numbers_at(client, groups, "group") == ["g1", "g2", "g3", "g4", "g5"]


def test_means_and_tests_stay_those_of_all_topics(runs, client):
    pair = f"a={runs[0].pk}&b={runs[1].pk}"
    whole, part = (
        Program().get(f"/api/v1/tracks/talks/compare?{pair}{more}").json()
        for more in ("", "&group=g1")
    )
    assert {**whole, "topics": []} == {**part, "topics": []}


PAGES = ("{track}/topics/", "/runs/{run}/topics/", "/runs/{run}/failures/", "{track}/topics/map/")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_that_it_shows_a_part(runs, client, page):
    address = page.format(track=TRACK, run=runs[0].pk)
    assert "Only the chosen topics are shown" not in page_at(client, address)
    shown = words(page_at(client, f"{address}?turn=2"))
    assert "means, tests and verdicts are of all topics" in shown


def test_the_form_keeps_the_measure_and_forgets_the_page(runs, client):
    page = page_at(client, f"{TRACK}/topics/?measure=RR&page=2&turn=2")
    form = page[page.index('id="choose-topics"') :].split("</search>")[0]
    assert 'name="measure" value="RR"' in form and 'name="page"' not in form


def test_every_page_opens_where_no_topic_is_as_wanted(runs, client):
    for page in PAGES:
        address = page.format(track=TRACK, run=runs[0].pk)
        assert "Only the chosen topics" in page_at(client, f"{address}?about=no+such+words")


STEPPED = ("{track}/topic/?number=8&turn=2", "/runs/{run}/ranking/?number=8&turn=2")


@pytest.mark.parametrize("page", STEPPED)
def test_the_steps_from_topic_to_topic_stay_among_the_chosen(runs, client, page):
    shown = page_at(client, page.format(track=TRACK, run=runs[0].pk))
    assert 'href="?number=5&amp;turn=2"' in shown and 'href="?number=12&amp;turn=2"' in shown
    assert "Arrows stay among 5 chosen topics." in words(shown)


def test_a_choice_goes_along_to_pages_by_topic_alone(runs, client):
    shown = page_at(client, f"{TRACK}/topics/?turn=2&measure=RR")
    assert f'href="{TRACK}/topic/?number=5&amp;measure=RR&amp;turn=2"' in shown
    assert f'href="{TRACK}/board/?measure=RR"' in shown
