"""Golden sets: queries with their documents, in the files that teams and search engines keep."""

import io
import json
import sys

import pytest

from evaluation.__main__ import main
from evaluation.problems import Problem, Refused
from evaluation.reading.judging.qrels import read_qrels
from evaluation.reading.recognition import recognise_qrels
from evaluation.reading.topics import read_topics

RATED = [{"query": "red shoes", "ratings": [{"docId": "d1", "rating": "3.0"}]}]
OPENSEARCH = {"name": "shop", "type": "IMPORT_JUDGMENT", "judgmentRatings": RATED}
REQUEST = {"query": {"match": {"title": "red shoes"}}}
RANKED = [
    {"id": "shoes", "request": REQUEST, "ratings": [{"_index": "i", "_id": "d1", "rating": 3}]}
]
RANK_EVAL = {"requests": RANKED, "metric": {"precision": {"k": 10}}}

ONE = {b"q1": {b"d1": 3}}
TWO = {b"q1": {b"d1": 1, b"d2": 1}, b"q2": {b"d3": 1}}
LISTED = [
    {"query": "red shoes", "relevant_ids": ["d1", "d2"]},
    {"query": "blue hats", "relevant_ids": ["d3"]},
]


def grades_of(content: bytes):
    """Return the judgments of a file that is recognised by itself."""
    file = io.BytesIO(content)
    found = recognise_qrels(file)
    assert found.format == "golden" and found.because
    return read_qrels(io.BytesIO(content), format="golden").grades


def titles_of(content: bytes) -> dict[str, str]:
    return {topic.number: topic.title for topic in read_topics(io.BytesIO(content)).topics}


def only_problem(content: bytes) -> Problem:
    with pytest.raises(Refused) as refused:
        read_qrels(io.BytesIO(content), format="golden")
    (problem,) = refused.value.problems
    return problem


JSON_LINES = b"".join(json.dumps(each).encode() + b"\n" for each in LISTED)
YAML = b"- query: red shoes\n  relevant: [d1, d2]\n- query: blue hats\n  relevant:\n    d3: 1\n"

GIVEN = ["list", "wrapped", "lines", "table", "semicolons", "yaml", "yaml wrapped", "opensearch"]
GIVEN += ["quepid", "quepid detailed"]


@pytest.mark.parametrize(
    ("content", "grades"),
    [
        (json.dumps(LISTED).encode(), TWO),
        (json.dumps({"queries": LISTED}, indent=1).encode(), TWO),
        (JSON_LINES, TWO),
        (b"query,expected_ids\nred shoes,d1 d2\nblue hats,d3\n", TWO),
        (b'\xef\xbb\xbfquery;expected_ids\r\nred shoes;"d1,d2"\r\nblue hats;d3\r\n', TWO),
        (YAML, TWO),
        (b"queries:\n" + YAML, TWO),
        (json.dumps(OPENSEARCH).encode(), ONE),
        (b"query,docid,rating\nred shoes,d1,3\nred shoes,d2,\n", ONE),
        (b"Case ID,Query Text,Doc ID,Doc Position,Title,Rating\n9,red,d1,1,Shoe,3\n", ONE),
    ],
    ids=GIVEN,
)
def test_a_query_without_an_identifier_is_numbered(content, grades):
    assert grades_of(content) == grades
    assert titles_of(content)["q1"].startswith("red")


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(RANK_EVAL).encode(),
        b'{"shoes": {"query": "red shoes", "relevant": {"d1": 3}}}',
        b'[{"id": "shoes", "query": "red shoes", "expected": [{"id": "d1", "grade": 3}]}]',
        b"qid,query,relevant_docs,grade\nshoes,red shoes,d1,3\n",
        b"shoes:\n  query: red shoes\n  expected: {d1: 3}\n",
    ],
    ids=["rank-eval", "keyed", "objects", "table", "yaml-keyed"],
)
def test_a_query_keeps_its_identifier(content):
    assert grades_of(content) == {b"shoes": {b"d1": 3}}
    assert titles_of(content)["shoes"] == "red shoes"


