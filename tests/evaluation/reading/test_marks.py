"""Files of assessors' marks: every format, every fault at its line, and what is written again."""

import gzip
import json
from datetime import UTC, datetime, timedelta, timezone
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.marks import KINDS, REASONS, Mark, replay
from evaluation.problems import Problem, Refused
from evaluation.reading.judging.marks import (
    MarkFile,
    MarkLog,
    read_assessor_folder,
    read_marks,
    recognise_marks,
    write_marks,
    write_trec_marks,
)
from evaluation.reading.judging.qrels import read_qrels
from evaluation.settlement import settle

ADA = {"topic": "301", "docno": "d1", "assessor": "ada", "grade": 2}
DOCCANO = {"query_id": "301", "doc_id": "d1", "text": "Heat.", "label": ["Relevant (2)"]}
FULL = Mark(
    *("301", "d1", "ada", None, "cannot", "language"),
    turn=2,
    at=datetime(2026, 11, 30, 23, 59, 1, 5, tzinfo=UTC),
    seconds=12.5,
    guideline=3,
    rationale='a "quoted" line\nand Wärme',
    spans=((0, 4), (7, 9)),
    key="k2",
    replaces="k1",
    order=0,
    is_repeat=True,
    by="key",
)


def lines(*objects: dict) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in objects)


def read(text: bytes, **options) -> MarkFile:
    return read_marks(BytesIO(text), **options)


def only_mark(text: bytes, **options) -> Mark:
    [mark] = read(text, **options).marks
    return mark


def refused(text: bytes, **options) -> list[Problem]:
    with pytest.raises(Refused) as refusal:
        read(text, **options)
    return list(refusal.value.problems.of("error"))


def only_problem(text: bytes, **options) -> Problem:
    [problem] = refused(text, **options)
    return problem


def test_a_line_needs_a_topic_a_docno_an_assessor_and_a_grade():
    assert only_mark(lines(ADA)) == Mark("301", "d1", "ada", 2)


def test_a_kind_takes_the_place_of_a_grade():
    mark = only_mark(lines({"topic": 301, "docno": 7, "assessor": "ada", "kind": "later"}))
    assert mark == Mark("301", "7", "ada", None, "later")


def test_names_that_are_not_of_a_mark_are_ignored_without_a_problem():
    found = read(lines({**ADA, "label": "x", "colour": [1, {"a": None}], "reason": None}))
    assert (found.marks, len(found.problems)) == ([Mark("301", "d1", "ada", 2)], 0)


