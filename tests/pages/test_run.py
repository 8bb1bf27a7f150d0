"""The page of a run: its state, its problems, its scores."""

from __future__ import annotations

import csv
import io

import pytest

from leaderboard.actions import runs
from leaderboard.actions.submissions import accept_run
from leaderboard.boards.standings import find_visible_board_with
from leaderboard.models import Run, Topic, Track
from tests.builders import OTHER_RUN, RUN, make_run, make_track, signed_in, upload, work
from tests.pages.reading import num_queries, page_at, rows, words


@pytest.fixture
def scored(track, ben, ada) -> Run:
    """Ben's run on a board with a baseline of the organisers."""
    baseline = make_run(track, ada, OTHER_RUN)
    Track.objects.filter(pk=track.pk).update(baseline=baseline)
    return make_run(track, ben)


def page_of(client, run: Run, more: str = "") -> str:
    return client.get(f"/runs/{run.pk}/{more}").content.decode()


def test_the_scores_are_those_that_were_computed(scored, client):
    page = page_of(client, scored)
    assert ".6944" in page
    assert "Answered</dt><dd>3 of 3 topics" in page


def test_a_late_run_says_so_on_its_page(scored, client):
    badge = '<span class="badge late">late</span>'
    assert badge not in page_of(client, scored)
    Track.objects.update(closes_at=scored.received_at)
    assert badge in page_of(client, scored)


def test_a_measure_leads_to_where_it_is_explained(scored, client):
    assert '<a href="/measures/#nDCG">nDCG@10</a>' in page_of(client, scored)
    assert '<tr role="row" id="nDCG">' in page_at(client, "/measures/")


def test_the_verdict_says_how_sure_it_is(scored, client):
    page = page_of(client, scored)
    assert "cannot be told apart from" in page
    assert "95 % interval" not in page and "(max t)" in page


def test_every_topic_has_a_bar_that_opens_its_ranking(scored, client):
    page = page_of(client, scored)
    assert f'href="/runs/{scored.pk}/ranking/?number=2"' in page


def test_the_order_of_the_topics_can_be_chosen(scored, client):
    by_topic = page_of(client, scored, "topics/?order=topic")
    assert by_topic.index("sourdough bread") < by_topic.index("oven temperature")


def test_a_refused_run_shows_every_problem_with_its_line(track, ben, as_ben):
    run = make_run(track, ben, RUN.replace("d1 1 9.0", "d1 1 nan").replace("d9", "<b>d99</b>"))
    page = page_of(as_ben, run)
    assert "Rejected: 2 errors of 2 types" in page
    assert "E_SCORE" in page and "E_UNKNOWN_DOC" in page
    assert "<b>d99" not in page and "&lt;b&gt;d99" in page


def test_the_facts_tell_the_team_of_problems(track, ben, as_ben):
    page = page_of(as_ben, make_run(track, ben, "1 Q0 d1 1"))
    assert '<dt>Problems</dt><dd><a href="#problems">1 error</a>' in page
    fine = page_of(as_ben, make_run(track, ben), "file-and-facts/")
    assert "<dt>Problems</dt><dd>none</dd>" in fine


def test_problems_are_for_the_team_alone(track, ben, as_cat):
    run = make_run(track, ben, "1 Q0 d1 1")
    assert as_cat.get(f"/runs/{run.pk}/").status_code == 404


def test_a_failed_run_can_be_tried_again(track, ben, as_ben):
    run = make_run(track, ben)
    Run.objects.filter(pk=run.pk).update(state="failed", reason="Too large for this server.")
    assert "Something went wrong on our side." in page_of(as_ben, run)
    as_ben.post(f"/runs/{run.pk}/again/")
    run.refresh_from_db()
    assert run.state == "queued"


def test_a_blind_track_says_valid_and_nothing_more(blind_track, ben, as_ben):
    page = page_of(as_ben, make_run(blind_track, ben))
    assert "Scores appear when the organisers release them" in page
    assert "nDCG" not in page and "Scored" not in page


