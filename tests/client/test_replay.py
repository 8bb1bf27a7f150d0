"""`rankfield replay` beside a small search engine, which answers as the real ones do."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from evaluation.reading.topics import Topic
from rankfield import replay
from rankfield.__main__ import main
from rankfield.replay import ReplayError, find_shape, read_ranking
from tests.small_servers import serving

OK, REJECTED, NOT_REACHED = 0, 2, 3
TOPICS = '1\tsour dough\n2\trye {topic} bread\n3\tdry "yeast"\n'
HITS = [("d1", 9.5), ("d7", 8.25)]
ANSWERS = {
    "opensearch": {"hits": {"hits": [{"_id": d, "_score": s} for d, s in HITS]}},
    "solr": {"response": {"docs": [{"id": [d], "score": s} for d, s in HITS]}},
    "vespa": {"root": {"children": [{"id": f"id:a:b::{d}", "relevance": s} for d, s in HITS]}},
    "results": {"results": [{"id": d, "score": s} for d, s in HITS]},
}


class Engine(ThreadingHTTPServer):
    """Answers every query alike, and first with the statuses of `refusals`."""

    def __init__(self, answer: object = ANSWERS["opensearch"]) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.answer = json.dumps(answer).encode()
        self.queries: list[str] = []
        self.refusals: list[int] = []
        self.delay, self.running, self.most = 0.0, 0, 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/_search"


class Answering(BaseHTTPRequestHandler):
    server: Engine

    def answer(self, query: str) -> None:
        with self.server.lock:
            self.server.queries.append(query)
            self.server.running += 1
            self.server.most = max(self.server.most, self.server.running)
            status = self.server.refusals.pop(0) if self.server.refusals else 200
        time.sleep(self.server.delay)
        with self.server.lock:
            self.server.running -= 1
        self.send_response(status)
        self.send_header("Content-Length", str(len(self.server.answer)))
        self.end_headers()
        self.wfile.write(self.server.answer)

    def do_GET(self) -> None:
        self.answer(parse_qs(urlsplit(self.path).query)["q"][0])

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert body["size"] == 2
        self.answer(body["query"]["match"]["text"])

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def engine(monkeypatch, tmp_path):
    monkeypatch.setattr(replay, "FIRST_PAUSE", 0)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "topics.tsv").write_text(TOPICS)
    template = {"query": {"match": {"text": "{query}"}}, "size": "{depth}"}
    (tmp_path / "body.json").write_text(json.dumps(template))
    with serving(Engine()) as server:
        yield server


def ask(engine: Engine, *words: str) -> int:
    own = ["--queries", "topics.tsv", "--template", "body.json", "--depth", "2", "-o", "my.run"]
    return main(["replay", engine.url, *own, *words])


def test_each_topic_becomes_a_ranking(engine, tmp_path):
    assert ask(engine, "--tag", "bm25") == OK
    lines = (tmp_path / "my.run").read_text().splitlines()
    assert lines[:2] == ["1 Q0 d1 1 9.5 bm25", "1 Q0 d7 2 8.25 bm25"]
    assert [line.split()[0] for line in lines] == ["1", "1", "2", "2", "3", "3"]


def test_a_query_changes_nothing_but_its_place(engine):
    ask(engine)
    assert sorted(engine.queries) == ['dry "yeast"', "rye {topic} bread", "sour dough"]


def test_without_a_template_the_query_is_in_the_url(engine):
    own = ["--queries", "topics.tsv", "-o", "my.run"]
    assert main(["replay", engine.url + "?q={query}", *own]) == OK
    assert "rye {topic} bread" in engine.queries


def test_what_is_refused_for_a_while_is_sent_again(engine, capsys):
    engine.refusals = [503, 429, 502]
    assert ask(engine, "--concurrency", "1") == OK
    assert len(engine.queries) == 6
    assert capsys.readouterr().err == "3 topics ranked.\n"


def test_a_topic_that_fails_is_named_and_missing(engine, tmp_path, capsys):
    engine.refusals = [400]
    assert ask(engine, "--concurrency", "1") == NOT_REACHED
    assert "Topic 1 failed: status 400: " in capsys.readouterr().err
    assert (tmp_path / "my.run").read_text().startswith("2 Q0 d1")


def test_the_report_is_json_if_asked(engine, capsys):
    engine.refusals = [400]
    assert ask(engine, "--concurrency", "1", "--json") == NOT_REACHED
    report = json.loads(capsys.readouterr().out)
    assert (report["ranked"], list(report["failed"])) == (2, ["1"])


def test_a_hopeless_engine_is_left_in_peace(engine, tmp_path, capsys):
    (tmp_path / "topics.tsv").write_text("".join(f"{n}\tbread {n}\n" for n in range(30)))
    engine.refusals = [401] * 30
    assert ask(engine, "--concurrency", "1") == NOT_REACHED
    assert len(engine.queries) == replay.HOPELESS
    assert "not sent, since the topics before it all failed" in capsys.readouterr().err


def test_no_more_requests_are_open_than_allowed(engine, tmp_path):
    (tmp_path / "topics.tsv").write_text("".join(f"{n}\tbread {n}\n" for n in range(12)))
    engine.delay = 0.02
    ask(engine, "--concurrency", "2")
    assert (engine.most, len(engine.queries)) == (2, 12)


def test_an_engine_that_is_away_is_said_so(engine, capsys, monkeypatch):
    words = ["--queries", "topics.tsv", "-o", "my.run", "--attempts", "1"]
    assert main(["replay", "http://127.0.0.1:9/?q={query}", *words]) == NOT_REACHED
    assert "Topic 1 failed: [Errno 111] Connection refused" in capsys.readouterr().err


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answers_of_each_engine_are_recognised(name):
    ranked = read_ranking("1", json.dumps(ANSWERS[name]).encode(), None, 10)
    assert (ranked.documents, ranked.note) == (HITS, "")


def test_an_answer_of_vespa_without_hits_is_an_empty_ranking():
    answer = {"root": {"id": "toplevel", "fields": {"totalCount": 0}}}
    assert read_ranking("1", json.dumps(answer).encode(), None, 10).documents == []


@pytest.mark.parametrize("scores", [[None, None], [1.0, 2.0], [True, False], ["9", "8"]])
def test_scores_that_contradict_the_order_come_from_ranks(scores):
    hits = [{"_id": f"d{n}", "_score": score} for n, score in enumerate(scores)]
    ranked = read_ranking("1", json.dumps({"hits": {"hits": hits}}).encode(), None, 10)
    assert (ranked.documents, ranked.note) == ([("d0", 2.0), ("d1", 1.0)], "scores by rank")


def test_the_best_passage_of_a_document_counts():
    hits = [{"_id": "d1", "_score": 3}, {"_id": "d2", "_score": 2}, {"_id": "d1", "_score": 1}]
    ranked = read_ranking("1", json.dumps({"hits": {"hits": hits}}).encode(), None, 10)
    assert (ranked.documents, ranked.note) == ([("d1", 3.0), ("d2", 2.0)], "documents twice")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"<html>", "the answer is no JSON"),
        (b'{"error": {"type": "index_not_found"}}', "the engine reports an error"),
        (b'{"data": []}', "name their place with --hits"),
        (b'{"hits": {"hits": [{"_score": 1}]}}', "a hit has no _id"),
        (b'{"hits": {"hits": [{"_id": "a b", "_score": 1}]}}', "the docno has a blank"),
        (b'{"hits": {"hits": ["d1"]}}', "a hit has no _id"),
    ],
)
def test_an_answer_without_a_ranking_says_why(answer, message):
    with pytest.raises(ReplayError, match=message):
        read_ranking("1", answer, None, 10)


def test_places_can_be_named(engine, tmp_path):
    engine.answer = b'{"data": {"items": [{"meta": {"id": "d9"}, "sim": 0.5}]}}'
    named = ["--hits", "data.items", "--docno", "meta.id", "--score", "sim"]
    assert ask(engine, *named) == OK
    assert (tmp_path / "my.run").read_text().startswith("1 Q0 d9 1 0.5 replay")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ftp://x", "--queries", "topics.tsv"], "is no URL"),
        (["http://x", "--queries", "topics.tsv"], "Neither URL nor template has the query"),
        (["http://x/{query}", "--queries", "topics.tsv", "--tag", "a b"], "The tag is one word"),
        (["http://x/{query}", "--queries", "topics.tsv", "--header", "a"], "A header is its name"),
        (
            ["http://x/{query}", "--queries", "topics.tsv", "--score", "a"],
            "name --engine or --hits",
        ),
        (["http://x/{query}", "--queries", "none.tsv"], "No such file"),
    ],
)
def test_a_wrong_request_is_never_sent(engine, words, said, capsys):
    assert main(["replay", *words]) == REJECTED
    assert said in capsys.readouterr().err


def test_a_topic_without_a_title_is_asked_by_its_description():
    request = replay.Requests("http://x/?q={query}").build(Topic("1", "", "rye bread", ""))
    assert request.full_url == "http://x/?q=rye%20bread"


def test_an_unknown_shape_is_no_opensearch():
    assert find_shape(ANSWERS["solr"]) == replay.SHAPES["solr"]
