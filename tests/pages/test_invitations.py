"""Who is invited to what, read before there is an account; and who may not join without a link."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from leaderboard.models import Overview, Team, Track
from tests.benchmark_scene import make_benchmark
from tests.builders import make_run, make_track
from tests.pages.reading import page_at, words

JOIN = "/benchmarks/bread/join/"


@pytest.fixture
def closed_circle(collection) -> Track:
    track = make_track(collection, joining="invitation")
    Overview.objects.create(track=track, contact="ada@example.org")
    return track


def test_a_link_of_organisers_says_who_invites_to_what(closed_circle, client):
    Track.objects.update(visibility="members")
    link = f"{JOIN}?invitation={closed_circle.benchmark.invitation}"
    page = page_at(client, link)
    assert "You are invited by ada to take part in Bread track" in words(page)
    for way in ("signup", "login"):
        assert f'href="/account/{way}/?next={quote(link, safe="")}"' in page


def test_a_link_of_a_team_names_the_team_and_its_leader(track, ben, client):
    make_run(track, ben)
    page = page_at(client, f"{JOIN}?team={Team.objects.get().invitation}")
    assert "You are invited by ben to join the team ben" in words(page) and "1 member" in page


def test_an_account_made_behind_the_link_comes_back_to_it(closed_circle, client):
    link = f"{JOIN}?invitation={closed_circle.benchmark.invitation}"
    person = {"username": "eva", "password1": "a-long-s-word", "password2": "a-long-s-word"}
    answer = client.post("/account/signup/", {**person, "next": link})
    assert answer.url == link and "Join Bread track" in words(page_at(client, link))


@pytest.mark.parametrize("address", [JOIN, f"{JOIN}?invitation=no", "/benchmarks/nothing/join/"])
def test_a_track_that_is_hidden_stays_so(closed_circle, client, address):
    Track.objects.update(visibility="members")
    answer = client.get(address)
    assert answer.status_code == 302 and answer.url.startswith("/account/login/?next=")


def test_invitation_only_is_said_before_an_account_is_made(closed_circle, client):
    page = page_at(client, JOIN)
    assert "Invitation only" in words(page) and "mailto:ada@example.org" in page
    assert "/account/signup/?next" not in page


def test_an_old_link_is_said_to_work_no_longer(closed_circle, client):
    assert "This link no longer works." in words(page_at(client, f"{JOIN}?invitation=old"))


@pytest.mark.parametrize("page", ["overview", "board", "topics"])
def test_no_button_leads_strangers_into_a_wall(closed_circle, client, as_cat, page):
    address = {"overview": "/benchmarks/bread/", "board": "/benchmarks/bread/board/"}
    for reader in (client, as_cat):
        seen = page_at(reader, address.get(page, "/benchmarks/bread/topics/"))
        assert 'href="/benchmarks/bread/join/"' not in seen
        assert 'href="/benchmarks/bread/submit/"' not in seen


def test_the_home_of_the_track_has_the_contact_instead(closed_circle, client):
    page = page_at(client, "/benchmarks/bread/")
    assert "Teams join by invitation. Write to the organisers" in words(page)


def test_the_link_of_a_benchmark_says_who_invites_to_it(ada, client):
    benchmark = make_benchmark(ada, joining="invitation")
    page = page_at(client, f"/benchmarks/{benchmark.slug}/join/?invitation={benchmark.invitation}")
    assert f"You are invited by ada to take part in {benchmark.name}" in words(page)


def test_a_benchmark_by_invitation_has_no_button_into_a_wall(ada, client, as_cat):
    benchmark = make_benchmark(ada, joining="invitation")
    assert "Invitation only" in words(page_at(client, f"/benchmarks/{benchmark.slug}/join/"))
    for reader in (client, as_cat):
        for name in ("", "systems/"):
            page = page_at(reader, f"/benchmarks/{benchmark.slug}/{name}")
            assert f"/benchmarks/{benchmark.slug}/join/" not in page
            assert f"/benchmarks/{benchmark.slug}/submit/" not in page
