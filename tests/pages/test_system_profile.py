"""The page of a system: its place on every track, and its versions over time."""

from __future__ import annotations

import csv
import io

import pytest

from leaderboard.models import Benchmark, Run, System, SystemVersion, Track, User
from tests.boards.food_benchmark import make_food_benchmark
from tests.builders import signed_in
from tests.pages.reading import page_at, rows

pytestmark = pytest.mark.long


def make_scene(ada: User, ben: User, cat: User) -> None:
    make_food_benchmark(ada, ben, cat)


@pytest.fixture
def benchmark(scene) -> Benchmark:
    return Benchmark.objects.get(slug="food")


@pytest.fixture
def newer(benchmark, ada) -> SystemVersion:
    """A second version of Ben's system, with the run of Cat's on the first track."""
    system = System.objects.get(name="bm25")
    version = SystemVersion.objects.create(system=system, label="2", created_by=ada)
    Run.objects.filter(version__system__name="dense", track__slug="bread").update(version=version)
    return version


def page_of(name: str) -> str:
    return f"/benchmarks/food/systems/{System.objects.get(name=name).pk}/"


def part(page: str, name: str) -> str:
    return page[page.index(f'id="{name}"') :].partition("</section>")[0]


def test_a_system_has_its_rank_on_every_track(benchmark, client):
    bread, cheese, wine = rows(part(page_at(client, page_of("bm25")), "profile"))
    assert bread.startswith("Bread track AP .694 1 of 3")
    assert cheese.startswith("Cheese track AP .528 2 of 2") and " 1 of 2" in wine


def test_a_strip_has_a_dot_for_each_system_and_this_one_in_colour(benchmark, client):
    profile = part(page_at(client, page_of("bm25")), "profile")
    assert profile.count('class="dot own"') == 3 and profile.count('class="dot other"') == 4


def test_the_baseline_has_a_dot_of_its_own(benchmark, client):
    benchmark.baseline = System.objects.get(name="dense")
    benchmark.save()
    profile = part(page_at(client, page_of("bm25")), "profile")
    assert profile.count('class="dot baseline"') == 3
    assert "dense .5278, bm25 .6944" in profile


def test_versions_over_time_have_the_change_on_each_track(newer, client):
    later, first = rows(part(page_at(client, page_of("bm25")), "over-time"))
    assert later == "2 .528 −.167 – –"
    assert first == "1 .694 .528 .694"


def test_one_version_has_no_history(benchmark, client):
    assert 'id="over-time"' not in page_at(client, page_of("bm25"))


def test_every_version_and_track_is_a_line_of_the_file(newer, client):
    file = client.get(f"{page_of('bm25')}?format=csv").content.decode()
    lines = list(csv.DictReader(io.StringIO(file)))
    assert [line["version"] for line in lines] == ["1"] * 3 + ["2"] * 3
    assert (lines[0]["rank"], lines[0]["systems"]) == ("1", "2") and lines[3]["rank"] == ""


def test_a_blind_track_is_in_nothing_for_those_it_is_hidden_from(benchmark, client):
    Track.objects.filter(slug="wine").update(disclosure="blind")
    page = page_at(client, page_of("bm25"))
    assert len(rows(part(page, "profile"))) == 2
    assert "wine" not in client.get(f"{page_of('bm25')}?format=csv").content.decode()
    assert len(rows(part(page_at(signed_in(benchmark.owner), page_of("bm25")), "profile"))) == 3


def test_a_system_without_a_visible_score_has_no_profile(benchmark, client):
    Track.objects.exclude(slug="wine").update(disclosure="blind")
    page = page_at(signed_in(User.objects.get(username="cat")), page_of("worst"))
    assert 'id="profile"' not in page
