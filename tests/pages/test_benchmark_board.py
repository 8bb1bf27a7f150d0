"""The board of a benchmark: its sentences, its table, its choices, and what stays apart."""

from __future__ import annotations

import csv
import io
import json

import pytest

from leaderboard.models import (
    Benchmark,
    JudgmentSet,
    Run,
    Score,
    System,
    SystemVersion,
    Team,
    Track,
    User,
)
from leaderboard.pages import board_table
from tests.boards.food_benchmark import make_food_benchmark
from tests.builders import signed_in
from tests.pages.reading import num_queries, page_at, rows, words

pytestmark = pytest.mark.long

BOARD = "/benchmarks/food/board/"


def make_scene(ada: User, ben: User, cat: User) -> None:
    make_food_benchmark(ada, ben, cat)


@pytest.fixture
def benchmark(scene) -> Benchmark:
    return Benchmark.objects.get(slug="food")


@pytest.fixture
def based(benchmark) -> Benchmark:
    """The benchmark with Cat's complete system as its baseline."""
    benchmark.baseline = System.objects.get(name="dense")
    benchmark.save()
    return benchmark


def links(page: str, text: str) -> list[str]:
    """The addresses of the links whose text begins so."""
    parts = page.split('href="')[1:]
    found = [part.partition('"') for part in parts]
    return [
        address.replace("&amp;", "&")
        for address, _, rest in found
        if words("<a " + rest.partition("</a>")[0]).startswith(text)
    ]


def test_a_row_has_the_mean_the_points_and_a_value_for_each_track(benchmark, client):
    first, second = rows(page_at(client, BOARD))[:2]
    assert first.startswith("1 ") and "bm25 1 ben" in first
    assert first.endswith(".639 .611 .694 2 .694 .528 .694")
    assert second.endswith(".458 .611 .153 1 .528 .694 .153")


def test_the_best_value_of_every_track_is_bold(benchmark, client):
    page = page_at(client, BOARD)
    assert page.count('class="t best"') == 3


def test_every_value_leads_to_the_run_that_has_it(benchmark, client):
    run = Run.objects.get(track__slug="wine", version__system__name="bm25")
    page = page_at(client, BOARD)
    assert f'<a href="/runs/{run.pk}/">.694</a>' in page
    assert client.get(f"/runs/{run.pk}/").status_code == 200


def test_every_head_leads_to_the_board_of_its_track(benchmark, client):
    page = page_at(client, BOARD)
    heads = page.partition("<thead>")[2].partition("</thead>")[0]
    assert links(heads, "AP") == [
        "/benchmarks/food/tracks/bread/board/",
        "/benchmarks/food/tracks/cheese/board/",
        "/benchmarks/food/tracks/wine/board/",
    ]


def test_the_leader_is_named_with_its_mean(benchmark, client):
    said = words(page_at(client, BOARD))
    assert "bm25 leads with a mean of .639 over 3 tracks" in said
    assert "The claim is about these collections, not about others." in said


def test_a_lead_says_on_how_many_tracks_it_is_ahead(benchmark, client):
    said = words(page_at(client, BOARD))
    assert "Against the second, dense, bm25 is ahead on 2 of 3 tracks" in said
    assert "and behind on 1" in said


def test_a_lead_that_one_track_makes_names_the_track(benchmark, client):
    assert "Without Wine track the means are equal." in words(page_at(client, BOARD))


def test_the_baseline_is_named_and_every_system_compared_with_it(based, client):
    page = page_at(client, BOARD)
    assert "it cannot be told apart from the baseline dense" in words(page)
    assert '<span class="same">+.181</span>' in page
    assert "baseline" in rows(page)[1]


def test_a_reader_chooses_another_baseline_and_the_other_question(based, client):
    bm25 = SystemVersion.objects.get(system__name="bm25")
    page = page_at(client, f"{BOARD}?baseline={bm25.pk}")
    assert '<span class="same">−.181</span>' in page
    assert "Possible ranks" in page_at(client, f"{BOARD}?family=all")


def test_each_system_can_be_the_baseline(based, client):
    bm25 = SystemVersion.objects.get(system__name="bm25")
    assert links(page_at(client, BOARD), "use as baseline") == [f"?baseline={bm25.pk}"]


