"""Notices and webhooks of versions whose runs are done."""

from __future__ import annotations

import pytest

from leaderboard.models import Delivery, Notice, Track
from leaderboard.scoring.version_verdicts import compare_version, find_public_editions
from tests.benchmark_scene import BOTH, ROLLS_OTHER, make_benchmark, send
from tests.builders import OTHER_RUN, RUN

OTHERS = {"bread.run": OTHER_RUN, "rolls.run": ROLLS_OTHER}


def make_scene(ada, ben, cat):
    return make_benchmark(ada, ben, main_branch="main")


@pytest.fixture
def benchmark(scene):
    return scene


def test_the_team_is_notified_once_when_all_runs_are_done(benchmark, ben):
    send(benchmark, ben, OTHERS, commit="aaa", branch="main")
    send(benchmark, ben, BOTH, commit="bbb", branch="faster")
    texts = [text for text in Notice.objects.values_list("text", flat=True) if "oven" in text]
    assert texts[0].startswith("oven bbb does not differ significantly from main")
    assert texts[1] == "2 runs of oven aaa done, all accepted."
    assert len(texts) == 2


def test_a_notice_of_a_blind_benchmark_says_nothing_of_scores(benchmark, ben):
    Track.objects.update(disclosure="blind")
    send(benchmark, ben, OTHERS, commit="aaa", branch="main")
    version = send(
        benchmark, ben, {"bread.run": RUN, "rolls.run": "11 Q0 d1\n"}, commit="bbb"
    ).version
    assert Notice.objects.filter(text="2 runs of oven bbb done, 1 rejected.").exists()
    assert compare_version(version, find_public_editions(version)) is None


def test_webhooks_are_called_once_for_a_version(benchmark, ben, ada):
    for track in benchmark.tracks.in_order():
        track.webhooks.create(
            url="https://192.0.32.8/called", created_by=ada, happenings=["version.scored"]
        )
    send(benchmark, ben, BOTH, version="v1")
    (call,) = Delivery.objects.all()
    assert (call.body["benchmark"], call.body["version"]) == ("baking", "v1")
