"""A run in a format that its track takes is read; in any other it is refused by name."""

import json
from io import BytesIO

import pytest

from evaluation.problems import Problem, Refused
from evaluation.reading.evidence import Evidence
from evaluation.reading.recognition import (
    RUN_FORMATS,
    Recognised,
    run_by_first_bytes,
    run_candidates,
)
from evaluation.reading.runs.reader import Run, RunRules, read_run

TOPICS = {b"301", b"302"}
DOCNOS = {b"D1", b"D2", b"D3"}

TREC = b"301 Q0 D2 1 9.5 bm25\n301 Q0 D1 2 8.5 bm25\n302 Q0 D3 1 7 bm25\n"
SAME = {
    "trec": TREC,
    "trec5": TREC.replace(b" bm25", b""),
    "msmarco": b"301\tD2\t1\n301\tD1\t2\n302\tD3\t1\n",
    "scores": b"301\tD2\t9.5\n301\tD1\t8.5\n302\tD3\t7\n",
    "pairs": b"301\tD2\n302\tD3\n301\tD1\n",
    "json": b'{"301": {"D1": 8.5, "D2": 9.5},\n "302": {"D3": 7}}',
    "jsonl": b"""{"qid": 301, "docid": "D1", "score": 8.5, "run_id": "bm25"}
{"query_id": "301", "docno": "D2", "sim": 9.5}
{"topic": "302", "results": [{"pid": "D3", "rank": 1}]}
""",
    "ntcir": b"<SYSDESC>A plain BM25</SYSDESC>\n" + TREC,
}


def accepted(text: bytes, *formats: str, **rules) -> Run:
    rules = {"topics": TOPICS, "docnos": DOCNOS, "tag": "bm25"} | rules
    return read_run(BytesIO(text), RunRules(formats=formats or ("trec",), **rules))


def refused(text: bytes, *formats: str, **rules) -> list[Problem]:
    with pytest.raises(Refused) as refusal:
        accepted(text, *formats, **rules)
    return [problem for problem in refusal.value.problems if problem.severity == "error"]


def codes(problems) -> list[tuple[str, int | None]]:
    return [(problem.code, problem.line) for problem in problems]


def recognised(text: bytes, topics=TOPICS, docnos=DOCNOS) -> Recognised:
    by_bytes = run_by_first_bytes(text)
    table = Evidence.of(enumerate(text.splitlines(), 1), topics, docnos)
    return Recognised(tuple(run_candidates(table)) if by_bytes is None else (by_bytes,))


def formats(found: Recognised) -> list[str]:
    return [candidate.format for candidate in found.candidates]


@pytest.mark.parametrize("format", SAME)
def test_the_same_run_is_read_from_every_format(format):
    run = accepted(SAME[format], "trec", format)
    assert {topic: ranking.docnos for topic, ranking in run.rankings.items()} == {
        b"301": [b"D2", b"D1"],
        b"302": [b"D3"],
    }
    assert (run.format, run.tag, run.lines, len(run.problems)) == (format, "bm25", 3, 0)


@pytest.mark.parametrize("format", SAME)
def test_each_format_is_recognised_with_its_evidence(format):
    found = recognised(SAME[format])
    assert (formats(found), found.refused) == ([format], "")
    assert found.because.endswith(".")


@pytest.mark.parametrize("format", sorted(set(SAME) - {"trec"}))
def test_no_other_format_is_read_where_only_six_columns_are_taken(format):
    first, *_ = refused(SAME[format])
    by_name = format in ("json", "jsonl", "ntcir")
    assert first.code == ("E_FORMAT" if by_name else "E_COLUMNS")
    assert not by_name or first.message.endswith(RUN_FORMATS[format])


def test_six_columns_are_refused_by_name_where_they_are_not_taken():
    (problem,) = refused(TREC, "msmarco")
    assert problem.message == (
        "this track does not accept this format: TREC (topic Q0 docno rank score tag)"
    )
    assert problem.hint == (
        "The lines have 6 columns; column 1 has known topics; column 3 has known documents."
        " Accepted formats: MS MARCO (topic docno rank)."
    )


@pytest.mark.parametrize(
    ("text", "format", "reason"),
    [
        (b"301 0 D1 1\n302 0 D2 0\n", "judgments", "This looks like relevance judgments"),
        (b"301 0 D1 1 0.0375\n301 0 D2 1 0.5\n", "trec5", ""),
        (b"20150720 MB228 Q0 D1 1 0.9 tag\n", "microblog", "Microblog track runs"),
        (
            b"<!DOCTYPE videoAdhocSearchResults SYSTEM 'x.dtd'>\n<videoAdhocSearchResults>",
            "trecvid",
            "TRECVID XML runs",
        ),
        (b"<html>\n<body>", "markup", "This looks like HTML"),
        (b'[{"qid": 1}]', "list", "JSON runs are an object"),
    ],
)
def test_what_is_no_run_is_recognised_by_name(text, format, reason):
    found = recognised(text)
    assert found.format == format
    assert found.refused.startswith(reason)


