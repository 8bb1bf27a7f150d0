"""Where systems of a benchmark differ: the heat map, and the tracks on which their order turns."""

from __future__ import annotations

import csv
import io

import pytest

from leaderboard.models import Benchmark, System, Track, User
from tests.boards.food_benchmark import make_food_benchmark
from tests.builders import signed_in
from tests.pages.reading import page_at, rows, words

pytestmark = pytest.mark.long

PAGE = "/benchmarks/food/differences/"


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


def table(client, address: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(client.get(address).content.decode())))


def test_differences_are_from_the_baseline(based, client):
    reference, bm25, worst = rows(page_at(client, PAGE))[:3]
    assert reference == "dense baseline .458 .528 .694 .153"
    assert bm25 == "bm25 1 +.181 +.167 −.167 +.542"
    assert worst.startswith("worst 1 – ") and worst.endswith(" – –")


def test_without_a_baseline_they_are_from_the_mean_of_complete_systems(benchmark, client):
    reference, bm25, dense = rows(page_at(client, PAGE))[:3]
    assert reference == "Mean of 2 .549 .611 .611 .424"
    assert bm25 == "bm25 1 +.090 +.083 −.083 +.271"
    assert dense == "dense 1 −.090 −.083 +.083 −.271"


def test_a_reader_chooses_another_reference(based, client):
    assert rows(page_at(client, f"{PAGE}?baseline=mean"))[0].startswith("Mean of 2 ")
    bm25 = System.objects.get(name="bm25").versions.get().pk
    assert rows(page_at(client, f"{PAGE}?baseline={bm25}"))[0].startswith("bm25 baseline ")


def test_better_and_worse_have_colours_of_their_own(based, client):
    page = page_at(client, PAGE)
    assert 'class="num up-6" title="Wine track: .694">+.542' in page
    assert 'class="num down-2" title="Cheese track: .528">−.167' in page


def test_a_significant_difference_has_a_mark(based, client, monkeypatch):
    monkeypatch.setattr(
        "leaderboard.scoring.contest_tests.compute_p_alone",
        lambda contest: {name: [0.01, 0.2, 0.04] for name in contest.names},
    )
    page = page_at(client, PAGE)
    assert '<span class="better">+.542</span>' in page and ", p .04" in page
    assert page.count('class="better"') == 2 and 'class="worse"' not in page


def test_a_head_sorts_by_its_track(benchmark, client):
    first = rows(page_at(client, f"{PAGE}?sort=cheese"))[1]
    assert first.startswith("dense")


def test_the_tracks_on_which_the_order_turns_come_first(benchmark, client):
    page = page_at(client, PAGE)
    said = "turns on 1 of 3 tracks, most on Cheese track (tau −1.00)."
    assert f"The order of both systems {said}" in words(page)
    turned = rows(page[page.index('id="turned"') :])
    assert turned[0] == "Cheese track −1.00 1 dense ahead of bm25 +.167"
    assert turned[1] == "Bread track 1.00 0"


def test_both_tables_are_files(based, client):
    line = table(client, f"{PAGE}?format=csv")[1]
    assert (line["system"], line["track"]) == ("bm25", "cheese")
    assert float(line["difference"]) == float(line["score"]) - float(line["reference"])
    (turned,) = table(client, f"{PAGE}?format=csv&table=turned")
    assert (turned["track"], turned["ahead"], turned["behind"]) == ("cheese", "dense", "bm25")


def test_a_blind_track_is_in_nothing_for_those_it_is_hidden_from(benchmark, client):
    Track.objects.filter(slug="wine").update(disclosure="blind")
    seen = page_at(client, PAGE)
    assert rows(seen)[1] == "bm25 1 .000 +.083 −.083" and "271" not in seen
    assert not [line for line in table(client, f"{PAGE}?format=csv") if line["track"] == "wine"]
    assert "+.271" in page_at(signed_in(benchmark.owner), PAGE)


def test_a_benchmark_without_systems_says_so(benchmark, client):
    System.objects.all().delete()
    assert "No systems yet" in page_at(client, PAGE)
