"""A coordinator's year by API and client alone, from the call to the next year's copy."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from leaderboard.models import User
from rankfield import RejectedError
from rankfield.hosting import Hosting
from tests.api.conftest import Program
from tests.builders import DOCUMENTS, OTHER_RUN, RUN, TOPICS, make_user, upload, work
from tests.client.conftest import InProcess, site_for

pytestmark = pytest.mark.night

TEAMS = ("mia", "noa", "oli")
SCALE = [{"grade": 0, "name": "Not relevant"}, {"grade": 1, "name": "Relevant"}]
FILES = ("/collections/lab-data/documents.file", "/collections/lab-data/docnos.txt")
# A part that arrives later; the site judged d1 already.
SECOND_PART = "1 0 d1 1\n3 0 d12 1\n"


def in_days(days: float) -> str:
    return (timezone.now() + timedelta(days=days)).isoformat()


def now() -> str:
    return (timezone.now() - timedelta(seconds=1)).isoformat()


@pytest.fixture(autouse=True)
def no_limit_of_writes(settings) -> None:
    settings.API_WRITES_PER_MINUTE = 10_000
    cache.clear()


@pytest.fixture
def lea(db) -> User:
    lea = make_user("lea")
    lea.can_organise = True
    lea.save()
    return lea


def open_lab(program: Program, host: Hosting) -> None:
    """A benchmark of two tracks with registration, gated training data and topics to come."""
    files = {
        "topics": upload("topics.trec", TOPICS),
        "documents": upload("documents.jsonl", DOCUMENTS),
    }
    assert program.send("/api/v1/collections", slug="lab-data", name="Lab", **files).status_code
    work()
    track = {
        "slug": "lab",
        "name": "Lab 2026",
        "collection": "lab-data",
        "judgments": None,
        "measures": ["AP", "P@5"],
        "primary_measure": "AP",
        "disclosure": "blind",
        "joining": "approval",
        "description": "Find loaves.",
        "closes_at": in_days(9),
        "topics_at": in_days(1),
    }
    assert program.post("/api/v1/tracks", track).status_code == 201
    host.set_terms(
        "lab-data", shares_documents=True, documents_readers="signed", licence="For the lab"
    )
    host.ask_teams(["affiliation"])
    assert host.write_agreement("Do not pass it on.").agreement["version"] == 1
    host.add_track("lab", "lab-late", "Late lab")
    host.change_track("lab-late", closes_at=in_days(20))
    assert host.open_track("lab-late").slug == "lab-late"


def join(programs: Iterable[Program], host: Hosting) -> None:
    """Each team reads the agreement, signs it and waits; the coordinator approves all at once."""
    for name, program in zip(TEAMS, programs, strict=True):
        agreement = program.get("/api/v1/benchmarks/lab/registration").json()["agreement"]
        said = {"person": f"{name} Ode", "signed_name": f"{name} Ode", "affiliation": "Loaves"}
        body = {"team": name, "registration": said | {"agreement": agreement["version"]}}
        assert program.post("/api/v1/benchmarks/lab/requests", body).status_code == 202
    assert host.approve(*host.requests()) == [*TEAMS]


def judge(program: Program, grades: dict[str, int]) -> None:
    """Judge every topic; documents whose title is not named get 0."""
    (mine,) = program.get("/api/v1/assessments").json()["items"]
    for assignment in mine["assignments"]:
        path = f"/api/v1/assignments/{assignment['id']}"
        while waiting := documents_of(program, path):
            marks = [
                {
                    "document": each["document"],
                    "grade": grades.get(each["title"], 0),
                    "key": f"{mine['assessor']}-{each['document']}",
                }
                for each in waiting
            ]
            assert program.post(f"{path}/marks", {"marks": marks}).status_code == 200


def documents_of(program: Program, path: str) -> list[dict[str, Any]]:
    answer = program.get(f"{path}/next")
    return answer.json()["documents"] if answer.status_code == 200 else []


def test_a_year_of_a_lab_by_programs_alone(lea, network: InProcess, tmp_path: Path):
    organiser, site = Program(lea), site_for(lea, ["read", "submit", "organise"])
    host, judging = site.hosting("lab"), site.judging("lab")
    open_lab(organiser, host)
    people = {name: make_user(name) for name in (*TEAMS, "eve", "fay", "cat")}
    teams, stranger = [Program(people[name]) for name in TEAMS], Program(people["cat"])

    join(teams, host)
    assert teams[0].get(FILES[0]).status_code == 200
    assert stranger.get(FILES[0]).status_code == 404

    run = tmp_path / "run.txt"
    run.write_text(RUN)
    sites = {name: site_for(people[name]) for name in TEAMS}
    with pytest.raises(RejectedError, match="topics appear"):
        sites["mia"].submit("lab", run)
    host.change_track("lab", topics_at=now())
    assert sites["mia"].submit("lab", run).state
    assert teams[0].get("/collections/lab-data/topics.txt").status_code == 200
    assert host.write(["without_run"], "Runs close soon", "On *Friday*.", preview=True) == 2
    assert host.write(["without_run"], "Runs close soon", "On *Friday*.") == 2

    other = tmp_path / "other.txt"
    other.write_text(OTHER_RUN)
    host.extend_deadline("lab", "noa", in_days(12), "A broken disk.")
    host.change_track("lab", closes_at=now())
    with pytest.raises(RejectedError):
        sites["oli"].submit("lab", other)
    assert sites["noa"].submit("lab", other).state
    assert sites["oli"].submit("lab-late", other).state

    pool = judging.approve_pool(judging.create_pool("depth", 10))
    planned = judging.plan(pool, overlap="all", overlap_size=2, scale=SCALE, guideline="Read.")
    assessors = [Program(people[name]) for name in ("eve", "fay")]
    for assessor in assessors:
        invited = {"invitation": planned.invitation}
        assert assessor.post("/api/v1/assessments/join", invited).status_code == 200
    judging.open(planned)
    for assessor, grades in zip(
        assessors, ({"Document 1": 1, "Document 4": 1}, {"Document 1": 1}), strict=True
    ):
        judge(assessor, grades)
    disagreements = judging.disagreements(planned)
    assert {each.docno for each in disagreements} == {"d4"}
    left = [judging.settle(planned, each.topic, each.docno, 1) for each in disagreements]
    assert left[-1] == 0
    assert judging.close(planned, "site-1").version == "site-1"

    part = {"version": "site-2", "joining": "join", "joined_to": "site-1", "conflict_rule": "newer"}
    sent = organiser.send(
        "/api/v1/collections/lab-data/judgments", file=upload("part.qrels", SECOND_PART), **part
    )
    assert sent.status_code == 202
    work()
    host.change_track("lab", judgments="site-2")
    assert stranger.get("/api/v1/tracks/lab/leaderboard").status_code == 404
    host.extend_deadline("lab", "noa", None)
    host.release("lab")
    board = stranger.get("/api/v1/tracks/lab/leaderboard").json()
    assert {row["team"] for row in board["standings"]} == {"mia", "noa"}

    assert host.archive().startswith(b"PK")
    copied = host.copy("lab-2027", "Lab 2027")
    assert len(copied.tracks) == 2
    next_year = organiser.get(f"/api/v1/tracks/{copied.tracks[0]}").json()
    assert next_year["state"] == "draft"
    assert datetime.fromisoformat(next_year["closes_at"]).year >= timezone.now().year