def test_judgments_are_no_run_whatever_is_taken():
    (problem,) = refused(b"301 0 D1 1\n302 0 D2 0\n", "msmarco", "json")
    assert problem.code == "E_FORMAT"
    assert problem.hint.startswith("This looks like relevance judgments, not a run.")


def test_whole_numbers_that_do_not_count_up_are_a_question():
    text = b"301 D1 9\n301 D2 7\n301 D3 3\n"
    assert formats(recognised(text)) == ["scores", "msmarco"]
    (problem,) = refused(text, "msmarco", "scores")
    assert problem.message == "the file matches two formats; choose one"
    assert accepted(text, "scores").rankings[b"301"].docnos == [b"D1", b"D2", b"D3"]
    assert accepted(text, "msmarco").rankings[b"301"].docnos == [b"D3", b"D2", b"D1"]


def test_scores_are_not_taken_for_ranks():
    (problem,) = refused(SAME["scores"], "msmarco")
    assert problem.message.endswith(
        "does not accept this format: three columns (topic docno score)"
    )


def test_whole_scores_with_ties_may_be_judgments():
    found = recognised(b"301 D1 1\n301 D2 1\n302 D3 0\n")
    assert formats(found) == ["scores", "msmarco", "judgments"]
    assert [bool(candidate.refused) for candidate in found.candidates] == [False, True, True]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (b"301 Q0 1 D1 9 t\n302 Q0 2 D2 8 t\n", "documents are in column 4, not column 3"),
        (b"D1 Q0 301 1 9 t\nD2 Q0 302 2 8 t\n", "topics are in column 3, not column 1"),
    ],
)
def test_swapped_columns_are_found_by_what_is_known(text, where):
    assert recognised(text).refused == f"The {where}."


def test_numbers_as_docnos_are_not_taken_for_swapped_columns():
    numbers = {b"%d" % number for number in range(1, 400)}
    text = b"301 Q0 X51 1 9.5 t\n301 Q0 X48 2 8.5 t\n302 Q0 X12 1 9.0 t\n"
    assert recognised(text, docnos=numbers).refused == ""


def test_a_rank_may_come_once_for_a_topic():
    problems = refused(b"301 D1 1\n301 D2 2\n301 D3 2\n302 D3 1\n302 D1 2\n", "msmarco")
    assert codes(problems) == [("E_RANK", 3)]
    assert problems[0].message == "duplicate rank in this topic, first at line 2"


def test_a_format_without_tag_needs_the_tag_given_with_the_file():
    assert codes(refused(SAME["msmarco"], "msmarco", tag=None)) == [("E_TAG", None)]


def test_a_line_with_other_columns_is_told_by_those_of_its_format():
    problems = refused(b"301 D1 1\n301 Q0 D2 2 9.5 bm25\n301 D2 2\n301 D3 3\n", "msmarco")
    assert codes(problems) == [("E_COLUMNS", 2)]
    assert problems[0].message == "expected 3 columns (topic docno rank) but found 6"
    assert problems[0].hint == "This looks like the six-column TREC format."


def test_the_description_of_ntcir_is_kept_and_its_lines_are_physical():
    assert accepted(SAME["ntcir"], "ntcir").description == "A plain BM25"
    text = SAME["ntcir"] + b"302 Q0 D1 2 x bm25\n"
    assert codes(refused(text, "ntcir")) == [("E_SCORE", 5)]


def test_a_json_run_keeps_no_name_twice():
    text = b'{"301": {"D1": 2,\n "D2": 1,\n "D1": 3},\n "301": {"D3": 1}\n}'
    assert codes(refused(text, "json")) == [("E_DUP_DOC", 3), ("E_DUP_TOPIC", 4)]


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        (b'{"301": {"D1": NaN}}', "E_SCORE", 1),
        (b'{"301": {"D1": "9.5"}}', "E_SCORE", 1),
        (b'{"301":\n {"D\\u00a0": 1}}', "E_CHAR", 2),
        (b'{"301": {"D1": 1},\n "302": {"D1" 2}}', "E_JSON", 2),
        (b'{"301": {"D1": 1}', "E_JSON", 1),
        (b'{"301": {"D1": 1}}\n{', "E_JSON", 2),
        (b'{"301": {"D1": [1]}}', "E_JSON", 1),
        (b"{}", "E_EMPTY", None),
        (b'{"7": {"D1": 1}}', "E_UNKNOWN_TOPIC", 1),
    ],
)
def test_a_json_run_with_a_fault_is_refused_at_its_line(text, code, at):
    assert codes(refused(text, "json")) == [(code, at)]


