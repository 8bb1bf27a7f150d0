"""Qrels with any fault are refused, with every reason and its line."""

from io import BytesIO
from pathlib import Path

import pytest

from evaluation.problems import Problem, Refused
from evaluation.reading.judging.qrels import Qrels, read_qrels
from evaluation.reading.recognition import recognise_qrels

GOOD = b"301 0 D1 2\n301 0 D2 0\n302 0 D1 1\n"


def accepted(text: bytes, **known) -> Qrels:
    return read_qrels(BytesIO(text), **known)


def refused(text: bytes, **known) -> list[Problem]:
    with pytest.raises(Refused) as refusal:
        accepted(text, **known)
    return [problem for problem in refusal.value.problems if problem.severity == "error"]


def codes(problems) -> list[tuple[str, int | None]]:
    return [(problem.code, problem.line) for problem in problems]


def test_judgments_are_kept_by_topic_and_docno():
    qrels = accepted(GOOD)
    assert qrels.grades == {b"301": {b"D1": 2, b"D2": 0}, b"302": {b"D1": 1}}
    assert (qrels.count, qrels.top_grade, len(qrels.problems)) == (3, 2, 0)


def test_a_negative_grade_is_kept():
    assert accepted(b"301 0 D1 1\n301 Q0 D2 -1\n").grades[b"301"][b"D2"] == -1


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (b"\xef\xbb\xbf" + GOOD, ("W_BOM", 1)),
        (GOOD.replace(b"\n", b"\r\n"), ("W_CRLF", 1)),
        (GOOD + b"\n", ("W_BLANK", 4)),
        (GOOD.replace(b"1\n", b"0\n"), ("W_NO_REL", None)),
        (GOOD + b"301 0 D9 1\n", ("W_UNJUDGED", 4)),
    ],
)
def test_what_does_no_harm_is_accepted_with_a_warning(text, warning):
    assert codes(accepted(text, docnos={b"D1", b"D2"}).problems) == [warning]


@pytest.mark.parametrize(
    ("grade", "hint"),
    [
        ("0.5", "Map grades to integers; trec_eval would truncate the decimals."),
        ("128", "Map grades to a small scale such as 0 to 3."),
        ("L2", "Remove the letter, or select the format ntcir."),
        ("1_0", "Write a whole number such as 0, 1 or 2, and leave out what is not judged."),
        ("٣", "Write a whole number such as 0, 1 or 2, and leave out what is not judged."),
        ("9" * 3000, "Map grades to a small scale such as 0 to 3."),
    ],
)
def test_a_grade_must_be_a_small_integer(grade, hint):
    (problem,) = refused(f"301 0 D1 {grade}\n".encode())
    assert (problem.code, problem.line, problem.hint) == ("E_REL", 1, hint)


@pytest.mark.parametrize(
    ("text", "count", "hint"),
    [
        (b"1 184 2\n", 3, "Is the iteration column missing? Add a 0, or select the format"),
        (b"301 Q0 D1 1 9.5 bm25\n", 6, "This looks like a run, not relevance judgments."),
        (
            b"query-id\tcorpus-id\tscore\n",
            3,
            "This looks like a BEIR header. Select the format beir",
        ),
        (b"1 0 D1 1 0.125\n", 5, "Sampled judgments (prels, Legal track) are not supported"),
    ],
)
def test_a_wrong_number_of_columns_is_told_with_what_the_line_may_be(text, count, hint):
    (problem,) = refused(text)
    assert problem.code == "E_COLUMNS"
    assert problem.message.endswith(f"but found {count}")
    assert problem.hint.startswith(hint)


def test_topics_with_a_rejected_grade_are_not_without_a_relevant_document():
    with pytest.raises(Refused) as refusal:
        accepted(b"301 0 D1 high\n302 0 D1 1\n")
    assert codes(refusal.value.problems) == [("E_REL", 1)]


@pytest.mark.parametrize(
    "text",
    [
        b"\tqid\tdocno\tlabel\n0\t1\td1\t1\n1\t1\td2\t1\n",
        b'{"1": ["d1", "d2"]}',
        b'{\n "1": [\n  "d1", "d2"]}',
        b'{"1": {"d1": "1", "d2": 1.0}}',
        b'[{"qid": 1, "docid": "d1", "rel": 1}, {"qid": 1, "docid": "d2", "rel": 1}]',
    ],
)
def test_judgments_as_people_have_them_are_recognised_and_read(text):
    format = recognise_qrels(BytesIO(text)).format
    assert accepted(text, format=format).grades == {b"1": {b"d1": 1, b"d2": 1}}


