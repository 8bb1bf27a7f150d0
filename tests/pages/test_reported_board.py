"""The board of scores that others report: marked, without runs, and nothing filled in."""

from __future__ import annotations

import csv
import io
import json

import pytest

from leaderboard.boards import reported_boards
from leaderboard.models import Benchmark
from leaderboard.pages.views import reported_boards as pages
from leaderboard.scoring import reported_ranks
from tests.benchmark_scene import make_benchmark
from tests.builders import make_reported, work
from tests.pages.reading import page_at

# One has every score, two lacks b2, three has a1 alone.
SCORES = {
    "lab/one": {"a1": 0.5, "b1": 0.4, "b2": 0.9},
    "lab/two": {"a1": 0.25, "b1": 0.6},
    "new/three": {"a1": 0.75},
    "new/four": {"a1": 0.5, "b1": 0.2},
}
PAGE = "/benchmarks/baking/reported/"


@pytest.fixture
def benchmark(ada, ben, cat) -> Benchmark:
    made = make_benchmark(ada, ben, cat)
    make_reported(made, SCORES)
    return made


def rows_of(client, query: str = "") -> list[dict[str, str]]:
    text = client.get(f"{PAGE}?format=csv{query}").content.decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def test_the_board_says_whose_scores_these_are(benchmark, client):
    page = page_at(client, PAGE)
    assert "Reported, not recomputed." in page and "results.example.org" in page
    assert "Missing scores are not filled in" in page


def test_the_largest_complete_part_is_ranked_and_the_others_follow(benchmark, client):
    rows = rows_of(client)
    assert [(row["system"], row["rank"], row["borda"]) for row in rows] == [
        ("lab/one", "1", "2.5"),
        ("lab/two", "2", "2.0"),
        ("new/four", "3", "1.5"),
        ("new/three", "", ""),
    ]
    assert [row["mean"] for row in rows] == ["0.45", "0.425", "0.35", ""]
    assert {row["status"] for row in rows} == {"reported, not recomputed"}


def test_every_collection_leaves_the_complete_systems(benchmark, client):
    rows = rows_of(client, "&rule=systems")
    assert [row["system"] for row in rows if row["rank"]] == ["lab/one"]
    assert (rows[0]["b2"], rows[1]["b2"]) == ("0.9", "")


def test_every_system_leaves_the_shared_collections(benchmark, client):
    rows = rows_of(client, "&rule=collections")
    assert [row["system"] for row in rows] == ["new/three", "lab/one", "new/four", "lab/two"]
    assert [row["rank"] for row in rows] == ["1", "2", "2", "4"] and "b1" not in rows[0]


def test_a_reader_compares_some_groups_and_systems(benchmark, client):
    rows = rows_of(client, "&group=b&text=LAB&rule=collections")
    assert [(row["system"], row["b1"]) for row in rows] == [("lab/two", "0.6"), ("lab/one", "0.4")]


def test_nothing_is_ranked_where_no_part_is_complete(benchmark, client):
    page = page_at(client, f"{PAGE}?group=b&rule=systems&text=two")
    assert "No system has a score on every collection." in page and "lab/two" in page


def test_groups_are_folded_until_they_are_opened(benchmark, client):
    assert 'href="?sort=collection%3Ab1"' not in page_at(client, PAGE)
    assert "sort=collection%3Ab1" in page_at(client, f"{PAGE}?open=b")


def test_systems_and_collections_come_in_pages(benchmark, client, monkeypatch):
    monkeypatch.setattr(pages, "SYSTEMS_PER_PAGE", 2)
    monkeypatch.setattr(reported_boards, "MOST_COLUMNS", 1)
    first = page_at(client, f"{PAGE}?rule=systems&open=b&collections=2")
    assert "1 to 2 of 4 systems" in first and "2 to 2 of 2 collections" in first
    assert "b2" in first and "new/three" in page_at(client, f"{PAGE}?page=2")


def test_a_sorting_collection_stays_on_every_page_of_collections(benchmark, client, monkeypatch):
    monkeypatch.setattr(reported_boards, "MOST_COLUMNS", 1)
    page = page_at(client, f"{PAGE}?rule=systems&open=b&collections=2&sort=collection:b1")
    assert page.index("lab/two") < page.index("lab/one")


def test_json_names_the_rule_and_the_compared_collections(benchmark, client):
    found = json.loads(client.get(f"{PAGE}?format=json").content)
    assert (found["rule"], found["collections"]) == ("largest", ["a1", "b1"])
    assert found["status"] == "reported, not recomputed" and len(found["standings"]) == 4


# On each collection one is ahead of two, and three is ahead of one on every second.
CLEAR = {
    "lab/one": {f"a{n}": 0.5 + n / 100 for n in range(12)},
    "lab/two": {f"a{n}": 0.25 + n / 100 for n in range(12)},
    "new/three": {f"a{n}": (0.75 if n % 2 else 0.375) + n / 100 for n in range(12)},
}


def test_systems_are_told_apart_by_their_order_on_collections(benchmark, client):
    make_reported(benchmark, CLEAR)
    page = page_at(client, PAGE)
    assert "comparisons</b> of a system with the next, 1 can be told apart." in page
    ranks = [(row["system"], row["rank_low"], row["rank_high"]) for row in rows_of(client)]
    assert ranks == [("lab/one", "1", "2"), ("new/three", "1", "2"), ("lab/two", "3", "3")]


def test_few_collections_tell_no_systems_apart(benchmark, client):
    assert "The collections are too few to tell systems apart." in page_at(client, PAGE)
    assert "rank_low" not in rows_of(client)[0]


def test_a_job_tests_large_parts(benchmark, client, monkeypatch):
    monkeypatch.setattr(reported_ranks, "IMMEDIATE_SYSTEMS", 1)
    make_reported(benchmark, CLEAR)
    assert "The tests of all pairs are running." in page_at(client, PAGE)
    work()
    page = page_at(client, PAGE)
    assert "1 can be told apart" in page and "are running" not in page


def test_an_earlier_version_stays_at_its_address(benchmark, client):
    make_reported(benchmark, {"lab/one": {"a1": 0.125}})
    assert ".125" in page_at(client, f"{PAGE}?rule=systems&open=a")
    assert ".125" not in page_at(client, f"{PAGE}?rule=systems&open=a&version=1")


def test_reported_scores_are_on_no_other_board(benchmark, client):
    assert "lab/one" not in page_at(client, "/benchmarks/baking/board/")


def test_without_reported_scores_there_is_neither_page_nor_tab(ada, ben, cat, client):
    make_benchmark(ada, ben, cat)
    assert client.get(PAGE).status_code == 404
    assert PAGE not in page_at(client, "/benchmarks/baking/")
