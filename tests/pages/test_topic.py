"""One topic: its text, every run on it, what was judged, and what nobody judged."""

from __future__ import annotations

import pytest

from evaluation.curves import precision_recall
from evaluation.judging import JudgedRun
from leaderboard.actions import tracks
from leaderboard.analysis import topics
from leaderboard.models import Judgment, Run, Track
from leaderboard.scoring.judgments import load_judgments
from tests.builders import OTHER_RUN, make_run, make_user, signed_in, work
from tests.pages.reading import num_queries, page_at, rows, words
from tests.pages.ten_topics import send, ten_track, with_baseline

ADDRESS = "/benchmarks/bread/topic/?number=1"


@pytest.fixture
def judged(track, ada, ben) -> Track:
    """Ben's run, and the organisers' as the baseline."""
    base = make_run(track, ada, OTHER_RUN)
    tracks.choose_baseline(track, ada, base)
    make_run(track, ben)
    work()
    return track


def test_its_text_is_all_there(judged, client):
    said = words(page_at(client, ADDRESS))
    assert "Topic 1" in said and "sourdough bread" in said
    assert "How is bread leavened without yeast from a shop?" in said
    assert "A relevant document explains a starter." in said


def test_every_run_with_its_first_ten(judged, client):
    first, second = rows(page_at(client, ADDRESS), 1)
    assert first.startswith("1 ben-bm25 ranking ben 1.0000 1 grades by rank: 2, 1, unjudged 2 1")
    assert second.startswith("2 other baseline ranking organisers .4167 3")


def test_a_dot_and_a_row_lead_to_the_ranking(judged, client):
    run = Run.objects.get(tag="ben-bm25")
    page = page_at(client, ADDRESS)
    assert page.count(f'href="/runs/{run.pk}/ranking/?number=1"') == 3
    computed = "/benchmarks/bread/computed/?measure=AP&amp;number=1"
    assert f'class="number" href="{computed}&amp;run={run.pk}"' in page


def test_judged_documents_with_their_ranks(judged, client):
    documents = rows(page_at(client, ADDRESS), 4)
    assert documents[0] == "grade 2 d1 Document 1 2 of 2 1 3"
    assert documents[2] == "grade 0 d3 Document 3 only other – 1"


def test_who_alone_found_a_document_is_named(judged, client):
    """d6 is found by both, d7 and d8 by Ben's run alone."""
    documents = rows(page_at(client, "/benchmarks/bread/topic/?number=3"), 4)
    assert documents[0].startswith("grade 3 d6 Document 6 2 of 2")
    assert documents[1].startswith("grade 1 d8 Document 8 only ben-bm25")


def test_the_runs_are_a_table_for_other_programs(judged, client):
    lines = client.get(f"{ADDRESS}&format=csv&table=runs").content.decode().splitlines()
    assert lines[0].startswith("rank,run,tag,team,AP,first_relevant,relevant_in_top_10,")
    assert lines[1].startswith("1,") and lines[1].endswith(",ben-bm25,ben,1.0,1,2,1,3")


def test_all_that_nobody_judged_is_a_table(judged, client):
    lines = client.get(f"{ADDRESS}&format=csv&table=unjudged").content.decode().splitlines()
    assert lines == ["docno,runs_in_top_10,best_rank", "d9,2,2"]


def test_judgments_leave_with_organisers_alone(judged, as_ada, as_ben):
    address = f"{ADDRESS}&format=csv&table=judged"
    assert as_ben.get(address).status_code == 404
    lines = as_ada.get(address).content.decode().splitlines()
    assert lines == [
        "docno,grade,found_in_top_100,ben-bm25,other",
        "d1,2,2,1,3",
        "d2,1,2,2,4",
        "d3,0,1,,1",
    ]


@pytest.mark.parametrize("table", ["", "nosuch", "judged"])
def test_a_table_that_is_none(judged, client, table):
    assert client.get(f"{ADDRESS}&format=csv&table={table}").status_code == 404


