"""Facts of a run over HTTP."""

from __future__ import annotations

import json

from django.utils import timezone

from leaderboard.models import Run, Track
from tests.builders import make_track


def test_a_run_states_typed_facts(track, ben_api):
    facts = {"kind": "manual", "topic_fields": ["title"], "primary": True, "closed": False}
    run = ben_api.get(ben_api.send_run(facts=json.dumps(facts)).json()["url"]).json()
    assert run["facts"] == facts


def test_a_missing_fact_is_named(collection, ben_api):
    make_track(collection, required_facts=["hardware"])
    answer = ben_api.send_run(facts='{"stage": "rerank"}')
    assert (answer.status_code, answer.json()["code"]) == (422, "E_FIELD")
    assert answer.json()["message"] == "facts: this track requires `hardware`."


def test_a_wrong_fact_is_named(track, ben_api):
    answer = ben_api.send_run(facts='{"priority": "first"}')
    assert answer.json()["message"] == "facts: `priority` must be an integer from 1 to 999"


def test_facts_are_changed_one_by_one(bens_run, ben_api):
    address = f"/api/v1/runs/{bens_run.pk}"
    ben_api.patch(address, {"facts": {"stage": "rerank", "llm": True}})
    run = ben_api.patch(address, {"facts": {"llm": None, "priority": 2}}).json()
    assert run["facts"] == {"kind": "automatic", "stage": "rerank", "priority": 2}


def test_a_tag_is_corrected(bens_run, ben_api):
    address = f"/api/v1/runs/{bens_run.pk}"
    assert ben_api.patch(address, {"tag": "bm25-k1"}).json()["tag"] == "bm25-k1"
    refused = ben_api.patch(address, {"tag": "two words"})
    assert refused.status_code == 409 and "tag is not valid" in refused.json()["message"]
    assert Run.objects.get().tag == "bm25-k1"


def test_a_wrong_change_changes_nothing(bens_run, ben_api):
    answer = ben_api.patch(f"/api/v1/runs/{bens_run.pk}", {"facts": {"stage": "last"}})
    assert answer.status_code == 422
    assert answer.json()["message"].startswith("facts: `stage` must be one of first-stage")
    assert Run.objects.get().facts == {}


def test_facts_of_others_are_not_ones_own_to_change(bens_run, cat_api, ada_api):
    address, body = f"/api/v1/runs/{bens_run.pk}", {"facts": {"stage": "rerank"}}
    assert cat_api.patch(address, body).status_code == 403
    assert ada_api.patch(address, body).status_code == 200


def test_after_the_release_a_team_asks_the_organisers(bens_run, ben_api):
    Track.objects.update(released_at=timezone.now())
    answer = ben_api.patch(f"/api/v1/runs/{bens_run.pk}", {"facts": {"stage": "rerank"}})
    assert (answer.status_code, answer.json()["code"]) == (403, "E_PERM")


def test_the_schema_of_facts_is_described(anybody_api):
    schema = anybody_api.get("/api/v1/openapi.json").json()["components"]["schemas"]
    facts = schema["RunPatch"]["properties"]["facts"]["properties"]
    assert facts["stage"]["enum"] == ["first-stage", "rerank", "fusion"]
    assert facts["topic_fields"]["description"].startswith("Topic fields")


def test_a_description_is_corrected_and_facts_stay(track, ben_api):
    url = ben_api.send_run(facts='{"stage": "rerank"}').json()["url"]
    run = ben_api.patch(url, {"description": "BM25"}).json()
    assert (run["description"], run["facts"]["stage"]) == ("BM25", "rerank")
