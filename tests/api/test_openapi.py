"""/api/v1/docs and /api/v1/openapi.json"""

from __future__ import annotations

import re

CALLS = {
    "/api/v1/me": {"get"},
    "/api/v1/collections": {"get", "post"},
    "/api/v1/collections/{slug}": {"get"},
    "/api/v1/collections/{slug}/confirm": {"post"},
    "/api/v1/collections/{slug}/judgments": {"post"},
    "/api/v1/collections/{slug}/judgments/{version}": {"get"},
    "/api/v1/collections/{slug}/judgments/{version}/confirm": {"post"},
    "/api/v1/tracks": {"get", "post"},
    "/api/v1/tracks/{slug}": {"get", "patch"},
    "/api/v1/tracks/{slug}/join": {"post"},
    "/api/v1/tracks/{slug}/release": {"post"},
    "/api/v1/tracks/{slug}/leaderboard": {"get"},
    "/api/v1/tracks/{slug}/compare": {"get"},
    "/api/v1/tracks/{slug}/runs": {"get", "post"},
    "/api/v1/runs/{run_id}": {"get", "patch", "delete"},
    "/api/v1/runs/{run_id}/topics": {"get"},
    "/api/v1/runs/{run_id}/file": {"get"},
    "/api/v1/runs/{run_id}/problems": {"get"},
}


def test_every_call_is_described(anybody_api):
    schema = anybody_api.get("/api/v1/openapi.json").json()
    assert {path: set(calls) for path, calls in schema["paths"].items()} == CALLS


def test_the_docs_page_runs_nothing_that_the_policy_forbids(anybody_api):
    answer = anybody_api.get("/api/v1/docs")
    text = answer.content.decode()
    assert answer["Content-Security-Policy"].endswith("; img-src 'self' data:")
    for script in re.findall(r"<script[^>]*>", text):
        assert 'src="/static/' in script or 'type="application/json"' in script
    assert "style=" not in text
    assert "<style" not in text


def test_other_answers_do_not_allow_data_addresses(anybody_api):
    assert "data:" not in anybody_api.get("/api/v1/openapi.json")["Content-Security-Policy"]
