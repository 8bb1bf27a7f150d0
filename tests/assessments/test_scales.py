"""A new judging begins with the grades in use."""

from __future__ import annotations

from leaderboard.assessments.guidelines import USUAL_SCALE, propose_scale
from tests.builders import SCALE


def test_those_of_the_judgments(track):
    track.judgment_set.grade_counts = {"-1": 3, "0": 5, "2": 1}
    assert [grade.grade for grade in propose_scale(track)] == [2, 1, 0]


def test_the_usual_ones_without_judgments(unjudged_track):
    assert propose_scale(unjudged_track) == USUAL_SCALE


def test_those_of_the_last_judging_of_the_track(assessment):
    assert list(propose_scale(assessment.track)) == list(SCALE)


def test_the_form_shows_them(assessment, as_ada):
    assessment.pool.assessments.update(state="closed")
    page = as_ada.get("/benchmarks/bread/pools/pool-1/judging/").content.decode()
    assert f'name="name_{SCALE[0].grade}" value="{SCALE[0].name}"' in page
