"""Small files of every kind that people bring, each with what becomes of it."""

import gzip
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from evaluation.problems import Problem, Refused
from evaluation.reading.containers import Limits, unpacked
from evaluation.reading.evidence import Evidence
from evaluation.reading.judging.qrels import read_qrels
from evaluation.reading.recognition import recognise_qrels, run_candidates
from evaluation.reading.runs.reader import Run, RunRules, read_run
from evaluation.reading.topics import read_topics


def accepted(text: bytes, *formats: str, **rules) -> Run:
    return read_run(BytesIO(text), RunRules(formats=formats or ("trec",), **rules))


def refused(text: bytes, *formats: str, **rules) -> list[Problem]:
    with pytest.raises(Refused) as refusal:
        accepted(text, *formats, **rules)
    return list(refusal.value.problems)


def order(run: Run) -> dict[bytes, list[bytes]]:
    return {topic: ranking.docnos for topic, ranking in run.rankings.items()}


def codes(problems) -> list[tuple[str, int | None]]:
    return [(problem.code, problem.line) for problem in problems]


def test_1_a_run_of_ntcir_keeps_its_description():
    text = b"<SYSDESC>x</SYSDESC>\n0001 0 d1 1 27.73 RUN\n0001 0 d2 2 25.15 RUN\n"
    run = accepted(text, "ntcir")
    assert (run.format, run.description, run.tag, run.lines) == ("ntcir", "x", "RUN", 2)


def test_2_ranks_of_ms_marco_keep_their_order_without_ties():
    text = b"q1\ta\t1\nq1\tb\t2\nq1\tc\t3\nq2\tc\t1\nq2\tb\t2\nq2\ta\t3\n"
    run = accepted(text, "trec", "msmarco", "scores", tag="t")
    assert order(run) == {b"q1": [b"a", b"b", b"c"], b"q2": [b"c", b"b", b"a"]}
    assert run.rankings[b"q1"].scores.tolist() == [3, 2, 1]
    assert len(run.problems) == 0


def test_3_whole_scores_are_a_question():
    text = b"q1\ta\t9\nq1\tb\t7\nq1\tc\t3\n"
    (problem,) = refused(text, "msmarco", "scores", tag="t")
    assert problem.message == "the file matches two formats; choose one"


def test_4_swapped_columns_are_found_in_the_column_of_the_documents():
    text = b"1 Q0 1 d1 9 t\n1 Q0 2 d2 8 t\n"
    table = Evidence.of(enumerate(text.splitlines(), 1), {b"1"}, {b"d1", b"d2"})
    (found,) = run_candidates(table)
    assert found.refused == "The documents are in column 4, not column 3."
    problems = refused(text, topics={b"1"}, docnos={b"d1", b"d2"})
    hint = "Are the docno and rank columns swapped?"
    assert [problem.hint for problem in problems if problem.code == "E_RANK"] == [hint, hint]


def test_5_scores_that_rise_with_the_rank_in_all_topics_look_like_distances():
    text = b"".join(
        b"%d Q0 d%d %d 0.%d t\n" % (topic, rank, rank, rank)
        for topic in (1, 2)
        for rank in (1, 2, 3)
    )
    (warning,) = accepted(text).problems
    assert warning.code == "W_UPSIDE_DOWN"
    assert warning.message.startswith("in 2 of 2 topics the scores rise with the rank")


def test_6_a_document_that_comes_twice_names_both_physical_lines():
    between = b"".join(b"1 Q0 d%d 1 %d t\n" % (number, -number) for number in range(2, 1002))
    text = b"# by hand\n\n1 Q0 d1 1 3 t\n# more\n" + between + b"\n1 Q0 d1 9 2 t\n"
    (problem,) = [p for p in refused(text, depth=2000) if p.severity == "error"]
    assert (problem.code, problem.line) == ("E_DUP_DOC", 1006)
    assert problem.message.endswith("at line 3")


def test_7_leading_zeros_are_offered_where_they_make_all_topics_known():
    text = b"001 Q0 d1 1 9 t\n002 Q0 d1 1 9 t\n"
    (problem,) = refused(text, topics={b"1", b"2"})
    assert (problem.code, problem.count, problem.fix) == ("E_UNKNOWN_TOPIC", 2, "topics")
    assert problem.hint.startswith('Without leading zeros they all match: "001" is "1".')


