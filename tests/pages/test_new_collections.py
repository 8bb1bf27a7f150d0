"""What a benchmark says about other collections: the page, its files and the API."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from pytest import approx

from evaluation.significance import Gap
from leaderboard.models import Benchmark, User
from leaderboard.scoring.contests import UnseenRanks
from tests.boards.food_benchmark import make_food_benchmark
from tests.pages.reading import page_at, rows, words

pytestmark = pytest.mark.long

PAGE = "/benchmarks/food/new-collections/"
API = "/api/v1/benchmarks/food/new-collections"


def make_scene(ada: User, ben: User, cat: User) -> None:
    make_food_benchmark(ada, ben, cat)


@pytest.fixture
def benchmark(scene) -> Benchmark:
    return Benchmark.objects.get(slug="food")


def table(client, query: str = "") -> list[dict[str, str]]:
    content = client.get(f"{PAGE}?format=csv{query}").content.decode()
    return list(csv.DictReader(io.StringIO(content)))


def test_three_collections_say_little_of_others(benchmark, client):
    page = words(page_at(client, PAGE))
    assert "3 collections tell nothing about others of their kind on average" in page
    assert rows(page_at(client, PAGE))[:2] == [
        "1 bm25 1 .639 1–2 – 1–2 1",
        "2 dense 1 .458 1–2 – 1–2 1–2",
    ]


def test_the_collection_that_the_order_depends_on_most_is_first(benchmark, client):
    lines = table(client, "&table=left-out")
    assert [line["tracks"] for line in lines] == ["wine", "bread", "cheese"]
    assert lines[2]["foretold"] == "-1.0" and lines[1]["first"] == "bm25 1"


def test_ranks_are_the_same_as_csv_and_from_the_api(benchmark, client):
    answer = client.get(API).json()
    assert answer["next_level"] == 0.5 and answer["collections"] == 3
    for line, system in zip(table(client), answer["systems"], strict=True):
        ends = {name: line[name] for name in line if name.endswith(("_low", "_high"))}
        assert ends == {name: str(system[name] or "") for name in ends}
        assert float(line["mean"]) == approx(system["mean"])


def test_collections_enough_for_a_verdict_have_ranks_on_their_kind(benchmark, client, monkeypatch):
    decided = UnseenRanks(6, True, 1, {}, {})
    monkeypatch.setattr(
        UnseenRanks,
        "of",
        classmethod(
            lambda cls, names, _: replace(
                decided, rank_low=dict.fromkeys(names, 1), rank_high=dict.fromkeys(names, 2)
            )
        ),
    )
    assert "On collections of this kind 1 of 1 pair can be told apart." in words(
        page_at(client, PAGE)
    )
    assert table(client)[0]["kind_high"] == "2"


def test_tracks_on_one_collection_count_as_one(benchmark, client):
    first = benchmark.tracks.in_order()[0]
    benchmark.tracks.update(collection=first.collection)
    assert client.get(API).json()["collections"] == 1
    assert "Tracks on one collection count as one." in words(page_at(client, PAGE))


def test_a_hidden_track_is_left_out_of_what_is_said(benchmark, client):
    benchmark.tracks.filter(slug="cheese").update(disclosure="blind")
    assert client.get(API).json()["tracks"] == ["bread", "wine"]
    assert "Not on this board yet" in words(page_at(client, PAGE))


def test_without_a_mean_points_are_left_out_and_nothing_is_said_on_average(benchmark, client):
    benchmark.measure = "NumRelRet"
    benchmark.tracks.update(measures=["AP", "NumRelRet"])
    benchmark.save()
    answer = client.get(f"{API}?measure=NumRelRet").json()
    assert (answer["decided"], answer["components"]) == (False, None)


def test_phases_are_never_put_together(benchmark, client):
    benchmark.tracks.filter(slug="wine").update(phase="final")
    assert "Choose a phase" in words(page_at(client, f"{PAGE}?phase=all"))


@pytest.fixture
def private(benchmark) -> Benchmark:
    benchmark.tracks.filter(slug="wine").update(is_private=True)
    return benchmark


def test_the_gap_is_the_mean_on_open_collections_less_that_on_private_ones(private, client):
    bm25, dense = table(client, "&table=gaps")
    open_mean, on_wine = (float(bm25[name]) for name in ("open", "private"))
    assert float(bm25["gap"]) == approx(open_mean - on_wine)
    assert float(bm25["beyond"]) == approx(float(bm25["gap"]) - float(dense["gap"]))
    assert float(dense["beyond"]) == approx(-float(bm25["beyond"]))


def test_the_same_gaps_come_from_the_api(private, client):
    answer = client.get(API).json()
    assert answer["private"] == ["wine"]
    for line, system in zip(table(client, "&table=gaps"), answer["gaps"], strict=True):
        assert float(line["gap"]) == approx(system["gap"]["difference"])
        assert line["gap_p"] == "" and system["gap"]["p"] is None


def test_few_collections_have_a_gap_without_a_test(private, client):
    page = words(page_at(client, PAGE))
    assert "2 open and 1 private collections are too few to test a gap" in page


def test_without_a_private_collection_there_is_no_gap(benchmark, client):
    assert "Open and private collections" not in page_at(client, PAGE)
    assert table(client, "&table=gaps") == [] and client.get(API).json()["gaps"] == []


def test_systems_that_lose_more_than_the_others_are_named(private, client, monkeypatch):
    told = [Gap(0.2, 0.1, 0.3, 0.01), Gap(-0.2, -0.3, -0.1, 0.01)]
    monkeypatch.setattr("leaderboard.analysis.new_collections.compare_gaps", lambda *_: told)
    page = words(page_at(client, PAGE))
    assert "1 system loses significantly more than the others" in page
    assert rows(page_at(client, PAGE), 1)[0].startswith("bm25 1")


def test_organisers_declare_which_collections_are_private(benchmark, as_ada):
    tracks = benchmark.tracks.in_order()
    sent = {f"{track.slug}-position": place for place, track in enumerate(tracks, 1)}
    as_ada.post("/benchmarks/food/manage/tracks/", sent | {"bread-is_private": "on"})
    assert benchmark.tracks.get(is_private=True).slug == "bread"
    page = page_at(as_ada, "/benchmarks/food/manage/")
    assert 'aria-label="Private: Bread track" checked' in page
