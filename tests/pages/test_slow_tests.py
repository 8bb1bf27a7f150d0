"""Tests that no request has time for, on the boards of tracks and of benchmarks."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.models import Benchmark, Calculation, System
from leaderboard.scoring import contest_tests
from tests.boards.food_benchmark import make_food_benchmark
from tests.builders import work
from tests.pages.reading import page_at, words
from tests.pages.ten_topics import send, ten_track, with_baseline

TRACK, BENCHMARK = "/benchmarks/ten/board/", "/benchmarks/food/board/"
RUNNING = {
    TRACK: "The tests against base are running.",
    BENCHMARK: "The tests of systems are running.",
}
RESULT = {
    TRACK: "first leads and is significantly better than the baseline base",
    BENCHMARK: "is ahead on 2 of 3 tracks",
}
on_both_boards = pytest.mark.parametrize("board", [TRACK, BENCHMARK])


def make_scene(ada, ben, cat) -> None:
    track = ten_track(ada)
    with_baseline(track, ada)
    send(track, ben, "first", 1)
    make_food_benchmark(ada, ben, cat)
    Benchmark.objects.update(baseline=System.objects.get(name="dense"))
    Calculation.objects.all().delete()


@pytest.fixture
def busy(scene, monkeypatch):
    """A site that leaves all tests to its jobs."""
    monkeypatch.setattr(contest_tests, "is_immediate", lambda contest: False)


@on_both_boards
def test_tests_that_a_job_makes_are_announced_and_follow(busy, client, board):
    page = page_at(client, board)
    assert RUNNING[board] in words(page) and 'hx-trigger="every 2s"' in page
    assert RESULT[board] not in words(page)
    assert Calculation.objects.waiting().count() == 1
    work()
    said = words(page_at(client, board))
    assert RUNNING[board] not in said and RESULT[board] in said


@on_both_boards
def test_tests_that_failed_are_said_and_tried_again_after_an_hour(busy, client, monkeypatch, board):
    page_at(client, board)
    with monkeypatch.context() as broken:
        broken.setattr(contest_tests, "compute_tests", None)
        work()
    page = page_at(client, board)
    assert "The tests failed on our side." in words(page) and 'hx-trigger="every 2s"' not in page
    Calculation.objects.update(failed_at=timezone.now() - timedelta(hours=2))
    assert RUNNING[board] in words(page_at(client, board))
    work()
    assert RESULT[board] in words(page_at(client, board))
