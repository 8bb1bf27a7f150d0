"""Boards by judge, beside boards that are put together by hand."""

from __future__ import annotations

import pytest

from leaderboard.jobs.table import JOB_KINDS
from leaderboard.models import Calculation
from leaderboard.scoring.judge_boards import (
    Judge,
    Panel,
    compare_judges,
    family_by_judge,
)
from tests.builders import OTHER_RUN, make_run

# By these grades topic 1 has one relevant document, and topic 2 another one.
NOTHING_OF_TOPIC_3 = {b"1": {b"d1": 2, b"d3": 0}, b"2": {b"d5": 1, b"d4": 0}}
V1 = {
    b"1": {b"d1": 2, b"d2": 1, b"d3": 0},
    b"2": {b"d4": 1, b"d5": 0},
    b"3": {b"d6": 3, b"d7": 0, b"d8": 1},
}


@pytest.fixture
def two_runs(track, ben, cat):
    """Ben's run and the other one, by AP with the judgments V1."""
    make_run(track, ben)
    make_run(track, cat, OTHER_RUN)
    return track


def compare(track, *judges: Judge) -> dict:
    family = family_by_judge(track)
    return compare_judges(track, "AP", Panel(V1, list(judges)), family, lambda done, of: None)


def whole(name: str, grades: dict) -> Judge:
    return Judge(name, {**V1, **grades}, frozenset(grades))


def test_the_reference_is_the_board_itself(two_runs):
    found = compare(two_runs, whole("A1", V1))
    means = dict(zip(found["family"], found["reference"]["means"], strict=True))
    scores = two_runs.edition.score_sets.filter(scores__measure="AP")
    assert means == dict(scores.values_list("run", "scores__mean"))


def test_the_same_grades_change_nothing(two_runs):
    found = compare(two_runs, whole("A1", V1), whole("A2", V1))
    assert [judge["means"] for judge in found["judges"]] == [found["reference"]["means"]] * 2
    assert found["mixtures"]["best"] == found["mixtures"]["worst"]


def test_a_topic_that_a_judge_left_keeps_the_grades_of_the_others(two_runs):
    found = compare(two_runs, whole("A1", V1), whole("A2", NOTHING_OF_TOPIC_3))
    other = next(i for i, run in enumerate(found["family"]) if run == other_run(two_runs))
    # By A2: topic 1 has d1 at 3, topic 2 has d5 nowhere, topic 3 as before.
    assert found["judges"][1]["means"][other] == pytest.approx((1 / 3 + 0 + 1 / 6) / 3)
    assert [judge["topics"] for judge in found["judges"]] == [3, 2]


def other_run(track) -> str:
    return track.runs.get(team__memberships__user__username="cat").pk


def test_an_excluded_topic_does_not_count(two_runs):
    two_runs.excluded_topics = ["3"]
    assert compare(two_runs, whole("A1", V1))["topics"] == 2


def test_the_baseline_is_tested_by_every_judge(two_runs):
    two_runs.baseline_id = other_run(two_runs)
    found = compare(two_runs, whole("A1", V1), whole("A2", NOTHING_OF_TOPIC_3))
    boards = [found["reference"], *found["judges"]]
    differences = [{d["difference"] for d in board["against"]} - {0} for board in boards]
    assert differences[0] == differences[1] != differences[2]


def test_one_run_has_no_order(track, ben):
    make_run(track, ben)
    assert compare(track, whole("A1", V1))["judges"] == []


@pytest.mark.django_db
def test_the_job_of_deleted_boards_writes_nothing():
    JOB_KINDS["judge_boards"].do("99", lambda done, of: None)()
    assert not Calculation.objects.exists()
