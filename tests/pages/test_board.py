"""The board: its sentence, its table, what a reader can choose, and what a blind one shows."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from datetime import timedelta
from html import escape
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.actions import runs, tracks
from leaderboard.actions.submissions import accept_run
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import BoardChoice, find_board
from leaderboard.jobs import calculations
from leaderboard.models import Calculation, JudgmentSet, Run, Team, Track
from leaderboard.pages import board_table
from leaderboard.pages.wording import board_verdict, boards
from leaderboard.scoring import contest_tests
from tests.builders import (
    OTHER_RUN,
    make_collection,
    make_run,
    make_track,
    signed_in,
    upload,
    work,
)
from tests.pages.reading import num_queries, page_at, rows, words
from tests.pages.ten_topics import copies, make_ten_topics, run_of, send, ten_track, with_baseline

pytestmark = pytest.mark.long


@pytest.fixture
def ten(ada) -> Track:
    return ten_track(ada)


def page_of(client: Client, track: Track, more: str = "") -> str:
    return page_at(client, f"/benchmarks/{track.slug}/board/{more}")


def heads(page: str) -> list[str]:
    """What stands over the columns, the axis left out."""
    head = page.partition("<thead>")[2].partition("</thead>")[0]
    return [words(each) for each in re.findall(r'scope="col"[^>]*>(<a.*?)</th>', head)]


def order(page: str) -> list[str]:
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    return re.findall(r'<th scope="row"><a[^>]*><bdi>(.*?)</bdi>', body)


# The sentence


def test_a_leader_that_is_better_than_the_baseline(ten, ada, ben, cat, client):
    with_baseline(ten, ada)
    send(ten, ben, "first", 1)
    send(ten, cat, "same", [1, 3] * 5)
    send(ten, cat, "worse", 5)
    said = words(page_of(client, ten))
    assert "first leads and is significantly better than the baseline base +.500." in said
    assert "same cannot be told apart from the baseline; worse is significantly worse." in said


def test_a_leader_that_cannot_be_told_apart(ten, ada, ben, client):
    with_baseline(ten, ada)
    send(ten, ben, "close", [1, 1, 1, 2, 2, 2, 2, 3, 3, 3])
    said = words(page_of(client, ten))
    assert "close leads, but cannot be told apart from the baseline base +.100." in said


def test_a_baseline_that_leads(ten, ada, ben, client):
    with_baseline(ten, ada, 1)
    for rank in (2, 3, 4, 5):
        send(ten, ben, f"r{rank}", rank)
    said = words(page_of(client, ten))
    assert "The baseline base leads. The other four are significantly worse." in said


def test_runs_beside_a_leader_that_cannot_be_told_apart_are_counted_on(ten, ada, ben, client):
    with_baseline(ten, ada)
    for place in range(5):
        send(ten, ben, f"r{place}", [1, 1, 1, 2, 2, 2, 2, 3, 3, 3 + place])
    assert "Four more runs cannot be told apart from the baseline" in words(page_of(client, ten))


def test_a_long_board_counts_its_verdicts(ten, ada, ben, client, monkeypatch):
    monkeypatch.setattr(boards, "LONG_BOARD", 2)
    with_baseline(ten, ada)
    send(ten, ben, "first", 1)
    send(ten, ben, "near", [1] * 9 + [2])
    send(ten, ben, "worse", 5)
    said = words(page_of(client, ten))
    alone = "the baseline base alone, first and near are significantly better, 1 of 3 runs worse."
    assert f"first leads with AP 1.000. Compared with {alone}" in said


def test_a_long_board_on_which_nothing_is_better_counts(ten, ada, ben, client, monkeypatch):
    monkeypatch.setattr(boards, "LONG_BOARD", 1)
    with_baseline(ten, ada, 1)
    send(ten, ben, "worse", 5)
    assert "none of 1 run is significantly better, 1 worse." in words(page_of(client, ten))


def test_without_a_baseline_all_pairs_decide(ten, ben, cat, client):
    send(ten, ben, "first", 1)
    send(ten, cat, "second", 4)
    said = words(page_of(client, ten))
    assert "first leads with AP 1.000 and is significantly better than every other run." in said
    assert "No baseline yet" in said


def test_a_leader_that_does_not_beat_every_run_is_not_said_to(ten, ben, cat):
    send(ten, ben, "first", 1)
    send(ten, cat, "second", 4)
    send(ten, cat, "third", 5)
    board = find_board(sight_of(ten, ben), BoardChoice())
    held = zip(board.standings, [(1, 2), (2, 3), (2, 3)], strict=True)
    standings = [replace(standing, interval=interval) for standing, interval in held]
    said = "".join(p.words or p.name for p in board_verdict(replace(board, standings=standings)))
    assert "first leads with AP 1.000; no other run may be the best." in said


def test_equal_leaders_lead_together_and_share_the_rank(ten, ben, cat, client):
    send(ten, ben, "a", 1)
    send(ten, cat, "b", 1)
    send(ten, cat, "c", 2)
    page = page_of(client, ten)
    said = "Two runs may be the best; a and b tie for the lead with AP 1.000. 2 of 3 pairs differ."
    assert said in words(page)
    assert [line.split()[0] for line in rows(page)] == ["1", "1", "3"]


def test_one_run_has_no_rivals(ten, ben, client):
    send(ten, ben, "alone", 1)
    said = words(page_of(client, ten))
    assert "alone has AP 1.000. Ranks and tests need two runs." in said
    assert "one comparison" not in said


def test_the_power_of_the_board_is_told(ten, ada, ben, client):
    with_baseline(ten, ada)
    send(ten, ben, "first", [1] * 9 + [2])
    said = words(page_of(client, ten))
    assert "A run named in advance that is truly" in said
    assert "than the baseline would be told apart with probability .80 on 10 topics." in said


def test_a_board_of_few_topics_says_the_error_that_was_measured(ten, ada, ben, client):
    with_baseline(ten, ada)
    send(ten, ben, "first", 1)
    for asked, share in (("", 9), ("?family=all", 6)):
        said = words(page_of(client, ten, asked))
        assert f"no true difference, up to {share} % of boards showed a difference." in said


def test_below_six_topics_nothing_is_significant(track, ada, ben, client):
    base = make_run(track, ada, OTHER_RUN)
    tracks.choose_baseline(track, ada, base)
    make_run(track, ben)
    page = page_of(client, track)
    assert "With 3 topics nothing can be significant: p is at least .250." in words(page)
    assert 'class="same"' in page and 'class="better">+' not in page
    assert "break" not in page and "Strips" not in page


def test_a_board_with_a_baseline_compares_with_it_alone(ten, ada, ben, client):
    with_baseline(ten, ada)
    send(ten, ben, "first", 1)
    page = page_of(client, ten)
    assert "two-sided maximum-t test (sign flips of all runs together)" in words(page)
    assert "p and intervals hold jointly for 1 run" in words(page)
    assert "Possible ranks" not in words(page) and 'class="strip' not in page


def test_the_same_board_compares_all_runs_on_request(ten, ada, ben, client):
    with_baseline(ten, ada)
    run = send(ten, ben, "first", 1)
    page = page_of(client, ten, "?family=all")
    assert "first leads with AP 1.000 and is significantly better than every other" in words(page)
    assert "All pairs of 2 runs tested together, on 10 topics" in words(page)
    assert page.count('class="strip') >= 2 and "Possible ranks (chart)" in page
    assert f"/runs/{run.pk}/?family=all" in page


def test_a_test_with_holm_is_named_and_shows_no_interval(ten, ada, ben, client):
    Track.objects.filter(pk=ten.pk).update(test="sign_flip")
    with_baseline(ten, ada)
    send(ten, ben, "first", 1)
    said = words(page_of(client, ten, "?column=p&column=confidence"))
    assert "By AP: two-sided paired randomisation test (sign flips), all sign patterns" in said
    assert "Holm's adjustment over 1 run" in said and " to +" not in said


# The table


def test_a_row_says_everything_of_its_run(ten, ada, ben, client):
    with_baseline(ten, ada)
    send(ten, ben, "first", [1] * 9 + [3])
    assert rows(page_of(client, ten))[0].startswith("1")
    row = rows(page_of(client, ten))[0]
    for shown in ("first", "ben", ".933", "+.433", ".002", "9 / 1 / 0"):
        assert shown in row


def test_own_rows_the_baseline_and_breaks_are_marked(ten, ada, ben, cat):
    with_baseline(ten, ada)
    send(ten, ben, "first", 1)
    send(ten, cat, "worse", 5)
    page = page_of(signed_in(ben), ten, "?family=all")
    assert re.findall(r'<tr class="(.*?)">', page) == ["own break", "baseline break"]
    assert page.count(">yours</span>") == 1 and page.count(">baseline</span>") == 1


def test_a_break_stays_where_runs_between_are_hidden(ten, ada, ben, cat, client):
    with_baseline(ten, ada)
    send(ten, ben, "first", 1)
    send(ten, cat, "worst", 5)
    page = page_of(client, ten, "?text=rst&family=all")
    assert order(page) == ["first", "worst"]
    assert '<tr class="break">' in page


def test_another_order_keeps_the_ranks_and_shows_no_break(ten, ben, cat, client):
    send(ten, ben, "first", 1)
    send(ten, cat, "second", 7)
    Track.objects.filter(pk=ten.pk).update(measures=["AP", "RR", "P@5", "NumRet"])
    tracks.renew_edition(Track.objects.get(pk=ten.pk))
    work()
    page = page_of(client, ten, "?sort=NumRet")
    assert order(page) == ["second", "first"]
    assert [line.split()[0] for line in rows(page)] == ["2", "1"]
    assert "break" not in page
    assert 'aria-sort="descending"><a href="?sort=-NumRet">NumRet' in page


def test_every_number_leads_to_its_explanation(ten, ben, client):
    run = send(ten, ben, "first", 1)
    page = page_of(client, ten)
    address = f"/benchmarks/ten/computed/?run={run.pk}&amp;measure="
    for measure in ("AP", "P%405", "Judged%4010"):
        assert f'class="number" href="{address}{measure}" title="' in page


def test_a_manual_and_a_late_run_say_so(ten, ben, client):
    run = send(ten, ben, "first", 1)
    Run.objects.filter(pk=run.pk).update(kind="manual")
    Track.objects.filter(pk=ten.pk).update(closes_at=timezone.now() - timedelta(days=1))
    page = page_of(client, ten)
    assert '<span class="badge manual">manual' in page and '<span class="badge late">' in page


def test_a_run_outside_the_pool_says_so(ten, ben, cat, client):
    pooled = send(ten, ben, "pooled", 1)
    send(ten, cat, "outside", 2)
    JudgmentSet.objects.get(collection=ten.collection).pooled_runs.add(pooled)
    assert [("unpooled" in line) for line in rows(page_of(client, ten))] == [False, True]


def test_a_run_without_a_value_is_last_and_has_no_rank(ten, ben, cat, client):
    send(ten, ben, "first", 1)
    run = send(ten, cat, "undefined", 2)
    run.score_sets.get().scores.filter(measure="AP").update(mean=None)
    Calculation.objects.all().delete()
    assert rows(page_of(client, ten))[1].startswith("– ")


def test_names_of_strangers_are_only_text(ten, ben, client):
    run = send(ten, ben, "first", 1)
    Run.objects.filter(pk=run.pk).update(tag='"><script>x')
    Team.objects.filter(pk=run.team_id).update(name="<img src=x onerror=y>")
    page = page_of(client, ten)
    assert "<script>x" not in page and "<img src=x" not in page


# What the reader chooses


def test_any_run_can_be_the_baseline(ten, ada, ben, client):
    with_baseline(ten, ada)
    run = send(ten, ben, "first", 1)
    assert f'href="?baseline={run.pk}">use as baseline' in page_of(client, ten)
    said = words(page_of(client, ten, f"?baseline={run.pk}"))
    assert "The baseline first leads. base is significantly worse." in said


def test_a_board_of_any_measure_finds_its_pairs_tested(ten, ben, cat):
    send(ten, ben, "first", 1)
    send(ten, cat, "second", 2)
    tested = Calculation.objects.filter(request__baseline=None)
    full = [each for each in tested if len(each.results["family"]) == 2]
    assert {each.request["measure"] for each in full} == set(ten.measures)


def test_filters_leave_ranks_and_tests_alone(ten, ada, ben, cat, client):
    with_baseline(ten, ada)
    send(ten, ben, "first", 1)
    send(ten, cat, "last", 3)
    page = page_of(client, ten, "?team=cat")
    assert order(page) == ["last"] and rows(page)[0].startswith("3")
    assert "1 of 3 runs" in words(page) and "first leads" in words(page)


def test_the_best_of_each_team(ten, ben, cat, client):
    for tag, rank in (("a", 1), ("b", 2)):
        send(ten, ben, tag, rank)
    send(ten, cat, "c", 3)
    assert order(page_of(client, ten, "?best=1")) == ["a", "c"]


def test_nothing_that_matches_is_said(ten, ben, client):
    send(ten, ben, "first", 1)
    assert "No runs match your filters." in words(page_of(client, ten, "?text=zzz"))


def test_the_form_keeps_what_was_chosen(ten, ben, client):
    send(ten, ben, "first", 1)
    page = page_of(client, ten, "?measure=RR&kind=manual&best=1&text=f%3C&sort=P@5")
    assert "<option selected>RR</option>" in page and "<option selected>manual" in page
    assert 'name="best" value="1" checked' in page and 'name="text" value="f&lt;"' in page
    assert '<input type="hidden" name="sort" value="P@5">' in page


@pytest.mark.parametrize(
    "more", ["?measure=x", "?baseline=%00", "?sort=%27", "?team=%00&kind=%00", "?column=a&sort=-"]
)
def test_what_is_not_known_falls_back(ten, ben, client, more):
    send(ten, ben, "first", 1)
    assert "AP 1.000" in words(page_of(client, ten, more))


def test_a_measure_that_the_board_lacks_is_named(ten, ben, client):
    send(ten, ben, "first", 1)
    said = "This board has no measure <b><bdi>F&lt;O</bdi></b>, so it ranks by AP."
    assert said in page_of(client, ten, "?measure=F%3CO")
    assert "no measure" not in page_of(client, ten, "?measure=MAP")


def test_an_unknown_baseline_falls_back_to_that_of_the_track(ten, ada, ben, client):
    with_baseline(ten, ada)
    send(ten, ben, "first", 1)
    said = words(page_of(client, ten, "?baseline=nosuch"))
    assert "first leads and is significantly better than the baseline base" in said


def test_measures_beyond_four_wait_to_be_asked_for(collection, ben, client):
    measures = ["AP", "P@1", "P@2", "P@3", "P@4", "P@5", "P@6"]
    track = make_track(collection, slug="many", measures=measures)
    make_run(track, ben)
    page = page_of(client, track)
    assert heads(page)[-6:] == ["P@1", "P@2", "P@3", "P@4", "Judged@10", "Date"]
    page = page_of(client, track, "?column=P@5&column=team")
    assert heads(page) == ["Rank", "Run", "Team", "AP", "P@5"]
    assert "P<wbr>@6</a>" in page_of(client, track, "?column=all")


def test_the_form_ticks_the_columns_that_show(ten, ben, client):
    send(ten, ben, "first", 1)
    page = page_of(client, ten, "?column=date&column=RR")
    assert "Columns 5 of 12" in words(page)
    ticked = re.findall(r'name="column" value="([^"]*)" checked', page)
    assert ticked == ["RR", "date"]


@pytest.mark.parametrize(
    "sort, expected",
    [
        ("run", ["a", "b", "c"]),
        ("-run", ["c", "b", "a"]),
        ("team", ["c", "a", "b"]),
        ("difference", ["b", "a", "c"]),
        ("p", ["b", "a", "c"]),
        ("-rank", ["a", "c", "b"]),
        ("date", ["b", "a", "c"]),
    ],
)
def test_every_column_sorts_both_ways(ten, ada, ben, cat, client, sort, expected):
    base = send(ten, ada, "c", 2)
    tracks.choose_baseline(ten, ada, base)
    work()
    send(ten, ben, "a", [3] * 9 + [1])
    send(ten, cat, "b", 1)
    Team.objects.filter(memberships__user=cat).update(name="zebra")
    Team.objects.filter(of_organisers=True).update(name="aardvark")
    assert order(page_of(client, ten, f"?sort={sort}")) == expected


@pytest.mark.parametrize("column", ["judged", "axis", "length", "fact.nosuch"])
def test_a_column_that_the_board_lacks_sorts_nothing(leaderboard_track, ben, client, column):
    make_run(leaderboard_track, ben)
    page = words(page_of(client, leaderboard_track, f"?sort={column}"))
    assert "best first" in page and "rows sorted by" not in page


def test_a_head_sorts_and_the_second_time_turns_the_order(ten, ben, client):
    send(ten, ben, "first", 1)
    page = page_of(client, ten, "?measure=AP&sort=team")
    assert 'aria-sort="ascending"><a href="?measure=AP&amp;sort=-team">Team' in page
    page = page_of(client, ten, "?sort=-team")
    assert 'aria-sort="descending"><a href="?sort=team">Team' in page
    assert "rows sorted by team, reversed." in words(page)


def test_an_export_is_exactly_what_is_shown(ten, ada, ben, cat, client):
    with_baseline(ten, ada)
    send(ten, ben, "first", 1)
    send(ten, cat, "last", 3)
    asked = "?measure=RR&column=RR&column=wins&sort=-run&text=s"
    address = f"/benchmarks/ten/board/{asked}&format="
    assert f'href="{escape(asked)}&amp;format=csv"' in page_of(client, ten, asked)
    lines = client.get(f"{address}csv").content.decode().splitlines()
    assert lines[0] == "rank,run,tag,RR,wins,losses,ties"
    assert [line.split(",")[2] for line in lines[1:]] == ["last", "first", "base"]
    table = json.loads(client.get(f"{address}json").content)
    assert [each["wins"] for each in table["standings"]] == [0, 10, None]
    assert list(table["standings"][0]) == lines[0].split(",")


@pytest.mark.parametrize("format, head", [("md", "| Rank | Run | Team |"), ("tsv", "rank\t")])
def test_the_other_formats_are_offered_too(ten, ben, client, format, head):
    send(ten, ben, "first", 1)
    answer = client.get(f"/benchmarks/ten/board/?format={format}")
    assert answer.content.decode().startswith(head)
    assert answer["Content-Disposition"] == f'attachment; filename="ten-leaderboard.{format}"'


def test_a_blind_board_exports_nothing(blind_track, ben, as_ben):
    make_run(blind_track, ben)
    assert "Scores hidden until release" in words(page_of(as_ben, blind_track, "?format=csv"))


# Runs that are not on it


def test_runs_on_their_way_are_named_for_those_who_may_know(ten, ben, cat, client):
    send(ten, ben, "first", 1)
    run = send(ten, cat, "on-its-way", 2)
    Run.objects.filter(pk=run.pk).update(state="scoring")
    assert "Scoring on-its-way" in words(page_of(signed_in(cat), ten))
    for other in (client, signed_in(ben)):
        assert "on-its-way" not in page_of(other, ten)


def test_a_queued_run_says_its_place(ten, ben, as_ben):
    for n in (1, 2):
        accept_run(ten, ben, upload(f"r{n}.txt", run_of(f"r{n}", n)))
    said = words(page_of(as_ben, ten))
    assert "r1.txt, first in the queue" in said and "r2.txt, second in the queue" in said


def test_refused_and_withdrawn_runs_are_no_runs_of_the_board(ten, ben, as_ben):
    make_run(ten, ben, "1 Q0 d1 1 broken\n")
    runs.withdraw_run(send(ten, ben, "gone", 1), ben)
    page = page_of(as_ben, ten)
    assert "Rejected" not in words(page) and "gone" not in page


# No board to see


def test_a_blind_board_shows_own_runs_and_no_score(blind_track, ben, cat, as_ben):
    make_run(blind_track, ben)
    make_run(blind_track, cat, OTHER_RUN)
    page = page_of(as_ben, blind_track)
    assert "Valid ben-bm25, waits for the release" in words(page)
    assert "other" not in order(page) and "<table" not in page and "nDCG" not in page
    assert "cat" not in words(page).replace("category", "")


def test_a_blind_board_tells_a_stranger_nothing(blind_track, ben, client):
    before = words(page_of(client, blind_track))
    make_run(blind_track, ben)
    after = words(page_of(client, blind_track))
    assert before.partition("answered")[0] == after.partition("answered")[0]
    assert "Scores hidden until release" in after


def test_organisers_see_a_blind_board(blind_track, ben, as_ada):
    make_run(blind_track, ben)
    page = page_of(as_ada, blind_track)
    assert order(page) == ["ben-bm25"]
    assert "Only organisers see this board." in page


def test_a_released_board_is_for_everybody(blind_track, ada, ben, client):
    make_run(blind_track, ben)
    tracks.release_track(blind_track, ada)
    assert order(page_of(client, blind_track)) == ["ben-bm25"]


def test_without_judgments_runs_wait(ada, ben, as_ben, as_ada):
    collection = make_collection(ada, slug="bare", qrels=None)
    track = make_track(collection, slug="bare", judgment_set=None)
    make_run(track, ben)
    assert "1 run of yours is valid and waits." in words(page_of(as_ben, track))
    assert "Add judgments" in page_of(as_ada, track)


def test_an_empty_board_says_what_makes_it_appear(ten, client):
    said = words(page_of(client, ten))
    assert "No runs yet" in said and "20 judgments (v1)" in said


def test_a_track_to_come_says_when(collection, client):
    opens = timezone.now() + timedelta(days=20)
    track = make_track(collection, slug="later", opens_at=opens)
    said = words(page_of(client, track))
    assert "Not open yet" in said and "not open yet" in said
    assert re.search(r"runs are accepted from .* AoE, in 19 days", said)
    assert "Submit a run" not in said


def test_a_closed_track_takes_no_runs_and_keeps_its_board(ten, ben, client):
    send(ten, ben, "first", 1)
    Track.objects.filter(pk=ten.pk).update(closes_at=timezone.now() - timedelta(days=3))
    page = page_of(client, ten)
    assert "Submit a run" not in page and order(page) == ["first"]
    assert re.search(r"Closed: .* AoE, 3 days ago", words(page))


def test_one_filled_button_a_page(ten, ben, client):
    assert page_of(client, ten).count("main-button") == 1
    send(ten, ben, "first", 1)
    assert page_of(client, ten).count("main-button") == 1


def test_queries_do_not_grow_with_the_board(ten, ada, ben):
    with_baseline(ten, ada)
    send(ten, ben, "r1", 1)
    client = signed_in(ben)
    asked = num_queries(client, "/benchmarks/ten/board/")
    for rank in (3, 4, 5, 6):
        send(ten, ben, f"r{rank}", rank)
    assert num_queries(client, "/benchmarks/ten/board/") == asked


def test_a_board_of_500_runs_and_15_columns_travels_in_120_kb(ada, ben, client):
    measures = ["AP", "RR", *(f"P@{n}" for n in range(1, 9))]
    track = make_track(make_ten_topics(ada), slug="ten", measures=measures)
    with_baseline(track, ada)
    copies(send(track, ben, "system", [1, 2] * 5), 500)
    answer = client.get("/benchmarks/ten/board/?all=runs", headers={"Accept-Encoding": "gzip"})
    assert answer["Content-Encoding"] == "gzip"
    page = gzip.decompress(answer.content).decode()
    assert page.count("<tr") == 503
    linked = re.findall(r'<(?:link|script)[^>]* (?:href|src)="/static/([^"]+)"', page)
    files = [Path(finders.find(name)).read_bytes() for name in linked]
    assert len(answer.content) + sum(len(gzip.compress(each)) for each in files) < 120_000


def test_who_looks_again_sees_what_was_scored_and_tested_since(ten, ada, ben, client, monkeypatch):
    monkeypatch.setattr(contest_tests, "IMMEDIATE_SCORES", 0)
    with_baseline(ten, ada)
    for number, tag in enumerate(["first", "second", "third"], start=1):
        send(ten, ben, tag, 1)
        tested = [row for row in rows(page_of(client, ten)) if re.search(r"p [<.]", row)]
        assert len(tested) == number


def test_what_walks_all_links_of_a_board_asks_for_few_tests(ten, ada, ben, client, monkeypatch):
    monkeypatch.setattr(contest_tests, "IMMEDIATE_SCORES", 0)
    monkeypatch.setattr(calculations, "MOST_WAITING", 1)
    first, second = send(ten, ben, "first", 1), send(ten, ben, "second", 2)
    assert "are running." in page_of(client, ten, f"?baseline={first.pk}")
    assert "are running." not in page_of(client, ten, f"?baseline={second.pk}")


def test_who_asks_for_tests_locks_their_job_first(ten, ada, ben, client, monkeypatch):
    """As the worker does that ends it: in another order, each could wait for the other."""
    monkeypatch.setattr(contest_tests, "IMMEDIATE_SCORES", 0)
    with_baseline(ten, ada)
    run = send(ten, ben, "first", 1)
    with CaptureQueriesContext(connection) as queries:
        page_of(client, ten, f"?baseline={run.pk}")
    said = " ".join(query["sql"] for query in queries)
    written = re.findall(r'INSERT INTO "leaderboard_(job|calculation)"', said)
    assert written == ["job", "calculation"]


def test_a_table_too_wide_for_a_desk_scrolls_in_its_frame(ten, ada, ben, client):
    with_baseline(ten, ada)
    Run.objects.filter(pk=send(ten, ben, "long", 1).pk).update(tag="long-" * 12)
    assert '<div class="scroll fits"' in page_of(client, ten)
    assert '<div class="scroll fits"' not in page_of(client, ten, "?column=all")


KEPT = {
    "/benchmarks/ten/board/": b"AP",
    "/runs/{}/": b"AP",
    "/benchmarks/ten/pack.zip?team=ben": b"bens",
}


@pytest.mark.parametrize("page", KEPT)
def test_the_board_keeps_its_measures_while_others_are_made(ada, ben, page):
    track = ten_track(ada)
    with_baseline(track, ada, 2)
    run = send(track, ben, "bens", 3)
    measures = {"measures": ["nDCG"], "primary_measure": "nDCG"}
    tracks.change_track(Track.objects.get(pk=track.pk), ada, measures)
    answer = signed_in(ada).get(page.format(run.pk))
    assert answer.status_code == 200 and KEPT[page] in b"".join(answer)


@pytest.fixture
def long_board(ten, ben, cat, monkeypatch) -> Track:
    """Five runs, of which two are shown at first; Cat's is the fourth."""
    monkeypatch.setattr(board_table, "FIRST_ROWS", 2)
    copies(send(ten, ben, "first", 1), 3)
    send(ten, cat, "last", 9)
    return ten


