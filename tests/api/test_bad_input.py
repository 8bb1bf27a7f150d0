"""The recorded malformed requests that concern runs and tracks, sent to the API."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from leaderboard.models import Run
from tests.api.conftest import Program
from tests.builders import RUN, make_run, make_track, upload

pytestmark = pytest.mark.data

RUNS = "/api/v1/tracks/bread/runs"
NAMES = {"deadline": "closes_at", "opens": "opens_at", "runs_per_day": "quota_per_day"}
STATUSES = {"accept": {200, 201}, "reject": {400, 403, 404, 413, 422}}


def recorded(kind: str, *targets: str) -> list[dict[str, Any]]:
    """The cases of one kind that are about `targets`; none where there is no data."""
    data = os.environ.get("RANKFIELD_DATA")
    if not data:
        return []
    cases = json.loads((Path(data) / "badinputs" / "manifest.json").read_text())["cases"]
    return [
        case
        for case in cases
        if case["kind"] == kind
        and (case.get("target") or case.get("request", {}).get("target")) in targets
    ]


def fields_of(case: dict[str, Any]) -> dict[str, Any]:
    """The fields under the names of the API; {"repeat": [text, times]} is a long text."""
    fields = {NAMES.get(name, name): value for name, value in case["fields"].items()}
    return {
        name: value["repeat"][0] * value["repeat"][1] if isinstance(value, dict) else value
        for name, value in fields.items()
    }


def is_expected(answer: Any, case: dict[str, Any]) -> bool:
    expected = case.get("result_any") or [case["result"]]
    allowed = set().union(*(STATUSES[result] for result in expected))
    refused = answer.status_code >= 400
    return answer.status_code in allowed and (not refused or set(answer.json()) >= {"code"})


def by_id(case: dict[str, Any]) -> str:
    return case["id"]


@pytest.mark.parametrize("case", recorded("form", "run.create"), ids=by_id)
def test_fields_of_a_run(case, track, ben_api):
    answer = ben_api.send_run(RUN, **fields_of(case))
    assert is_expected(answer, case)
    for run in Run.objects.all():
        assert (run.state, run.team.name) == ("queued", "ben")


@pytest.mark.parametrize("case", recorded("form", "task.edit"), ids=by_id)
def test_fields_of_a_track(case, track, ada_api):
    fields = fields_of(case)
    if "quota_per_day" in fields:
        fields["quota_per_day"] = int(fields["quota_per_day"])
    assert is_expected(ada_api.patch("/api/v1/tracks/bread", fields), case)


@pytest.mark.parametrize("case", recorded("form", "task.create"), ids=by_id)
def test_fields_of_a_new_track(case, collection, ada_api):
    fields = {
        "name": "Loaves",
        "collection": "bread",
        "judgments": "v1",
        "measures": ["AP"],
        "primary_measure": "AP",
    }
    assert is_expected(ada_api.post("/api/v1/tracks", fields | fields_of(case)), case)


# Interrupted requests are in test_errors.
PLAIN = {"multipart", "fields_count", "raw_body"}
REQUESTS = [case for case in recorded("http", "run.create") if case["request"].keys() & PLAIN]


@pytest.mark.parametrize("case", REQUESTS, ids=by_id)
def test_requests_that_send_a_run(case, track, ben_api):
    assert is_expected(sent(ben_api, case["request"]), case)


def sent(program: Program, request: dict[str, Any]) -> Any:
    if "raw_body" in request:
        headers = program.headers | request["raw_headers"]
        content_type = headers.pop("Content-Type")
        return program.client.post(
            RUNS, request["raw_body"].encode(), content_type, headers=headers
        )
    parts: dict[str, Any] = {f"field{n}": "x" for n in range(request.get("fields_count", 0))}
    for part, name, _ in request.get("multipart", []):
        parts.setdefault(part, []).append(upload(name, RUN))
    return program.send(RUNS, **parts)


def test_lookups_on_judgments_change_no_list(bens_run, ben_api):
    probing = ben_api.get(f"{RUNS}?benchmark__qrels__rel=2")
    assert probing.json() == ben_api.get(RUNS).json()


def test_files_of_another_team_stay_with_it(collection, ben, cat_api):
    run = make_run(make_track(collection, disclosure="blind"), ben)
    answer = cat_api.get(f"/api/v1/runs/{run.pk}/file")
    assert answer.status_code in STATUSES["reject"]
