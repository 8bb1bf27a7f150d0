"""Marks leave as files and come in from files: all of them, or none."""

from __future__ import annotations

import gzip
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from evaluation.marks import replay
from evaluation.problems import Refused
from leaderboard.actions.assessments import (
    close_assessment,
    open_assessment,
    plan_assessment,
    reassign,
)
from leaderboard.actions.mark_import import ImportedMarks, import_marks
from leaderboard.actions.refusals import ActionError
from leaderboard.assessments.drawing import draw_documents
from leaderboard.assessments.judgments import load_marks, settle_marks
from leaderboard.assessments.mark_files import render_marks
from leaderboard.assessments.marking import SentMark, record_mark
from leaderboard.models import Assessment, AssignedDocument, Assignment, Mark
from tests.builders import OTHER_RUN, SCALE, make_assessment, make_pool, make_run, upload


@pytest.fixture
def draft(unjudged_track, ada, ben, cat) -> Assessment:
    """Of an equal pool, with a second opinion of every document, and without assessors."""
    runs = [make_run(unjudged_track, ben), make_run(unjudged_track, cat, OTHER_RUN)]
    pool = make_pool(unjudged_track, ada, runs)
    made = Assessment(pool=pool, overlap="all", overlap_size=2)
    return plan_assessment(made, ada, "Judge what is written.", SCALE)


def bring(assessment: Assessment, ada, *texts: str, format: str = "") -> ImportedMarks:
    """Import files that are named after Ann, Bob and Eve."""
    names = ("ann.qrels", "bob.qrels", "eve.qrels")
    files = [upload(name, text) for name, text in zip(names, texts, strict=False)]
    return import_marks(assessment, ada, files, format)


def lines_of(assessment: Assessment) -> list[dict]:
    return [json.loads(line) for line in render_marks(assessment, "jsonl")]


def codes(refusal) -> list[tuple[int | None, str]]:
    return [(problem.line, problem.code) for problem in refusal.value.problems]


def judge_in_every_way(assignment: Assignment) -> None:
    """A grade, one that is undone and given again, one put off, one corrected, one impossible."""
    draw_documents(assignment)
    first, second, third, fourth = assignment.documents.all()
    spans, why = [[0, 4]], "It says “sourdough”."
    record_mark(assignment, SentMark(first.pk, grade=2, spans=spans, rationale=why, seconds=3.5))
    slip = record_mark(assignment, SentMark(second.pk, grade=2, by="key"))
    record_mark(assignment, SentMark(second.pk, kind="undo", replaces=slip.key))
    record_mark(assignment, SentMark(second.pk, grade=0))
    record_mark(assignment, SentMark(third.pk, kind="later"))
    record_mark(assignment, SentMark(third.pk, grade=1))
    doubt = record_mark(assignment, SentMark(fourth.pk, grade=1))
    record_mark(assignment, SentMark(fourth.pk, kind="cannot", reason="topic", replaces=doubt.key))
    again = AssignedDocument.objects.create(
        assignment=assignment, docno=first.docno, place=5, is_repeat=True
    )
    record_mark(assignment, SentMark(again.pk, grade=1))


@pytest.fixture
def judged(pool, ada, dan, eve) -> Assessment:
    """Dan judged topic 1 in every way, and Eve one document of it."""
    assessment = make_assessment(pool, ada, dan, eve, overlap="all", overlap_size=2)
    judge_in_every_way(Assignment.objects.get(topic__number="1", assessor__name="A1"))
    second = Assignment.objects.get(topic__number="1", assessor__name="A2")
    draw_documents(second)
    record_mark(second, SentMark(second.documents.first().pk, grade=0))
    return assessment


def test_a_log_that_is_imported_is_the_log_that_was_exported(judged, draft, ada):
    file = upload("marks.jsonl", b"".join(render_marks(judged, "jsonl")))
    imported = import_marks(draft, ada, [file])
    assert (imported.num_marks, imported.assessors) == (10, ["A1", "A2"])
    assert lines_of(draft) == lines_of(judged)
    assert replay(load_marks(draft)) == replay(load_marks(judged))
    assert settle_marks(draft) == settle_marks(judged) != []


def test_imported_documents_are_in_the_state_of_their_last_mark(judged, draft, ada):
    import_marks(draft, ada, [upload("m", b"".join(render_marks(judged, "jsonl")))])
    states = [
        AssignedDocument.objects.filter(assignment__assessor__assessment=assessment)
        .exclude(marks=None)
        .order_by("assignment__assessor__name", "place")
        .values_list("docno", "place", "state", "mark__key")
        for assessment in (judged, draft)
    ]
    assert list(states[0]) == list(states[1])


def test_the_trec_lines_have_the_grades_that_stand(judged):
    lines = b"".join(render_marks(judged, "trec")).decode().splitlines()
    first = [mark for mark in replay(load_marks(judged)) if mark.grade is not None][:3]
    assert lines[:3] == [f"1 A1 {mark.docno} {mark.grade}" for mark in first]
    assert len(lines) == 4


def test_a_folder_of_qrels_has_a_file_for_each_assessor(draft, ada):
    bring(draft, ada, "1 0 d1 2\n1 0 d2 0\n", "1 0 d1 1\n2 0 d4 1\n")
    found = [(mark.assessor, mark.topic, mark.turn, mark.grade) for mark in load_marks(draft)]
    assert found == [("ann", "1", 1, 2), ("ann", "1", 1, 0), ("bob", "1", 2, 1), ("bob", "2", 1, 1)]


