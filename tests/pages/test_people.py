"""The people of a track: organisers are added and taken out, and never the last one."""

from __future__ import annotations

import pytest
from pytest_django.asserts import assertContains, assertRedirects

from leaderboard.actions import people
from leaderboard.archives import track_export
from leaderboard.models import Notice, Track
from tests.builders import make_run

PEOPLE = "/benchmarks/bread/manage/people/"


def names(track: Track) -> list[str]:
    track.refresh_from_db()
    return [user.username for user in track.organisers()]


def test_an_organiser_names_another_who_learns_it(track, as_ada, as_ben, ben):
    assert as_ben.get("/benchmarks/bread/desk/").status_code == 403
    assertContains(as_ada.post(PEOPLE, {"name": "ben"}, follow=True), "ben is now an organiser.")
    assert as_ben.get("/benchmarks/bread/desk/").status_code == 200
    assert Notice.objects.get(user=ben).text == "You now organise Bread track."


@pytest.mark.parametrize(("name", "said"), [("dan", "No such user: dan."), ("ada", "already")])
def test_a_name_that_cannot_be_added_is_said_at_its_field(track, as_ada, name, said):
    assertContains(as_ada.post(PEOPLE, {"name": name}), said, status_code=422)


def test_an_organiser_is_taken_out(track, as_ada, ada, ben):
    people.add_organiser(track.benchmark, ada, "ben")
    assertRedirects(as_ada.post(f"{PEOPLE}{ben.pk}/remove/"), PEOPLE)
    assert names(track) == ["ada"]


def test_two_teams_are_merged(track, as_ada, ben, cat):
    kept, team = (people.create_team(track.benchmark, user, user.username) for user in (ben, cat))
    page = as_ada.post(f"{PEOPLE}merge/", {"kept": kept.pk, "team": team.pk}, follow=True)
    assertContains(page, "Both are the team ben now.")
    assert track.team_of(cat) == kept


def test_the_last_organiser_stays(track, as_ada, ada):
    page = as_ada.post(f"{PEOPLE}{ada.pk}/remove/", follow=True)
    assertContains(page, "A benchmark needs an organiser. Add another first.")
    assert names(track) == ["ada"]


def test_an_owner_who_goes_leaves_the_track_to_another(track, as_ada, ada, ben):
    people.add_organiser(track.benchmark, ada, "ben")
    assertRedirects(as_ada.post(f"{PEOPLE}{ada.pk}/remove/"), "/")
    assert (
        names(track) == ["ben"]
        and track.benchmark.owner == ben
        and not track.benchmark.co_organisers.exists()
    )


def test_nobody_is_taken_out_who_does_not_organise(track, as_ada, ben):
    assert as_ada.post(f"{PEOPLE}{ben.pk}/remove/").status_code == 404


def test_the_trail_says_who_was_named_and_an_archive_does_not(track, as_ada, ada, ben):
    people.add_organiser(track.benchmark, ada, "ben")
    assertContains(as_ada.get("/benchmarks/bread/desk/trail/"), "organiser: ben")
    assert "add organiser" not in {each["act"] for each in track_export.event_rows(track)}


def test_the_page_lists_who_takes_part_and_who_organises(track, as_ada, ben):
    make_run(track, ben)
    assertContains(as_ada.get(PEOPLE), "<bdi>ben</bdi>", count=2)
    assertContains(as_ada.get("/benchmarks/bread/"), "<bdi>ada</bdi>")
