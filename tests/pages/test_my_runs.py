"""The runs of a team on a track: where each stands, and its score."""

from __future__ import annotations

from leaderboard.actions.submissions import accept_run
from leaderboard.models import Track
from tests.builders import RUN, make_run, upload
from tests.pages.reading import page_at, rows

ADDRESS = "/benchmarks/bread/runs/"


def test_a_scored_run_has_its_score(track, ben, as_ben):
    make_run(track, ben)
    assert rows(page_at(as_ben, ADDRESS), 0)[0].startswith("ben-bm25 Scored run.txt .6944 ")


def test_the_page_follows_along_until_all_are_done(track, ben, as_ben):
    make_run(track, ben)
    assert "hx-get" not in page_at(as_ben, ADDRESS)
    accept_run(track, ben, upload("later.txt", RUN.replace("9.0", "9.5")))
    assert 'hx-trigger="every 2s"' in page_at(as_ben, ADDRESS)


def test_rounded_means_stay_rounded(track, ben, as_ben):
    make_run(track, ben)
    Track.objects.update(disclosure="leaderboard")
    assert ".6944" not in page_at(as_ben, ADDRESS)


def test_a_blind_track_has_no_column_of_scores(blind_track, ben, as_ben):
    make_run(blind_track, ben)
    assert "AP" not in rows(page_at(as_ben, "/benchmarks/blind/runs/"), 0)[0]