def test_a_withdrawn_run_is_not_shown_as_scored(scored, ben, as_ben):
    runs.withdraw_run(scored, ben)
    page = page_at(as_ben, f"/runs/{scored.pk}/state/")
    assert "<b>Withdrawn.</b> It was scored before" in page and "<b>Scored.</b>" not in page


def test_a_withdrawn_run_answers_with_what_happened(scored, ben, as_ben):
    runs.withdraw_run(scored, ben, "wrong file")
    answer = as_ben.get(f"/runs/{scored.pk}/")
    assert answer.status_code == 410
    assert "wrong file" in answer.content.decode()


def test_the_state_follows_along_until_it_is_final(track, ben, as_ben):
    run = make_run(track, ben)
    final = as_ben.get(f"/runs/{run.pk}/state/")
    assert f'hx-get="/runs/{run.pk}/" hx-trigger="load, every 1s"' in final.content.decode()
    Run.objects.filter(pk=run.pk).update(state="queued")
    assert b'hx-trigger="every 1s"' in as_ben.get(f"/runs/{run.pk}/state/").content


def test_a_run_that_is_scored_while_its_page_is_made_shows_its_scores(
    scored, track, cat, as_cat, monkeypatch
):
    sent = accept_run(track, cat, upload("run", OTHER_RUN)).run
    meanwhile = lambda *asked: work() or find_visible_board_with(*asked)  # noqa: E731
    monkeypatch.setattr("leaderboard.pages.views.results.find_visible_board_with", meanwhile)
    assert "Summary" in page_of(as_cat, sent)


def test_names_of_strangers_are_only_text(collection, cat):
    track = make_track(collection, slug="names")
    run = make_run(track, cat)
    Run.objects.filter(pk=run.pk).update(tag='"><script>x', description="<img src=x onerror=y>")
    page = page_of(signed_in(cat), run)
    assert "<script>x" not in page and "<img src=x" not in page


@pytest.fixture
def beside_cats(track, ben, cat) -> Run:
    """Ben's run on a board without a baseline, beside a run of Cat's."""
    make_run(track, cat, OTHER_RUN)
    return make_run(track, ben)


def values_of(client, run: Run, more: str = "") -> list[dict[str, str]]:
    answer = client.get(f"/runs/{run.pk}/topics.csv{more}")
    assert answer["Content-Disposition"] == f'attachment; filename="topics-{run.pk}.csv"'
    return list(csv.DictReader(answer.content.decode().splitlines()))


def test_the_bars_are_measured_from_the_baseline_or_from_the_median(scored, client):
    page = page_of(client, scored)
    assert "Difference from the baseline, by topic" in page
    assert "topic 1: +.583 sourdough bread" in page
    # The median of two runs lies half way: the organisers' own counts like any other.
    page = page_of(client, scored, "topics/?against=median")
    assert "Difference from the median, by topic" in page
    assert "topic 1: +.292 sourdough bread" in page


def test_without_a_baseline_the_bars_are_measured_from_the_median(beside_cats, client):
    page = page_of(client, beside_cats, "topics/?against=baseline")
    assert "from the baseline" not in page
    assert "topic 1: +.292 sourdough bread" in page
    assert "topic 2: −.250 rye flour" in page


def test_the_values_of_the_bars_are_in_a_table_beneath(scored, client):
    page = page_of(client, scored, "topics/")
    assert "Table of the 3 values" in page
    values = rows(page, 0)
    assert values[0] == "1 sourdough bread 1.0000 .4167 +.5833"
    assert values[2] == "2 rye flour .5000 1.0000 −.5000"


def test_the_spread_of_the_topics_is_in_a_table(scored, client):
    steps = rows(page_of(client, scored, "topics/"), 2)
    assert len(steps) == 20
    assert steps[10] == ".50 to .55 1 0"
    assert steps[11] == ".55 to .60 1 0"
    assert steps[19] == ".95 to 1.00 1 1"


