"""One run on one topic: documents with their grades, and what their order gains."""

from __future__ import annotations

import re

import numpy as np
import pytest

from leaderboard.actions import tracks
from leaderboard.analysis.gains import build_gain_curves, find_gain_scale
from leaderboard.analysis.snippets import cut_snippet
from leaderboard.collections.topic_words import find_terms
from leaderboard.models import Judgment, Score, Topic
from tests.builders import OTHER_RUN, make_run, work
from tests.pages.reading import page_at, rows, words

DISCOUNTED = 1 / np.log2(np.arange(2, 12))


def test_documents_stand_in_scoring_order_with_their_grades(track, ben, client):
    run = make_run(track, ben)
    page = page_at(client, f"/runs/{run.pk}/ranking/?number=1")
    assert page.index("Document 1<") < page.index("Document 2<") < page.index("Document 9<")
    assert "Loaf 9 of twelve" in page
    assert "unjudged" in page


def test_a_ranking_says_what_it_scores_and_how_that_is_computed(track, ben, client):
    run = make_run(track, ben)
    page = page_at(client, f"/runs/{run.pk}/ranking/?number=1&measure=nDCG@10")
    value = Score.objects.get(score_set__run=run, measure="nDCG@10").values[0]
    assert f"nDCG@10 {value:.4f}".replace("0.", ".") in words(page)
    assert "/benchmarks/bread/computed/?run=" in page


def test_words_of_the_topic_are_marked_in_any_form(track, ben, client):
    Topic.objects.filter(number="1").update(title="What loaves bake slow?")
    run = make_run(track, ben)
    page = page_at(client, f"/runs/{run.pk}/ranking/?number=1")
    assert "Loaf 1 of twelve, <mark>baked</mark> slowly." in page


def test_a_snippet_is_the_stretch_with_most_different_terms():
    text = "tide " * 80 + "a lighthouse at high tide " + "far " * 80
    pieces = cut_snippet(text, find_terms(Topic(title="Lighthouses and tides")))
    assert [piece.words for piece in pieces if piece.is_term][-2:] == ["lighthouse", "tide"]
    assert pieces[0].words == "… " and pieces[-1].words == " …"
    assert sum(len(piece.words) for piece in pieces) < 300


def test_a_text_is_never_changed_by_marks():
    text = "Tides, tidal; and the TIDE's turn."
    pieces = cut_snippet(text, find_terms(Topic(title="tide")))
    assert "".join(piece.words for piece in pieces) == text
    assert [piece.words for piece in pieces if piece.is_term] == ["Tides", "TIDE"]


def test_gains_are_those_of_the_measure(track, ben):
    run = make_run(track, ben, OTHER_RUN)
    ranked = {"1": ["d3", "d9", "d1", "d2"], "2": ["d4"], "3": ["d10", "d11", "d6"]}
    by_topic = np.frombuffer(Score.objects.get(measure="nDCG@10").by_topic)
    for topic, expected in zip(Topic.objects.order_by("position"), by_topic, strict=True):
        grades = dict(Judgment.objects.filter(topic=topic).values_list("docno", "grade"))
        found = build_gain_curves(find_gain_scale(run.track), grades, ranked[topic.number], 10)
        assert found.ndcg == pytest.approx(expected)


@pytest.mark.parametrize(
    ("docnos", "part"),
    [(["d6"], "nothing"), (["d9", "d6"], "ranking"), (["d9"], "retrieval")],
)
def test_the_part_that_lost_most_is_named(track, docnos, part):
    assert build_gain_curves(find_gain_scale(track), {"d6": 3, "d7": 0}, docnos, 10).lost_by == part


def test_where_both_parts_lost_much_both_are_named(track):
    found = build_gain_curves(find_gain_scale(track), {"d6": 2, "d8": 2}, ["d9", "d10", "d6"], 10)
    assert found.lost_by == "both"


def test_what_is_lost_is_lost_by_ranking_or_by_retrieval(track, ben, client):
    """Grades 1, 3 of an ideal 3, 1 in the first topic; one of two found in the other."""
    run = make_run(track, ben, OTHER_RUN)
    found = build_gain_curves(
        find_gain_scale(track), {"d6": 3, "d7": 0, "d8": 1}, ["d10", "d11", "d6"], 10
    )
    ideal = 3 * DISCOUNTED[0] + DISCOUNTED[1]
    assert found.lost_by_ranking == pytest.approx(3 * (1 - DISCOUNTED[2]) / ideal)
    assert found.lost_by_retrieval == pytest.approx(DISCOUNTED[1] / ideal)
    said = words(page_at(client, f"/runs/{run.pk}/ranking/?number=3"))
    assert "other reaches .413 of the ideal gain in its first ten." in said
    assert ".413 is lost in ranking" in said and ".174 is lost in retrieval" in said