def test_every_field_of_a_mark_is_read():
    log = lines({**ADA, "key": "k1", "repeat": True}) + b"".join(write_marks([FULL]))
    assert read(log).marks[1] == FULL


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"topic": None}, "E_FIELD", 'the field "topic" is missing'),
        ({"docno": ""}, "E_FIELD", 'the field "docno" is missing'),
        ({"assessor": None}, "E_ASSESSOR", "no assessor is named"),
        ({"assessor": "Q0"}, "E_ASSESSOR", "no assessor is named"),
        ({"assessor": "Ada L"}, "E_CHAR", "the assessor has a blank"),
        ({"topic": "3 01"}, "E_CHAR", "the topic number has a blank"),
        ({"topic": "3" * 1025}, "E_TOPIC", "the topic number is longer than 1,024 characters"),
        ({"docno": "\ud800"}, "E_CHAR", "the document has a character that is not printable"),
        ({"docno": ["d1"]}, "E_FIELD", 'the field "docno" is not a text'),
        ({"grade": None}, "E_FIELD", 'the field "grade" is missing'),
        ({"grade": 128}, "E_REL", "the grade is not an integer from -1 to 127"),
        ({"grade": -2}, "E_REL", "the grade is not an integer from -1 to 127"),
        ({"grade": 1.0}, "E_REL", "the grade is not an integer from -1 to 127"),
        ({"grade": "2"}, "E_REL", "the grade is not an integer from -1 to 127"),
        ({"grade": True}, "E_REL", "the grade is not an integer from -1 to 127"),
        ({"kind": "cannot"}, "E_FIELD", 'the field "grade" does not go with the kind cannot'),
        ({"kind": "maybe"}, "E_FIELD", "is not one of: grade, cannot, later, undo"),
        ({"reason": "topic"}, "E_FIELD", 'the field "reason" is only for marks of the kind'),
        ({"turn": 0}, "E_FIELD", 'the field "turn" is not a whole number from 1'),
        ({"order": True}, "E_FIELD", 'the field "order" is not a whole number from 0'),
        ({"guideline": 2**31}, "E_FIELD", 'the field "guideline" is not a whole number'),
        ({"seconds": -0.1}, "E_FIELD", 'the field "seconds" is not a number of seconds'),
        ({"seconds": float("nan")}, "E_FIELD", 'the field "seconds" is not a number of seconds'),
        ({"seconds": 10**400}, "E_FIELD", 'the field "seconds" is not a number of seconds'),
        ({"at": "2026-11-30T23:59:00"}, "E_FIELD", "is not a date and time with a time zone"),
        ({"at": "yesterday"}, "E_FIELD", "is not a date and time with a time zone"),
        ({"spans": [[4, 4]]}, "E_FIELD", 'the field "spans" is not a list of [start, end]'),
        ({"spans": [[0, 1, 2]]}, "E_FIELD", 'the field "spans" is not a list of [start, end]'),
        ({"repeat": 1}, "E_FIELD", 'the field "repeat" is neither true nor false'),
        ({"by": "voice"}, "E_FIELD", 'the field "by" is not one of: key, click'),
        ({"rationale": "a\0b"}, "E_FIELD", "has a character that cannot be stored"),
        ({"rationale": "\udfff"}, "E_FIELD", "has a character that cannot be stored"),
        ({"key": "k" * 129}, "E_FIELD", 'the field "key" is longer than 128 characters'),
        ({"key": "k\0"}, "E_FIELD", 'the field "key" has a character that cannot be stored'),
    ],
)
def test_a_field_of_a_wrong_kind_is_reported(change, code, message):
    problem = only_problem(lines({**ADA, "docno": "d0"}, {**ADA, **change}), format="marks.jsonl")
    assert (problem.code, problem.line) == (code, 2)
    assert message in problem.message


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"topic": "301", "docno"', "E_JSON"),
        (b'{"topic": "301", "topic": "302"}', "E_JSON"),
        (b'["301", "d1", "ada", 2]', "E_JSON"),
        (b"[" * 100_000, "E_JSON"),
        (b'{"grade": ' + b"9" * 5_000 + b"}", "E_JSON"),
        (b"301 ada d1 2", "E_JSON"),
        (b'{"docno": "\xff"}', "E_ENCODING"),
        (b'{"rationale": "' + b"x" * 300_000 + b'"}', "E_LINE_LONG"),
    ],
    ids=range(8),
)
def test_a_line_that_is_no_object_is_reported_and_the_next_is_read(line, code):
    found = refused(lines(ADA) + line + b"\n" + lines(ADA))
    assert [(each.code, each.line) for each in found] == [(code, 2), ("E_DUP_MARK", 3)]


def test_all_problems_of_a_line_are_reported():
    found = refused(lines({"docno": "d1", "assessor": "ada", "grade": 999, "turn": "x"}))
    assert [each.code for each in found] == ["E_FIELD", "E_REL", "E_FIELD"]


def test_a_second_mark_names_the_line_of_the_first():
    problem = only_problem(lines(ADA, {**ADA, "docno": "d2"}, {**ADA, "grade": 0}))
    assert (problem.code, problem.line, problem.found) == ("E_DUP_MARK", 3, "d1")
    assert problem.message == "ada has marked this document for topic 301 already, at line 1"


@pytest.mark.parametrize(
    "second",
    [
        {**ADA, "assessor": "ben"},
        {**ADA, "topic": "302"},
        {**ADA, "docno": "d2"},
        {**ADA, "repeat": True},
        {**ADA, "replaces": "k1", "grade": 0},
    ],
)
def test_another_assessor_topic_document_a_repeat_or_a_correction_is_a_mark(second):
    assert len(read(lines({**ADA, "key": "k1"}, second)).marks) == 2


def test_after_an_undo_a_document_is_marked_without_naming_another():
    undo = {"topic": "301", "docno": "d1", "assessor": "ada", "kind": "undo", "replaces": "k1"}
    assert len(read(lines({**ADA, "key": "k1"}, undo, ADA)).marks) == 3


def test_a_mark_may_name_the_undo_before_it():
    """A program may keep the marks of a document as one chain."""
    undo = {"topic": "301", "docno": "d1", "assessor": "ada", "kind": "undo", "replaces": "k1"}
    chain = lines({**ADA, "key": "k1"}, {**undo, "key": "k2"}, {**ADA, "replaces": "k2"})
    assert replay(read(chain).marks) == [Mark("301", "d1", "ada", 2, replaces="k2")]


