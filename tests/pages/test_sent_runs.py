"""My runs: of all tracks on one page, of one track on its own, and the latest at home."""

from __future__ import annotations

from leaderboard.actions import runs as run_actions
from leaderboard.models import Run
from tests.builders import OTHER_RUN, RUN, make_run, make_track
from tests.pages.reading import num_queries, words

FAULTY = "1 Q0 d1 1\n"


def test_runs_of_all_tracks_are_listed_rejected_and_withdrawn_ones_too(
    track, blind_track, ben, as_ben
):
    run_actions.withdraw_run(make_run(track, ben), ben, "a slip")
    make_run(track, ben, FAULTY)
    make_run(blind_track, ben, OTHER_RUN)
    page = as_ben.get("/runs/").text
    assert all(f"/runs/{run.pk}/" in page for run in Run.objects.all())
    said = words(page)
    assert all(
        word in said for word in ("Withdrawn", "Rejected", "Valid", "1 error", "Blind track")
    )


def test_others_do_not_see_them_there(track, ben, as_cat):
    make_run(track, ben)
    assert "No runs yet" in as_cat.get("/runs/").text


def test_what_an_organiser_submits_for_the_track_or_a_team_is_there(track, ada, ben, as_ada):
    make_run(track, ada, OTHER_RUN)
    make_run(track, ada, RUN, team=make_run(track, ben, FAULTY).team)
    for address in ("/runs/", "/benchmarks/bread/runs/"):
        page = words(as_ada.get(address).text)
        assert "other" in page and "ben-bm25" in page


def test_the_front_page_has_the_latest_with_their_track_and_leads_to_all(track, ada, as_ada):
    make_run(track, ada, OTHER_RUN)
    page = as_ada.get("/").text
    assert 'href="/runs/"' in page and "Your runs" in page and "Bread track" in words(page)


def test_a_blind_track_says_no_more_here_than_elsewhere(blind_track, ben, as_ben):
    make_run(blind_track, ben)
    assert "Scored" not in words(as_ben.get("/runs/").text)


def test_more_runs_and_tracks_take_no_more_queries(collection, ben, as_ben):
    make_run(make_track(collection), ben)
    few = num_queries(as_ben, "/runs/")
    other = make_track(collection, slug="other")
    for text in (RUN, OTHER_RUN):
        make_run(other, ben, text)
    assert num_queries(as_ben, "/runs/") == few
