"""GET .../agreement: how far judges agree, and the boards by each of them."""

from __future__ import annotations

import pytest

from leaderboard.actions import uploads
from leaderboard.models import Assessment
from tests.assessments.marks import judge_everything
from tests.builders import (
    OTHER_RUN,
    make_assessment,
    make_collection,
    make_pool,
    make_run,
    make_track,
    make_user,
    upload,
    work,
)

JUDGING = "/api/v1/tracks/bread/assessments/judging-1/agreement"
VERSIONS = "/api/v1/collections/bread/agreement?first=v1&second=v2"
SECOND = "1 0 d1 2\n1 0 d2 0\n1 0 d3 0\n2 0 d4 0\n2 0 d5 0\n3 0 d6 1\n"


@pytest.fixture
def judged_twice(ada, ben, cat) -> Assessment:
    """Dan and Eve judge all documents; they differ on d9 alone."""
    track = make_track(make_collection(ada, qrels=None), disclosure="blind")
    runs = [make_run(track, ben), make_run(track, cat, OTHER_RUN)]
    judges = make_user("dan"), make_user("eve")
    pool = make_pool(track, ada, runs)
    assessment = make_assessment(pool, ada, *judges, overlap="all", overlap_size=3)
    judge_everything(assessment, lambda d: 1, only="A1")
    judge_everything(assessment, lambda d: 2 if d.docno == "d9" else 1, only="A2")
    return assessment


@pytest.fixture
def two_versions(track, ada, ben, cat):
    make_run(track, ben)
    make_run(track, cat, OTHER_RUN)
    uploads.accept_judgments(track.collection, upload("v2", SECOND), "v2", ada, asks_first=False)
    work()
    return track


@pytest.mark.parametrize("scene", ["judged_twice", "two_versions"])
def test_the_numbers_are_those_of_the_page(ada_api, as_ada, request, scene):
    request.getfixturevalue(scene)
    address = JUDGING if scene == "judged_twice" else VERSIONS
    assert ada_api.get(address).json()["boards_follow"]
    work()
    found = ada_api.get(address).json()
    assert not found["boards_follow"] and len(found["runs"]) == 2 and len(found["judges"]) == 2
    page = address.replace("/api/v1/tracks", "/benchmarks").replace("/api/v1", "")
    page = page.replace("assessments", "judging")
    page = page.replace("agreement", "agreement/")
    joint = "&" if "?" in page else "?"
    for table in ("statistics", "pairs", "grades", "confusion", "topics", "runs", "judges"):
        sheet = as_ada.get(f"{page}{joint}format=csv&table={table}").content
        joint_of_api = "&" if "?" in address else "?"
        same = ada_api.get(f"{address}{joint_of_api}format=csv&table={table}").content
        assert sheet == same
        assert list(found[table][0]) == sheet.decode().splitlines()[0].split(",")


def test_versions_that_share_no_document_say_so(ada_api, track, ada):
    other = upload("v2", "1 0 d12 1\n")
    uploads.accept_judgments(track.collection, other, "v2", ada, asks_first=False)
    work()
    found = ada_api.get(VERSIONS).json()
    assert (found["documents"], found["note"]) == (0, "No document has two grades.")


def test_kappa_has_its_interval(ada_api, two_versions):
    rows = {row["statistic"]: row for row in ada_api.get(VERSIONS).json()["statistics"]}
    assert rows["agreement"]["value"] == 0.5
    assert rows["kappa"]["low"] <= rows["kappa"]["value"] <= rows["kappa"]["high"]


def test_boards_that_are_not_computed_are_a_conflict(ada_api, two_versions):
    answer = ada_api.get(f"{VERSIONS}&format=csv&table=runs")
    assert answer.status_code == 409


def test_others_do_not_find_it(ben_api, two_versions):
    assert ben_api.get(VERSIONS).status_code == 404


@pytest.mark.parametrize("query", ["&track=rolls", "&second=v9"])
def test_what_is_not_there_is_not_found(ada_api, two_versions, query):
    assert ada_api.get(VERSIONS + query).status_code == 404


def test_an_organiser_who_judges_is_refused(ada_api, two_versions, ada):
    pool = make_pool(two_versions, ada, list(two_versions.runs.all()), size=9)
    make_assessment(pool, ada, ada)
    assert ada_api.get(VERSIONS).status_code == 403
    assert ada_api.get(JUDGING).status_code == 403
