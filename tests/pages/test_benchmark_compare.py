"""Two systems of a benchmark side by side: each track, the lead, and what makes it."""

from __future__ import annotations

import csv
import io
import statistics

import pytest

from leaderboard.models import Benchmark, System, SystemVersion, Track, User
from tests.boards.food_benchmark import make_food_benchmark
from tests.builders import signed_in
from tests.pages.reading import page_at, rows, words

pytestmark = pytest.mark.long

PAGE = "/benchmarks/food/compare/"


def make_scene(ada: User, ben: User, cat: User) -> None:
    make_food_benchmark(ada, ben, cat)


@pytest.fixture
def benchmark(scene) -> Benchmark:
    return Benchmark.objects.get(slug="food")


def version_of(name: str) -> int:
    return SystemVersion.objects.get(system__name=name).pk


def pair(a: str, b: str) -> str:
    return f"{PAGE}?a={version_of(a)}&b={version_of(b)}"


def table(client, address: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(client.get(address).content.decode())))


def test_every_track_has_both_scores_and_who_is_ahead(benchmark, client):
    bread, cheese, wine = rows(page_at(client, pair("dense", "bm25")))
    assert bread.startswith("Bread track AP .694 .528 +.167 ")
    assert cheese.startswith("Cheese track AP .528 .694 −.167 ")
    assert " bm25 " in bread and " dense " in cheese and wine.endswith(".000")


def test_the_best_stands_against_the_second_unless_chosen(benchmark, client):
    assert "<h1><bdi>bm25</bdi> against <bdi>dense</bdi></h1>" in page_at(client, PAGE)
    turned = page_at(client, pair("bm25", "dense"))
    assert "<h1><bdi>dense</bdi> against <bdi>bm25</bdi></h1>" in turned


def test_the_baseline_is_what_others_stand_against(benchmark, client):
    benchmark.baseline = System.objects.get(name="bm25")
    benchmark.save()
    page = page_at(client, f"{PAGE}?b={version_of('dense')}")
    assert "<h1><bdi>dense</bdi> against <bdi>bm25</bdi></h1>" in page


def test_the_lead_says_what_one_track_makes_of_it(benchmark, client):
    said = words(page_at(client, pair("dense", "bm25")))
    assert "bm25 is ahead on 2 of 3 tracks, significantly on none, and behind on 1." in said
    assert "Without Wine track the means are equal." in said


def test_the_mean_without_each_track_is_that_of_the_others(benchmark, client):
    lines = table(client, f"{pair('dense', 'bm25')}&format=csv")
    differences = [float(line["b"]) - float(line["a"]) for line in lines]
    without = [
        statistics.fmean(differences[:place] + differences[place + 1 :]) for place in range(3)
    ]
    assert [float(line["mean_without"]) for line in lines] == pytest.approx(without, abs=1e-9)


def test_an_incomplete_system_is_compared_on_what_both_answer(benchmark, client):
    page = page_at(client, pair("worst", "bm25"))
    bread, cheese, _ = rows(page)
    assert " +.542 " in bread and cheese.endswith("– – – – –")
    assert "over 1 track: +.542" in words(page)


def test_the_chart_has_both_systems_on_every_shared_track(benchmark, client):
    page = page_at(client, pair("dense", "bm25"))
    assert "3 tracks: bm25 ahead on 2, dense on 1." in page
    assert page.count('class="point better"') == 2 and page.count('class="point worse"') == 1


def test_both_are_chosen_without_a_script(benchmark, client):
    page = page_at(client, pair("dense", "bm25"))
    assert f'<option value="{version_of("bm25")}" selected>bm25 1</option>' in page
    assert page.count("<option") == 6 and "<button>Compare</button>" in page


def test_an_unknown_id_is_a_default(benchmark, client):
    assert "against" in page_at(client, f"{PAGE}?a=0&b=x%00")


def test_a_blind_track_is_in_nothing_for_those_it_is_hidden_from(benchmark, client):
    Track.objects.filter(slug="wine").update(disclosure="blind")
    address = pair("dense", "bm25")
    page = page_at(client, address)
    assert len(rows(page)) == 2 and ".153" not in page and "+.181" not in page
    assert "The means are equal over 2 tracks." in words(page)
    assert len(rows(page_at(signed_in(benchmark.owner), address))) == 3


def test_fewer_than_two_systems_are_not_compared(benchmark, client):
    System.objects.exclude(name="bm25").delete()
    assert "Fewer than two systems" in page_at(client, PAGE)


def test_the_board_and_the_turned_pairs_lead_here(benchmark, client):
    assert 'href="/benchmarks/food/compare/">Compare two systems' in page_at(
        client, "/benchmarks/food/board/"
    )
    turned = page_at(client, "/benchmarks/food/differences/")
    assert f"/benchmarks/food/compare/?a={version_of('bm25')}&amp;b={version_of('dense')}" in turned
