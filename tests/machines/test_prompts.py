"""Files ready for prompting: topic, guideline and text of every document, and nobody's grade."""

from __future__ import annotations

import json

import pytest

from evaluation.reading.judging.machine_grades import read_answers
from tests.assessments.marks import judge_everything
from tests.builders import make_pool, make_run, signed_in

VERSION = "/collections/bread/judgments/v1/prompts.jsonl"
POOL = "/benchmarks/bread/pools/pool-1/prompts.jsonl"
JUDGING = "/benchmarks/bread/judging/judging-1/prompts.jsonl"


def lines_of(client, address):
    answer = client.get(address)
    assert answer.status_code == 200
    return [json.loads(line) for line in answer.getvalue().splitlines()]


def test_a_version_exports_what_is_judged_in_docno_order(as_ada, collection):
    lines = lines_of(as_ada, VERSION)
    assert [line["id"] for line in lines][:3] == ["1 d1", "1 d2", "1 d3"]
    assert len(lines) == 8 and lines[0]["guideline"] is None
    assert set(lines[0]["topic"]) == {"number", "title", "description", "narrative"}
    assert lines[0]["text"]


def test_no_line_of_a_version_has_a_grade(as_ada, collection):
    assert all("grade" not in line for line in lines_of(as_ada, VERSION))


def test_a_pool_exports_all_its_documents_also_judged_ones(as_ada, ada, ben, track):
    pool = make_pool(track, ada, [make_run(track, ben)])
    lines = lines_of(as_ada, POOL)
    assert len(lines) == pool.summary["documents"] > pool.summary["new"]


def test_an_assessment_exports_its_guideline_and_no_mark(as_ada, assessment):
    judge_everything(assessment)
    lines = lines_of(as_ada, JUDGING)
    assert lines[0]["guideline"]["text"] == "Judge what is *written*."
    assert [grade["grade"] for grade in lines[0]["guideline"]["grades"]] == [2, 1, 0]
    assert {*lines[0]} == {"id", "topic", "guideline", "docno", "title", "text"}
    assert lines == lines_of(as_ada, POOL)


def test_a_line_with_a_grade_added_is_an_answer(as_ada, collection, tmp_path):
    lines = lines_of(as_ada, VERSION)
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps({**line, "grade": 1}) + "\n" for line in lines))
    with path.open("rb") as file:
        assert len(read_answers(file, topics={"1", "2", "3"}).grades) == 8


@pytest.mark.parametrize(("address", "status"), [(VERSION, 404), (POOL, 403), (JUDGING, 403)])
def test_only_organisers_get_them(ben, assessment, address, status):
    assert signed_in(ben).get(address).status_code == status


def test_an_organiser_who_judges_gets_none_from_the_assessment(as_ada, ada, assessment):
    assessment.assessors.update(user=ada)
    assert as_ada.get(JUDGING).status_code == 403