def test_organisers_read_whether_the_order_of_runs_is_inverted(ada, ben, cat, client):
    track = ten_track(ada)
    for user in (ben, cat, make_user("dan")):
        send(track, user, "best", [1] * 9 + [5])
        send(track, user, "last", [5] * 9 + [1])
    send(track, cat, "middle", [2] * 9 + [3])
    said = words(page_at(signed_in(ada), "/benchmarks/ten/topic/?number=10"))
    assert "correlation with other topics: r = −.94" in said and "Inverted order." in said
    assert "Inverted order" not in page_at(client, "/benchmarks/ten/topic/?number=10")
    assert "Inverted order" not in page_at(signed_in(ada), "/benchmarks/ten/topic/?number=1")


def test_an_order_that_chance_explains_is_not_called_inverted(ada, ben, cat, client):
    track = ten_track(ada)
    for user, tag, ranks in ((ben, "best", [1] * 9 + [5]), (cat, "last", [5] * 9 + [1])):
        send(track, user, tag, ranks)
    send(track, cat, "middle", [2] * 9 + [3])
    said = words(page_at(signed_in(ada), "/benchmarks/ten/topic/?number=10"))
    assert "correlation with other topics: r = −.87" in said and "Inverted order." not in said


def test_what_nobody_judged(judged, client):
    assert rows(page_at(client, ADDRESS), 5) == ["d9 Document 9 2 of 2 2"]


def test_grades_are_counted(judged, client):
    page = page_at(client, ADDRESS)
    assert "3 judged, 2 relevant" in words(page)
    assert [row.split()[1] for row in rows(page, 0)] == ["3", "2", "1", "0"]


def test_a_negative_grade_was_pooled_and_not_judged(judged, client):
    Judgment.objects.filter(topic__number="1", docno="d3").update(grade=-1)
    page = page_at(client, ADDRESS)
    assert "2 judged, 2 relevant" in words(page)
    assert "pooled, not judged" in page
    assert any(row.startswith("d3 ") for row in rows(page, 5))


def test_the_threshold_of_the_track_decides_what_is_relevant(judged, ada, client):
    tracks.change_track(judged, ada, {"relevance_threshold": 2})
    work()
    page = page_at(client, ADDRESS)
    assert "3 judged, 1 relevant" in words(page)
    assert rows(page, 1)[0].endswith(" 1 1 ranking")


def test_own_runs_have_the_sentence(ada, ben, cat):
    track = ten_track(ada)
    with_baseline(track, ada, 2)
    send(track, ben, "bens", 12)
    said = words(page_at(signed_in(ben), "/benchmarks/ten/topic/?number=4"))
    assert "bens is second of two with AP .0833; base has .5000." in said
    assert "It has good4 at 12; base has it at 2. Ten of its first ten are unjudged." in said
    send(track, ben, "better", 1)
    said = words(page_at(signed_in(ben), "/benchmarks/ten/topic/?number=4"))
    assert "better is best of three with AP 1.0000." in said


def test_others_read_who_is_best_and_last(judged, client):
    said = words(page_at(client, ADDRESS))
    assert "ben-bm25 is best with AP 1.0000, other last with .4167." in said
    assert "median AP .7083 the second easiest of 3 topics" in said


def make_long_board(ada, ben, cat, others: int) -> None:
    """The baseline is last, Ben's run before it, and Cat's runs before both."""
    track = ten_track(ada)
    with_baseline(track, ada, 40)
    send(track, ben, "bens", 39)
    for rank in range(1, others + 1):
        send(track, cat, f"r{rank}", rank)


def test_own_runs_and_the_baseline_keep_their_columns_on_a_long_board(ada, ben, cat):
    make_long_board(ada, ben, cat, 12)
    page = page_at(signed_in(ben), "/benchmarks/ten/topic/?number=1")
    head = page.partition("Found<small>")[2].partition("</tr>")[0]
    assert words(head.replace("<th", " <th")) == "in top 100 r1 r2 r3 r4 r5 r6 r7 r8 bens base"
    assert rows(page, 4)[0] == "grade 1 good1 14 of 14 1 2 3 4 5 6 7 8 39 40"
    assert "10 of 14 runs are shown: the top of the board, your own and the" in words(page)


def test_of_very_many_runs_the_best_are_read_with_own_runs_and_the_baseline(
    ada, ben, cat, monkeypatch
):
    monkeypatch.setattr(topics, "MOST_READ", 4)
    make_long_board(ada, ben, cat, 5)
    page = page_at(signed_in(ben), "/benchmarks/ten/topic/?number=1")
    said = words(page)
    assert "Of 7 runs only 4 are read here: the best on this topic, with the baseline" in said
    assert "bens is sixth of seven with AP .0256; r1 has 1.0000." in said
    assert [line.split()[:2] for line in rows(page, 1)] == [
        ["1", "r1"],
        ["2", "r2"],
        ["6", "bens"],
        ["7", "base"],
    ]


