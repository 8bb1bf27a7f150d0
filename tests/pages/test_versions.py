"""The board of other judgments than those on it now, at an address of its own."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.actions import tracks, uploads
from leaderboard.models import Track
from tests.builders import OTHER_RUN, make_run, signed_in, upload, work
from tests.pages.reading import page_at, rows, words

pytestmark = pytest.mark.long

V1, V2 = "/benchmarks/bread/board/?judgments=v1", "/benchmarks/bread/board/?judgments=v2"
# What Ben has first is no longer relevant, and what Cat has first is.
QRELS_2 = "1 0 d1 0\n1 0 d3 2\n1 0 d9 1\n2 0 d4 1\n2 0 d5 0\n"


@pytest.fixture
def v2(track, ada, ben, cat):
    make_run(track, ben)
    make_run(track, cat, OTHER_RUN)
    made = uploads.accept_judgments(
        track.collection, upload("v2.txt", QRELS_2), "v2", ada, asks_first=False
    )
    work()
    return made


@pytest.fixture
def switched(track, ada, v2):
    """The board of the track stands on v2; v1 was there before."""
    return switch(track, ada, v2)


def switch(track, ada, judgment_set):
    track.refresh_from_db()
    tracks.change_track(track, ada, {"judgment_set": judgment_set})
    work()
    track.refresh_from_db()
    return track


def test_the_board_of_earlier_judgments_stays_at_its_address(switched, client):
    assert "ben-bm25" in rows(page_at(client, V1))[0]
    assert "ben-bm25" in rows(page_at(client, "/benchmarks/bread/board/"))[1]


def test_it_says_that_it_is_not_the_board_of_today(switched, client):
    said = words(page_at(client, V1))
    assert "The board with judgments v1, as of" in said
    assert "The board now uses v2; newer runs appear only there." in said


def test_a_run_that_came_later_is_on_the_board_of_today_alone(switched, ada, client):
    make_run(switched, ada, "1 Q0 d1 1 1.0 late\n")
    assert "late" not in " ".join(rows(page_at(client, V1)))
    assert "late" in " ".join(rows(page_at(client, "/benchmarks/bread/board/")))


def test_its_numbers_open_into_the_judgments_they_were_computed_on(switched, client):
    run = switched.runs.get(tag="ben-bm25")
    address = f"/benchmarks/bread/computed/?run={run.pk}&judgments=v1&measure=AP"
    assert address.replace("&", "&amp;") in page_at(client, V1)
    assert "full value 0.6944" in words(page_at(client, address))
    assert "full value 0.6944" not in words(page_at(client, address.replace("v1", "v2")))


def test_the_files_of_it_are_its_own(switched, client):
    table = page_at(client, f"{V1}&format=csv").splitlines()
    assert "ben-bm25" in table[1] and "0.6944" in table[1]


def test_the_page_of_the_judgments_leads_there(switched, client):
    assert 'href="/benchmarks/bread/board/?judgments=v1">Board' in page_at(
        client, "/benchmarks/bread/judgments/"
    )


def test_judgments_that_were_only_tried_are_for_organisers(track, ada, v2, as_ada, as_ben):
    tracks.try_judgments(track, ada, v2)
    work()
    assert "it was tested, never published" in words(page_at(as_ada, V2))
    assert as_ben.get(V2).status_code == 404
    assert "v2" not in words(page_at(as_ben, "/benchmarks/bread/judgments/"))


def test_what_never_was_has_no_board(track, as_ada):
    assert as_ada.get("/benchmarks/bread/board/?judgments=v7").status_code == 404
    assert as_ada.get("/benchmarks/bread/board/?judgments=%00").status_code == 404


def test_what_left_the_board_before_the_release_stays_with_organisers(
    blind_track, ada, ben, as_ada
):
    make_run(blind_track, ben)
    files = upload("v2.txt", QRELS_2)
    v2 = uploads.accept_judgments(blind_track.collection, files, "v2", ada, asks_first=False)
    work()
    tracks.change_track(blind_track, ada, {"judgment_set": v2})
    work()
    as_ben, address = signed_in(ben), "/benchmarks/blind/board/?judgments=v1"
    assert as_ben.get(address).status_code == 404
    tracks.release_track(blind_track, ada)
    assert as_ben.get(address).status_code == 404
    assert as_ada.get(address).status_code == 200


def test_a_release_takes_no_board_away_that_everybody_saw(switched, ada, client):
    tracks.change_track(switched, ada, {"pseudonyms": True})
    assert client.get(V1).status_code == 200
    tracks.release_track(switched, ada)
    assert client.get(V1).status_code == 200


@pytest.mark.parametrize(
    ("closed", "status"), [(timedelta(hours=-1), 200), (timedelta(hours=1), 404)]
)
def test_a_leaderboard_shows_what_stood_on_it_after_the_deadline(
    track, ada, v2, client, closed, status
):
    """A board that was replaced before the deadline was one of rounded means."""
    Track.objects.update(disclosure="leaderboard", closes_at=timezone.now() + closed)
    switch(track, ada, v2)
    Track.objects.filter(closes_at__gt=timezone.now()).update(closes_at=timezone.now())
    assert client.get(V1).status_code == status
    tracks.release_track(track, ada)
    assert client.get(V1).status_code == status


def test_a_leaderboard_that_is_opened_shows_no_board_from_before(track, ada, v2, as_ada, client):
    Track.objects.update(disclosure="leaderboard")
    switch(track, ada, v2)
    track = Track.objects.get()
    tracks.change_track(track, ada, {"disclosure": "open"})
    tracks.change_track(track, ada, {"disclosure": "open", "depth": 500})
    work()
    assert as_ada.get(V1).status_code == 200
    assert client.get(V1).status_code == 404


@pytest.fixture
def with_rr(switched, ada):
    """Since v2 the track measures RR too, and ranks by it."""
    measures = ["AP", "nDCG@10", "P@5", "RR"]
    tracks.change_track(switched, ada, {"measures": measures, "primary_measure": "RR"})
    work()
    return Track.objects.get()


def test_an_earlier_board_says_which_measure_it_was_made_without(with_rr, client):
    page = page_at(client, V1)
    assert "It does not include RR; it ranks by AP." in words(page)
    assert "ben-bm25" in rows(page)[0]
    assert "does not include" not in words(page_at(client, "/benchmarks/bread/board/"))
    Track.objects.update(primary_measure="AP")
    assert "It does not include RR." in words(page_at(client, V1))


def test_its_files_have_the_measures_that_it_has(with_rr, client):
    head = page_at(client, f"{V1}&format=csv&measure=RR&sort=RR&column=all").splitlines()[0]
    assert "AP" in head and "RR" not in head


@pytest.mark.parametrize("page", ["history/", "computed/", "computed/difference/"])
def test_pages_of_an_earlier_board_go_by_what_it_was_made_with(with_rr, client, page):
    said = words(page_at(client, f"/benchmarks/bread/{page}?judgments=v1"))
    assert "AP" in said and "RR" not in said


def test_the_history_by_earlier_judgments_knows_their_measures_alone(with_rr, client):
    page = page_at(client, "/benchmarks/bread/history/?judgments=v1&measure=RR")
    assert "The best AP over time" in words(page) and ">RR<" not in page


def test_a_number_that_an_earlier_board_has_not_is_no_other_number(with_rr, client):
    run = with_rr.runs.get(tag="ben-bm25")
    address = f"/benchmarks/bread/computed/?run={run.pk}&judgments=v1&measure="
    assert "full value 0.6944" in words(page_at(client, address + "AP"))
    assert client.get(address + "RR").status_code == 404


def test_what_an_earlier_board_would_change_is_told_by_a_measure_of_both(with_rr, as_ada):
    assert "against v1 by AP" in words(page_at(as_ada, "/benchmarks/bread/judgments/v1/impact/"))


def test_the_best_run_of_a_team_on_an_earlier_board_is_best_by_what_ranks_it(
    track, ada, ben, v2, client
):
    make_run(track, ben, "1 Q0 d9 1 1.0 worse\n")
    switch(track, ada, v2)
    changes = {"measures": ["RR"], "primary_measure": "RR", "selection": "best"}
    tracks.change_track(Track.objects.get(), ada, changes)
    work()
    runs = " ".join(rows(page_at(client, V1)))
    assert "ben-bm25" in runs and "worse" not in runs


def test_judgments_by_which_no_run_was_scored_have_no_board(track, ada, as_ada):
    files = upload("v2.txt", QRELS_2)
    made = uploads.accept_judgments(track.collection, files, "v2", ada, asks_first=False)
    work()
    switch(track, ada, made)
    assert as_ada.get(V1).status_code == 404
