"""Answers of machines: what is read of them, and what has no grade."""

from __future__ import annotations

import json
from io import BytesIO

import pytest
from pytest import approx

from evaluation.problems import Refused
from evaluation.reading.judging.machine_grades import MachineAnswers, read_answers


def read(*lines: object, **options: object) -> MachineAnswers:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return read_answers(BytesIO("\n".join(texts).encode()), **options)


def codes(*lines: object, **options: object) -> list[tuple[str, int | None]]:
    with pytest.raises(Refused) as refused:
        read(*lines, **options)
    return [(problem.code, problem.line) for problem in refused.value.problems.of("error")]


UMBRELA = {"model": "gpt-4o", "query": "how to knead", "passage": "Knead it.", "prompt": "Grade."}


def test_records_of_umbrela_are_read_by_their_ids():
    record = {**UMBRELA, "qid": "7", "docid": 12, "prediction": "O: 3", "judgment": 3}
    assert read(record).grades == {("7", "12"): 3}


def test_umbrela_writes_zero_where_it_failed_and_that_is_no_grade():
    failed = {"qid": "7", "docid": "d1", "prediction": "Sorry.", "judgment": 0, "result_status": 0}
    answers = read(failed, {**failed, "docid": "d2", "result_status": 1})
    assert answers.grades == {("7", "d2"): 0}
    assert (answers.num_asked, answers.num_failed) == (2, 1)
    assert answers.given["7", "d1"][0].reason == "Sorry."


def test_a_record_without_ids_is_an_error_at_its_line():
    assert codes({"id": "7 d1", "grade": 1}, {**UMBRELA, "judgment": 3}) == [("E_FIELD", 2)]


def test_candidates_of_a_query_are_an_answer_each():
    query = {"qid": "7", "text": "how to knead"}
    candidates = [{"docid": "d1", "judgment": 2}, {"docid": "d2", "judgment": None}]
    answers = read({"query": query, "candidates": candidates})
    assert (answers.grades, answers.num_failed) == ({("7", "d1"): 2}, 1)


@pytest.mark.parametrize("grade", [None, "", "two", -1, 4, True, [2], "nan"])
def test_what_is_no_grade_of_the_scale_leaves_the_document_unjudged(grade):
    answers = read({"id": "7 d1", "grade": grade}, {"id": "7 d2", "grade": "2.0"}, highest=3)
    assert answers.grades == {("7", "d2"): 2}
    assert [(each.code, each.line) for each in answers.problems] == [("W_NO_GRADE", 1)]


@pytest.mark.parametrize("grade", [1.8, "1.8", "2.50"])
def test_a_grade_with_decimals_rejects_the_file(grade):
    records = [{"id": "7 d1", "grade": 0}, {"id": "7 d2", "grade": grade}]
    assert codes(*records) == [("E_REL", 2)]
    assert codes("7 0 d1 0", f"7 0 d2 {grade}") == [("E_REL", 2)]


def test_a_failed_record_has_no_grade_even_with_a_number():
    answers = read({"id": "7 d1", "grade": 0, "failed": True, "answer": "timeout"})
    assert (answers.grades, answers.num_failed) == ({}, 1)
    assert answers.given["7", "d1"][0].reason == "timeout"


def test_four_columns_have_blanks_or_tabs():
    answers = read("7 0 d1 2", "7\t0\td2\tNA", "8 0 d1 0")
    assert answers.format == "trec"
    assert answers.grades == {("7", "d1"): 2, ("8", "d1"): 0}
    assert answers.num_failed == 1


def test_csv_has_names_in_any_form():
    answers = read("Query ID;Answer;DocNo;Grade", "7;It says so;d1;2")
    assert (answers.format, answers.grades) == ("csv", {("7", "d1"): 2})


def test_rows_of_csv_have_the_line_where_they_begin():
    rows = ["topic,docno,grade,answer", '7,d1,2,"It says', 'so"', "7,d2,,Sorry"]
    answers = read(*rows)
    assert answers.grades == {("7", "d1"): 2}
    assert [(each.code, each.line) for each in answers.problems] == [("W_NO_GRADE", 4)]
    assert codes(*rows, "7,d3") == [("E_COLUMNS", 5)]


def test_the_first_answer_with_a_grade_counts():
    answers = read("7 0 d1 NA", "7 0 d1 2", "7 0 d1 3", "7 0 d2 NA")
    assert answers.grades == {("7", "d1"): 2}
    assert (answers.num_asked, answers.num_failed, answers.repeats) == (2, 1, 3)


def test_the_first_two_grades_show_how_far_a_machine_agrees_with_itself():
    lines = [
        f"7 0 d{n} {grade}" for n, pair in enumerate(["00", "01", "11", "11"]) for grade in pair
    ]
    answers = read(*lines, "7 0 d9 1")
    assert answers.num_repeated == 4
    assert answers.self_agreement == approx(0.75)
    assert answers.self_kappa == approx(0.5)


def test_without_repeats_there_is_no_agreement_with_itself():
    answers = read("7 0 d1 2")
    assert (answers.num_repeated, answers.self_agreement, answers.self_kappa) == (0, None, None)


def test_all_problems_have_their_lines():
    known = {"7"}
    assert codes("7 0 d1 1", "9 0 d1 1", "9 0 d2 1", "7 d1 1", topics=known) == [
        ("E_UNKNOWN_TOPIC", 2),
        ("E_COLUMNS", 4),
    ]
    assert codes({"id": "7 d1"}, "{", topics=known) == [("E_JSON", 2)]
    assert codes("7 d1", topics=known) == [("E_FORMAT", None)]
    assert codes("") == [("E_EMPTY", None)]


def test_qrels_of_answers_leave_out_what_failed():
    assert b"".join(read("7 0 d1 2", "7 0 d2 NA").qrels()) == b"7 0 d1 2\n"