def test_a_long_board_begins_with_its_first_rows(long_board, as_ada):
    page = page_of(as_ada, long_board)
    assert order(page) == ["first", "first-2"]
    assert "All 5 runs" in words(page) and 'href="?all=runs"' in page


def test_all_rows_of_a_long_board_are_one_link_away(long_board, as_ada):
    page = page_of(as_ada, long_board, "?all=runs")
    assert len(order(page)) == 5 and "All 5 runs" not in words(page)
    assert 'href="?all=runs&amp;sort=team"' in page


def test_a_reader_sees_the_own_runs_of_a_long_board_at_once(long_board, as_cat, as_ada):
    page = page_of(as_cat, long_board)
    _, heading, own = page.partition("Your runs after the first 2")
    assert heading and order(page) == ["first", "first-2"]
    assert "<bdi>last</bdi>" in own.partition("</tbody>")[0]
    assert order(page_of(as_cat, long_board, "?all=runs"))[3] == "last"
    assert "Your runs" not in page_of(as_ada, long_board)


def test_a_long_board_is_sorted_and_filtered_whole(long_board, as_ada):
    assert order(page_of(as_ada, long_board, "?sort=-AP"))[0] == "first-0"
    assert order(page_of(as_ada, long_board, "?text=last")) == ["last"]


def test_ranks_of_a_long_board_count_all_runs(long_board, as_ada):
    cut, whole = (rows(page_of(as_ada, long_board, more)) for more in ("", "?all=runs"))
    assert cut[:2] == whole[:2]


def test_exports_of_a_long_board_are_whole(long_board, as_ada, client):
    lines = b"".join(as_ada.get("/benchmarks/ten/board/?format=csv")).decode().splitlines()
    assert len(lines) == 6
    assert len(client.get("/api/v1/tracks/ten/leaderboard").json()["standings"]) == 5


def test_the_menu_of_a_very_long_board_offers_the_first_runs_and_the_baseline(
    ten, ada, ben, client, monkeypatch
):
    monkeypatch.setattr(board_table, "OFFERED", 1)
    with_baseline(ten, ada)
    copies(send(ten, ben, "better", 1), 2)
    menu = page_of(client, ten).split('id="choose-baseline"')[1].split("</select>")[0]
    offered = re.findall(r"<option [^>]*>([^<]+)", menu)
    assert len(offered) == 2 and "better" in offered[0] and "base" in offered[1]
