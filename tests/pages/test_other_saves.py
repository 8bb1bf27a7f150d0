"""Two organisers have one form open: nobody's save is lost without a word."""

from __future__ import annotations

import pytest
from django.test import Client
from lxml import html
from pytest_django.asserts import assertContains

from leaderboard.models import Benchmark, Overview, Track
from tests.builders import make_user, signed_in

SETTINGS = "/benchmarks/bread/manage/"
RUNS = "/benchmarks/bread/manage/section/runs/"
DATES = "/benchmarks/bread/manage/section/dates/"
PEOPLE = "/benchmarks/bread/manage/section/people/"
PAGE = "/benchmarks/bread/manage/overview/"


@pytest.fixture
def as_kim(track: Track) -> Client:
    kim = make_user("kim")
    track.benchmark.co_organisers.add(kim)
    return signed_in(kim)


class OpenForm:
    """The form of a page with what is saved when it is opened."""

    def __init__(self, client: Client, address: str) -> None:
        self.client, self.address = client, address
        forms = html.fromstring(client.get(address).content.decode()).forms
        form = max(forms, key=lambda form: len(form.fields))
        self.sent = dict(form.form_values())

    def save(self, **fields: str):
        # What everybody sees is changed once it was confirmed.
        self.sent |= fields | {"confirmed": "yes"}
        return self.client.post(self.address, self.sent)


def test_what_an_organiser_left_alone_keeps_what_another_saved(track, as_ada, as_kim):
    mine, hers = OpenForm(as_ada, RUNS), OpenForm(as_kim, RUNS)
    hers.save(quota_per_day="7", missing_topics="refuse")
    assert mine.save(depth="500").status_code == 302
    track.refresh_from_db()
    assert (track.quota_per_day, track.depth, track.missing_topics) == (7, 500, "refuse")


def test_another_section_is_never_in_the_way(track, as_ada, as_kim):
    mine, hers = OpenForm(as_ada, RUNS), OpenForm(as_kim, SETTINGS)
    hers.save(name="Rye track")
    assert mine.save(depth="500").status_code == 302
    track.refresh_from_db()
    assert (track.name, track.depth) == ("Rye track", 500)


def test_a_deadline_that_another_moved_stays_moved(track, as_ada, as_kim):
    mine, hers = OpenForm(as_ada, DATES), OpenForm(as_kim, DATES)
    hers.save(closes_at="2031-05-01T12:00")
    mine.save(grace_minutes="9")
    track.refresh_from_db()
    assert (track.grace_minutes, track.closes_at.year) == (9, 2031)


def test_what_both_changed_is_shown_and_asked_for_again(track, as_ada, as_kim):
    mine, hers = OpenForm(as_ada, SETTINGS), OpenForm(as_kim, SETTINGS)
    hers.save(name="Rye track")
    answer = mine.save(name="Oat track")
    assertContains(answer, "It is now: Rye track. Save again to keep yours.", status_code=422)
    assert Track.objects.get().name == "Rye track"
    again = html.fromstring(answer.content.decode())
    (seen,) = again.xpath("//input[@name='seen-trackform']/@value")
    mine.save(**{"seen-trackform": seen})
    assert Track.objects.get().name == "Oat track"


def test_who_saves_the_same_is_asked_nothing(track, as_ada, as_kim):
    mine, hers = OpenForm(as_ada, SETTINGS), OpenForm(as_kim, SETTINGS)
    hers.save(name="Rye track")
    assert mine.save(name="Rye track").status_code == 302


def test_a_choice_is_shown_by_its_label(track, as_ada, as_kim):
    mine, hers = OpenForm(as_ada, PEOPLE), OpenForm(as_kim, PEOPLE)
    hers.save(joining="approval")
    label = Benchmark.Joining.APPROVAL.label
    assertContains(mine.save(joining="invitation"), f"It is now: {label}.", status_code=422)


def test_a_long_text_of_another_is_not_lost(track, as_ada, as_kim):
    mine, hers = OpenForm(as_ada, PAGE), OpenForm(as_kim, PAGE)
    hers.save(description="Find loaves.\r\n\r\nAll of them.")
    answer = mine.save(description="Find rolls.", contact="bread@example.org")
    assertContains(answer, "Find loaves.", status_code=422)
    assert not Overview.objects.filter(contact="bread@example.org").exists()


def test_texts_of_two_people_stand_beside_one_another(track, as_ada, as_kim):
    mine, hers = OpenForm(as_ada, PAGE), OpenForm(as_kim, PAGE)
    hers.save(description="Find loaves.\r\n\r\nAll of them.")
    mine.save(contact="bread@example.org", licence="CC BY 4.0")
    track.refresh_from_db()
    assert track.description == "Find loaves.\n\nAll of them."
    assert Overview.objects.get().contact == "bread@example.org"


@pytest.mark.parametrize("seen", ["", "[]", "{", '{"name": 3}', '{"nothing": "x"}'])
def test_who_says_nothing_of_what_was_seen_saves_as_before(track, as_ada, seen):
    mine = OpenForm(as_ada, SETTINGS)
    assert mine.save(name="Rye track", **{"seen-trackform": seen}).status_code in (302, 422)
