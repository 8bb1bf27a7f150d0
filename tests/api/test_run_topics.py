"""GET /api/v1/runs/{id}/topics"""

from __future__ import annotations

from pytest import approx

from tests.builders import make_run, make_track


def test_every_topic_has_its_score(bens_run, anybody_api):
    answer = anybody_api.get(f"/api/v1/runs/{bens_run.pk}/topics?measure=AP").json()
    assert answer["measure"] == "AP"
    assert [each["number"] for each in answer["topics"]] == ["1", "2", "3"]
    assert [each["score"] for each in answer["topics"]] == approx([1, 1 / 2, 7 / 12])


def test_without_a_measure_the_primary_one_is_meant(bens_run, anybody_api):
    assert anybody_api.get(f"/api/v1/runs/{bens_run.pk}/topics").json()["measure"] == "AP"


def test_a_measure_is_known_under_its_other_names(bens_run, anybody_api):
    answer = anybody_api.get(f"/api/v1/runs/{bens_run.pk}/topics?measure=ndcg_cut_10")
    assert answer.json()["measure"] == "nDCG@10"


def test_a_measure_that_the_track_has_not_is_a_wrong_field(bens_run, anybody_api):
    for measure in ("RR", "nonsense", "%00"):
        answer = anybody_api.get(f"/api/v1/runs/{bens_run.pk}/topics?measure={measure}")
        assert (answer.status_code, answer.json()["code"]) == (422, "E_FIELD")


def test_an_undefined_score_is_null(collection, ben, anybody_api):
    """AUC needs both classes: from grade 2 on topic 2 has nothing relevant."""
    track = make_track(collection, slug="areas", measures=["AP", "AUC"], relevance_threshold=2)
    run = make_run(track, ben)
    topics = anybody_api.get(f"/api/v1/runs/{run.pk}/topics?measure=AUC").json()["topics"]
    assert [each["score"] for each in topics] == [1, None, approx(1 / 2)]


def test_a_blind_track_shows_no_topic(blind_track, ben, ben_api, ada_api):
    run = make_run(blind_track, ben)
    assert ben_api.get(f"/api/v1/runs/{run.pk}/topics").status_code == 404
    assert ada_api.get(f"/api/v1/runs/{run.pk}/topics").status_code == 200
