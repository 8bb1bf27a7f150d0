"""Two runs beside each other: what the test says, and every topic."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from evaluation.agreement import rbo
from evaluation.significance import posterior_of
from leaderboard.actions import tracks
from leaderboard.display.numbers import score
from leaderboard.models import Run, Track, User
from leaderboard.pages.views import pairs
from tests.builders import OTHER_RUN, make_run, work
from tests.pages.reading import num_queries, page_at, rows, words
from tests.pages.ten_topics import send, ten_track, with_baseline

ADDRESS = "/benchmarks/ten/compare/"


def make_scene(ada: User, ben: User, cat: User) -> None:
    """The baseline at rank 2 everywhere, Ben better on every topic, Cat on half of them."""
    track = ten_track(ada)
    with_baseline(track, ada, 2)
    send(track, ben, "first", 1)
    send(track, cat, "mixed", [1, 4, 1, 4, 1, 4, 1, 4, 2, 2])


@pytest.fixture
def ten(scene) -> Track:
    return Track.objects.get(slug="ten")


def between(track: Track, a: str, b: str, more: str = "") -> str:
    ids = dict(track.runs.values_list("tag", "pk"))
    return f"/benchmarks/{track.slug}/compare/?a={ids[a]}&b={ids[b]}{more}"


def test_the_difference_is_said_in_a_sentence(ten, client):
    said = words(page_at(client, between(ten, "base", "first")))
    assert "first is significantly better than base: +.500 AP, 95 % interval +." in said
    assert "p = .002. It wins on 10 topics, loses on 0 and ties on 0." in said
    assert "p and intervals hold jointly for" in said


def test_the_other_way_round_is_worse(ten, client):
    page = page_at(client, between(ten, "first", "base"))
    assert "base is significantly worse than first: −.500 AP" in words(page)
    assert 'class="worse">−.500' in page


def test_runs_that_cannot_be_told_apart_may_differ_on_topics(ten, client):
    said = words(page_at(client, between(ten, "base", "mixed")))
    assert "mixed cannot be told apart from base: +.100 AP" in said
    assert "It wins on 4 topics, loses on 4 and ties on 2." in said
    assert "On 8 topics the two differ by more than .2." in said


def test_a_named_pair_has_the_probability_that_the_run_ahead_is_better(ten, client):
    gains = np.array([0.5, -0.25] * 4 + [0.0] * 2)
    probability = 1 - ttest_1samp(gains, 0).pvalue / 2
    for a, b in (("base", "mixed"), ("mixed", "base")):
        said = words(page_at(client, between(ten, a, b)))
        assert f"that mixed is better than base is {score(probability, 3)}. This is from" in said


def test_the_probability_is_on_the_scale_of_the_test(ten, ada, client):
    """By GMAP topics count as logarithms: half of them double, half of them halve."""
    tracks.change_track(ten, ada, {"measures": ["AP", "GMAP"]})
    work()
    said = words(page_at(client, between(ten, "base", "mixed", "&measure=GMAP")))
    assert "the probability that" not in said


def test_a_pair_that_the_reader_did_not_name_has_no_probability(ten, client):
    base = Run.objects.get(tag="base")
    for address in (ADDRESS, f"{ADDRESS}?a={base.pk}", f"{ADDRESS}?b={base.pk}"):
        assert "the probability that" not in page_at(client, address)


def test_the_reader_sets_what_counts_as_equal(ten, client):
    found = posterior_of(np.array([0.5, -0.25] * 4 + [0.0] * 2), 0.05)
    said = words(page_at(client, between(ten, "base", "mixed", "&region=.05")))
    assert f"that mixed is better than base by more than .05 is {score(found.better, 3)}" in said
    assert f"That they differ by at most .05 has the probability {score(found.within, 3)}" in said
    assert f"that base is better by more than .05 {score(found.worse, 3)}. This is from" in said


def test_a_region_that_is_none_is_refused_beside_its_field(ten, client):
    for asked in ("-1", "x", "nan"):
        page = page_at(client, between(ten, "base", "mixed", f"&region={asked}"))
        assert 'id="id_region_error"' in page and "that mixed is better than base is" in words(page)


def test_below_six_topics_there_is_no_probability(ten, ada, client):
    tracks.change_track(ten, ada, {"excluded_topics": ["1", "2", "3", "4", "5"]})
    work()
    assert "the probability that" not in page_at(client, between(ten, "base", "mixed"))


def test_without_two_runs_in_the_address_the_best_meets_the_baseline(ten, client):
    assert "first against base" in words(page_at(client, ADDRESS))
    base = Run.objects.get(tag="base")
    assert "base against first" in words(page_at(client, f"{ADDRESS}?b={base.pk}"))


def test_every_topic_is_a_bar_and_a_row(ten, client):
    page = page_at(client, between(ten, "base", "mixed"))
    assert page.count('<rect class="bar ') == 10
    assert rows(page, 0)[-1].startswith("8 about 8 .2500 .5000 −.2500")
    assert [row.split()[0] for row in rows(page, 1)[:4]] == ["1", "3", "5", "7"]


def test_a_bar_a_point_and_a_row_lead_to_both_rankings(ten, client):
    page = unescape(page_at(client, between(ten, "base", "mixed")))
    address = between(ten, "base", "mixed", "&number=2#topic")
    # In the drawings, in the table of all, and not among the largest eleven of ten again.
    assert page.count(f'href="{address}"') == 4


def test_overlap_is_that_of_the_first_documents(ten, client):
    """`base` has good1 second, `mixed` first and alone: .9 of what is listed at depth 2."""
    page = page_at(client, between(ten, "base", "mixed"))
    expected = rbo(["other1-1", "good1"], ["good1"], 0.9)
    assert rows(page, 1)[0] == f"1 about 1 1.0000 .5000 +.5000 {score(expected, 2)}"


def test_a_long_comparison_has_its_table_in_pages(ten, client, monkeypatch):
    monkeypatch.setattr(pairs, "TABLED", 9)
    second = page_at(client, between(ten, "base", "mixed", "&order=topic&page=2"))
    assert rows(second)[0].startswith("10 about 10") and "10 to 10 of 10 topics" in words(second)


def test_every_topic_is_a_line_for_other_programs(ten, client):
    lines = client.get(between(ten, "base", "mixed", "&format=csv")).content.decode().splitlines()
    head = "topic,title,AP of mixed,AP of base,difference,overlap_rbo_.9"
    assert lines[0] == head and len(lines) == 11
    assert lines[1].startswith("1,about 1,1.0,0.5,0.5,0.45")


@pytest.fixture
def bread(track, ben, cat) -> Track:
    make_run(track, ben)
    make_run(track, cat, OTHER_RUN)
    return track


def cards(page: str) -> list[str]:
    found = re.findall(r'<li class="hit-card.*?</li>', page, re.DOTALL)
    return [words(card.replace("<", " <")) for card in found]


def test_both_rankings_of_a_topic_stand_side_by_side(bread, client):
    page = page_at(client, between(bread, "other", "ben-bm25", "&number=1"))
    assert "Topic 1, side by side" in words(page)
    assert "3 of the top 10 shared, 1 and 1 unjudged" in words(page)
    shown = cards(page)
    assert shown[0].startswith("1 d1 Document 1 Loaf 1 of twelve, baked slowly. grade 2 ↘ 3 rank 3")
    assert "rank 3 in the other run, 2 places lower" in shown[0]
    assert "unjudged ↗ 2 rank 2 in the other run, 1 place higher" in shown[2]
    assert shown[3].startswith("1 d3 Document 3") and "✕ missed" in shown[3]


def test_lines_join_the_ranks_of_shared_documents(bread, client):
    page = page_at(client, between(bread, "other", "ben-bm25", "&number=1"))
    paths = re.findall(r'<path class="join( relevant)?" d="([^"]+)"', page)
    # Cards are ten units apart: d9 from 3 to 2, then d1 from 1 to 3 and d2 from 2 to 4.
    curves = [path for _, path in paths if "C" in path]
    assert curves == [
        "M0 24.56C50 24.56 50 14.56 100 14.56",
        "M0 4.56C50 4.56 50 24.56 100 24.56",
        "M0 14.56C50 14.56 50 34.56 100 34.56",
    ]
    assert ("", "M100 4.56h-12") in paths


def test_relevant_documents_beneath_are_named(bread, client):
    said = words(page_at(client, between(bread, "ben-bm25", "other", "&number=3")))
    assert "Relevant, further down or missedgrade 1 d8 missed" in said


def test_the_topic_with_the_largest_difference_is_shown_first(ten, client):
    said = words(page_at(client, between(ten, "base", "mixed")))
    assert "Topic 1, side by side" in said


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("&number=5", {"prev": "3", "next": "7"}),
        ("&number=5&order=topic", {"prev": "4", "next": "6"}),
        ("&number=10&order=topic", {"prev": "9"}),
    ],
)
def test_neighbours_stand_in_the_order_of_the_page(ten, client, more, expected):
    page = unescape(page_at(client, between(ten, "base", "mixed", more)))
    assert dict(re.findall(r'rel="(prev|next)" href="[^"]*number=(\d+)', page)) == expected


def test_more_documents_are_shown_when_asked_for(ten, cat, client):
    send(ten, cat, "deep", 30)
    shown = [
        len(cards(page_at(client, between(ten, "base", "deep", f"&depth={depth}"))))
        for depth in ("10", "20", "7", "")
    ]
    assert shown == [12, 22, 12, 12]
    said = words(page_at(client, between(ten, "base", "deep")))
    assert "20 more documents, 19 of them unjudged" in said
    assert "grade 1 good1 at 30" in said


def test_the_documents_of_both_are_a_table_for_other_programs(bread, client):
    address = between(bread, "other", "ben-bm25", "&number=1&format=csv&table=documents")
    lines = client.get(address).content.decode().splitlines()
    assert lines[0] == "docno,grade,rank in other,rank in ben-bm25"
    assert lines[1:] == ["d1,2,3,1", "d2,1,4,2", "d9,,2,3", "d3,0,1,"]


@pytest.mark.parametrize("number", ["99", "", "%00", "1%20"])
def test_a_topic_that_is_not_compared(ten, client, number):
    assert client.get(between(ten, "base", "mixed", f"&number={number}")).status_code == 404


def test_bars_stand_in_the_order_asked_for(ten, client):
    falling = page_at(client, between(ten, "base", "mixed"))
    by_topic = page_at(client, between(ten, "base", "mixed", "&order=topic"))
    bar = "topic 10: .000"
    assert falling.index(bar) < falling.index("topic 2: −.250")
    assert by_topic.index(bar) > by_topic.index("topic 2: −.250")


def test_lower_is_better_where_the_measure_says_so(ten, ada, client):
    tracks.change_track(ten, ada, {"measures": ["AP", "NumRet", "Unjudged@5"]})
    work()
    page = page_at(client, between(ten, "base", "first", "&measure=Unjudged@5"))
    assert "▼ first better on 10" in page and "▲" not in page
    assert "scatter" not in page


def test_below_six_topics_nothing_is_significant(track, ben, cat, client):
    make_run(track, ben)
    make_run(track, cat, OTHER_RUN)
    said = words(page_at(client, between(track, "other", "ben-bm25")))
    assert "ben-bm25 cannot be told apart from other" in said
    assert "With 3 topics nothing can be significant." in said


def test_one_run_is_not_enough(track, ben, client):
    make_run(track, ben)
    said = words(page_at(client, "/benchmarks/bread/compare/"))
    assert "Two runs needed" in said and "ben-bm25 is the only run" in said


@pytest.mark.parametrize("more", ["?a=nosuch", "?a=%00", "?b=nosuch", "?a={base}&b=nosuch"])
def test_runs_that_are_not_on_the_board(ten, client, more):
    base = Run.objects.get(tag="base").pk
    assert client.get(ADDRESS + more.format(base=base)).status_code == 404


def test_a_blind_track_compares_nothing(blind_track, ben, as_ben):
    run = make_run(blind_track, ben)
    for more in ("", f"?a={run.pk}&b={run.pk}"):
        assert as_ben.get(f"/benchmarks/blind/compare/{more}").status_code == 404


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


def test_queries_do_not_grow_with_the_board(ten, ben, client):
    asked = num_queries(client, ADDRESS)
    for rank in (3, 4, 5, 6):
        send(ten, ben, f"r{rank}", rank)
    assert num_queries(client, ADDRESS) == asked
