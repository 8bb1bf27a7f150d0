"""The agreement of two versions of judgments, and of the assessors of an assessment."""

from __future__ import annotations

import re

import pytest

from leaderboard.actions import uploads
from leaderboard.assessments.marking import SentMark, record_mark
from leaderboard.models import (
    Assessment,
    AssignedDocument,
    Assignment,
    Calculation,
    Job,
    Track,
)
from leaderboard.scoring import judge_boards
from tests.assessments.marks import judge_everything
from tests.builders import (
    OTHER_RUN,
    make_assessment,
    make_collection,
    make_pool,
    make_run,
    make_track,
    upload,
    work,
)
from tests.pages.reading import words

SECOND = """1 0 d1 2
1 0 d2 0
1 0 d3 0
2 0 d4 0
2 0 d5 0
3 0 d6 1
"""
VERSIONS = "/collections/bread/agreement/"
JUDGING = "/benchmarks/bread/judging/judging-1/agreement/"


@pytest.fixture
def two_versions(track, ada, ben, cat):
    make_run(track, ben)
    make_run(track, cat, OTHER_RUN)
    uploads.accept_judgments(track.collection, upload("v2", SECOND), "v2", ada, asks_first=False)
    work()
    return track


def read(client, address: str = VERSIONS) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer
    return answer.content.decode()


def boards_of(client, address: str = VERSIONS) -> str:
    """The page after the job that it asks for."""
    read(client, address)
    work()
    return read(client, address)


# Two versions


def test_two_versions_begin_with_the_share_of_equal_grades(as_ada, two_versions):
    page = read(as_ada)
    assert "v1 and v2 give the same grade to <b>50 %</b> of 6 documents judged twice" in page
    assert "The boards by judge are being computed." in page


def test_the_board_comes_first_once_the_job_is_done(as_ada, two_versions):
    page = boards_of(as_ada)
    verdict = page.partition('class="verdict"')[2]
    assert verdict.index("the order of 2 runs has") < verdict.index("same grade to")
    assert "being computed" not in page and page.count('role="img"') == 2


def test_one_job_computes_what_two_readers_ask_for(as_ada, two_versions):
    read(as_ada), boards_of(as_ada)
    assert Calculation.objects.filter(kind="judges").count() == 1


def test_boards_that_failed_are_said_and_made_again_by_the_organiser(
    as_ada, two_versions, monkeypatch
):
    with monkeypatch.context() as broken:
        broken.setattr(judge_boards, "compare_judges", None)
        page = boards_of(as_ada)
    assert "boards by judge failed on our side" in words(page) and "being computed" not in page
    assert not Job.objects.open().exists()
    desk = read(as_ada, "/benchmarks/bread/desk/")
    assert "Computing the boards by judge of Bread track" in words(desk)
    (again,) = re.findall(r'action="(/benchmarks/bread/desk/jobs/\d+/again/)"', desk)
    as_ada.post(again)
    assert "being computed" in read(as_ada)
    assert "the order of 2 runs has" in words(boards_of(as_ada))


def test_a_new_run_has_the_boards_computed_again(as_ada, two_versions, ada):
    boards_of(as_ada)
    make_run(two_versions, ada, "1 Q0 d2 1 3 new")
    assert "being computed" in read(as_ada)
    assert "the order of 3 runs" in boards_of(as_ada)


def test_topics_are_chosen_by_their_words(as_ada, two_versions):
    table = read(as_ada, f"{VERSIONS}?format=csv&table=topics&about=sourdough")
    assert [line.split(",")[0] for line in table.splitlines()[1:]] == ["1"]
    page = words(read(as_ada, f"{VERSIONS}?about=sourdough"))
    assert "Only the chosen topics are shown" in page
    assert "6 documents judged in both 3 topics" in page


def test_a_verdict_that_turns_is_named(as_ada, two_versions):
    two_versions.baseline = two_versions.runs.earliest("received_at")
    two_versions.save()
    boards_of(as_ada)
    row = Calculation.objects.get(kind="judges")
    second = row.results["judges"][1]["against"]
    second[1 - row.results["family"].index(two_versions.baseline_id)]["p_adjusted"] = 0.001
    row.results["units"] = 30
    row.save()
    page = read(as_ada)
    assert "1 verdict against <bdi>ben-bm25</bdi> changes by some judge." in page
    assert re.search("<bdi>other</bdi>: not significant, now (better|worse)", page)


def test_a_cell_opens_its_documents(as_ada, two_versions):
    assert "?row=3&amp;column=1" in read(as_ada)
    page = read(as_ada, VERSIONS + "?first=v1&second=v2&row=3&column=1")
    assert page.count('class="document-name"') == 1 and "docno=d6" in page


@pytest.mark.parametrize("query", ["first=v9", "row=x&column=1", "row=1", "format=csv&table=x"])
def test_what_is_not_there_is_not_found(as_ada, two_versions, query):
    assert as_ada.get(f"{VERSIONS}?{query}").status_code == 404