def test_precision_at_recall_has_its_values_in_a_table(beside_cats, client):
    levels = rows(page_of(client, beside_cats, "topics/"), 3)
    assert levels[0] == ".0 .7222 .6667 .7222"
    assert levels[10] == "1.0 .7222 .6111 .7222"


def test_precision_at_depth_is_beside_the_median_and_the_best(beside_cats, client):
    depths = rows(page_of(client, beside_cats, "topics/"), 4)
    assert depths[0] == "P@5 .3333 .3000 .3333"
    assert depths[-1] == "P@1,000 .0017 .0015 .0017"


def test_a_run_is_told_where_it_fails_and_by_which_document(beside_cats, client):
    page = page_of(client, beside_cats, "failures/")
    (loss,) = rows(page, 0)
    phone, desk = "grade 1 d4 ranking", "grade 1 d4 Document 4 1"
    assert loss == f"2 rye flour {phone} .5000 1.0000 other −.500 +.500 ranking {desk} 2 1 +.500"
    assert 'href="/benchmarks/bread/document/?docno=d4&amp;number=2"' in page


def test_the_topics_are_a_file_in_the_order_of_the_page(beside_cats, client):
    values = values_of(client, beside_cats, "?order=topic")
    assert [each["topic"] for each in values] == ["1", "2", "3"]
    second = values[1]
    assert (second["score"], second["median"], second["from_median"]) == ("0.5", "0.75", "-0.25")
    assert (second["relevant"], second["rank"], second["best_run"]) == ("1", "2", "other")
    assert second["baseline"] == second["from_baseline"] == ""
    assert values_of(client, beside_cats)[-1]["topic"] == "2"


def test_no_cell_of_the_file_is_a_formula(beside_cats, client):
    Run.objects.filter(pk=beside_cats.pk).update(tag="=1+1")
    assert values_of(client, beside_cats)[0]["best_run"] == "'=1+1"


def test_a_topic_without_a_title_goes_by_its_description(beside_cats, client):
    Topic.objects.filter(number="2").update(title="", description="Is rye sour?")
    page = page_of(client, beside_cats)
    assert "topic 2: −.250 Is rye sour?" in page
    assert rows(page, 1)[0].startswith("2 Is rye sour? grade 1 d4 ranking .5000 1.0000 other")


def table_of(client, run, table):
    text = client.get(f"/runs/{run.pk}/?format=csv&table={table}").content.decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_every_table_of_the_pages_is_there_as_csv(beside_cats, client):
    pages = "".join(page_of(client, beside_cats, tab) for tab in ("", "topics/", "failures/"))
    for table in ("measures", "spread", "recall", "depth", "failures"):
        assert f"?format=csv&amp;table={table}" in pages
        assert table_of(client, beside_cats, table)


def test_the_overview_shows_the_worst_failures_and_a_link_to_all(beside_cats, client):
    page = page_of(client, beside_cats)
    assert rows(page, 1)[0].startswith("2 rye flour grade 1 d4")
    assert f'href="/runs/{beside_cats.pk}/failures/"' in page


def test_file_and_facts_have_a_page(track, ben, as_ben):
    page = page_of(as_ben, make_run(track, ben), "file-and-facts/")
    assert "<dt>SHA-256</dt>" in page and "<b>Scored</b>" in page


def test_the_csv_of_the_measures_has_every_digit(beside_cats, client):
    first = table_of(client, beside_cats, "measures")[0]
    assert (first["measure"], first["rank"], first["of"]) == ("AP", "1", "2")
    assert float(first["run"]) == pytest.approx(25 / 36, abs=1e-15)


def test_the_csv_of_the_failures_names_the_document(beside_cats, client):
    first = table_of(client, beside_cats, "failures")[0]
    assert (first["topic"], first["docno"], first["rank_in_best"]) == ("2", "d4", "1")
    assert float(first["lost_by_ranking"]) > 0 == float(first["lost_by_retrieval"])