def test_two_marks_that_replace_the_same_one_are_not_both_accepted():
    fork = [{**ADA, "key": key, "replaces": "k1"} for key in ("k2", "k3")]
    problem = only_problem(lines({**ADA, "key": "k1"}, *fork))
    assert (problem.code, problem.line) == ("E_DUP_MARK", 3)
    assert problem.message.endswith("at line 2")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"replaces": "k9"}, "no earlier mark has the key that this one replaces"),
        ({"replaces": "k2", "key": "k2"}, "no earlier mark has the key that this one replaces"),
        ({"replaces": "k1", "docno": "d2"}, "line 1 is about another document or by another"),
        ({"replaces": "k1", "assessor": "ben"}, "line 1 is about another document or by another"),
        ({"kind": "undo", "grade": None}, "an undo names no mark that it takes back"),
    ],
)
def test_a_mark_replaces_an_earlier_one_of_the_same_assessor_and_document(change, message):
    [problem, *_] = refused(lines({**ADA, "key": "k1"}, {**ADA, **change}))
    assert (problem.code, problem.line) == ("E_REPLACES", 2)
    assert problem.message.startswith(message)


def test_a_mark_that_arrives_again_unchanged_counts_once_and_is_noted():
    first = {**ADA, "key": "k1"}
    found = read(lines(first, {**first, "unknown": 1}, first))
    assert len(found.marks) == 1
    assert [str(each) for each in found.problems] == [
        "line 2: W_AGAIN: marks that came before, unchanged: 2; each counts once"
    ]


def test_a_key_of_two_different_marks_is_a_problem():
    problem = only_problem(lines({**ADA, "key": "k1"}, {**ADA, "key": "k1", "grade": 0}))
    assert (problem.code, problem.line, problem.found) == ("E_DUP_KEY", 2, "k1")
    assert problem.message == "line 1 has this key with other content"


def test_the_second_column_of_qrels_names_the_assessor():
    found = read(b"301 ada d1 2\n301 ben d1 0\n301 0 d1 1\n302 Q0 d1 -1\n", assessor="cat")
    assert [mark.assessor for mark in found.marks] == ["ada", "ben", "cat", "cat"]
    assert found.marks[3] == Mark("302", "d1", "cat", None, "later")


def test_qrels_without_any_name_say_so_once():
    text = b"".join(b"301 0 d%d 1\n" % n for n in range(60))
    problem = only_problem(text)
    assert (problem.code, problem.count) == ("E_ASSESSOR", 60)
    assert problem.message == "no assessor is named, in all 60 lines"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"301 ada d2", "E_COLUMNS"),
        (b"301 Q0 d2 1 9.5 bm25", "E_COLUMNS"),
        (b"301 ada d2 128", "E_REL"),
        (b"301 ada d2 1.5", "E_REL"),
        (b"301 ada d2 ?", "E_REL"),
        (b"301 ada d2\x00 1", "E_CHAR"),
        (b"301 ada d\xe9 1", "E_ENCODING"),
        ("30\u00a0ä ada d2 1".encode(), "E_CHAR"),
        (b"301 ada d1 1", "E_DUP_MARK"),
        (b"301 ada " + b"d" * 1025 + b" 1", "E_DOCID"),
        (b"301 ada " + b"d" * 5000 + b" 1", "E_LINE_LONG"),
    ],
)
def test_a_bad_line_of_qrels_is_reported_where_it_is(line, code):
    problem = only_problem(b"# by hand\n301 ada d1 2\n" + line + b"\n")
    assert (problem.code, problem.line) == (code, 3)


@pytest.mark.parametrize(
    ("label", "grade"),
    [
        (["Perfectly Relevant (3)"], 3),
        (["Not Relevant (0)"], 0),
        (["2"], 2),
        ([2], 2),
        ("grade 1", 1),
        ("1. related", 1),
        ("3: perfect", 3),
        ("rel-2", 2),
    ],
)
def test_the_label_of_doccano_begins_or_ends_with_the_grade(label, grade):
    mark = only_mark(lines({**DOCCANO, "label": label}), assessor="ada")
    assert mark == Mark("301", "d1", "ada", grade)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ([], "the document has no label"),
        ("", "the document has no label"),
        (None, "the document has no label"),
        (["Relevant (2)", "Not Relevant (0)"], "the document has 2 labels"),
        (["relevant"], "the label does not begin or end with one grade"),
        (["0 to 3"], "the label does not begin or end with one grade"),
        (["1.5"], "the label does not begin or end with one grade"),
        (["50%"], "the label does not begin or end with one grade"),
        (["2nd best"], "the label does not begin or end with one grade"),
        ([[0, 5, "PER"]], "the label does not begin or end with one grade"),
    ],
)
def test_a_document_of_doccano_has_one_label_with_one_grade(label, message):
    good = {**DOCCANO, "doc_id": "d2"}
    problem = only_problem(lines(good, {**DOCCANO, "label": label}), assessor="ada")
    assert (problem.code, problem.line, problem.message) == ("E_LABEL", 2, message)


