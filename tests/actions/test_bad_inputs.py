"""Hostile and malformed files through the API and forms on pages, each answered as its manifest
says."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard.actions import people
from leaderboard.models import ApiToken, Run, Track, User
from leaderboard.pages.forms.track_sections import SECTIONS
from tests.builders import RUN, make_user, upload, work
from tests.recording import recorded

pytestmark = pytest.mark.data

FOLDER = Path(os.environ.get("RANKFIELD_DATA", "")) / "badinputs"
PARTS = {"qrels": "judgments", "topics": "topics", "docs": "documents"}


def cases(*kinds: str) -> list[dict]:
    manifest = FOLDER / "manifest.json"
    every = json.loads(manifest.read_text())["cases"] if manifest.exists() else []
    return [case for case in every if case["kind"] in kinds and has_file(case)]


def has_file(case: dict) -> bool:
    """Forms need none; the largest files are not kept."""
    return case["kind"] == "form" or (bool(case["file"]) and (FOLDER / case["file"]).exists())


def client_of(user: User) -> Client:
    _, secret = ApiToken.objects.issue(user, ["read", "submit", "organise"])
    return Client(headers={"Authorization": f"Bearer {secret}"})


@pytest.fixture
def api(ada) -> Client:
    return client_of(ada)


@recorded
def make_bad_track(ada: User) -> Track:
    """A track of the good fixtures, made by the API."""
    api = client_of(ada)
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
    return Track.objects.get()


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
def test_a_run(case, ada):
    make_bad_track(ada)
    api = client_of(ada)
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


# What the manifest calls otherwise.
FIELDS = {
    "deadline": "closes_at",
    "opens": "opens_at",
    "timezone": "zone",
    "runs_per_day": "quota_per_day",
}
ADDRESSES = {
    "team.create": "/benchmarks/bread/join/",
    "task.create": "/collections/bread/tracks/new/",
    "task.webhook": "/benchmarks/bread/manage/webhooks/",
    "run.create": "/benchmarks/bread/submit/",
    "login": "/account/login/",
}
PAGES = [
    "/",
    "/benchmarks/bread/board/",
    "/benchmarks/bread/",
    "/benchmarks/bread/submit/",
    "/account/",
]
PROGRAMS = ("<script>alert", "<img src=x", 'href="javascript:')


@pytest.mark.parametrize("case", cases("form"), ids=lambda case: case["id"])
def test_a_form(case, track, cat, as_ada, as_ben):
    people.admit(track.benchmark, cat, people.JoinDetails(team_name="Acme"))
    client = {"team.create": as_ben, "run.create": as_ben, "login": Client()}.get(
        case["target"], as_ada
    )
    answer = client.post(address_of(case), fields_of(case, client))
    judge_form(case, answer)
    for page in (client.get(address, follow=True) for address in PAGES):
        assert page.status_code == 200
        assert not any(program in page.content.decode() for program in PROGRAMS)


def address_of(case: dict) -> str:
    """The page with the form; of the settings, the section that has the field."""
    if case["target"] != "task.edit":
        return ADDRESSES[case["target"]]
    names = {renamed(case, name) for name in case["fields"]}
    section = next(each for each in SECTIONS.values() if names & {*each.names})
    return f"/benchmarks/bread/manage/section/{section.name}/"


def fields_of(case: dict, client: Client) -> dict:
    """A form that is right but for what the case says."""
    said = {renamed(case, name): spelled(value) for name, value in case["fields"].items()}
    if case["target"] in ("task.create", "task.edit"):
        return {**proposed(client.get(address_of(case))), **said}
    if case["target"] == "team.create":
        return said
    if case["target"] == "login":
        make_user("dan")
        return {"login": "dan", "password": "dan-s-word", **said}
    return {
        "file": upload("a.run", RUN),
        "kind": "automatic",
        "happenings": ["track.released"],
        "format": "json",
        **said,
    }


def renamed(case: dict, name: str) -> str:
    return "team_name" if case["target"] == "team.create" else FIELDS.get(name, name)


def spelled(value: str | dict) -> str:
    if isinstance(value, str):
        return value
    text, times = value["repeat"]
    return text * times


def proposed(page) -> dict:
    """What a browser would send back of the form on a page."""
    form = page.context.get("dates_form", page.context["form"])
    fields = {name: form[name].value() for name in form.fields}
    return {name: value for name, value in fields.items() if value not in (None, "", False)}


def judge_form(case: dict, answer) -> None:
    assert answer.status_code in (302, 422), answer.content
    result = "accept" if answer.status_code == 302 else "reject"
    assert result in case.get("result_any", [case["result"]])
    if result == "reject":
        page = answer.content.decode()
        assert any(f'id="id_{renamed(case, name)}_error"' in page for name in case["fields"])
    if "must_not_redirect_to" in case:
        assert answer.url == "/"
    if "must_not_set" in case:
        run = Run.objects.get()
        assert (run.state, run.team.name, run.submitted_by.is_staff) == ("queued", "ben", False)
