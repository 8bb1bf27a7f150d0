"""The topics of a track: what was judged, how runs did; on a blind one numbers and titles."""

from __future__ import annotations

import pytest

from leaderboard.actions import tracks
from leaderboard.models import Calculation, Track
from tests.builders import make_run, signed_in, work
from tests.pages.reading import num_queries, page_at, rows, words
from tests.pages.ten_topics import send, ten_track

ADDRESS = "/benchmarks/ten/topics/"


@pytest.fixture
def ten(ada, ben, cat) -> Track:
    """Ben has every topic at rank 1, Cat at ranks 1 to 5."""
    track = ten_track(ada)
    send(track, ben, "bens", 1)
    send(track, cat, "cats", [1, 2, 3, 4, 5, 5, 4, 3, 2, 1])
    return track


def test_a_topic_says_what_was_judged_and_how_runs_did(ten, client):
    row = rows(page_at(client, ADDRESS))[1]
    assert row.startswith("2 about 2 2 1 .7500")
    assert "worst .5000, median .7500, best 1.0000" in row and row.endswith("1.0000 bens")


def test_the_readers_best_run_is_a_dot(ten, cat, client):
    assert "the dot .5000" in page_at(signed_in(cat), ADDRESS)
    assert "the dot" not in page_at(client, ADDRESS)


def test_the_list_as_csv_in_the_order_on_the_page(ten, client):
    text = client.get(f"{ADDRESS}?format=csv&order=median").content.decode()
    lines = text.splitlines()
    assert lines[0] == "topic,title,judged,relevant,worst,median,best,best_run,own"
    assert [line.split(",")[0] for line in lines[1:5]] == ["1", "10", "2", "9"]
    assert "2,about 2,2,1,0.5,0.75,1.0,bens," in lines


def test_topics_can_be_sorted(ten, client):
    page = page_at(client, f"{ADDRESS}?order=median")
    assert [row.split()[0] for row in rows(page)[:4]] == ["1", "10", "2", "9"]
    assert 'aria-sort="descending"><a href="?order=median"' in page


@pytest.mark.parametrize("more", ["?order=x", "?page=-1", "?page=x", "?page=99", "?measure=%00"])
def test_what_is_not_known_falls_back(ten, client, more):
    assert len(rows(page_at(client, ADDRESS + more))) == 10


def test_another_measure_is_a_link_away(ten, client):
    page = page_at(client, f"{ADDRESS}?measure=P@5")
    assert 'href="?measure=P%405" aria-current="true">P@5' in page
    assert ".2000" in rows(page)[0]
    assert "/topic/?number=1&amp;measure=P%405" in page


def test_excluded_topics_are_not_in_the_list(ten, ada, client):
    tracks.change_track(ten, ada, {"excluded_topics": ["3"]})
    work()
    page = page_at(client, ADDRESS)
    assert "9 topics with judgments" in words(page) and "about 3" not in page


def test_an_undefined_measure_is_a_dash(ten, client):
    run = ten.runs.get(tag="bens")
    ten.runs.exclude(pk=run.pk).update(state="valid")
    score = run.score_sets.get().scores.get(measure="AP")
    score.by_topic = b"\0\0\0\0\0\0\xf8\x7f" + bytes(score.by_topic)[8:]
    score.save()
    Calculation.objects.all().delete()
    assert rows(page_at(client, ADDRESS))[0].startswith("1 about 1 2 1 – ")


def test_a_blind_track_shows_numbers_and_titles_alone(blind_track, ben, as_ben):
    make_run(blind_track, ben)
    page = page_at(as_ben, "/benchmarks/blind/topics/")
    assert rows(page) == ["1 sourdough bread", "2 rye flour", "3 oven temperature"]
    assert "Judged" not in page.partition("<main")[2].replace("Judgments", "")


def test_topics_show_before_any_run(ada, client):
    ten_track(ada)
    assert rows(page_at(client, ADDRESS))[0].startswith("1 about 1 2 1 – ")


def test_queries_do_not_grow_with_the_board(ten, ben, client):
    asked = num_queries(client, ADDRESS)
    for rank in (2, 3, 4, 5):
        send(ten, ben, f"r{rank}", rank)
    assert num_queries(client, ADDRESS) == asked