@pytest.mark.parametrize(
    ("table", "head"),
    [
        ("statistics", "statistic,documents,value,low,high"),
        ("pairs", "one,other,documents,share,kappa"),
        ("grades", "grade,first,second,both,positive,negative"),
        ("confusion", "first,second,pairs"),
        ("topics", "topic,pairs,share,kappa"),
        ("runs", "run,tag,rank,mean,best,worst"),
        ("judges", "name,topics,tau,tau_ap,top,turned_verdicts"),
    ],
)
def test_every_table_is_a_file(as_ada, two_versions, table, head):
    boards_of(as_ada)
    sheet = as_ada.get(f"{VERSIONS}?format=csv&table={table}").content.decode()
    assert sheet.splitlines()[0] == head and len(sheet.splitlines()) > 1
    assert "\\toprule" in as_ada.get(f"{VERSIONS}?format=tex&table={table}").content.decode()


def test_one_version_has_nothing_to_agree_with(as_ada, track):
    assert "Two versions needed" in read(as_ada)


def test_an_organiser_who_judges_does_not_compare_versions(as_ada, two_versions, ada):
    pool = make_pool(two_versions, ada, list(two_versions.runs.all()), size=9)
    make_assessment(pool, ada, ada)
    page = read(as_ada)
    assert "You judge in this assessment." in page and "same grade" not in page


def test_the_judgments_lead_to_the_agreement(as_ada, two_versions):
    page = read(as_ada, "/benchmarks/bread/judgments/")
    assert f'href="{VERSIONS}?first=v1&amp;second=v2&amp;track=bread"' in page


# Assessors


@pytest.fixture
def judged_twice(judged_track, ada, dan, eve) -> Assessment:
    """Dan and Eve judge all documents; they differ on d9 alone."""
    pool = make_pool(judged_track, ada, list(judged_track.runs.all()))
    assessment = make_assessment(pool, ada, dan, eve, overlap="all", overlap_size=3)
    judge_everything(assessment, lambda d: 1, only="A1", seconds=[10])
    judge_everything(assessment, lambda d: 2 if d.docno == "d9" else 1, only="A2", seconds=[30])
    return assessment


@pytest.fixture
def judged_track(ada, ben, cat) -> Track:
    """A blind track without judgments, and two runs."""
    track = make_track(make_collection(ada, qrels=None), disclosure="blind")
    make_run(track, ben)
    make_run(track, cat, OTHER_RUN)
    return track


def test_assessors_are_compared_before_there_is_a_board(as_ada, judged_twice):
    page = boards_of(as_ada, JUDGING)
    assert "Two assessors give the same grade to" in page
    assert "of one assessor per topic, the order of 2 runs" in page


def test_topics_of_assessors_are_chosen_by_their_words(as_ada, judged_twice):
    table = read(as_ada, f"{JUDGING}?format=csv&table=topics&about=sourdough")
    assert [line.split(",")[0] for line in table.splitlines()[1:]] == ["1"]
    assert "Show all topics" in read(as_ada, f"{JUDGING}?about=no+such+words")


def test_a_pair_opens_its_marks(as_ada, judged_twice):
    assert "judging-1/marks/?assessor=A1&amp;with=A2" in read(as_ada, JUDGING)


def test_a_cell_of_grades_opens_its_disagreements(as_ada, judged_twice):
    page = read(as_ada, JUDGING + "?row=1&column=2")
    assert "disagreements/?topic=1&amp;docno=d9" in page
    assert "No documents." in read(as_ada, JUDGING + "?row=2&column=1")


def test_time_is_told_for_equal_and_for_different_grades(as_ada, judged_twice):
    page = read(as_ada, JUDGING)
    assert "<b>20 s</b> over" in page and "on documents with different ones" in page


def test_assessors_are_compared_with_themselves(as_ada, judged_twice):
    assignment = Assignment.objects.get(topic__number="1", assessor__name="A1")
    again = assignment.documents.create(docno="d9", place=99, is_repeat=True)
    record_mark(assignment, SentMark(again.pk, grade=2, seconds=3))
    page = read(as_ada, JUDGING)
    assert "<b>A1</b>: the same grade to 0 % of 1 document that came back" in page


def test_a_new_mark_has_the_boards_computed_again(as_ada, judged_twice):
    boards_of(as_ada, JUDGING)
    judged = AssignedDocument.objects.get(docno="d1", assignment__assessor__name="A1")
    record_mark(judged.assignment, SentMark(judged.pk, grade=0, replaces=judged.mark.key))
    page = read(as_ada, JUDGING)
    assert "being computed" in page and "Those below are from" in page


def test_an_organiser_who_judges_sees_no_agreement(as_ada, judged_track, ada, dan):
    pool = make_pool(judged_track, ada, list(judged_track.runs.all()))
    assessment = make_assessment(pool, ada, ada, dan, overlap="all", overlap_size=3)
    judge_everything(assessment)
    for query in ("", "?row=1&column=1", "?format=csv"):
        page = read(as_ada, JUDGING + query)
        assert "You judge in this assessment." in page and "same grade" not in page


def test_without_second_opinions_the_page_says_so(as_ada, judged_track, ada, dan):
    make_assessment(make_pool(judged_track, ada, list(judged_track.runs.all())), ada, dan)
    assert "No agreement yet" in read(as_ada, JUDGING)
