"""Organisers download marks and import those made elsewhere."""

from __future__ import annotations

from tests.builders import upload

MARKS = "/benchmarks/bread/judging/judging-1/marks"


def test_qrels_of_an_assessor_become_marks(as_ada, assessment):
    files = [upload("mia.qrels", "1 0 d1 2\n1 0 d2 0\n"), upload("noa.qrels", "1 0 d1 1\n")]
    page = as_ada.post(f"{MARKS}/import/", {"files": files}, follow=True).content.decode()
    assert "3 marks of 2 assessors imported" in page
    lines = as_ada.get(f"{MARKS}/marks.qrels").getvalue().decode().splitlines()
    assert sorted(lines) == ["1 mia d1 2", "1 mia d2 0", "1 noa d1 1"]


def test_one_wrong_line_keeps_all_marks_out(as_ada, assessment):
    answer = as_ada.post(f"{MARKS}/import/", {"files": upload("mia.qrels", "1 0 d1 2\n1 0 d8 2\n")})
    assert answer.status_code == 422
    assert "No mark was imported" in answer.content.decode() and "d8" in answer.content.decode()
    assert as_ada.get(f"{MARKS}/marks.jsonl").getvalue() == b""


def test_only_organisers_get_the_marks(as_ben, assessment):
    assert as_ben.get(f"{MARKS}/marks.jsonl").status_code == 403
    assert as_ben.get(f"{MARKS}/import/").status_code == 403
