"""Two organisers have one form open: nobody's save is lost without a word."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.http import HttpResponse
from django.test import Client
from lxml import html
from pytest_django.asserts import assertContains

from leaderboard.actions.battles import save_battles
from leaderboard.models import Battles, Benchmark, Overview, Track
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

    def __init__(self, client: Client, address: str, wanted: str = "") -> None:
        """`wanted` is a field of the form."""
        self.client, self.address, self.wanted = client, address, wanted
        self.take(client.get(address))

    def take(self, answer: HttpResponse) -> None:
        """Go on with the form that an answer shows."""
        page = html.fromstring(answer.content.decode())
        forms = [form for form in page.forms if not self.wanted or self.wanted in form.fields]
        form = max(forms, key=lambda form: len(form.fields))
        self.sent, self.action = dict(form.form_values()), form.action or self.address

    def save(self, **fields: str):
        # What everybody sees is changed once it was confirmed.
        self.sent |= fields | {"confirmed": "yes"}
        return self.client.post(self.action, self.sent)


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


def keep(answer: HttpResponse, whose: str, field: str = "keep-") -> dict[str, str]:
    """What the page sends for one choice at every field that both changed, or at one of them."""
    chosen = f"//input[starts-with(@name, '{field}')][starts-with(@value, '{whose}-')]"
    page = html.fromstring(answer.content.decode())
    return {each.get("name"): each.get("value") for each in page.xpath(chosen)}


def test_what_both_changed_is_shown_side_by_side(track, as_ada, as_kim):
    mine, hers = OpenForm(as_ada, SETTINGS), OpenForm(as_kim, SETTINGS)
    hers.save(name="Rye track")
    page = html.fromstring(mine.save(name="Oat track").content.decode())
    shown = page.xpath("//div[@role='radiogroup']//div[@class='kept']/span/text()")
    assert shown == ["Rye track", "Oat track"]
    assert Track.objects.get().name == "Rye track"


@pytest.mark.parametrize(("whose", "name"), [("theirs", "Rye track"), ("mine", "Oat track")])
def test_the_chosen_value_is_saved_with_all_others(track, as_ada, as_kim, whose, name):
    mine, hers = OpenForm(as_ada, SETTINGS), OpenForm(as_kim, SETTINGS)
    hers.save(name="Rye track")
    answer = mine.save(name="Oat track", description="Find loaves.")
    assert mine.save(**keep(answer, whose)).status_code == 302
    track.refresh_from_db()
    assert (track.name, track.description) == (name, "Find loaves.")


@pytest.mark.parametrize(
    ("address", "field"),
    [
        (PEOPLE, "terms"),
        (PAGE, "citation"),
        (PAGE, "licence"),
        ("/collections/bread/words/", "description"),
        ("/benchmarks/bread/manage/registration/", "text"),
        ("/benchmarks/bread/battles/settings/", "question"),
    ],
)
def test_every_form_asks_in_the_same_way(track, ada, as_ada, address, field):
    save_battles(Battles(track=track), ada)
    mine, hers = OpenForm(as_ada, address, field), OpenForm(as_ada, address, field)
    hers.save(**{field: "Her words"})
    mine.save(**keep(mine.save(**{field: "My words"}), "theirs"))
    assert "Her words" in OpenForm(as_ada, address, field).sent[field]


def test_each_field_has_a_choice_of_its_own(track, as_ada, as_kim):
    mine, hers = OpenForm(as_ada, RUNS), OpenForm(as_kim, RUNS)
    hers.save(quota_per_day="7", depth="70")
    answer = mine.save(quota_per_day="9", depth="90")
    theirs, own = keep(answer, "theirs"), keep(answer, "mine")
    mine.save(
        **{"keep-depth": own["keep-depth"], "keep-quota_per_day": theirs["keep-quota_per_day"]}
    )
    track.refresh_from_db()
    assert (track.quota_per_day, track.depth) == (7, 90)


def test_sending_again_without_a_choice_overwrites_nothing(track, as_ada, as_kim):
    mine, hers = OpenForm(as_ada, SETTINGS), OpenForm(as_kim, SETTINGS)
    hers.save(name="Rye track")
    mine.take(mine.save(name="Oat track"))
    assert mine.save().status_code == 422
    assert Track.objects.get().name == "Rye track"


def test_a_choice_is_about_the_value_that_was_shown(track, as_ada, as_kim):
    mine, hers = OpenForm(as_ada, SETTINGS), OpenForm(as_kim, SETTINGS)
    hers.save(name="Rye track")
    answer = mine.save(name="Oat track")
    OpenForm(as_kim, SETTINGS).save(name="Corn track")
    assertContains(mine.save(**keep(answer, "mine")), "Corn track", status_code=422)
    assert Track.objects.get().name == "Corn track"


def test_a_choice_stays_made_while_another_field_is_wrong(track, as_ada, as_kim):
    mine, hers = OpenForm(as_ada, SETTINGS), OpenForm(as_kim, SETTINGS)
    hers.save(name="Rye track")
    chosen = keep(mine.save(name="Oat track"), "theirs")
    mine.take(mine.save(slug="Not a short name!", **chosen))
    mine.save(slug="bread")
    assert Track.objects.get().name == "Rye track"


def test_a_date_of_another_stays_the_same_moment_in_another_zone(track, as_ada, as_kim):
    mine, hers = OpenForm(as_ada, DATES), OpenForm(as_kim, DATES)
    hers.save(closes_at="2031-05-01T12:00", zone="UTC")
    mine.save(zone="Asia/Tokyo")
    track.refresh_from_db()
    assert track.closes_at == datetime(2031, 5, 1, 12, tzinfo=UTC)


def test_who_saves_the_same_is_asked_nothing(track, as_ada, as_kim):
    mine, hers = OpenForm(as_ada, SETTINGS), OpenForm(as_kim, SETTINGS)
    hers.save(name="Rye track")
    assert mine.save(name="Rye track").status_code == 302


def test_a_choice_is_shown_by_its_label(track, as_ada, as_kim):
    mine, hers = OpenForm(as_ada, PEOPLE), OpenForm(as_kim, PEOPLE)
    hers.save(joining="approval")
    label = Benchmark.Joining.APPROVAL.label
    assertContains(mine.save(joining="invitation"), f">{label}</span>", status_code=422)


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