def test_an_export_of_doccano_is_imported(draft, ada):
    text = '{"query_id": "1", "doc_id": "d1", "label": ["2 answers it"], "Comments": ["So."]}\n'
    bring(draft, ada, text)
    assert [(m.docno, m.grade, m.rationale) for m in load_marks(draft)] == [("d1", 2, "So.")]


def test_two_who_judge_different_documents_share_a_turn(draft, ada):
    bring(draft, ada, "1 0 d1 2\n", "1 0 d2 0\n")
    assert [mark.turn for mark in load_marks(draft)] == [1, 1]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("9 0 d1 1", "E_UNKNOWN_TOPIC"),
        ("1 0 d4 1", "E_NOT_POOLED"),
        ("1 0 d2 3", "E_REL"),
        ("1 0 d1 0", "E_DUP_MARK"),
        ("1 a-name-of-23-characters d2 1", "E_ASSESSOR"),
    ],
)
def test_a_line_that_does_not_fit_is_named_and_nothing_is_imported(draft, ada, line, code):
    with pytest.raises(Refused) as refusal:
        bring(draft, ada, f"1 0 d1 1\n{line}\n")
    assert codes(refusal) == [(2, code)]
    assert not Mark.objects.exists() and not draft.assessors.exists()


def as_lines(*marks: dict) -> str:
    told = {"topic": "1", "docno": "d1", "assessor": "ann"}
    return "".join(json.dumps(told | mark) + "\n" for mark in marks)


@pytest.mark.parametrize(
    ("marks", "problem"),
    [
        ([{"grade": 1, "key": "a"}, {"grade": 2, "repeat": True, "replaces": "a"}], "E_REPLACES"),
        ([{"grade": 1, "turn": 1}, {"docno": "d2", "grade": 1, "turn": 2}], "E_TURN"),
        ([{"grade": 1}, {"docno": "d2", "grade": 1, "rationale": "x" * 2001}], "E_FIELD"),
        ([{"grade": 1, "repeat": True}, {"grade": 2, "repeat": True}], "E_DUP_MARK"),
    ],
)
def test_a_mark_fits_those_before_it(draft, ada, marks, problem):
    with pytest.raises(Refused) as refusal:
        bring(draft, ada, as_lines(*marks))
    assert codes(refusal) == [(2, problem)]


def test_an_undo_of_a_mark_that_was_replaced_is_refused(draft, ada):
    marks = [
        {"grade": 1, "key": "a"},
        {"grade": 2, "key": "b", "replaces": "a"},
        {"kind": "undo", "key": "c", "replaces": "a"},
    ]
    with pytest.raises(Refused) as refusal:
        bring(draft, ada, as_lines(*marks))
    assert codes(refusal) == [(3, "E_REPLACES")]


def test_problems_of_several_files_name_their_file(draft, ada):
    with pytest.raises(Refused) as refusal:
        bring(draft, ada, "1 0 d1 1\n", "1 0 d1 7\n")
    [problem] = refusal.value.problems
    assert (problem.line, problem.message) == (1, "bob.qrels: the grades are 0, 1, 2")


def test_an_assessor_is_imported_once(draft, ada):
    bring(draft, ada, "1 0 d1 2\n")
    with pytest.raises(Refused) as refusal:
        bring(draft, ada, "2 0 d4 2\n")
    assert codes(refusal) == [(1, "E_ASSESSOR")]


def test_an_unknown_guideline_is_noted_and_the_newest_counts(draft, ada):
    imported = bring(draft, ada, as_lines({"grade": 1, "guideline": 9}))
    assert [note.code for note in imported.notes] == ["W_GUIDELINE"]
    assert Mark.objects.get().guideline == draft.guideline


def test_keys_that_two_assessors_used_are_kept_apart(draft, ada):
    bring(
        draft, ada, as_lines({"grade": 1, "key": "k"}, {"docno": "d2", "grade": 1, "key": "ann-k"})
    )
    keys = [mark.key for mark in load_marks(draft)]
    assert keys[0] == "ann-k" and len(set(keys)) == 2


def test_what_nobody_judged_of_a_topic_waits_for_another_assessor(draft, ada, dan):
    bring(draft, ada, "1 0 d1 2\n")
    [assignment] = Assignment.objects.all()
    assert sorted(assignment.documents.unjudged().values_list("docno", flat=True)) == [
        *("d2", "d3", "d9")
    ]
    assessor = draft.assessors.create(user=dan, name="A2")
    assert reassign(assignment, ada, assessor).num_documents == 3


def test_nobody_shares_topics_with_those_who_judged_elsewhere(draft, ada, dan):
    bring(draft, ada, "1 0 d1 2\n")
    draft.assessors.create(user=dan, name="A2")
    open_assessment(draft, ada)
    assert not Assignment.objects.filter(assessor__user=None).exclude(topic__number="1").exists()


def test_imported_marks_alone_become_judgments(draft, ada):
    bring(draft, ada, "1 0 d1 2\n1 0 d2 0\n")
    open_assessment(draft, ada)
    made = close_assessment(draft, ada, "v1", is_early=True)
    assert made.file.read() == b"1 0 d1 2\n1 0 d2 0\n"


def test_a_closed_assessment_takes_no_marks(draft, ada):
    Assessment.objects.update(state="closed")
    with pytest.raises(ActionError, match="closed"):
        bring(draft, ada, "1 0 d1 2\n")


def test_a_packed_file_is_read(draft, ada):
    file = SimpleUploadedFile("ann.qrels.gz", gzip.compress(b"1 0 d1 2\n"))
    assert import_marks(draft, ada, [file]).assessors == ["ann"]
