"""A file has no more lines than its limit, and blank lines are lines."""

from __future__ import annotations

from io import BytesIO

import pytest

from evaluation.problems import Refused
from evaluation.reading.runs import reader
from evaluation.reading.runs.reader import RunRules, read_run, read_run_plainly

pytestmark = pytest.mark.usefixtures("both_ways")

TREC = b"7 Q0 d1 1 9.5 bm25\n7 Q0 d2 2 8.5 bm25\n"
FILES = {
    "trec": TREC,
    "ntcir": b"<SYSDESC>BM25</SYSDESC>\n" + TREC,
    "msmarco": b"7\td1\t1\n7\td2\t2\n",
    "json": b'{"7": {"d1": 9.5,\n"d2": 8.5}}\n',
    "jsonl": b'{"topic": "7", "docno": "d1", "score": 1, "tag": "bm25"}\n',
}


def rules(format: str, lines: int) -> RunRules:
    return RunRules(formats=(format,), tag="bm25", lines=lines)


@pytest.mark.parametrize("format", FILES)
@pytest.mark.parametrize("read", [read_run, read_run_plainly])
def test_a_run_has_as_many_lines_as_its_limit_and_no_more(format, read):
    count = FILES[format].count(b"\n") + 3
    text = FILES[format] + b"\n" * 3
    # Behind its last line feed JSON stands on one line more.
    assert read(BytesIO(text), rules(format, count + (format == "json"))).tag == "bm25"
    with pytest.raises(Refused, match=f"E_SIZE: the file has more than {count - 1} lines"):
        read(BytesIO(text), rules(format, count - 1))


@pytest.mark.parametrize("before", [b"# comment\n", b"\n", b"\r\n"])
def test_blank_lines_and_comments_count_wherever_they_are(before):
    text = before * 5 + TREC.replace(b"\n7", b"\n" + b"\n" * 5 + b"7")
    assert read_run(BytesIO(text), rules("trec", 12)).tag == "bm25"
    with pytest.raises(Refused, match="E_SIZE"):
        read_run(BytesIO(text), rules("trec", 11))


def test_the_fast_reader_takes_a_run_at_its_limit(monkeypatch):
    def plainly(*_: object) -> None:
        raise AssertionError("read line by line")

    monkeypatch.setattr(reader, "read_run_plainly", plainly)
    assert read_run(BytesIO(TREC + b"\n"), rules("trec", 3)).lines == 2
