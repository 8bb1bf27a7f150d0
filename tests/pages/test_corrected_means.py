"""A board by a machine whose means are corrected by the sample that people judged."""

from __future__ import annotations

import csv
from io import StringIO

import pytest

from leaderboard.actions import assessments, pools
from leaderboard.actions.refusals import ActionError
from leaderboard.collections.pool_frames import read_frame
from leaderboard.models import Calculation, Mark, Pool, Run
from leaderboard.models.collections import load_grades
from tests.assessments.marks import judge_everything
from tests.builders import OTHER_RUN, make_assessment, make_run, make_track, make_user, work
from tests.pages.test_people_and_machine import add_machine

PAGE = "/benchmarks/bread/corrected-means/?machine=m1&measure=P@2"


def make_board(collection, ada, ben, cat):
    """Two runs on a track whose measure is P@2, and a machine that graded documents."""
    made = make_track(collection, measures=["P@2", "AP"], primary_measure="P@2")
    make_run(made, ben)
    make_run(made, cat, OTHER_RUN)
    add_machine(collection, ada)
    return made


@pytest.fixture
def board(collection, ada, ben, cat):
    return make_board(collection, ada, ben, cat)


@pytest.fixture
def sample(board, ada) -> Pool:
    return pools.draw_sample(board.collection.judgment_sets.get(version="m1"), board, ada)


def judge(sample: Pool, ada, grade=lambda document: 1, name: str = "by-people") -> None:
    """Dan judges the sample, and Ada closes its judging."""
    assessment = make_assessment(sample, ada, make_user(f"dan-{name}"))
    judge_everything(assessment, grade)
    assessments.close_assessment(assessment, ada, name)
    work()


def read(client, address: str = PAGE) -> str:
    """The page after the job that it asks for."""
    client.get(address)
    work()
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_each_drawn_document_keeps_its_probability_for_good(sample):
    rows, grades = read_frame(sample)
    frame = sample.summary["frame"]
    assert frame["documents"] == len(rows) and frame["depth"] == 2 and frame["machine"] == "m1"
    assert sum(row.is_drawn for row in rows) == frame["drawn"]
    assert sum(stratum["size"] for stratum in frame["strata"]) == len(rows)
    assert grades[b"1"][b"d2"] == 3


def test_the_page_waits_for_people(as_ada, sample):
    assert "People judge a sample first" in read(as_ada)


def test_means_by_people_stand_beside_those_of_the_machine(as_ada, sample, ada):
    judge(sample, ada)
    page = read(as_ada)
    assert "By them the machine’s means are" in page and "topics like these" in page
    run = Calculation.objects.get(kind="corrected").results
    assert sorted(mean for mean, *_ in run["means"]) == pytest.approx([5 / 6, 1])


def test_a_sample_of_everything_has_no_doubt_about_these_topics(as_ada, sample, ada):
    judge(sample, ada)
    read(as_ada)
    means = Calculation.objects.get(kind="corrected").results["means"]
    assert [labels for _, labels, _ in means] == [0, 0]


def test_the_order_is_that_of_the_machine(as_ada, sample, ada):
    judge(sample, ada)
    rows = rows_of(as_ada)
    assert [(row["tag"], row["rank_by_machine"]) for row in rows] == [
        *(("other", "1"), ("ben-bm25", "2")),
    ]


def rows_of(client) -> list[dict[str, str]]:
    """The table as a file."""
    read(client)
    return list(csv.DictReader(StringIO(client.get(f"{PAGE}&format=csv").content.decode())))


def test_a_document_that_nobody_could_judge_is_not_zero(as_ada, sample, ada):
    judge(sample, ada)
    Mark.objects.filter(pk=Mark.objects.first().pk).update(kind="cannot", grade=None)
    page = read(as_ada)
    assert "count as unknown, never as" in page


def test_a_measure_that_is_no_sum_has_no_number(as_ada, sample, ada):
    judge(sample, ada)
    page = read(as_ada, PAGE.replace("P@2", "AP"))
    assert "AP is not a sum over documents, so no honest number" in page


def test_a_later_run_outside_of_the_frame_has_no_corrected_mean(as_ada, board, sample, ada):
    judge(sample, ada)
    new = "1 Q0 d11 1 9 late\n1 Q0 d12 2 8 late\n2 Q0 d4 1 9 late\n3 Q0 d6 1 9 late\n"
    make_run(board, make_user("late"), new)
    page = read(as_ada)
    assert Run.objects.get(tag="late").state == "scored"
    assert "is on documents outside of the frame: no corrected mean" in page


def test_an_old_sample_is_said_to_be_unable(as_ada, sample, ada):
    Pool.objects.filter(pk=sample.pk).update(frame_file="")
    judge(sample, ada)
    assert "have no stored probabilities" in read(as_ada)


def test_a_larger_sample_leaves_out_what_people_judged(board, sample, ada):
    judge(sample, ada)
    with pytest.raises(ActionError, match="Earlier samples have every document"):
        pools.draw_sample(sample.checks, board, ada, 500)


def test_a_small_sample_tests_nobody(as_ada, sample, ada):
    judge(sample, ada)
    assert "This sample is too small to test who gains from the machine" in read(as_ada)


def test_who_gains_is_named_where_the_sample_is_large(as_ada, sample, ada, monkeypatch):
    monkeypatch.setattr("leaderboard.analysis.corrected_means.FEWEST_LABELS", 2)
    judge(sample, ada, lambda document: 1 if document.docno in ("d1", "d4", "d6") else 0)
    page = read(as_ada)
    assert "gains from the machine more than" in page and "p over all runs" in page


def test_the_table_is_a_file(as_ada, sample, ada):
    judge(sample, ada)
    first = rows_of(as_ada)[0]
    assert list(first)[:6] == [
        *("run", "tag", "rank_by_machine", "mean_by_machine", "share_outside_frame", "corrected"),
    ]
    assert "corrected_low_such_topics" in first


def test_who_judges_reads_no_corrected_mean(as_ada, sample, ada):
    make_assessment(sample, ada, ada)
    assert "You judge in this assessment" in as_ada.get(PAGE).content.decode()


def test_grades_of_the_frame_are_those_of_the_machine(sample):
    _, grades = read_frame(sample)
    machine = load_grades(sample.checks_id)
    for topic, graded in grades.items():
        for docno, grade in graded.items():
            assert grade == machine[topic].get(docno, -1)