def test_a_long_board_of_systems_begins_with_its_first_rows(benchmark, client, monkeypatch):
    monkeypatch.setattr(board_table, "FIRST_ROWS", 1)
    page = page_at(client, BOARD)
    assert links(page, "All 2 systems") == ["?all=systems"]
    assert "dense" not in str(rows(page)[:1])
    assert "dense" in rows(page_at(client, f"{BOARD}?all=systems"))[1]


def test_a_badge_has_the_best_mean_of_a_team(benchmark, client):
    assert ".458" in client.get("/benchmarks/food/badge.svg?team=cat").text
    assert client.get("/benchmarks/food/badge.svg?team=dan").status_code == 404


def test_a_system_that_lacks_a_track_is_listed_apart(benchmark, client):
    page = page_at(client, BOARD)
    assert rows(page, 1) == ["worst 1 cat cat 1 of 3 .153 – –"]
    [address] = links(page, "Compare all systems on")
    assert address == "?track=bread"
    assert len(rows(page_at(client, BOARD + address))) == 3


def test_rows_are_sorted_by_any_column_and_keep_their_rank(benchmark, client):
    page = page_at(client, f"{BOARD}?sort=cheese")
    assert [line[0] for line in rows(page)] == ["2", "1"]
    assert 'aria-sort="descending"><a href="?sort=-cheese"' in page
    back = page_at(client, f"{BOARD}?sort=-cheese")
    assert [line[0] for line in rows(back)] == ["1", "2"]


@pytest.mark.parametrize("query", ["team=cat", "text=dens", "stage=rerank"])
def test_filters_leave_the_ranks_alone(benchmark, client, query):
    System.objects.filter(name="dense").update(facts={"stage": "rerank"})
    page = page_at(client, f"{BOARD}?{query}")
    assert [line[0] for line in rows(page)] == ["2"] and "1 of 2 complete systems" in words(page)


def test_a_choice_of_columns_and_a_folded_group_hide_tracks(benchmark, client):
    few = page_at(client, f"{BOARD}?column=bread")
    assert rows(few)[0].endswith("bm25 1 ben .639 .694")
    folded = page_at(client, f"{BOARD}?fold=solid")
    assert rows(folded)[0].endswith("2 .694")
    assert links(folded, "Show solid") == ["?"] and links(folded, "Hide liquid")


def test_links_of_the_table_keep_every_choice(based, client):
    page = page_at(client, f"{BOARD}?family=all&measure=P@5&text=b")
    [address] = links(page, "Team")
    assert set(address[1:].split("&")) == {"family=all", "measure=P%405", "text=b", "sort=team"}


def test_one_measure_counts_on_all_tracks(benchmark, client):
    page = page_at(client, f"{BOARD}?measure=P@5")
    heads = page.partition("<thead>")[2].partition("</thead>")[0]
    assert links(heads, "P@5") == [
        f"/benchmarks/food/tracks/{slug}/board/?measure=P%405"
        for slug in ("bread", "cheese", "wine")
    ]


def test_tracks_without_the_measure_are_named(benchmark, client):
    benchmark.tracks.in_order().filter(slug="wine").update(measures=["AP"])
    said = words(page_at(client, f"{BOARD}?measure=P@5"))
    assert "Without P@5, and so not on this board: Wine track." in said


def test_phases_are_switched_and_never_averaged(benchmark, client):
    Track.objects.filter(slug="wine").update(phase="test")
    page = page_at(client, BOARD)
    assert len(links(page, "test")) == 1 and "over 1 track" not in words(page)
    every = page_at(client, f"{BOARD}?phase=all")
    assert "no mean, rank or point is taken over them" in words(every)
    assert rows(every)[0].startswith("– bm25")


def test_a_board_without_a_mean_ranks_by_points_and_says_why(benchmark, client):
    benchmark.tracks.in_order().filter(slug="wine").update(
        measures=["NumRelRet"], primary_measure="NumRelRet"
    )
    of_wine = Score.objects.filter(score_set__run__track__slug="wine", measure="AP")
    of_wine.update(measure="NumRelRet")
    page = page_at(client, BOARD)
    assert "There is no mean, since a measure adds up over topics" in words(page)
    assert "bm25 leads with 2 Borda points on 3 tracks" in words(page)


