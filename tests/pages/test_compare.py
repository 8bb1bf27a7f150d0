"""Two runs beside each other: what the test says, and every topic."""

from __future__ import annotations

from html import unescape

import pytest

from leaderboard import organising
from leaderboard.models import Run, Track
from tests.builders import OTHER_RUN, make_run, work
from tests.pages.reading import num_queries, page_at, rows, words
from tests.pages.ten_topics import send, ten_track, with_baseline

ADDRESS = "/tracks/ten/compare/"


@pytest.fixture
def ten(ada, ben, cat) -> Track:
    """The baseline at rank 2 everywhere, Ben better on every topic, Cat on half of them."""
    track = ten_track(ada)
    with_baseline(track, ada, 2)
    send(track, ben, "first", 1)
    send(track, cat, "mixed", [1, 4, 1, 4, 1, 4, 1, 4, 2, 2])
    return track


def between(track: Track, a: str, b: str, more: str = "") -> str:
    ids = dict(track.runs.values_list("tag", "pk"))
    return f"/tracks/{track.slug}/compare/?a={ids[a]}&b={ids[b]}{more}"


def test_the_difference_is_said_in_a_sentence(ten, client):
    said = words(page_at(client, between(ten, "base", "first")))
    assert "first is significantly better than base: +.500 AP, 95 % interval +.500 to" in said
    assert "p = .002. It wins 10 topics, loses 0 and ties 0." in said
    assert "all sign patterns, not corrected: one comparison was asked for." in said


def test_the_other_way_round_is_worse(ten, client):
    page = page_at(client, between(ten, "first", "base"))
    assert "base is significantly worse than first: −.500 AP" in words(page)
    assert 'class="worse">−.500' in page


def test_runs_that_cannot_be_told_apart_may_differ_on_topics(ten, client):
    said = words(page_at(client, between(ten, "base", "mixed")))
    assert "mixed cannot be told apart from base: +.100 AP" in said
    assert "It wins 4 topics, loses 4 and ties 2." in said
    assert "On 8 topics the two differ by more than .2." in said


def test_without_two_runs_in_the_address_the_best_meets_the_baseline(ten, client):
    assert "first against base" in words(page_at(client, ADDRESS))
    base = Run.objects.get(tag="base")
    assert "base against first" in words(page_at(client, f"{ADDRESS}?b={base.pk}"))


def test_every_topic_is_a_bar_and_a_row(ten, client):
    page = page_at(client, between(ten, "base", "mixed"))
    assert page.count('<rect class="bar ') == 10
    assert rows(page, 0)[1] == "2 about 2 .2500 .5000 −.2500"
    assert "/tracks/ten/topic/?number=2&amp;measure=AP" in page
    assert [row.split()[0] for row in rows(page, 1)[:4]] == ["1", "3", "5", "7"]


def test_bars_stand_in_the_order_asked_for(ten, client):
    falling = page_at(client, between(ten, "base", "mixed"))
    by_topic = page_at(client, between(ten, "base", "mixed", "&order=topic"))
    bar = "topic 10: .000"
    assert falling.index(bar) < falling.index("topic 2: −.250")
    assert by_topic.index(bar) > by_topic.index("topic 2: −.250")


def test_lower_is_better_where_the_measure_says_so(ten, ada, client):
    organising.change_track(ten, ada, {"measures": ["AP", "NumRet", "Unjudged@5"]})
    work()
    page = page_at(client, between(ten, "base", "first", "&measure=Unjudged@5"))
    assert "base better on" in page.partition("▲ ")[2].partition("</text>")[0]
    assert "scatter" not in page


def test_below_six_topics_nothing_is_significant(track, ben, cat, client):
    make_run(track, ben)
    make_run(track, cat, OTHER_RUN)
    said = words(page_at(client, between(track, "other", "ben-bm25")))
    assert "ben-bm25 cannot be told apart from other" in said
    assert "With 3 topics nothing can be significant." in said


def test_one_run_is_not_enough(track, ben, client):
    make_run(track, ben)
    said = words(page_at(client, "/tracks/bread/compare/"))
    assert "Two runs are needed" in said and "ben-bm25 is the only run" in said


@pytest.mark.parametrize("more", ["?a=nosuch", "?a=%00", "?b=nosuch", "?a={base}&b=nosuch"])
def test_runs_that_are_not_on_the_board(ten, client, more):
    base = Run.objects.get(tag="base").pk
    assert client.get(ADDRESS + more.format(base=base)).status_code == 404


def test_a_blind_track_compares_nothing(blind_track, ben, as_ben):
    run = make_run(blind_track, ben)
    for more in ("", f"?a={run.pk}&b={run.pk}"):
        assert as_ben.get(f"/tracks/blind/compare/{more}").status_code == 404


def test_a_run_against_itself_is_no_pair(ten, client):
    page = page_at(client, between(ten, "first", "first"))
    assert "Choose two different runs." in words(page) and 'name="a"' in page


def test_the_form_offers_every_run(ten, client):
    page = unescape(page_at(client, between(ten, "base", "mixed")))
    base, mixed = Run.objects.get(tag="base"), Run.objects.get(tag="mixed")
    assert page.count(f'<option value="{base.pk}"') == 2
    assert f'<option value="{mixed.pk}" selected>' in page


def test_names_of_strangers_are_only_text(ten, client):
    Run.objects.filter(tag="first").update(tag="<script>x")
    assert "<script>x" not in page_at(client, ADDRESS)


def test_queries_do_not_grow_with_the_board(ten, ben, client, django_assert_num_queries):
    page_at(client, ADDRESS)
    asked = num_queries(client, ADDRESS)
    for rank in (3, 4, 5, 6):
        send(ten, ben, f"r{rank}", rank)
    with django_assert_num_queries(asked):
        page_at(client, ADDRESS)
