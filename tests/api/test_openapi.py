"""/api/v1/docs and /api/v1/openapi.json"""

from __future__ import annotations

import pytest
from ninja import NinjaAPI

CALLS = {
    "/api/v1/me": {"get"},
    "/api/v1/collections": {"get", "post"},
    "/api/v1/collections/{slug}": {"get", "patch"},
    "/api/v1/collections/{slug}/confirm": {"post"},
    "/api/v1/collections/{slug}/judgments": {"post"},
    "/api/v1/collections/{slug}/judgments/{version}": {"get", "delete"},
    "/api/v1/collections/{slug}/judgments/{version}/replace": {"post"},
    "/api/v1/collections/{slug}/judgments/{version}/confirm": {"post"},
    "/api/v1/collections/{slug}/judgments/{version}/prompts": {"get"},
    "/api/v1/collections/{slug}/judgments/{version}/replies": {"get"},
    "/api/v1/collections/{slug}/machine-judgments": {"post"},
    "/api/v1/collections/{slug}/fill-unjudged": {"post"},
    "/api/v1/tracks": {"get", "post"},
    "/api/v1/tracks/{slug}": {"get", "patch"},
    "/api/v1/tracks/{slug}/copy": {"post"},
    "/api/v1/tracks/{slug}/open": {"post"},
    "/api/v1/tracks/{slug}/deadlines": {"post"},
    "/api/v1/tracks/{slug}/gate": {"get"},
    "/api/v1/tracks/{slug}/failed-jobs": {"get"},
    "/api/v1/tracks/{slug}/failed-jobs/{job}/again": {"post"},
    "/api/v1/tracks/{slug}/battles": {"get"},
    "/api/v1/tracks/{slug}/judges": {"get"},
    "/api/v1/tracks/{slug}/judges/boards": {"get"},
    "/api/v1/tracks/{slug}/judges/systems": {"get"},
    "/api/v1/tracks/{slug}/battles/votes": {"get", "post"},
    "/api/v1/tracks/{slug}/nuggets": {"get", "post"},
    "/api/v1/tracks/{slug}/nuggets/{version}": {"get", "delete"},
    "/api/v1/tracks/{slug}/nuggets/{version}/confirm": {"post"},
    "/api/v1/tracks/{slug}/nuggets/{version}/file": {"get"},
    "/api/v1/tracks/{slug}/nugget-draft": {"get", "post", "delete"},
    "/api/v1/tracks/{slug}/nugget-draft/freeze": {"post"},
    "/api/v1/tracks/{slug}/nugget-draft/topic": {"get"},
    "/api/v1/tracks/{slug}/nugget-draft/steps": {"post"},
    "/api/v1/tracks/{slug}/layers": {"get", "post"},
    "/api/v1/tracks/{slug}/layers/{version}": {"get", "delete"},
    "/api/v1/tracks/{slug}/layers/{version}/confirm": {"post"},
    "/api/v1/tracks/{slug}/layers/{version}/file": {"get"},
    "/api/v1/tracks/{slug}/layers/{version}/replies": {"get"},
    "/api/v1/tracks/{slug}/release": {"post"},
    "/api/v1/tracks/{slug}/leaderboard": {"get"},
    "/api/v1/tracks/{slug}/compare": {"get"},
    "/api/v1/tracks/{slug}/runs": {"get", "post"},
    "/api/v1/tracks/{slug}/snapshots": {"get"},
    "/api/v1/tracks/{slug}/snapshots/{name}": {"get"},
    "/api/v1/benchmarks/{slug}/archive": {"get"},
    "/api/v1/benchmarks/{slug}/copy": {"post"},
    "/api/v1/benchmarks/{slug}/registration": {"get", "patch"},
    "/api/v1/benchmarks/{slug}/requests": {"get", "post"},
    "/api/v1/benchmarks/{slug}/requests/approve": {"post"},
    "/api/v1/benchmarks/{slug}/board": {"get"},
    "/api/v1/benchmarks/{slug}/new-collections": {"get"},
    "/api/v1/benchmarks/{slug}/by-date": {"get"},
    "/api/v1/benchmarks/{slug}/reported-results": {"get", "post"},
    "/api/v1/benchmarks/{slug}/reported-results/{version}": {"get", "delete"},
    "/api/v1/benchmarks/{slug}/reported-results/{version}/confirm": {"post"},
    "/api/v1/benchmarks/{slug}/snapshots": {"get"},
    "/api/v1/benchmarks/{slug}/snapshots/{name}": {"get"},
    "/api/v1/benchmarks/{slug}/systems": {"get", "post"},
    "/api/v1/benchmarks/{slug}/systems/{system_id}/versions/{label}": {"get"},
    "/api/v1/tracks/{slug}/uploads": {"post"},
    "/api/v1/benchmarks/{slug}/uploads": {"post"},
    "/api/v1/uploads/{upload_id}": {"get", "patch", "delete"},
    "/api/v1/runs/{run_id}": {"get", "patch", "delete"},
    "/api/v1/runs/{run_id}/undo-withdrawal": {"post"},
    "/api/v1/runs/{run_id}/repair": {"post"},
    "/api/v1/runs/{run_id}/topics": {"get"},
    "/api/v1/runs/{run_id}/groups": {"get"},
    "/api/v1/runs/{run_id}/answer": {"get"},
    "/api/v1/runs/{run_id}/file": {"get"},
    "/api/v1/runs/{run_id}/problems": {"get"},
    "/api/v1/tracks/{slug}/assessments": {"get", "post"},
    "/api/v1/tracks/{slug}/assessments/{name}": {"get"},
    "/api/v1/tracks/{slug}/assessments/{name}/open": {"post"},
    "/api/v1/tracks/{slug}/assessments/{name}/pause": {"post"},
    "/api/v1/tracks/{slug}/assessments/{name}/resume": {"post"},
    "/api/v1/tracks/{slug}/assessments/{name}/close": {"post"},
    "/api/v1/tracks/{slug}/assessments/{name}/third-opinions": {"post"},
    "/api/v1/tracks/{slug}/assessments/{name}/assignments": {"get", "post"},
    "/api/v1/tracks/{slug}/assessments/{name}/disagreements": {"get", "post"},
    "/api/v1/assessments/join": {"post"},
    "/api/v1/tracks/{slug}/assessments/{name}/marks": {"get", "post"},
    "/api/v1/tracks/{slug}/assessments/{name}/prompts": {"get"},
    "/api/v1/tracks/{slug}/pools": {"get", "post"},
    "/api/v1/tracks/{slug}/pools/{pool}": {"get", "delete"},
    "/api/v1/tracks/{slug}/pools/{pool}/approve": {"post"},
    "/api/v1/tracks/{slug}/pools/{pool}/file": {"get"},
    "/api/v1/tracks/{slug}/pools/{pool}/prompts": {"get"},
    "/api/v1/tracks/{slug}/assessments/{name}/agreement": {"get"},
    "/api/v1/tracks/{slug}/corrected-means": {"get"},
    "/api/v1/collections/{slug}/agreement": {"get"},
    "/api/v1/benchmarks": {"get", "post"},
    "/api/v1/benchmarks/{slug}": {"get", "patch"},
    "/api/v1/benchmarks/{slug}/join": {"post"},
    "/api/v1/benchmarks/{slug}/teams": {"post"},
    "/api/v1/benchmarks/{slug}/teams/merge": {"post"},
    "/api/v1/benchmarks/{slug}/message-groups": {"get"},
    "/api/v1/benchmarks/{slug}/messages": {"post"},
    "/api/v1/benchmarks/{slug}/invitations": {"post"},
    "/api/v1/assessments": {"get"},
    "/api/v1/assignments/{assignment_id}/next": {"get"},
    "/api/v1/assignments/{assignment_id}/marks": {"get", "post"},
    "/api/v1/assignments/{assignment_id}/finish": {"post"},
}