def test_a_blind_track_shows_nothing_of_how_a_run_does(blind_track, ben, cat, as_ben):
    make_run(blind_track, cat, OTHER_RUN)
    run = make_run(blind_track, ben)
    shown = words(page_of(as_ben, run))
    for hidden in ("Precision at", "Where it loses", "Difference from", "Failures", "Median"):
        assert hidden not in shown
    for table in ("topics.csv", "?format=csv&table=measures", "?format=csv&table=nosuch"):
        assert as_ben.get(f"/runs/{run.pk}/{table}").status_code == 404


def test_the_number_of_queries_does_not_grow_with_the_board(track, ben, cat, client):
    run = make_run(track, ben)
    make_run(track, cat, OTHER_RUN)
    address = f"/runs/{run.pk}/"
    few = num_queries(client, address)
    for n in range(4):
        make_run(track, cat, OTHER_RUN.replace("d10", f"d{n + 2}"))
    assert num_queries(client, address) == few <= 30


def test_the_histogram_is_a_table_for_other_programs(scored, client):
    lines = client.get(f"/runs/{scored.pk}/?format=csv&table=spread").content.decode().splitlines()
    assert lines[0] == "from,to,topics,topics of the baseline"
    assert sum(int(line.split(",")[2]) for line in lines[1:]) == 3


@pytest.fixture
def left_out(collection, ben, cat) -> Run:
    """Ben's second run where each team stands with one, beside the run of Cat's."""
    track = make_track(collection, selection="primary")
    make_run(track, cat, OTHER_RUN)
    make_run(track, ben)
    return make_run(track, ben, RUN.replace("ben-bm25", "second"))


def test_a_run_that_the_rule_leaves_out_shows_its_numbers_and_says_so(left_out, client):
    page = words(page_of(client, left_out))
    assert "Scored, but not on the board. The board shows the primary run of each team" in page
    assert "not on the board" in page and "rank 1 of" not in page
    assert "AP.69441 of 3" in page and "Difference from" in page


def test_its_topics_are_a_file_like_those_of_any_run(left_out, client):
    assert [each["score"] for each in values_of(client, left_out, "?order=topic")] == [
        "1.0",
        "0.5",
        "0.5833333333333333",
    ]


def test_a_run_that_stands_is_among_those_of_the_board_alone(left_out, client):
    first = left_out.track.runs.get(tag="ben-bm25")
    page = words(page_of(client, first))
    assert "rank 1 of 2" in page and "not on the board" not in page


def test_it_is_held_to_the_run_its_page_names(left_out, client):
    first = left_out.track.runs.get(tag="ben-bm25")
    address = f"/benchmarks/bread/compare/?a={first.pk}&b={left_out.pk}"
    assert address.replace("&", "&amp;") in page_of(client, left_out)
    assert "Both runs, by topic" in page_at(client, address)
    held = page_at(client, f"/benchmarks/bread/computed/pair/?run={left_out.pk}&a={first.pk}")
    assert "second against ben-bm25" in words(held)


def test_a_rule_shows_no_more_of_it_than_of_any_run(left_out, ada, client):
    """Rounded means are all that anybody sees of a leaderboard, and pseudonyms all names."""
    Track.objects.update(disclosure="leaderboard", pseudonyms=True)
    page = words(page_of(client, left_out))
    assert "AP.69" in page and "The board shows the primary run" in page
    assert ".694" not in page and "Difference from" not in page and "second" not in page
    Track.objects.update(disclosure="blind")
    assert client.get(f"/runs/{left_out.pk}/").status_code == 404


def test_a_withdrawn_run_is_left_out_by_no_rule(left_out, ben, as_ben):
    runs.withdraw_run(left_out, ben, "wrong file")
    page = words(page_of(as_ben, left_out))
    assert "The board shows" not in page and "Difference from" not in page
