"""`rankfield replay` beside a real search engine: Datasette, which searches SQLite by BM25."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

import pytest

from rankfield.__main__ import main
from tests.services.machines import free_port, until

pytestmark = pytest.mark.night

OK, NOT_REACHED = 0, 3
TOPICS = "1\tsourdough bread\n2\trye OR flour (fine\n3\tnothing like it\n"
TEXTS = [
    *("sourdough bread from rye flour", "bread, bread and more bread", "an oven at 250 degrees"),
    *("fine wheat flour", "a sourdough starter", 'rye OR wheat: which "flour (fine" to buy'),
]
SEARCH = """
SELECT docno, -bm25(documents) AS score FROM documents WHERE documents MATCH {match}
ORDER BY bm25(documents), docno LIMIT :depth
"""


@pytest.fixture
def address(tmp_path, monkeypatch):
    """The address of a running engine, up to the SQL that it runs."""
    pytest.importorskip("datasette")
    monkeypatch.chdir(tmp_path)
    Path("topics.tsv").write_text(TOPICS)
    with sqlite3.connect("shop.db") as database:
        database.execute("CREATE VIRTUAL TABLE documents USING fts5(docno UNINDEXED, text)")
        database.executemany(
            "INSERT INTO documents VALUES (?, ?)", [(f"d{n}", t) for n, t in enumerate(TEXTS, 1)]
        )
    port = free_port()
    words = [sys.executable, "-m", "datasette", "shop.db", "--port", str(port)]
    engine = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: answers(f"http://127.0.0.1:{port}/-/versions.json"), "the engine answers")
        yield f"http://127.0.0.1:{port}/shop.json?_shape=objects&"
    finally:
        engine.terminate()
        engine.wait(timeout=10)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def replay(address: str, match: str) -> int:
    sql = urlencode({"sql": SEARCH.format(match=match)})
    url = f"{address}{sql}&q={{query}}&depth={{depth}}"
    places = ["--hits", "rows", "--docno", "docno", "--score", "score"]
    return main(["replay", url, "--queries", "topics.tsv", "--depth", "2", *places, "-o", "a.run"])


def ranked(words: str) -> list[tuple[str, float]]:
    """What SQLite itself ranks for these words."""
    quoted = " ".join(f'"{word}"' for word in words.split())
    with sqlite3.connect("shop.db") as database:
        return database.execute(SEARCH.format(match=":q"), {"q": quoted, "depth": 2}).fetchall()


def test_the_run_has_what_the_engine_ranks(address):
    assert replay(address, "escape_fts(:q)") == OK
    lines = [line.split() for line in Path("a.run").read_text().splitlines()]
    found = [(topic, docno, float(score)) for topic, _, docno, _, score, _ in lines]
    topics = {line.split("\t")[0]: line.split("\t")[1] for line in TOPICS.splitlines()}
    assert found == [(n, *each) for n, words in topics.items() for each in ranked(words)]
    assert {docno for topic, docno, _ in found if topic == "1"} == {"d1"}


def test_a_query_that_the_engine_rejects_is_said_with_its_words(address, capsys):
    assert replay(address, ":q") == NOT_REACHED
    said = capsys.readouterr().err
    assert "2 topics ranked." in said and "topic 2" in said.lower()
