"""A secret part of the topics makes a leaderboard, and all of them the board of the release."""

from __future__ import annotations

import pytest

from leaderboard.actions import tracks
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import find_board, find_visible_board
from leaderboard.models import Track
from leaderboard.scoring.editions import draw_topics
from tests.api.conftest import Program
from tests.builders import make_run, make_track, signed_in, work
from tests.pages.test_track_pages import NEW, form_of


@pytest.fixture
def split(collection):
    """A leaderboard of topic 2 alone; the others wait."""
    return make_track(collection, slug="blind", disclosure="leaderboard", public_topics=["2"])


def means(board):
    return [each.scores["AP"] for each in board.standings]


def test_the_leaderboard_counts_the_public_topics(split, ben, cat):
    make_run(split, ben)
    split.refresh_from_db()
    board = find_visible_board(sight_of(split, cat))
    assert means(board) == [0.5] and board.edition.num_evaluated == 1


def test_organisers_see_all_topics_and_everybody_after_the_release(split, ada, ben, cat):
    make_run(split, ben)
    split.refresh_from_db()
    whole = means(find_board(sight_of(split, ada)))
    assert find_board(sight_of(split, cat)) is None
    tracks.release_track(split, ada)
    split.refresh_from_db()
    assert means(find_board(sight_of(split, cat))) == whole == [pytest.approx(25 / 36)]


def test_the_deadline_does_not_show_what_is_kept_back(split, ben, cat):
    make_run(split, ben)
    Track.objects.update(closes_at="2026-01-01T00:00:00Z")
    split.refresh_from_db()
    assert not sight_of(split, cat).can_see_scores and means(
        find_visible_board(sight_of(split, cat))
    ) == [0.5]
    assert split.scores_wait_for == "the release"


def test_runs_that_came_before_the_split_are_scored_on_its_part(leaderboard_track, ada, ben, cat):
    make_run(leaderboard_track, ben)
    tracks.change_track(leaderboard_track, ada, {"public_topics": ["2"]})
    work()
    leaderboard_track.refresh_from_db()
    assert means(find_visible_board(sight_of(leaderboard_track, cat))) == [0.5]


def test_a_part_is_no_version_of_the_board(split, ada, ben):
    make_run(split, ben)
    split.refresh_from_db()
    assert not sight_of(split, ada).other_editions.exists()


def test_which_topics_are_public_is_for_organisers(split, ada, ben, cat, client):
    address = "/api/v1/tracks/blind"
    assert Program(ada).get(address).json()["public_topics"] == ["2"]
    for other in (Program(ben), Program(cat), client):
        assert "public_topics" not in other.get(address).json()


def test_a_share_is_drawn(collection, ada):
    form = {"name": "Half", "measures": "AP", "disclosure": "leaderboard", "public_share": "34"}
    signed_in(ada).post(NEW, {**form_of(signed_in(ada).get(NEW)), **form})
    track = Track.objects.get()
    assert len(track.public_topics) == 1 and track.is_split
    assert draw_topics(["1", "2", "3"], 34, "seed") == draw_topics(["1", "2", "3"], 34, "seed")
    assert len(draw_topics(["1", "2"], 99, "seed")) == 1


def test_a_share_is_drawn_by_the_api_too(split, ada):
    answer = Program(ada).patch("/api/v1/tracks/blind", {"public_share": 67})
    assert len(answer.json()["public_topics"]) == 2


def test_an_unknown_topic_is_not_public(split, ada):
    answer = Program(ada).patch("/api/v1/tracks/blind", {"public_topics": ["99"]})
    assert answer.json()["message"] == "public_topics: Not in the collection: 99."


def test_only_a_leaderboard_is_split(track, ada):
    answer = Program(ada).patch("/api/v1/tracks/bread", {"public_topics": ["1"]})
    assert answer.status_code == 422 and "leaderboard" in answer.json()["message"]


def test_organisers_look_at_the_board_as_everybody_sees_it(split, ada, ben):
    make_run(split, ben)
    as_ada = signed_in(ada)
    assert "0.5," in as_ada.get("/benchmarks/blind/board/?as=everybody&format=csv").text
    assert "0.694" in as_ada.get("/benchmarks/blind/board/?format=csv").text
