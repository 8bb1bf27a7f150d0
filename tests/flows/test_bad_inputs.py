"""Hostile and malformed files through the API, each answered as its manifest says."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard.models import ApiToken, Run
from tests.builders import work

pytestmark = pytest.mark.data

FOLDER = Path(os.environ.get("RANKFIELD_DATA", "")) / "badinputs"
PARTS = {"qrels": "judgments", "topics": "topics", "docs": "documents"}


def cases(*kinds: str) -> list[dict]:
    manifest = FOLDER / "manifest.json"
    every = json.loads(manifest.read_text())["cases"] if manifest.exists() else []
    return [
        case
        for case in every
        if case["kind"] in kinds and case["file"] and (FOLDER / case["file"]).exists()
    ]


@pytest.fixture
def api(ada) -> Client:
    _, secret = ApiToken.objects.issue(ada, ["read", "submit", "organise"])
    return Client(headers={"Authorization": f"Bearer {secret}"})


def file_of(case: dict) -> SimpleUploadedFile:
    return SimpleUploadedFile(case["upload_as"][:200], (FOLDER / case["file"]).read_bytes())


def bring(api: Client, **parts: SimpleUploadedFile) -> dict:
    fixtures = {"topics": "topics.tsv", "documents": "docs.jsonl", "judgments": "qrels.txt"}
    if "topics" in parts:
        # Other topics than those that were judged.
        del fixtures["judgments"]
    good = {
        part: SimpleUploadedFile(name, (FOLDER / "fixtures" / name).read_bytes())
        for part, name in fixtures.items()
    }
    answer = api.post("/api/v1/collections", {"slug": "bad", "name": "Bad", **good, **parts})
    assert answer.status_code == 202, answer.content
    work()
    return api.get("/api/v1/collections/bad").json()


def judge(case: dict, refused: bool, problems: list[dict]) -> None:
    """Whether the answer is one that the manifest allows, with its code and line."""
    result = "reject" if refused else "warn" if problems else "accept"
    allowed = case.get("result_any", [case["result"]])
    codes = {problem["code"] for problem in problems}
    assert result in allowed or ("accept" in allowed and not refused), (result, problems[:3])
    if case["result"] == result and case["code"] != "OK":
        assert codes & {case["code"], *case.get("also", [])}, problems[:3]
    if refused and case.get("line") and case["code"] in codes:
        lines = [problem["line"] for problem in problems if problem["code"] == case["code"]]
        assert case["line"] in lines
    assert all(len(problem["found"]) <= 200 for problem in problems)


@pytest.mark.parametrize("case", cases("run", "archive"), ids=lambda case: case["id"])
def test_a_run(case, api, ada):
    assert bring(api)["state"] == "ready"
    track = {
        "slug": "bad",
        "name": "Bad",
        "collection": "bad",
        "judgments": "v1",
        "measures": ["AP"],
        "primary_measure": "AP",
    }
    assert api.post("/api/v1/tracks", track, content_type="application/json").status_code == 201
    work()
    answer = api.post("/api/v1/tracks/bad/runs", {"file": file_of(case)})
    assert answer.status_code == 201, answer.content
    work()
    run = api.get(f"/api/v1/runs/{answer.json()['id']}").json()
    assert run["state"] in ("refused", "scored")
    judge(case, run["state"] == "refused", run["problems"])
    assert Run.objects.on_the_board().count() == (run["state"] == "scored")


@pytest.mark.parametrize("case", cases("qrels", "topics", "docs"), ids=lambda case: case["id"])
def test_a_part_of_a_collection(case, api):
    parts = {PARTS[case["kind"]]: file_of(case)}
    collection = bring(api, **parts)
    assert collection["state"] in ("refused", "ready"), collection
    judge(case, collection["state"] == "refused", collection["problems"])