def test_a_hidden_track_is_named_with_its_date_and_counts_for_nothing(benchmark, as_cat, as_ada):
    benchmark.tracks.in_order().filter(slug="cheese").update(
        disclosure="blind", release_at="2030-01-02T00:00:00Z"
    )
    said = words(page_at(as_cat, BOARD))
    assert "Not on this board yet: Cheese track (until its release, planned for 2 Jan 2030" in said
    assert "over 2 tracks" in said
    assert "over 3 tracks" in words(page_at(as_ada, BOARD))


def test_all_phases_of_a_benchmark_without_phases_are_its_tracks(benchmark, client):
    assert rows(page_at(client, f"{BOARD}?phase=all")) == rows(page_at(client, BOARD))


def test_a_benchmark_of_which_a_reader_sees_no_track_does_not_exist(benchmark, client):
    benchmark.tracks.in_order().update(visibility="members")
    assert client.get(BOARD).status_code == 404


def test_different_judges_are_named_below_the_table(benchmark, client):
    of_wine = JudgmentSet.objects.filter(collection__slug="wine")
    of_wine.update(made_by="machine")
    JudgmentSet.objects.exclude(pk__in=of_wine).update(made_by="people")
    page = page_at(client, BOARD)
    assert "a machine judged Wine track" in words(page)
    assert page.count('<b class="badge by-machine">machine</b>') == 2


def test_all_versions_of_a_system_are_beside_each_other(benchmark, client, ada):
    old = SystemVersion.objects.get(system__name="bm25")
    new = SystemVersion.objects.create(system=old.system, label="2", created_by=ada)
    Run.objects.filter(version__system__name="dense").update(version=new)
    assert "bm25 1" not in words(page_at(client, BOARD))
    first, second = rows(page_at(client, f"{BOARD}?versions=all"))[:2]
    assert "bm25 1" in first and "bm25 2" in second and len(rows(page_at(client, BOARD))) == 1


@pytest.mark.parametrize("delimiter, format", [(",", "csv"), ("\t", "tsv")])
def test_a_file_has_the_columns_of_the_page_with_every_digit(benchmark, client, delimiter, format):
    text = client.get(f"{BOARD}?format={format}&column=bread").text
    head, first, *_ = csv.reader(io.StringIO(text), delimiter=delimiter)
    assert head == ["rank", "system", "version", "mean", "bread"]
    assert float(first[3]) == pytest.approx((25 / 36 * 2 + 19 / 36) / 3)


def test_papers_get_a_table_that_names_what_is_averaged(benchmark, client):
    tex = client.get(f"{BOARD}?format=tex").text
    assert r"\toprule" in tex and r"\textbf{0.6389}" in tex
    assert "the mean counts every track the same" in tex
    assert "studentised maximum" in tex
    markdown = client.get(f"{BOARD}?format=md").text
    assert "**0.6389**" in markdown


def test_the_json_file_is_what_the_api_answers(benchmark, client):
    file = json.loads(client.get(f"{BOARD}?format=json").text)
    assert file == client.get("/api/v1/benchmarks/food/board").json()


def test_names_of_strangers_run_nothing(benchmark, client):
    System.objects.filter(name="bm25").update(name="<i>=1+1|\\x")
    Team.objects.filter(name="ben").update(name='<script>"')
    page = page_at(client, BOARD)
    assert "<i>" not in page and '<script>"' not in page
    assert "'" not in client.get(f"{BOARD}?format=csv").text.splitlines()[0]


def test_the_number_of_queries_does_not_grow_with_systems(benchmark, client, ada):
    before = num_queries(client, BOARD)
    for n in range(3):
        system = System.objects.create(
            benchmark=benchmark, team=benchmark.teams.first(), name=f"more-{n}"
        )
        SystemVersion.objects.create(system=system, label="1", created_by=ada)
        Run.objects.filter(version__system__name="worst").update(version=system.versions.get())
    assert num_queries(client, BOARD) <= before


def test_own_systems_are_marked(benchmark, ben):
    assert '<span class="badge yours">yours</span>' in page_at(signed_in(ben), BOARD)
