"""Judgments that a track hands out: to whom, which versions, and without what."""

from __future__ import annotations

import pytest
from django.test import Client

from leaderboard.actions import tracks, uploads
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.shared_judgments import find_conflicts
from leaderboard.models import Benchmark, Track
from tests.builders import QRELS, make_run, make_track, make_user, upload, work
from tests.pages.reading import page_at, words

SECOND = QRELS.replace("2 0 d5 0", "2 0 d5 2")


@pytest.fixture
def shared(collection, ben) -> Track:
    """An open track that shares its judgments, with a run."""
    track = make_track(collection, shares_judgments=True)
    make_run(track, ben)
    return track


def qrels_at(slug: str = "bread", version: str = "v1") -> str | int:
    """What a reader takes home who has not signed in; the status where there is nothing."""
    answer = Client().get(f"/benchmarks/{slug}/judgments/{version}/qrels.txt")
    return answer.getvalue().decode() if answer.status_code == 200 else answer.status_code


def bring(track: Track, version: str = "v2") -> None:
    """Other judgments, which are tried on the track."""
    file = upload("second.txt", SECOND)
    uploads.accept_judgments(
        track.collection, file, version, track.benchmark.owner, asks_first=False
    )
    work()


def switch(track: Track, version: str = "v2") -> None:
    judgments = track.collection.judgment_sets.get(version=version)
    tracks.change_track(Track.objects.get(), track.benchmark.owner, {"judgment_set": judgments})
    work()


def test_everybody_takes_home_the_judgments_behind_the_board(shared):
    assert qrels_at() == QRELS


def test_pages_lead_to_the_file(shared, client):
    link = '<a href="/benchmarks/bread/judgments/v1/qrels.txt">'
    withheld = {"": "not offered as a file", "judgments/": "Not offered as a file"}
    for page, words_of_it in withheld.items():
        told = page_at(client, f"/benchmarks/bread/{page}")
        assert link in told and words_of_it not in told
    assert "(organisers only)" not in words(page_at(client, "/benchmarks/bread/judgments/"))


def test_judgments_on_trial_stay_with_the_organisers(shared, client):
    bring(shared)
    assert qrels_at(version="v2") == 404
    assert "/judgments/v2/" not in page_at(client, "/benchmarks/bread/judgments/")


def test_an_earlier_board_hands_out_its_own(shared, client):
    bring(shared)
    switch(shared)
    assert (qrels_at(version="v1"), qrels_at(version="v2")) == (QRELS, SECOND)
    assert "/judgments/v1/qrels.txt" in page_at(client, "/benchmarks/bread/judgments/")


def test_what_was_replaced_before_the_release_is_not_handed_out(collection, ada, ben):
    track = make_track(collection, disclosure="blind", shares_judgments=True)
    make_run(track, ben)
    bring(track)
    switch(track)
    tracks.release_track(track, ada)
    assert (qrels_at(version="v1"), qrels_at(version="v2")) == (404, SECOND)


def test_a_topic_that_is_left_out_is_in_no_file(shared, ada, client, as_ada):
    left_out = {"excluded_topics": ["2"], "exclusion_reason": "Its judge fell ill."}
    tracks.change_track(shared, ada, left_out)
    work()
    table = "/benchmarks/bread/topic/?format=csv&table=judged&number="
    assert qrels_at() == "".join(line for line in QRELS.splitlines(True) if line[0] != "2")
    assert [client.get(f"{table}{number}").status_code for number in "12"] == [200, 404]
    whole = as_ada.get("/benchmarks/bread/judgments/v1/qrels.txt")
    assert whole.getvalue().decode() == QRELS
    assert "without excluded topics" in words(page_at(client, "/benchmarks/bread/"))


def test_a_secret_part_of_the_topics_keeps_all_of_them(collection, ada, ben, client):
    split = {"disclosure": "leaderboard", "public_topics": ["2"], "shares_judgments": True}
    track = make_track(collection, slug="lead", **split)
    make_run(track, ben)
    assert qrels_at("lead") == 404 and not sight_of(track, ben).can_download_judgments
    about = words(page_at(client, "/benchmarks/lead/"))
    assert "download the judgments once all scores are visible" in about
    tracks.release_track(track, ada)
    assert qrels_at("lead") == QRELS


def test_before_the_release_stands_that_the_judgments_go_out_with_it(blind_track, as_ada):
    release = "/benchmarks/blind/manage/release/"
    assert "not as a file, but the pages of topics" in words(page_at(as_ada, release))
    Track.objects.update(shares_judgments=True)
    told = words(page_at(as_ada, release))
    assert "as a file" in told and "not as a file" not in told


def test_no_file_is_not_called_hidden_where_pages_show_each_grade(track, ben, client):
    make_run(track, ben)
    assert "pages of topics show their grades" in words(page_at(client, "/benchmarks/bread/"))
    assert "show each grade" in words(page_at(client, "/benchmarks/bread/judgments/"))
    Track.objects.update(disclosure="blind")
    assert "show their grades" not in words(page_at(client, "/benchmarks/bread/"))


@pytest.mark.parametrize(
    ("disclosure", "seen"),
    [
        ("open", "each grade of a document"),
        ("leaderboard", "its rounded mean; no topic, ranking or grade"),
        ("blind", "nothing, until you release the scores"),
    ],
)
def test_the_checklist_says_what_becomes_visible(track, as_ada, disclosure, seen):
    Track.objects.update(is_draft=True, disclosure=disclosure)
    assert seen in words(page_at(as_ada, "/benchmarks/bread/setup/"))


def test_showing_more_scores_is_asked_once(track, as_ada):
    Track.objects.update(disclosure="leaderboard")
    page = as_ada.get("/benchmarks/bread/manage/section/scores/")
    form = {name: page.context["form"][name].value() for name in page.context["form"].fields}
    sent = {name: value for name, value in form.items() if value not in (None, "", False)}
    asked = as_ada.post("/benchmarks/bread/manage/section/scores/", sent | {"disclosure": "open"})
    assert "Open: everyone sees all scores" in words(asked.content.decode())
    assert Track.objects.get().disclosure == "leaderboard"
    as_ada.post(
        "/benchmarks/bread/manage/section/scores/", sent | {"disclosure": "open", "confirmed": "1"}
    )
    assert Track.objects.get().disclosure == "open"


def test_organisers_are_told_that_another_track_shows_the_same_judgments(
    track, blind_track, as_ada
):
    shows = "The track Bread track shows the grades of these judgments, which this track hides."
    hides = "The track Blind track hides the grades of these judgments, which this track shows."
    for page in ("desk", "manage/release"):
        assert shows in words(page_at(as_ada, f"/benchmarks/blind/{page}/"))
    assert hides in words(page_at(as_ada, "/benchmarks/bread/desk/"))


def test_a_track_that_an_organiser_may_not_know_is_not_named(track, blind_track, collection):
    bob = make_user("bob")
    Benchmark.objects.filter(tracks__slug="blind").update(owner=bob)
    Track.objects.filter(slug="bread").update(visibility="members")
    Benchmark.objects.filter(tracks__slug="bread").update(joining="invitation")
    assert find_conflicts(blind_track, bob)[0].startswith("Another track shows")


def test_the_switch_is_in_the_form(track, as_ada):
    page = as_ada.get("/benchmarks/bread/manage/section/judgments/")
    form = {name: page.context["form"][name].value() for name in page.context["form"].fields}
    sent = {name: value for name, value in form.items() if value not in (None, "", False)}
    as_ada.post("/benchmarks/bread/manage/section/judgments/", sent | {"shares_judgments": "on"})
    assert Track.objects.get().shares_judgments