def test_every_call_is_described(anybody_api):
    schema = anybody_api.get("/api/v1/openapi.json").json()
    assert {path: set(calls) for path, calls in schema["paths"].items()} == CALLS


def test_every_call_says_how_it_refuses(anybody_api):
    schema = anybody_api.get("/api/v1/openapi.json").json()
    calls = [call for calls in schema["paths"].values() for call in calls.values()]
    refusal = {"application/json": {"schema": {"$ref": "#/components/schemas/Rejection"}}}
    for status in ("401", "403", "404", "409", "413", "422", "429"):
        assert all(call["responses"][status]["content"] == refusal for call in calls)
    assert {"Rejection", "ProblemOut"} <= schema["components"]["schemas"].keys()


def test_the_docs_page_says_every_call_and_needs_no_script(anybody_api):
    page = anybody_api.get("/api/v1/docs").content.decode()
    for path, methods in CALLS.items():
        for method in methods:
            assert f"<code>{method.upper()} {path}</code>" in page
    assert "swagger" not in page
    assert "<td><code>file</code> <small>required</small></td><td>file</td>" in page


@pytest.mark.parametrize("address", ["/api/v1/openapi.json", "/api/v1/docs"])
def test_the_description_is_made_once(db, client, monkeypatch, address):
    first = client.get(address).content
    monkeypatch.setattr(NinjaAPI, "get_openapi_schema", None)
    assert client.get(address).status_code == 200 and first


def test_the_document_is_not_sent_again_to_somebody_who_has_it(client):
    tag = client.get("/api/v1/openapi.json")["ETag"]
    assert client.get("/api/v1/openapi.json", headers={"If-None-Match": tag}).status_code == 304


def test_no_answer_allows_more_than_its_own_site(anybody_api):
    for address in ("/api/v1/docs", "/api/v1/openapi.json"):
        assert "data:" not in anybody_api.get(address)["Content-Security-Policy"]


def test_two_lists_of_the_same_name_are_not_mixed_up(client):
    schemas = client.get("/api/v1/openapi.json").json()["components"]["schemas"]
    track, run = schemas["TrackOut"]["properties"], schemas["RunOut"]["properties"]
    assert track["state"]["enum"] == ["draft", "planned", "open", "closed"]
    assert schemas["Refusal"]["enum"] == ["warn", "refuse"]
    assert "queued" in schemas[run["state"]["$ref"].split("/")[-1]]["enum"]
