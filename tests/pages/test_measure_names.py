"""Common names of measures are understood wherever a measure is named."""

from __future__ import annotations

import pytest
from django.test import Client

from leaderboard.actions import tracks
from leaderboard.models import Run, Track
from tests.builders import work
from tests.pages.reading import page_at, words
from tests.pages.ten_topics import send, ten_track

pytestmark = pytest.mark.long

# What the track calls a measure, and what a reader may call it.
NAMES = [
    ("AP", "MAP"),
    ("RR", "MRR"),
    ("SetF", "F1"),
    ("ERR", "ERR"),
    ("Success@10", "Hit@10"),
    ("Success", "Hit"),
    ("nDCG@10", "ndcg_cut_10"),
]


@pytest.fixture
def ten(ada, ben, cat) -> Track:
    """Runs of two teams by all these measures, those of whom a reader asks for last."""
    track = ten_track(ada)
    send(track, ben, "one", [1, 2, 1, 3, 1, 2, 1, 1, 2, 1])
    send(track, cat, "two", 4)
    tracks.change_track(track, ada, {"measures": ["P@5", *(ours for ours, _ in NAMES)]})
    work()
    return track


def main_of(client: Client, address: str) -> str:
    """The text of a page without its foot, which says how long it took."""
    return words(page_at(client, address).partition("<main")[2].partition("</main>")[0])


@pytest.mark.parametrize(("ours", "theirs"), NAMES)
def test_pages_understand_a_common_name(ten, client, ours, theirs):
    one, two = Run.objects.get(tag="one"), Run.objects.get(tag="two")
    asked = f"measure={theirs}"
    for page in (
        f"/benchmarks/ten/computed/?run={one.pk}&{asked}",
        f"/benchmarks/ten/compare/?a={one.pk}&b={two.pk}&{asked}",
        f"/benchmarks/ten/significance/?{asked}",
        f"/benchmarks/ten/topic/?number=1&{asked}",
        f"/benchmarks/ten/reusability/?{asked}",
        f"/benchmarks/ten/board/?{asked}",
        f"/runs/{one.pk}/?{asked}",
    ):
        named, plain = (main_of(client, page.replace(theirs, each)) for each in (theirs, ours))
        assert named == plain, page
        assert ours in named


@pytest.mark.parametrize(("ours", "theirs"), NAMES)
def test_the_api_and_the_order_of_a_board_understand_it_too(ten, client, ours, theirs):
    board = client.get(f"/api/v1/tracks/ten/leaderboard?measure={theirs}").json()
    assert board["measure"] == ours
    for sort in ("", "-"):
        named, plain = (
            main_of(client, f"/benchmarks/ten/board/?sort={sort}{each}") for each in (theirs, ours)
        )
        assert named == plain


@pytest.mark.parametrize(("ours", "theirs"), NAMES)
def test_a_track_can_be_set_up_by_it(ten, ada, client, ours, theirs):
    tracks.change_track(ten, ada, {"measures": ["P@5", theirs]})
    work()
    for name in (ours, theirs):
        board = client.get(f"/api/v1/tracks/ten/leaderboard?measure={name}").json()
        assert (board["measure"], len(board["standings"])) == (theirs, 2)


@pytest.mark.parametrize("name", ["None@1", "P@7", "x" * 5000, "", "AP@"])
def test_what_names_no_measure_of_the_track_shows_the_primary_one(ten, client, name):
    assert "AP" in words(page_at(client, f"/benchmarks/ten/significance/?measure={name}"))