def test_neighbours_follow_the_arrow_keys(judged, client):
    page = page_at(client, "/benchmarks/bread/topic/?number=2&measure=P@5")
    assert 'rel="prev" href="?number=1&amp;measure=P%405"' in page
    assert 'rel="next" href="?number=3&amp;measure=P%405"' in page
    assert 'rel="prev"' not in page_at(client, ADDRESS)


def test_a_topic_that_does_not_count_says_so(judged, ada, client):
    tracks.change_track(judged, ada, {"excluded_topics": ["1"]})
    work()
    said = words(page_at(client, ADDRESS))
    assert "Not evaluated. The track excludes this topic from all means." in said


@pytest.mark.parametrize("number", ["", "9", "%00", "1%20", "../1"])
def test_a_number_that_is_none(judged, client, number):
    assert client.get(f"/benchmarks/bread/topic/?number={number}").status_code == 404


def test_a_blind_topic_is_its_text(blind_track, ben, as_ben):
    make_run(blind_track, ben)
    page = page_at(as_ben, "/benchmarks/blind/topic/?number=1")
    assert "sourdough bread" in page and "Hidden until the release." in page
    main = page.partition("<main")[2]
    for hidden in ("ben-bm25", "d1", "grade", "median", "<table", "format=csv"):
        assert hidden not in main
    for table in ("runs", "judged", "unjudged"):
        address = f"/benchmarks/blind/topic/?number=1&format=csv&table={table}"
        assert as_ben.get(address).status_code == 404


def test_topics_of_strangers_are_only_text(judged, client):
    judged.collection.topics.filter(number="1").update(title="<b>x", narrative="<script>y")
    page = page_at(client, ADDRESS)
    assert "<b>x" not in page and "<script>y" not in page


def test_queries_do_not_grow_with_the_board(judged, client):
    asked = num_queries(client, ADDRESS)
    for n in range(4):
        make_run(judged, make_user(f"u{n}"), OTHER_RUN.replace("d11", f"d{n + 4}"))
    assert num_queries(client, ADDRESS) == asked


def test_precision_and_recall_of_a_topic_are_drawn_and_tabled(judged, client):
    """Topic 3 has d6 and d8; Ben's run has them at ranks 1 and 2, the baseline d6 at rank 3."""
    page = page_at(client, "/benchmarks/bread/topic/?number=3")
    run = Run.objects.get(tag="ben-bm25")
    asked = precision_recall(
        JudgedRun.unpack(bytes(run.score_sets.get().record), load_judgments(run.track.edition_id)),
        2,
    )
    table = next(part for part in page.split("<table")[1:] if "Median" in part)
    own = [row.split()[1] for row in rows("<table" + table)]
    assert own == [f"{value:.4f}".removeprefix("0") for value in asked.interpolated]
    assert page.count('class="dot mean"') >= len(asked.rank) > 0
    assert "Precision and recall" in words(page)


def test_any_run_of_a_topic_can_be_in_front(judged, client):
    other = Run.objects.get(tag="other")
    page = page_at(client, f"/benchmarks/bread/topic/?number=1&run={other.pk}")
    assert "the relevant documents of other" in words(page)
    assert "the relevant documents of ben-bm25" in words(page_at(client, ADDRESS))


def test_the_curves_of_all_runs_are_a_table_for_other_programs(judged, client):
    lines = client.get(f"{ADDRESS}&format=csv&table=recall").content.decode().splitlines()
    assert lines[0] == "run,tag,recall,precision" and len(lines) == 1 + 2 * 11


def test_curves_are_hidden_where_scores_are(blind_track, ben, as_ada, as_ben):
    make_run(blind_track, ben)
    blind = "/benchmarks/blind/topic/?number=1"
    assert "Precision and recall" not in page_at(as_ben, blind)
    assert as_ben.get(f"{blind}&format=csv&table=recall").status_code == 404
    assert "Precision and recall" in page_at(as_ada, blind)