@pytest.mark.parametrize("topic", ["topic", "query_id", "qid"])
@pytest.mark.parametrize("docno", ["docno", "doc_id", "docid", "passage_id"])
def test_topic_and_docno_of_doccano_may_be_in_its_meta(topic, docno):
    inside = {"label": ["2"], "text": "Heat.", "meta": {topic: 301, docno: "d1"}}
    assert only_mark(lines(inside), assessor="ada") == Mark("301", "d1", "ada", 2)


def test_comments_of_doccano_are_the_rationale():
    line = lines({**DOCCANO, "comments": [], "Comments": ["too short", "no numbers"]})
    assert only_mark(line, assessor="ada").rationale == "too short\nno numbers"


def test_a_document_of_doccano_without_a_topic_is_reported():
    problem = only_problem(lines({"doc_id": "d1", "text": "", "label": ["1"]}), assessor="ada")
    assert problem.message == "no field of topic, query_id, qid has a value"


@pytest.mark.parametrize(
    ("head", "format"),
    [
        (lines(ADA), "marks.jsonl"),
        (lines({"topic": "1", "docno": "d", "kind": "undo"}), "marks.jsonl"),
        (lines(DOCCANO), "doccano"),
        (lines({"id": 7, "text": "x" * 600})[:512], "doccano"),
        (b"# by hand\n\n301 ada d1 2\n", "trec"),
        (b"301 Q0 d1 1 9.5 bm25\n", None),
        (b'{"301": {"d1": 2}}', None),
        (b"[1, 2]", None),
        (b"\x89PNG\r\n\x1a\n", None),
        (b"", None),
    ],
)
def test_the_first_bytes_tell_the_format(head, format):
    assert recognise_marks(head) == format


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"", "E_EMPTY"),
        (b"# a b c\n", "E_FORMAT"),
        (b"301 Q0 d1 1 9.5 bm25\n", "E_FORMAT"),
        (b"\xff\xfe3\x000\x00", "E_ENCODING"),
    ],
)
def test_what_is_no_file_of_marks_is_refused(text, code):
    assert only_problem(text).code == code


def test_a_format_that_does_not_exist_is_refused():
    assert only_problem(lines(ADA), format="csv").code == "E_FORMAT"


def test_a_file_of_comments_alone_is_empty():
    assert only_problem(b"# by hand\n", format="trec").code == "E_EMPTY"


def test_line_ends_of_windows_and_a_byte_order_mark_are_read_with_a_warning():
    found = read(b"\xef\xbb\xbf301 ada d1 2\r\n")
    assert found.marks == [Mark("301", "d1", "ada", 2)]
    assert set(found.problems.counts) == {"W_BOM", "W_CRLF"}


def test_files_of_one_log_are_checked_against_each_other():
    log = MarkLog()
    log.read(BytesIO(lines({**ADA, "key": "k1"})), name="one.jsonl")
    better = {**ADA, "grade": 0, "key": "k2", "replaces": "k1"}
    log.read(BytesIO(lines(better)), name="two.jsonl")
    with pytest.raises(Refused, match=r"already, at line 1 of two\.jsonl"):
        log.read(BytesIO(lines(ADA)), name="three.jsonl")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ada.qrels").write_bytes(b"301 0 d1 2\n")
    (tmp_path / "ben.qrels.gz").write_bytes(gzip.compress(b"301 0 d1 0\n"))
    return tmp_path


def test_the_stem_of_a_file_names_its_assessor(folder):
    marks = read_assessor_folder([folder / "ada.qrels", folder / "ben.qrels.gz"])
    assert marks == [Mark("301", "d1", "ada", 2), Mark("301", "d1", "ben", 0)]


def test_the_problems_of_all_files_of_a_folder_are_reported(folder):
    (folder / "cat.qrels").write_bytes(b"301 0 d1 x\n")
    (folder / "dan.txt").write_bytes(b"301 0 d1 2\n301 ada d1 2\n")
    with pytest.raises(Refused) as refusal:
        read_assessor_folder(sorted(folder.iterdir()))
    assert [each.message for each in refusal.value.problems] == [
        "cat.qrels: the grade is not an integer from -1 to 127",
        "dan.txt: ada has marked this document for topic 301 already, at line 1 of ada.qrels",
    ]


