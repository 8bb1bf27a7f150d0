"""Benchmarks in the API: list, create, change, join."""

from __future__ import annotations

from leaderboard.models import Benchmark, Track
from tests.api.conftest import Program
from tests.benchmark_scene import make_benchmark, make_rolls
from tests.builders import make_collection, make_track

NEW = {"slug": "baking", "name": "Baking", "tracks": ["bread"], "collections": ["rolls"]}


def test_a_benchmark_is_made_of_tracks_and_collections(ada, ada_api):
    make_track(make_collection(ada), "bread")
    make_rolls(ada)
    answer = ada_api.post("/api/v1/benchmarks", NEW)
    assert answer.status_code == 201
    assert answer.json()["tracks"] == ["bread", "rolls"]
    assert Track.objects.get(slug="rolls").visibility == "members"


def test_a_benchmark_of_nothing_is_a_conflict(ada_api):
    answer = ada_api.post("/api/v1/benchmarks", {"slug": "baking", "name": "Baking"})
    assert (answer.status_code, answer.json()["code"]) == (409, "E_CONFLICT")


def test_tracks_of_others_are_wrong_fields(ada, ben, ada_api):
    make_track(make_collection(ada), "bread")
    make_track(make_collection(ada, "rye"), "rye")
    asked = {"slug": "baking", "name": "Baking", "tracks": ["bread", "rye"]}
    answer = Program(ben).post("/api/v1/benchmarks", asked)
    assert answer.json()["message"].startswith("tracks: ")
    ada_api.post("/api/v1/benchmarks", asked)
    again = ada_api.post("/api/v1/benchmarks", asked | {"slug": "other"})
    assert "belongs to a benchmark already" in again.json()["message"]


def test_organisers_order_the_tracks_of_a_benchmark(ada, ada_api):
    make_benchmark(ada)
    placed = [{"track": "rolls", "phase": "training"}, {"track": "bread", "phase": "test"}]
    answer = ada_api.patch("/api/v1/benchmarks/baking", {"places": placed, "terms": "Be kind."})
    nothing = {"group": "", "date": "", "private": False}
    assert answer.json()["places"] == [nothing | place for place in placed]
    assert Benchmark.objects.get().terms == "Be kind."


def test_a_measure_of_no_track_is_a_wrong_field(ada, ada_api):
    make_benchmark(ada)
    answer = ada_api.patch("/api/v1/benchmarks/baking", {"measure": "P@7"})
    assert answer.json()["message"].startswith("measure: ")
    assert ada_api.patch("/api/v1/benchmarks/baking", {"baseline": 1}).status_code == 422


def test_joining_a_benchmark_joins_its_tracks(ada, ben_api):
    make_benchmark(ada)
    answer = ben_api.post("/api/v1/benchmarks/baking/join", {"team": "Crumbs"})
    assert answer.json() == {"benchmark": "baking", "team": "Crumbs", "tracks": ["bread", "rolls"]}
    assert ben_api.get("/api/v1/benchmarks/baking").json()["team"] == "Crumbs"


def test_the_code_of_a_benchmark_is_for_organisers(ada, ada_api, cat_api):
    benchmark = make_benchmark(ada)
    Benchmark.objects.update(joining="invitation")
    assert cat_api.get("/api/v1/benchmarks/baking").json()["invitation"] == ""
    assert ada_api.get("/api/v1/benchmarks/baking").json()["invitation"] == benchmark.invitation
    assert cat_api.post("/api/v1/benchmarks/baking/join").status_code == 403


def test_a_draft_of_a_benchmark_is_not_listed(ada, cat_api):
    make_benchmark(ada)
    Track.objects.filter(slug="rolls").update(is_draft=True)
    (listed,) = cat_api.get("/api/v1/benchmarks").json()["items"]
    assert listed["tracks"] == ["bread"]
    assert [place["track"] for place in listed["places"]] == ["bread"]
    Track.objects.update(is_draft=True)
    assert cat_api.get("/api/v1/benchmarks").json()["items"] == []
    assert cat_api.post("/api/v1/benchmarks/baking/join").status_code == 404
    assert Benchmark.objects.count() == 1