def test_a_json_run_of_any_size_is_read_in_pieces():
    scores = {f"D{number}": number / 7 for number in range(40_000)}
    text = json.dumps({"301": scores, "302": {"D1": 1.5}}, indent=1).encode()
    run = accepted(text, "json", docnos=None, depth=40_000)
    assert run.rankings[b"301"].docnos[:2] == [b"D39999", b"D39998"]
    assert run.rankings[b"302"].scores.tolist() == [1.5]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b'{"qid": "301", "docid": "D1"}', "E_JSON"),
        (b'{"qid": "301", "docid": "D1", "score": Infinity}', "E_SCORE"),
        (b'{"qid": "301", "docid": "D\\ud800", "score": 1}', "E_CHAR"),
        (b'{"qid": "301", "results": [7]}', "E_JSON"),
        (b'{"qid": "301", "results": ' + b"[" * 100_000, "E_JSON"),
    ],
)
def test_a_json_line_with_a_fault_is_refused(text, code):
    line = b'{"qid": "301", "docid": "D2", "score": 1}\n'
    assert codes(refused(line + text, "jsonl")) == [(code, 2)]


METADATA = b"""# ir_metadata.start
# schema: 0.1
# tag: bm25
# platform:
#   hardware:
#     cpu:
#       model: Intel Xeon @ 3.50GHz  # two of them
#     ram: '64 GB'
#   software:
#     retrieval toolkit:
#     - anserini==0.3.0
#     - "pyserini"
# method:
#   retrieval:
#     - name: bm25
#       b: 0.4
#     - name: rerank
# ir_metadata.end
"""


def test_ir_metadata_are_read_by_path():
    run = accepted(METADATA + TREC)
    assert run.metadata == {
        "schema": "0.1",
        "tag": "bm25",
        "platform.hardware.cpu.model": "Intel Xeon @ 3.50GHz",
        "platform.hardware.ram": "64 GB",
        "platform.software.retrieval toolkit.1": "anserini==0.3.0",
        "platform.software.retrieval toolkit.2": "pyserini",
        "method.retrieval.1.name": "bm25",
        "method.retrieval.1.b": "0.4",
        "method.retrieval.2.name": "rerank",
    }
    assert len(run.problems) == 0


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (METADATA.replace(b"tag: bm25", b"tag: other"), None),
        (METADATA.replace(b"schema: 0.1", b"schema"), 2),
        (METADATA.replace(b"0.1", b"!!float 0.1"), 2),
        (METADATA.replace(b"# ir_metadata.end\n", b""), 1),
    ],
)
def test_ir_metadata_that_do_not_fit_are_a_warning(text, at):
    assert codes(accepted(text + TREC).problems) == [("W_METADATA", at)]


def test_lines_below_ir_metadata_keep_their_numbers():
    assert codes(refused(METADATA + TREC + b"301 Q0 D3 3 x bm25\n")) == [("E_SCORE", 22)]


def test_predictions_of_mteb_are_read_below_their_subset_and_split():
    meta = b'{"mteb_model_meta": {"name": "a/b", "loaded": {"x": [1, "}"]}}, "default": {"test": '
    run = accepted(meta + SAME["json"] + b"}}", "json")
    assert run.rankings[b"301"].docnos == [b"D2", b"D1"]
    (problem,) = refused(meta + SAME["json"] + b'}, "en": {"test": {}}}', "json")
    assert (problem.code, problem.line) == ("E_JSON", 2)
    assert problem.message == "the file has several objects of topics: default and en"


@pytest.mark.parametrize("text", [b'{"a": {"b": {"c": {"301": {"D1": 1}}}}}', b'{"a": {"b": '])
def test_objects_too_deep_or_cut_off_are_refused(text):
    assert codes(refused(text, "json")) == [("E_JSON", 1)]


@pytest.mark.parametrize(
    "text",
    [
        b"301\tD1\t3\n301\tD2\t1\n301\tD3\t2\n302\tD3\t2\n302\tD1\t1\n",
        b"301 D1 2\n301 D2 0\n301 D3 1\n302 D3 0\n302 D1 1\n",
        b'{"301": {"D1": 1, "D2": 2, "D3": 3}, "302": {"D3": 2.0, "D1": 1.0}}',
    ],
)
def test_scores_that_may_be_ranks_are_warned_of(text):
    run = accepted(text, "json" if text.startswith(b"{") else "scores")
    assert [problem.code for problem in run.problems] == ["W_MAYBE_RANKS"]


def test_scores_that_fall_from_n_to_1_are_scores():
    assert not accepted(b"301 D1 3\n301 D2 2\n301 D3 1\n302 D3 1\n", "scores").problems.kept


def test_ranks_may_be_written_as_decimals():
    text = SAME["msmarco"].replace(b"\n", b".0\n")
    assert formats(recognised(text)) == ["msmarco"]
    assert accepted(text, "msmarco").rankings[b"301"].docnos == [b"D2", b"D1"]


def test_three_columns_of_ranks_are_not_taken_for_scores():
    (problem, *_) = refused(SAME["msmarco"])
    assert (problem.code, problem.line) == ("E_COLUMNS", 1)
    assert problem.hint.startswith("Is column 3 a rank, as in MS MARCO?")
