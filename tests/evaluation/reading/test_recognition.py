"""What a file is, is told with the evidence; where two readings fit, both are returned."""

from io import BytesIO

import pytest

from evaluation.problems import Refused
from evaluation.reading.evidence import Evidence
from evaluation.reading.judging.qrels import read_qrels
from evaluation.reading.judging.qrels_lines import layout_of
from evaluation.reading.recognition import Recognised, recognise_qrels
from evaluation.reading.topics import recognise_topics

TOPICS = {b"301", b"302"}
DOCNOS = {b"D1", b"D2", b"D3"}


def qrels(text: bytes, topics=TOPICS, docnos=DOCNOS) -> Recognised:
    return recognise_qrels(BytesIO(text), topics, docnos)


def formats(recognised: Recognised) -> list[str]:
    return [candidate.format for candidate in recognised.candidates]


def test_the_columns_of_known_topics_and_documents_are_the_evidence():
    found = qrels(b"# pooled\n301 0 D1 2\n302 0 D3 0\n")
    assert (formats(found), found.refused) == (["trec"], "")
    assert found.because == (
        "The lines have 4 columns; column 1 has known topics; column 3 has known documents."
    )


@pytest.mark.parametrize(
    ("text", "format", "because"),
    [
        (b"301 D1 2\n302 D2 0\n", "cranfield", "has known documents. Column 3 contains grades."),
        (
            b"query-id\tcorpus-id\tscore\n301\tD1\t1\n",
            "beir",
            "The first line is a header: query-id corpus-id score.",
        ),
        (b"301 D1 L3\n301 D2 L0\n", "ntcir", "Column 3 contains grades as in NTCIR files."),
        (b"  301  D1\t0\t0.000000\n  302  D2\t0\t0.000000\n", "smart", "of relevant documents."),
        (b"301 D1  0 0\n302 D2  0 0\n", "smart", "as in SMART files of relevant documents."),
        (b"301 C D1 0\n301 A D2 1\n", "ntcir", "The grades are letters, as in NTCIR files."),
    ],
)
def test_judgments_that_are_read_are_recognised(text, format, because):
    found = qrels(text)
    assert (formats(found), found.refused) == ([format], "")
    assert found.because.endswith(because)


@pytest.mark.parametrize("docnos", [None, DOCNOS])
@pytest.mark.parametrize(
    ("text", "format"),
    [
        (b"301 D1 1 1 0.125\n301 D2 0 0 1\n302 D3 1 1 0.5\n302 D1 0 1 0.25\n", "prels"),
        (b"301 0 D1 1 0.0375\n301 0 D2 -1 0.5\n302 0 D3 1 1.0\n", "legal"),
        (b"301 1 1 D1 1\n301 1 2 D2 2\n302 1 1 D3 1\n", "preferences"),
        (b"301 0 D1 1 2 -1\n301 0 D2 0 -1 -1\n", "aspects"),
        (b"301 Q0 D1 1 9.5 bm25\n301 Q0 D2 2 8.5 bm25\n", "run"),
    ],
)
def test_judgments_that_are_not_read_are_recognised_by_name(text, format, docnos):
    found = qrels(text, docnos=docnos)
    assert formats(found) == [format]
    assert found.refused


def test_a_second_column_that_differs_asks_whether_it_holds_subtopics():
    found = qrels(b"301 1 D1 1\n301 2 D2 0\n")
    assert formats(found) == ["trec", "subtopics"]
    assert found.refused == ""


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (b"301 0 D1 1 -1\n301 0 D2 2 1\n302 0 D3 1 0\n", "strata"),
        (b"301 1 D1 1\n301 1 D2 0\n301 2 D1 1\n301 2 D2 -2\n", "subtopics"),
    ],
)
@pytest.mark.parametrize("docnos", [None, DOCNOS])
def test_samples_and_subtopics_are_read_in_their_own_columns(text, format, docnos):
    found = qrels(text, docnos=docnos)
    assert (formats(found), found.refused) == ([format], "")
    assert read_qrels(BytesIO(text), TOPICS, DOCNOS, format=format).format == format


def test_names_in_the_second_column_may_be_of_subtopics_or_of_assessors():
    found = qrels(b"301 ada D1 1\n301 ben D1 0\n")
    assert formats(found) == ["trec", "subtopics"]


def test_judgments_of_nothing_relevant_are_not_taken_for_those_of_smart():
    assert formats(qrels(b"301 0 D1 0\n301 0 D2 0\n")) == ["trec"]


def test_judgments_that_count_up_may_be_a_run():
    assert formats(qrels(b"301 D1 1\n301 D2 2\n301 D3 3\n")) == ["run", "cranfield"]


def test_swapped_columns_are_found_by_the_known_documents_and_offered():
    usual, offered = qrels(b"301 D1 0 1\n302 D2 0 2\n").candidates
    assert usual.refused == "The documents are in column 2, not column 3."
    assert (offered.format, offered.refused) == ("topic docno iteration grade", "")


@pytest.mark.parametrize(
    ("text", "order"),
    [
        (b"D1 0 301 1\nD2 0 302 0\n", "docno iteration topic grade"),
        (b"D1 301 1\nD2 302 0\n", "docno topic grade"),
        (b"D1 2 301 0\nD2 0 302 0\n", "docno grade topic iteration"),
    ],
)
@pytest.mark.parametrize("docnos", [None, DOCNOS])
def test_columns_in_another_order_are_read_in_it(text, order, docnos):
    found = qrels(text, docnos=docnos)
    assert found.candidates[-1].format == order
    assert read_qrels(BytesIO(text), TOPICS, DOCNOS, format=order).grades.keys() == TOPICS


def test_a_line_that_was_cut_is_no_other_order_of_its_columns():
    with pytest.raises(Refused, match="E_FORMAT"):
        qrels(b"301 0 D1\n302 0 D2\n")


@pytest.mark.parametrize("format", ["docno topic", "topic topic docno grade", "pdf", ""])
def test_columns_that_are_not_all_named_are_no_format(format):
    with pytest.raises(Refused, match="E_FORMAT"):
        layout_of(format)


def test_topics_with_colons_and_tabs_may_be_read_in_two_ways():
    found = recognise_topics(BytesIO(b"7:boundary\tlayers\n8:heat\ttransfer\n"))
    assert formats(found) == ["colon", "tsv"]


def test_a_file_is_recognised_by_its_first_lines_and_bytes():
    short, long = (b"301 0 D1 1" + b" " * blanks for blanks in (1, 2000))
    for line, looked_at in ((short, 20_000), (long, 1044)):
        lines = ((number, line) for number in range(30_000))
        assert len(Evidence.of(lines).rows) == looked_at


@pytest.mark.parametrize(
    ("text", "code"), [(b"", "E_EMPTY"), (b"a b\n", "E_FORMAT"), (b"\xff\xfe1", "E_ENCODING")]
)
def test_what_is_no_table_of_judgments_is_refused(text, code):
    with pytest.raises(Refused) as refusal:
        qrels(text)
    assert [problem.code for problem in refusal.value.problems] == [code]