def test_the_curves_have_the_values_of_their_table(track, ben, client):
    run = make_run(track, ben, OTHER_RUN)
    page = page_at(client, f"/runs/{run.pk}/ranking/?number=3&cutoff=20")
    assert rows(page)[2] == "3 1.5000 3.0000 3.6309" and len(rows(page)) == 20
    path = re.search(r'curve own" d="M([^"]+)"', page)[1]
    heights = [float(point.split()[1]) for point in path.split("L")]
    # The axis ends at 4: half as much as 3 stands at 62.5 from the top.
    assert heights[:3] == [100, 100, 62.5] and heights[19] == 62.5


def test_gains_count_as_the_tracks_own_measure_does(track, ada):
    tracks.change_track(track, ada, {"measures": ["AP", "nDCG(gain=exp)@10"]})
    track.refresh_from_db()
    found = build_gain_curves(find_gain_scale(track), {"a": 3, "b": -1}, ["b", "a"], 10)
    assert found.ideal[0] == 7 and found.own[0] == 0


def test_a_topic_without_a_relevant_document_has_nothing_to_gain(track, ben, client):
    Judgment.objects.update(grade=0)
    run = make_run(track, ben)
    assert "Gains and losses" not in page_at(client, f"/runs/{run.pk}/ranking/?number=1")


def test_relevant_documents_elsewhere_are_named(track, ben, client):
    run = make_run(track, ben, OTHER_RUN)
    assert "grade 1 d8 missed" in words(page_at(client, f"/runs/{run.pk}/ranking/?number=3"))


def test_the_ranking_is_a_table_for_other_programs(track, ben, client):
    run = make_run(track, ben, OTHER_RUN)
    answer = client.get(f"/runs/{run.pk}/ranking/?number=3&format=csv").content.decode()
    head, *lines = answer.splitlines()
    assert head == "rank,docno,score,grade,dcg,dcg_reordered,dcg_ideal"
    assert lines[0].startswith("1,d10,9.0,,0.0,3.0,3.0") and lines[2].startswith("3,d6,7.0,3,1.5")


def test_gains_are_a_table_also_below_the_last_document(track, ben, client):
    run = make_run(track, ben, OTHER_RUN)
    answer = client.get(f"/runs/{run.pk}/ranking/?number=3&cutoff=20&format=csv&table=gains")
    head, *lines = answer.content.decode().splitlines()
    assert head == "rank,dcg,dcg_reordered,dcg_ideal" and len(lines) == 20
    assert lines[0] == "1,0.0,3.0,3.0" and lines[19].startswith("20,1.5,")


def test_a_blind_track_shows_ones_documents_without_grades(blind_track, ben, as_ben):
    run = make_run(blind_track, ben)
    page = page_at(as_ben, f"/runs/{run.pk}/ranking/?number=1")
    assert "Document 1<" in page and "grades hidden" in page
    for hidden in ("unjudged", 'class="grade', "Gains and losses", "Relevant, further"):
        assert hidden not in page
    answer = as_ben.get(f"/runs/{run.pk}/ranking/?number=1&format=csv").content.decode()
    assert answer.splitlines()[:2] == ["rank,docno,score", "1,d1,9.0"]


def test_a_topic_that_the_run_leaves_out_is_said_to_be_empty(track, ben, client):
    run = make_run(track, ben, "1 Q0 d1 1 9.0 t\n")
    assert "Nothing retrieved" in page_at(client, f"/runs/{run.pk}/ranking/?number=2")


def test_unknown_topics_are_not_found(track, ben, client):
    run = make_run(track, ben)
    for number in ("99", "", "%00", "1' or 1=1"):
        assert client.get(f"/runs/{run.pk}/ranking/?number={number}").status_code == 404


def test_long_rankings_have_pages(track, ben, client):
    lines = "".join(f"1 Q0 d{n} {n} {100 - n} t\n" for n in range(1, 13))
    run = make_run(track, ben, lines)
    assert "Document 12<" in page_at(client, f"/runs/{run.pk}/ranking/?number=1&page=999")


def test_a_document_is_only_text(track, ben, client):
    Topic.objects.filter(number="1").update(title="<b>script")
    work()
    assert "<b>script" not in page_at(client, f"/runs/{make_run(track, ben).pk}/ranking/?number=1")