def test_8_a_byte_order_mark_and_windows_line_ends_change_no_ranking():
    text = b"1 Q0 d1 1 9 t\n1 Q0 d2 2 8 t\n"
    windows = accepted(b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))
    assert order(windows) == order(accepted(text))
    assert codes(windows.problems) == [("W_BOM", 1), ("W_CRLF", 1)]


def test_9_containers_that_cannot_be_unpacked_say_why():
    packed = gzip.compress(b"1 Q0 d1 1 9 t\n" * 1000)
    with pytest.raises(Refused, match="E_CONTAINER: the compressed file is damaged: it ends early"):
        read_run(unpacked(BytesIO(packed[:-10])))
    with pytest.raises(Refused, match="E_BOMB: the unpacked file exceeds 10,000 bytes"):
        read_run(unpacked(BytesIO(packed), Limits(unpacked=10_000)))
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a.run", b"1 Q0 d1 1 9 t\n")
        file.writestr("b.run", b"1 Q0 d1 1 9 t\n")
    with pytest.raises(Refused, match="E_MEMBERS"):
        read_run(unpacked(archive))


def test_10_every_error_is_told():
    text = b"".join(b"1 Q0 d%d 1 x t\n" % number for number in range(26))
    assert codes(refused(text)) == [("E_SCORE", line) for line in range(1, 27)]


def test_11_judgments_of_subtopics_are_not_read_as_plain_ones():
    text = b"1 1 d1 1\n1 1 d2 0\n1 2 d1 0\n1 2 d2 1\n"
    found = recognise_qrels(BytesIO(text))
    assert [each.format for each in found.candidates] == ["subtopics"]
    with pytest.raises(Refused, match="E_DUP_QREL"):
        read_qrels(BytesIO(text))


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (b"52 0 aaa 1 0.0375\n52 0 bbb 0 0.5\n52 0 ccc -1 1.0\n", "legal"),
        (b"20001 GX1 1 1 0.125\n20001 GX2 0 0 0.5\n20002 GX3 1 1 0.25\n", "prels"),
    ],
)
def test_12_kinds_of_sampled_judgments_are_told_apart(text, format):
    found = recognise_qrels(BytesIO(text))
    assert found.format == format
    assert "sampled judgments" in found.refused


@pytest.mark.data
def test_13_judgments_of_cranfield_are_read_and_do_not_fit_its_own_topic_numbers(data: Path):
    folder = data / "data" / "cranfield" / "smart"
    with (folder / "cran.qry").open("rb") as file:
        topics = {topic.number.encode() for topic in read_topics(file).topics}
    with (folder / "cranqrel").open("rb") as file:
        assert recognise_qrels(file).format == "cranfield"
    with (folder / "cranqrel").open("rb") as file:
        judged = read_qrels(file, format="cranfield").grades.keys()
    assert len(judged - topics) == 131
    assert judged == {b"%d" % number for number in range(1, len(topics) + 1)}


def test_14_a_blank_in_a_docno_is_named_as_the_reason():
    (problem,) = refused(b"1 Q0 FT911 3 1 9.5 t\n")
    assert (problem.code, problem.line) == ("E_COLUMNS", 1)
    assert problem.hint == "Docnos cannot contain spaces. Remove them."


def test_15_a_name_that_comes_twice_in_json_is_reported():
    text = b'{"q1": {"d1": 2, "d2": 1},\n "q1": {"d3": 1}}'
    assert codes(refused(text, "json", tag="t")) == [("E_DUP_TOPIC", 2)]


def test_16_missing_topics_are_a_warning_or_a_refusal():
    topics = {b"%d" % number for number in range(1, 51)}
    text = b"".join(b"%d Q0 d1 1 9 t\n" % number for number in range(1, 48))
    message = "no documents for 3 of the 50 topics: 48, 49, 50"
    (warning,) = accepted(text, topics=topics).problems
    assert (warning.code, warning.message) == ("W_MISSING_TOPIC", message)
    (error,) = refused(text, topics=topics, missing_topics="refuse")
    assert (error.code, error.message) == ("E_MISSING_TOPIC", message)