def test_a_list_beside_grades_is_told_at_its_line():
    (problem,) = refused(b'{"1": ["d1"],\n"2": {"d2": 1}}', format="json")
    assert (problem.code, problem.line) == ("E_JSON", 2)


def test_true_and_false_are_no_grades_and_told_what_to_write():
    problems = refused(b'{"1": {"d1": true}}', format="json")
    assert problems[0].hint == "Write 1 for true and 0 for false."


def test_a_second_judgment_names_the_first():
    (problem,) = refused(b"# pooled\n301 0 D1 1\n301 0 D2 0\n\n301 1 D1 2\n")
    assert (problem.code, problem.line, problem.found) == ("E_DUP_QREL", 5, "D1")
    assert problem.message == "the document is already judged for topic 301 at line 2 with grade 1"


def test_unknown_topics_are_counted_and_told_once_each():
    problems = refused(GOOD + b"7 0 D1 1\n7 0 D2 1\n0302 0 D1 0\n", topics={b"301", b"302"})
    assert codes(problems) == [("E_UNKNOWN_TOPIC", 4), ("E_UNKNOWN_TOPIC", 6)]
    assert problems[0].message == "the topic is not in the collection; unknown topics: 2 of 4"
    assert problems[1].hint == 'Did you mean topic "302"?'


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        (b"", "E_EMPTY", None),
        (b"301 0 D1\x00 1\n", "E_CHAR", 1),
        (b"301 0 D\xe9 1\n", "E_ENCODING", 1),
        ("301 0 D\u200b 1\n".encode(), "E_CHAR", 1),
        ("30\u00a01 0 D1 1\n".encode(), "E_CHAR", 1),
        (b"301 0 " + "é".encode() * 513 + b" 1\n", "E_DOCID", 1),
        (b"301 0 " + b"D" * 1025 + b" 1\n", "E_DOCID", 1),
        (GOOD + b"x" * 4097, "E_LINE_LONG", 4),
    ],
)
def test_bytes_that_are_no_clean_text_are_refused(text, code, at):
    assert codes(refused(text)) == [(code, at)]


def test_docnos_of_any_script_keep_their_bytes_and_another_form_is_noted():
    same, other = "brö".encode(), "bro\u0308".encode()
    qrels = accepted(b"301 0 %s 1\n301 0 %s 2\n" % (same, other))
    assert qrels.grades == {b"301": {same: 1, other: 2}}
    assert codes(qrels.problems) == [("W_NFC", 2)]


def test_a_docno_in_another_form_of_unicode_is_told_as_such():
    qrels = accepted("301 0 bro\u0308 1\n".encode(), docnos={"brö".encode()})
    (hint,) = {problem.hint for problem in qrels.problems if problem.code == "W_UNJUDGED"}
    assert hint == "The collection has this docno in another Unicode form (NFC or NFD)."


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("cranfield", b"301 D1 2 \n301 D2 0\n302 D1 1\n"),
        ("beir", b"query-id\tcorpus-id\tscore\n301\tD1\t2\n301\tD2\t0\n302\tD1\t1\n"),
        ("ntcir", b"301\tD1\tL2\n301\tD2\tL0\n302\tD1\tL1\n"),
        ("ntcir", b"301 A D1 1\n301 C D2 0\n302 B D1 0\n"),
        ("ntcir", b"301 0 D1 L2\n301 0 D2 C\n302 0 D1 1\n"),
    ],
)
def test_other_columns_are_read_where_they_are_asked_for(format, text):
    qrels = accepted(text, format=format)
    assert (qrels.format, qrels.grades) == (format, accepted(GOOD).grades)


@pytest.mark.parametrize(
    "text",
    [b"     1     28\t0\t0.000000\n     1     35\t0\t0.000000\n", b"01 28  0 0\n01 35  0 0\n"],
)
def test_a_smart_file_lists_relevant_documents(text):
    assert accepted(text, format="smart").grades == {b"1": {b"28": 1, b"35": 1}}


