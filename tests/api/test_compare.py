"""GET /api/v1/tracks/{slug}/compare"""

from __future__ import annotations

import numpy as np
from pytest import approx

from evaluation.significance import posterior_of
from leaderboard.models import Track
from tests.builders import OTHER_RUN, make_run
from tests.pages.ten_topics import send, ten_track

PATH = "/api/v1/tracks/bread/compare"


def test_run_b_is_compared_with_run_a(bens_run, adas_run, anybody_api):
    answer = anybody_api.get(f"{PATH}?a={adas_run.pk}&b={bens_run.pk}&measure=AP").json()
    assert (answer["a"], answer["b"], answer["measure"]) == (adas_run.pk, bens_run.pk, "AP")
    assert answer["difference"] == approx(1 / 6)
    assert (answer["wins"], answer["losses"], answer["ties"]) == (2, 1, 0)
    assert (answer["family"], answer["test"]) == ("all", "all_pairs")
    assert answer["p"] >= 1 / 4 and answer["p_adjusted"] is None
    assert answer["verdict"] == "not significant"
    assert (answer["low"], answer["high"]) == (None, None)


def test_every_topic_has_both_scores(bens_run, adas_run, anybody_api):
    answer = anybody_api.get(f"{PATH}?a={adas_run.pk}&b={bens_run.pk}").json()
    assert [each["number"] for each in answer["topics"]] == ["1", "2", "3"]
    assert [each["a"] for each in answer["topics"]] == approx([5 / 12, 1, 1 / 6])
    assert [each["b"] for each in answer["topics"]] == approx([1, 1 / 2, 7 / 12])


def test_three_topics_have_no_probability(bens_run, adas_run, anybody_api):
    answer = anybody_api.get(f"{PATH}?a={adas_run.pk}&b={bens_run.pk}").json()
    assert answer["probability"] is None


def test_a_pair_has_its_probabilities_beside_the_region_of_the_reader(ada, ben, anybody_api):
    ranks = [2, 1, 3, 1, 1, 2, 1, 5, 1, 1]
    track = ten_track(ada)
    base, ours = send(track, ada, "base", 2), send(track, ben, "ours", ranks)
    path = f"/api/v1/tracks/ten/compare?a={base.pk}&b={ours.pk}&region=.1"
    found = posterior_of(np.array([1 / rank - 0.5 for rank in ranks]), 0.1)
    assert anybody_api.get(path).json()["probability"] == {
        "region": 0.1,
        "better": approx(found.better),
        "within": approx(found.within),
        "worse": approx(found.worse),
    }
    assert anybody_api.get(f"{path}e9").status_code == 422


def test_a_run_that_is_not_on_the_board_is_a_wrong_field(bens_run, anybody_api):
    answer = anybody_api.get(f"{PATH}?a={bens_run.pk}&b=nothing")
    assert (answer.status_code, answer.json()["message"]) == (422, "b: is not a run on this board")
    assert anybody_api.get(f"{PATH}?a={bens_run.pk}").json()["message"] == "b: is missing"


def test_a_run_that_the_rule_leaves_out_is_compared_like_any(bens_run, ben, anybody_api):
    Track.objects.update(selection="primary")
    second = make_run(bens_run.track, ben, OTHER_RUN)
    answer = anybody_api.get(f"{PATH}?a={bens_run.pk}&b={second.pk}&measure=AP").json()
    assert answer["difference"] == approx(-1 / 6)


def test_a_blind_track_compares_nothing(blind_track, ben, ada, ben_api):
    a, b = make_run(blind_track, ben), make_run(blind_track, ada)
    answer = ben_api.get(f"/api/v1/tracks/blind/compare?a={a.pk}&b={b.pk}")
    assert answer.status_code == 404
