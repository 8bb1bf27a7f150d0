"""Notices and webhooks of versions whose runs are done."""

from __future__ import annotations

import pytest

from leaderboard.models import Delivery, Notice, Track
from leaderboard.scoring.version_verdicts import compare_version, find_public_editions
from tests.builders import OTHER_RUN, RUN
from tests.task_scene import BOTH, ROLLS_OTHER, make_task, send

OTHERS = {"bread.run": OTHER_RUN, "rolls.run": ROLLS_OTHER}


def make_scene(ada, ben, cat):
    return make_task(ada, ben, main_branch="main")


@pytest.fixture
def task(scene):
    return scene


def test_the_team_is_notified_once_when_all_runs_are_done(task, ben):
    send(task, ben, OTHERS, commit="aaa", branch="main")
    send(task, ben, BOTH, commit="bbb", branch="faster")
    texts = [text for text in Notice.objects.values_list("text", flat=True) if "oven" in text]
    assert texts[0].startswith("oven bbb does not differ significantly from main")
    assert texts[1] == "2 runs of oven aaa done, all accepted."
    assert len(texts) == 2


def test_a_notice_of_a_blind_task_says_nothing_of_scores(task, ben):
    Track.objects.update(disclosure="blind")
    send(task, ben, OTHERS, commit="aaa", branch="main")
    version = send(task, ben, {"bread.run": RUN, "rolls.run": "11 Q0 d1\n"}, commit="bbb").version
    assert Notice.objects.filter(text="2 runs of oven bbb done, 1 rejected.").exists()
    assert compare_version(version, find_public_editions(version)) is None


def test_webhooks_are_called_once_for_a_version(task, ben, ada):
    for track in task.tracks():
        track.webhooks.create(
            url="https://192.0.32.8/called", created_by=ada, happenings=["version.scored"]
        )
    send(task, ben, BOTH, version="v1")
    (call,) = Delivery.objects.all()
    assert (call.body["task"], call.body["version"]) == ("baking", "v1")
