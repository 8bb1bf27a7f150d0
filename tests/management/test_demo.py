"""What `manage.py demo` makes: two tracks, a benchmark of both with systems, and answers."""

from __future__ import annotations

import pytest
from django.test import override_settings

from leaderboard.management import demo_data, demo_judging, demo_samples
from leaderboard.models import Benchmark, Run, System, SystemVersion
from tests.builders import work
from tests.conftest import made_once

pytestmark = pytest.mark.long

BOARD = "/api/v1/benchmarks/harbours-and-gardens/board"


@pytest.fixture(scope="module")
def scene_of_all(module_files, django_db_blocker, tmp_path_factory) -> Benchmark:
    home = tmp_path_factory.mktemp("home")
    with (
        made_once(django_db_blocker, module_files),
        override_settings(RANKFIELD_HOME=home),
        pytest.MonkeyPatch.context() as patch,
    ):
        for module in (demo_samples, demo_judging):
            patch.setattr(module, "wait_until", lambda is_true, seconds: work() or is_true())
        demo_data.load_sample()
        work()
        return Benchmark.objects.of_several_tracks().get()


@pytest.fixture
def benchmark(scene: Benchmark, settings, tmp_path) -> Benchmark:
    settings.RANKFIELD_HOME = tmp_path
    return scene


def test_the_benchmark_of_the_demo_has_a_board(benchmark, client):
    board = client.get(BOARD).json()
    complete = {row["name"]: row["label"] for row in board["standings"]}
    assert complete == dict.fromkeys(["bm25", "rrf", "bm25-rm3", "lm-dirichlet"], "1") | {
        "okapi": "2"
    }
    assert [row["name"] for row in board["incomplete"]] == ["lsa"]


@pytest.mark.parametrize(("family", "field"), [("baseline", "p_adjusted"), ("all", "rank_low")])
def test_its_systems_are_tested(benchmark, client, family, field):
    client.get(f"{BOARD}?family={family}")
    work()
    board = client.get(f"{BOARD}?family={family}").json()
    tested = [row["name"] for row in board["standings"] if row[field] is not None]
    assert board["tests_ready"] and {"okapi", "rrf"} <= set(tested)


def test_runs_of_the_first_track_became_part_of_systems(benchmark):
    assert Run.objects.filter(track__slug="harbours").count() == 12
    assert Run.objects.filter(track__slug="gardens").count() == 6
    assert Run.objects.filter(version=None, track__slug="harbours").count() == 5


def test_a_track_of_the_demo_has_answers(benchmark, client):
    runs = Run.objects.filter(track__slug="harbour-answers")
    assert {run.state for run in runs} == {"scored"} and runs.count() == 3
    page = client.get(f"/runs/{runs.get(tag='rrf-quotes').pk}/answer/?number=1")
    assert "4 sentences, 4 citations" in page.content.decode()


def test_answers_of_the_demo_are_ranked_by_nuggets(benchmark, client):
    board = client.get("/api/v1/tracks/harbour-answers/leaderboard").json()
    assert board["measure"] == "Nuggets" and len(board["standings"]) == 3
    assert all(0 < row["scores"]["Nuggets"] < 1 for row in board["standings"])


def test_the_demo_begins_once(benchmark):
    demo_data.load_sample()
    counts = (Benchmark.objects.count(), System.objects.count(), SystemVersion.objects.count())
    assert counts == (2, 6, 7)
