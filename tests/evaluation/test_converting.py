"""python -m evaluation convert: golden sets become qrels, topics and files of search engines."""

import io
import json

import pytest

from evaluation.__main__ import main
from evaluation.reading.judging.qrels import read_qrels

SHOES = {"query": "red shoes", "expected": {"d1": 2, "d2": 0}}
GOLDEN = json.dumps([SHOES, {"query": "hats", "expected": ["d3"]}])
TOPICS = "q1\tred shoes\nq2\thats\n"
QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "golden.json").write_text(GOLDEN)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "topics.tsv").write_text(TOPICS)
    return tmp_path


def converted(capfd, *words) -> str:
    assert main(["convert", *words]) == 0
    return capfd.readouterr().out


def test_a_golden_set_becomes_qrels_and_topics(capfd):
    assert converted(capfd, "golden.json", "--to", "trec") == QRELS
    assert converted(capfd, "golden.json", "--to", "topics") == TOPICS


def test_judgments_become_what_libraries_read(capfd):
    found = json.loads(converted(capfd, "qrels", "--to", "json"))
    assert found == {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}


@pytest.mark.parametrize("engine", ["opensearch", "rank-eval"])
def test_a_file_of_a_search_engine_is_read_as_it_was_written(engine, capfd):
    written = converted(capfd, "qrels", "--topics", "topics.tsv", "--to", engine)
    grades = read_qrels(io.BytesIO(written.encode()), format="golden").grades
    assert grades == {b"q1": {b"d1": 2, b"d2": 0}, b"q2": {b"d3": 1}}


def test_a_request_has_a_query_an_index_and_ratings(capfd):
    options = ["--topics", "topics.tsv", "--to", "rank-eval", "--index", "shop", "--field", "title"]
    [first, _] = json.loads(converted(capfd, "qrels", *options))["requests"]
    assert first["request"] == {"query": {"match": {"title": "red shoes"}}}
    assert first["ratings"][0] == {"_index": "shop", "_id": "d1", "rating": 2}


def test_a_topic_without_a_text_is_named(folder, capfd):
    (folder / "topics.tsv").write_text("q1\tred shoes\n")
    assert main(["convert", "qrels", "--topics", "topics.tsv", "--to", "opensearch"]) == 2
    assert "topics.tsv: error: E_TOPIC: topic q2 has no text" in capfd.readouterr().err


SNAPSHOT = """Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title
(3/5/26) Weekly,2026-03-05T12:00:00Z,8,red shoes,d2,1,Hat
(3/5/26) Weekly,2026-03-05T12:00:00Z,8,red shoes,d1,2,"Shoe, red"
"""


def test_a_snapshot_of_quepid_becomes_a_run(folder, capfd):
    (folder / "snapshot.csv").write_text(SNAPSHOT)
    found = converted(capfd, "snapshot.csv", "--topics", "golden.json", "--to", "run")
    assert found == "q1 Q0 d2 1 2 3-5-26-Weekly\nq1 Q0 d1 2 1 3-5-26-Weekly\n"


def test_a_snapshot_may_have_semicolons_and_a_byte_order_mark(folder, capfd):
    text = SNAPSHOT.replace("Shoe, red", "Shoe").replace(",", ";")
    (folder / "snapshot.csv").write_text(text, encoding="utf-8-sig")
    found = converted(capfd, "snapshot.csv", "--topics", "golden.json", "--to", "run")
    assert found.startswith("q1 Q0 d2 1 2")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("red shoes,d1", "green shoes,d1", "line 3: E_UNKNOWN_TOPIC: no topic has this text"),
        ("d1,2", "d1,1", "line 3: E_RANK"),
        ("Doc ID", "Document", "line 1: E_COLUMNS: the column Doc ID is missing"),
        ('"Shoe, red"', "Shoe, red", "line 3: E_COLUMNS: expected 7 columns of CSV"),
        ("red shoes,d1", "red shoes d1", "line 3: E_COLUMNS: expected 7 columns of CSV"),
    ],
)
def test_a_broken_snapshot_says_where(old, new, told, folder, capfd):
    (folder / "snapshot.csv").write_text(SNAPSHOT.replace(old, new))
    assert main(["convert", "snapshot.csv", "--topics", "golden.json", "--to", "run"]) == 2
    assert f"snapshot.csv: error: {told}" in capfd.readouterr().err


def test_qrels_alone_have_no_texts(capfd):
    with pytest.raises(SystemExit):
        main(["convert", "qrels", "--to", "rank-eval"])
    assert "--topics is needed" in capfd.readouterr().err