def test_documents_that_are_expected_not_to_appear_have_grade_0():
    query = {"query": "red shoes", "positives": ["d1"], "negatives": ["d2"]}
    assert grades_of(json.dumps([query]).encode()) == {b"q1": {b"d1": 1, b"d2": 0}}


def test_texts_beside_ids_are_no_documents():
    query = {"query": "red shoes", "documents": ["A shoe is red."], "relevant_ids": ["d1"]}
    assert grades_of(json.dumps([query]).encode()) == {b"q1": {b"d1": 1}}


def test_an_object_of_topics_is_none():
    found = recognise_qrels(io.BytesIO(b'{"q1": {"d1": 2}, "q2": {"d3": 1}}'))
    assert found.format == "json"


def test_a_number_in_yaml_is_kept_as_written():
    assert grades_of(b"- query: red shoes\n  expected: [007, 1e3]\n") == {
        b"q1": {b"007": 1, b"1e3": 1}
    }


def test_a_score_is_computed_from_a_golden_set(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "golden.yaml").write_bytes(YAML)
    (tmp_path / "run").write_text("q1 Q0 d1 1 2 oak\nq1 Q0 d9 2 1 oak\nq2 Q0 d3 1 1 oak\n")
    assert main(["score", "golden.yaml", "run", "-m", "RR", "-m", "P@2"]) == 0
    assert [line.split()[-1] for line in capfd.readouterr().out.splitlines()] == [
        "1.0000",
        "0.5000",
    ]


def test_questions_of_bioasq_are_topics_and_judgments():
    asked = {"id": "6af1", "body": "Which valve closes a lock?", "documents": ["pubmed/101"]}
    asked["snippets"] = [{"document": "pubmed/101", "text": "A slide valve."}]
    content = json.dumps({"questions": [asked]}).encode()
    assert grades_of(content) == {b"6af1": {b"pubmed/101": 1}}
    assert titles_of(content) == {"6af1": "Which valve closes a lock?"}


# Broken files.


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'[{"query": "a", "expected": [{"rank": 1}]}]', "the query has no id"),
        (b'[{"query": "a", "expected": ["d1"]},\n{"query": "b"}]', "expected a query with"),
        (
            b'{"query": "a", "expected": ["d1"]}\n{"query": "a", "expected": []}',
            "already at line 1",
        ),
        (b'{"q1": {"expected": ["d1"]}, "q1": {"expected": ["d2"]}}', "already at line 1"),
        (b"- query: a\n  expected: {d1: 1, d1: 2}\n", "a name appears twice"),
        (b'[{"query": "a", "expected": {"d1": NaN}}]', "the grade is not an integer"),
        (b'[{"query": "a", "expected": {"d1": 0.5}}]', "the grade is not an integer"),
        (b'[{"query": "a", "expected": ["d1", "d1"]}]', "the document is already judged"),
        (b'[{"query": "a", "expected": ["d1"]', "the file is not JSON"),
        (b"query,expected_ids\nred shoes,d1,d2\n", "expected 2 columns of CSV but found 3"),
        (b"- query: a\n  expected: [d1\n", "the file is not YAML"),
        (b"- &q query: a\n  expected: *q\n", "the file "),
        (b'[{"query": "a", "expected": ' + b"[" * 9000, "nested too deeply"),
        (b'[{"query": "a", "expected": ' + b"[" * 5_000_000, "the line exceeds"),
    ],
)
def test_a_broken_golden_set_has_one_problem_with_its_place(content, told):
    assert told in only_problem(content).message


def test_yaml_without_its_library_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    problem = only_problem(YAML)
    assert (problem.code, "pip install pyyaml" in problem.hint) == ("E_FORMAT", True)