@pytest.mark.parametrize(
    ("text", "format", "code", "hint"),
    [
        (b"1 28 0 1.915561\n", "smart", "E_REL", "Columns 3 and 4 are 0 in SMART files."),
        (b"1 28 0 0.000000\n", None, "E_REL", "This looks like a SMART file"),
        (b"01 28 0 0\n01 35 0 0\n", None, "E_DUP_QREL", "This looks like a SMART file"),
    ],
)
def test_judgments_of_smart_read_otherwise_say_so(text, format, code, hint):
    (problem,) = refused(text, format=format)
    assert problem.code == code
    assert problem.hint.startswith(hint)


def test_a_line_of_another_format_is_told_by_the_columns_asked_for():
    (problem,) = refused(b"301 D1 2\n301 0 D2 1\n", format="cranfield")
    assert (problem.code, problem.line) == ("E_COLUMNS", 2)
    assert problem.message == "expected 3 columns (topic docno grade) but found 4"


def test_judgments_of_subtopics_are_told_from_a_document_judged_twice():
    problems = refused(b"1 1 D1 1\n1 2 D1 0\n2 0 D1 1\n2 Q0 D1 1\n")
    assert codes(problems) == [("E_DUP_QREL", 2), ("E_DUP_QREL", 4)]
    assert problems[0].hint.startswith("Column 2 differs. If it names subtopics")
    assert problems[1].hint == "Keep one judgment per document and topic."


@pytest.mark.parametrize(
    ("format", "text", "code"),
    [
        ("strata", b"1 0 D1 s\xc2\xa0t 1\n", "E_CHAR"),
        ("strata", b"1 0 D1 " + b"s" * 1025 + b" 1\n", "E_STRATUM"),
        ("subtopics", b"1 " + b"s" * 1025 + b" D1 1\n", "E_SUBTOPIC"),
        ("subtopics", b"1 1 D1 1 1\n", "E_COLUMNS"),
    ],
)
def test_names_of_strata_and_subtopics_are_checked_as_topics_are(format, text, code):
    assert codes(refused(text, format=format)) == [(code, 1)]


@pytest.mark.parametrize("format", ["prels", "legal", "preferences", "aspects"])
def test_a_format_that_is_only_recognised_is_refused_by_name(format):
    (problem,) = refused(GOOD, format=format)
    assert (problem.code, problem.found) == ("E_FORMAT", format)
    assert problem.hint


@pytest.mark.data
def test_the_three_columns_of_cranfield_are_read_with_their_own_grades(data: Path):
    with (data / "data" / "cranfield" / "smart" / "cranqrel").open("rb") as file:
        qrels = read_qrels(file, format="cranfield")
    grades = [grade for judged in qrels.grades.values() for grade in judged.values()]
    assert (len(qrels.grades), qrels.count) == (225, 1837)
    assert sorted(set(grades)) == [-1, 1, 2, 3, 4]


@pytest.mark.data
def test_cranfield_judgments_are_read_with_their_faults_told(data: Path):
    with (data / "data" / "cranfield" / "cranqrel.trec.txt").open("rb") as file:
        qrels = read_qrels(file, docnos={b"%d" % number for number in range(1, 1401)})
    assert (len(qrels.grades), qrels.count, qrels.top_grade) == (225, 1837, 3)
    assert set(qrels.problems.totals()) == {"W_CRLF"}


@pytest.mark.data
def test_cranfield_judgments_do_not_fit_its_raw_topic_numbers(data: Path):
    numbers = [line.split()[1] for line in (data / "data/cranfield/clean/topic_id_map.tsv").open()]
    topics = {number.encode() for number in numbers[1:]}
    with (data / "data" / "cranfield" / "cranqrel.trec.txt").open("rb") as file:
        problems = refused(file.read(), topics=topics)
    assert len(problems) == 73
    assert problems[0].message == "the topic is not in the collection; unknown topics: 73 of 225"


