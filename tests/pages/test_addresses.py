"""Where the pages of a track are: at the address of its benchmark, or beneath it."""

from __future__ import annotations

import pytest

from leaderboard.actions import benchmark_setup
from leaderboard.actions.tracks import change_track, delete_draft
from leaderboard.models import Track
from leaderboard.pages.addresses import either
from leaderboard.urls import benchmark_urls, track_urls
from tests.benchmark_scene import make_benchmark
from tests.builders import make_track, signed_in

pytestmark = pytest.mark.django_db


def addresses() -> list[str]:
    return sorted(Track.objects.values_list("address", flat=True))


def test_a_track_has_the_address_of_its_benchmark_while_it_is_alone(ada):
    benchmark = make_benchmark(ada)
    assert addresses() == ["baking/tracks/bread", "baking/tracks/rolls"]
    benchmark_setup.remove_track(benchmark, ada, Track.objects.get(slug="rolls"))
    assert addresses() == ["baking", "rolls"]


def test_deleting_and_renaming_tracks_moves_their_pages(ada):
    benchmark = make_benchmark(ada)
    delete_draft(Track.objects.get(slug="bread"), ada)
    assert addresses() == ["baking"]
    change_track(benchmark.tracks.get(), ada, {"slug": "buns"})
    assert addresses() == ["buns"]


def test_addresses_from_before_a_second_track_came_lead_on(ada, client):
    make_benchmark(ada)
    moved = client.get("/benchmarks/bread/topics/?all=1")
    assert (moved.status_code, moved.url) == (302, "/benchmarks/baking/tracks/bread/topics/?all=1")
    assert client.get("/benchmarks/baking/topics/").url == "/benchmarks/baking/tracks/bread/topics/"
    sent = signed_in(ada).post("/benchmarks/baking/manage/overview/", {})
    assert (sent.status_code, sent.url) == (307, "/benchmarks/baking/tracks/bread/manage/overview/")


def test_the_page_of_a_track_beside_others_leads_to_the_track_alone(track, client):
    assert client.get("/benchmarks/x/tracks/bread/").url == "/benchmarks/bread/"


def test_a_benchmark_with_several_tracks_has_its_own_board_at_its_address(ada, client):
    make_benchmark(ada)
    assert client.get("/benchmarks/baking/board/").templates[0].name == "benchmark/board.html"
    one = client.get("/benchmarks/baking/tracks/bread/board/")
    assert one.templates[0].name == "board/board.html"


def test_what_tracks_and_benchmarks_have_in_common_asks_which_of_both():
    of_tracks = {str(each.pattern): each for each in track_urls}
    shared = [of_tracks.get(str(each.pattern)) for each in benchmark_urls]
    assert [each.name for each in shared if each and not is_either(each.callback)] == []


def is_either(view) -> bool:
    return view.__code__ is either(view, view).__code__


def test_a_hidden_track_is_not_told_by_where_its_address_leads(collection, ada, client):
    make_track(collection, "secret", visibility="members", joining="invitation")
    for name in ("secret", "nothing"):
        moved = client.get(f"/tracks/{name}/topics/")
        assert (moved.status_code, moved.url) == (301, f"/benchmarks/{name}/topics/")
        assert client.get(moved.url).status_code == 404
        assert client.get(f"/benchmarks/other/tracks/{name}/topics/").status_code == 404
    assert client.post("/tracks/secret/submit/").status_code == 308