def test_only_valid_grades_are_written_in_four_columns():
    marks = [
        Mark("301", "d1", "ada", 2, key="k1"),
        Mark("301", "d1", "ada", 1, key="k2", replaces="k1"),
        Mark("301", "d1", "ada", 0, is_repeat=True),
        Mark("301", "d2", "ada", None, "cannot", "topic"),
        Mark("301", "d3", "ben", 0),
    ]
    assert list(write_trec_marks(marks)) == [b"301 ada d1 1\n", b"301 ben d3 0\n"]


NAMES = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1)
DOCNOS = NAMES.filter(lambda name: len(name.encode()) <= 128)
ASCII = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20)
PROSE = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
ZONES = st.sampled_from([UTC, timezone(timedelta(hours=-11, minutes=-30))])
SPAN = st.tuples(st.integers(0, 99), st.integers(100, 999))


@st.composite
def full_marks(draw, number: int) -> Mark:
    """A mark with any fields; the number makes its document and key unique."""
    kind = draw(st.sampled_from(KINDS[:3]))
    return Mark(
        draw(ASCII),
        f"{number}-{draw(DOCNOS)}"[:40],
        f"a{draw(DOCNOS)}"[:40],
        draw(st.integers(0, 127)) if kind == "grade" else None,
        kind,
        draw(st.sampled_from(["", *REASONS])) if kind == "cannot" else "",
        turn=draw(st.integers(1, 9)),
        at=draw(st.none() | st.datetimes(timezones=ZONES)),
        seconds=draw(st.none() | st.floats(0, 1e6)),
        guideline=draw(st.none() | st.integers(0, 99)),
        rationale=draw(PROSE),
        spans=tuple(draw(st.lists(SPAN, max_size=3))),
        key=draw(st.sampled_from(["", f"k{number}", f"ä {number}"])),
        order=draw(st.none() | st.integers(0, 10**6)),
        is_repeat=draw(st.booleans()),
        by=draw(st.sampled_from(["", "key", "click"])),
    )


@given(st.integers(1, 6).flatmap(lambda n: st.tuples(*map(full_marks, range(n)))))
def test_what_is_written_is_read_again(marks):
    assert read(b"".join(write_marks(marks))).marks == list(marks)


@given(st.lists(st.tuples(ASCII, DOCNOS, ASCII, st.integers(0, 127)), min_size=1))
def test_four_columns_are_read_again(rows):
    unnamed = {"0", "Q0", "q0"}
    marks = {row[:3]: Mark(*row) for row in rows if row[2] not in unnamed and row[0][0] != "#"}
    if marks:
        text = b"".join(write_trec_marks(marks.values()))
        assert read(text, format="trec").marks == list(marks.values())


@pytest.mark.data
def test_the_assessors_of_dl19_settle_as_their_files_have_it(data):
    paths = sorted((data / "data/dl19/assessors/main").glob("*.qrels"))
    marks = read_assessor_folder(paths)
    given: dict[tuple[str, str], list[int]] = {}
    for path in paths:
        for topic, docno, grade in read_qrels(BytesIO(path.read_bytes())).lines():
            given.setdefault((topic.decode(), docno.decode()), []).append(grade)
    found = settle(marks, "single")
    agreed = {of: grades[0] for of, grades in given.items() if len(set(grades)) == 1}
    assert {(s.topic, s.docno): s.grade for s in found if s.grade is not None} == agreed
    # 4,493 documents were judged twice (Parry and others, SIGIR 2025).
    assert sum(len(each.grades) == 2 for each in found) == 4493


@pytest.mark.data
def test_the_median_of_eight_assessors_of_dl19_is_their_fourth_grade(data):
    paths = sorted((data / "data/dl19/assessors/agreement").glob("*.qrels"))
    found = settle(read_assessor_folder(paths), "median")
    assert len(found) == 188
    assert [each.grade for each in found] == [sorted(each.grades)[3] for each in found]


@pytest.mark.data
def test_the_marks_of_dl19_are_read_again_from_both_formats(data):
    marks = read_assessor_folder(sorted((data / "data/dl19/assessors/main").glob("*.qrels")))
    for write in (write_marks, write_trec_marks):
        assert read(b"".join(write(marks))).marks == marks


@pytest.mark.data
def test_an_assessor_who_is_in_both_rounds_of_dl19_is_found(data):
    """The main round of a7 has the documents of the agreement round once more."""
    folder = data / "data/dl19/assessors"
    with pytest.raises(Refused) as refusal:
        read_assessor_folder([folder / "agreement/a7.qrels", folder / "main/a7.qrels"])
    assert refusal.value.problems.totals() == {"E_DUP_MARK": 188}