@pytest.mark.parametrize("zero", [".", ".0", ".00"])
def test_whole_grades_may_be_written_as_decimals(zero):
    text = GOOD.replace(b"\n", zero.encode() + b"\n")
    assert accepted(text).grades == accepted(GOOD).grades
    (problem,) = refused(text + b"302 0 D3 0.5\n")
    assert (problem.code, problem.line) == ("E_REL", 4)


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (b"301,D1,2\n301,D2,0\n302,D1,1\n", "topic,docno,grade"),
        (b'doc_id;query_id;rel\n"D1";301;2\nD2;301;0.0\nD1;302;1\n', "docno;topic;grade"),
        (b"docid\tqid\trel\nD1\t301\t2\nD2\t301\t0\nD1\t302\t1\n", "docno topic grade"),
        (b"topic iter docno rel\n" + GOOD, "trec"),
        (b'{"301": {"D1": 2,\n"D2": 0}, "302": {"D1": 1.0}}', "json"),
        (b'{"qrels": {"301": {"D1": "2", "D2": 0}, "302": {"D1": 1}}}', "json"),
        (
            b'[{"qid": 301, "docno": "D1", "rel": 2}, {"qid": 301, "docno": "D2", "rel": 0},\n'
            b'{"qid": 302, "docno": "D1", "rel": 1}]',
            "json",
        ),
        (
            b'{"query-id": "301", "corpus-id": "D1", "score": 2}\n'
            b'{"query-id": "301", "corpus-id": "D2", "score": 0}\n'
            b'{"query-id": "302", "corpus-id": "D1", "score": 1}\n',
            "jsonl",
        ),
    ],
)
def test_csv_json_and_named_columns_are_recognised_and_read(text, format):
    found = recognise_qrels(BytesIO(text))
    assert [candidate.format for candidate in found.candidates] == [format]
    assert accepted(text, format=format).grades == accepted(GOOD).grades


def test_a_column_that_is_not_needed_is_ignored():
    text = b",query,query_id,doc_id,relevance\n0,boats,301,D1,2\n1,boats,301,D2,0\n"
    format = recognise_qrels(BytesIO(text)).format
    assert format == "-,-,topic,docno,grade"
    assert accepted(text, format=format).grades == {b"301": {b"D1": 2, b"D2": 0}}


def test_a_header_that_names_another_order_is_not_skipped():
    assert codes(refused(b"docno iter topic rel\nD1 0 301 2\n")) == [("E_REL", 1)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b'{"301": {"D1": "high",\n"D2": 0}}', ("E_REL", 1)),
        (b'{"301": {"D1": 2,\n"D1": 0}}', ("E_DUP_QREL", 2)),
        (b'{"301": {"D1": 2},\n"301": {"D2": 0}}', ("E_DUP_TOPIC", 2)),
        (b'{"301": {"D1": 2,\n"D2": [0]}}', ("E_JSON", 2)),
        (b'{"train": {"301": {"D1": 2}},\n"test": {"302": {"D1": 2}}}', ("E_JSON", 2)),
        (b'[{"qid": 301, "docno": "D1", "rel": 2},\n{"qid": 301, "text": "D2"}]', ("E_JSON", 2)),
        (b'[{"qid": 301, "docno": "D1", "rel": 2},', ("E_JSON", 1)),
        (b'{"301": {"Lock gate": 1}}', ("E_CHAR", 1)),
    ],
)
def test_a_fault_in_json_is_one_problem_at_its_line(text, problem):
    assert codes(refused(text, format="json")) == [problem]


@pytest.mark.parametrize("text", [b"301\t0\tLock gate\t1\n", b"301\tLock gate\t1\n"])
def test_a_docno_with_a_blank_between_tabs_is_one_column(text):
    format = recognise_qrels(BytesIO(text * 9)).format
    (problem,) = refused(text, format=format)
    assert (problem.code, problem.found) == ("E_CHAR", "Lock gate")
    assert problem.message == "the document has a blank"


def test_blanks_and_tabs_may_both_separate_columns():
    assert accepted(GOOD.replace(b" D", b"\tD")).grades == accepted(GOOD).grades
    assert accepted(b"301\tQ0 D1 2\n").grades == {b"301": {b"D1": 2}}


def test_docnos_with_commas_are_not_cells():
    text = b"301 0 Report,_on_canals,_1992 1\n301 0 Weir,_a,_b 0\n"
    assert recognise_qrels(BytesIO(text)).format == "trec"


def test_a_fault_of_nearly_every_line_is_one_problem():
    problems = refused(b"301 0 D%d\n" * 60)
    assert [(problem.code, problem.count) for problem in problems] == [("E_COLUMNS", 60)]


def test_a_topic_that_the_topics_file_writes_otherwise_is_named_in_both_forms():
    problems = refused(b"26 0 D1 1\n27 0 D1 1\n", topics={b"AR26", b"AR27"})
    assert problems[0].hint == 'The topics file has "AR26". Write one form in both.'
