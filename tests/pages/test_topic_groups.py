"""The scores of a run by conversation and by depth of turn: page, files and API."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from pytest import approx

from leaderboard.analysis.runs import build_run_breakdown
from leaderboard.analysis.topic_groups import TopicGroups
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import find_board
from leaderboard.models import Run, Track, User
from tests.builders import make_run, make_track
from tests.pages.reading import page_at, words
from tests.scoring.test_groups import RANKS, make_grouped_track

pytestmark = pytest.mark.long

# Twenty-four topics in six conversations, the longest of nine turns.
SIZES = [1, 2, 3, 4, 5, 9]
SCORES = np.array([1 / rank for rank in RANKS])


def make_scene(ada: User, ben: User, cat: User) -> None:
    make_grouped_track(ada, SIZES)


@pytest.fixture
def gain(scene) -> Run:
    return Run.objects.get(tag="gain")


def table(client, run: Run, name: str) -> list[dict[str, str]]:
    content = client.get(f"/runs/{run.pk}/?format=csv&table={name}").content.decode()
    return list(csv.DictReader(io.StringIO(content)))


def test_each_group_has_the_mean_of_its_topics(gain, client):
    lines = table(client, gain, "groups")
    ends = np.cumsum(SIZES)
    means = [SCORES[end - size : end].mean() for end, size in zip(ends, SIZES, strict=True)]
    assert [line["group"] for line in lines] == [f"g{n}" for n in range(6)]
    assert [float(line["score"]) for line in lines] == approx(means)
    assert [int(line["topics"]) for line in lines] == SIZES


def test_a_depth_has_one_topic_of_each_group_that_is_as_long(gain, client):
    lines = table(client, gain, "depths")
    assert [int(line["topics"]) for line in lines] == [6, 5, 4, 3, 2, 1, 1, 1, 1]
    first = [SCORES[start] for start in np.cumsum([0, *SIZES[:-1]])]
    assert float(lines[0]["score"]) == approx(np.mean(first))
    assert float(lines[0]["low"]) < np.mean(first) and lines[-1]["low"] == ""


def test_groups_are_held_against_the_baseline(gain, client):
    assert all(
        float(line["from_baseline"]) == approx(float(line["score"]) - 1 / 3)
        for line in table(client, gain, "groups")
    )


def test_the_page_begins_with_the_worst_group(gain, client):
    page = words(page_at(client, f"/runs/{gain.pk}/topics/"))
    shown = page[page.index("By group of topics") :]
    means = {line["group"]: float(line["score"]) for line in table(client, gain, "groups")}
    worst = min(means, key=means.__getitem__)
    assert all(shown.index(worst) <= shown.index(name) for name in means)
    assert "By depth" in shown


def test_the_api_says_the_same(gain, client):
    answer = client.get(f"/api/v1/runs/{gain.pk}/groups").json()
    for kind in ("groups", "depths"):
        lines = table(client, gain, kind)
        assert [part["topics"] for part in answer[kind]] == [int(line["topics"]) for line in lines]
        scores = [float(line["score"]) for line in lines]
        assert [part["score"] for part in answer[kind]] == approx(scores)


def test_a_turn_that_is_not_evaluated_has_a_depth_too(gain, ada):
    """Without the first turn of the longest conversation, its others keep their depth."""
    found = build_run_breakdown(find_board(sight_of(Track.objects.get(), ada)), gain)
    others = [line for line in found.topics if line.topic.number != "16"]
    depths = TopicGroups(replace(found, topics=others)).depths
    assert [part.topics for part in depths] == [5, 5, 4, 3, 2, 1, 1, 1, 1]
    assert depths[8].name == "9"


def test_topics_without_groups_have_neither_table(collection, ben, client):
    bens_run = make_run(make_track(collection), ben)
    page = page_at(client, f"/runs/{bens_run.pk}/topics/")
    assert "By group of topics" not in page
    assert client.get(f"/runs/{bens_run.pk}/?format=csv&table=groups").status_code == 404
    answer = client.get(f"/api/v1/runs/{bens_run.pk}/groups").json()
    assert answer == {"measure": "AP", "groups": [], "depths": []}


def test_scores_that_are_hidden_have_no_groups(gain, client):
    Track.objects.update(disclosure="blind")
    assert client.get(f"/api/v1/runs/{gain.pk}/groups").status_code == 404
