"""Whatever happens to a file on its way, a reader accepts it or refuses it: nothing else."""

import gc
import gzip
import io
import signal
import sys
import zipfile
from collections.abc import Iterator
from random import Random

import pytest

from evaluation.problems import Problems, Refused
from evaluation.reading.containers import unpacked
from evaluation.reading.documents import read_documents
from evaluation.reading.judging.marks import read_marks, write_marks
from evaluation.reading.judging.qrels import read_qrels, read_qrels_leniently
from evaluation.reading.recognition import recognise_qrels
from evaluation.reading.runs.reader import RunRules, read_run, read_run_leniently
from evaluation.reading.topics import read_topics

pytestmark = pytest.mark.long

MUTATIONS = 1_000  # of each of the 27 files below: over 20,000

RUN = b"".join(
    b"%d Q0 D%d %d %.3f bm25\n" % (topic, rank * topic % 7, rank, 9 - rank / 3)
    for topic in range(301, 304)
    for rank in range(1, 7)
)
QRELS = b"".join(b"%d 0 D%d %d\n" % (t, d, d % 3) for t in range(301, 304) for d in range(6))
TREC = b"<top>\n<num> Number: 7\n<title> layers & heat\n<desc>\nWhat?\n</top>\n" * 3
XML = b'<?xml version="1.0"?>\n<t><doc id="7"><title>a &amp; b</title><p>c</p></doc></t>\n'
SMART = b".I 7\n.T\nlayers\n.W\nboundary\n.I 8\n.W\nheat\n"
JSONL = b'{"_id": "7", "title": "a\\u00e9", "text": "b"}\n{"id": 8, "contents": "c"}\n'
JSON = b'{"7": "layers",\n "8": {"title": "heat \\u00e9", "description": "b"}}'
NTCIR = b"<TOPIC q=7><TITLE>layers & heat</TITLE></TOPIC>\n<TOPIC><NUM>8</NUM><DESC>b</TOPIC>\n"
JSON_RUN = b'{"7": {"d1": 9.5, "d2": 8e1},\n "8": {"d\\/1": -1, "d3": 0}}\n'
JSON_LINES = b"""{"qid": 7, "docid": "d1", "score": 9.5}
{"query_id": "8", "results": [{"docno": "d2", "rank": 1}, {"pid": "d3", "sim": 1}]}
"""
METADATA = b"# ir_metadata.start\n# a:\n#   - b: 'c'\n#   - d\n# e: [f, g]\n# ir_metadata.end\n"
TSV = b"7\tlayers\n8\theat\n"
CSV = b'id,text\n7,"a\n""b"", c"\n8,d\n9,12" pipe\n'
QUOTED = b'\tqid\tquery\n0\t7\t"a\n""b""\tc"\n1\t8\t"d"\n2\t9\t12" pipe\n'
DOCTYPE = b'<?xml version="1.0"?>\n<!DOCTYPE t [\n<!ELEMENT t ANY>\n<!-- > -->\n]>\n'
TURNS = b"""[{"number": 7, "title": "a", "turn": [{"number": 1, "utterance": "b"},
 {"number": "1-2", "response": "c"}, {"number": 3, "raw_utterance": "d"}]},
 {"number": 8, "title": "e"}]"""
MARKS = b"""{"topic": "7", "docno": "d1", "assessor": "ada", "grade": 2, "key": "k1", "turn": 1}
{"topic": "7", "docno": "d1", "assessor": "ada", "kind": "undo", "replaces": "k1", "by": "key"}
{"topic": "7", "docno": "d2", "assessor": "ben", "kind": "cannot", "reason": "language"}
{"topic": "8", "docno": "d1", "assessor": "ben", "grade": 0, "at": "2026-11-30T23:59:00Z",
 "seconds": 1.5, "spans": [[0, 4]], "rationale": "w\\u00e4rme", "repeat": true, "order": 3}
""".replace(b",\n ", b", ")
DOCCANO = b"""{"id": 1, "text": "a", "query_id": "7", "doc_id": "d1", "label": ["Relevant (2)"]}
{"id": 2, "text": "b", "meta": {"qid": 7, "docid": 8}, "label": ["0 not"], "Comments": ["c"]}
"""

NASTY = [
    b"\0", b"\r", b"\n\n", b"\t", b"\x0b", b"\x0c", b"\xff", b"\xe2\x80\xa8", b"\xc2\xa0", b"#",
    b"\xef\xbb\xbf", b"nan", b"1e999", b"-", b"9" * 30, b"<", b">", b"</top>", b"<doc>", b"&x;",
    b"<!DOCTYPE a [", b"]]>", b"<![CDATA[", b"\\ud800", b"\\u0000", b"{", b"[", b'"', b".I ",
    b".W\n", b"PK\x03\x04", b"\x1f\x8b", b"\xff\xfe", b" " * 5000, b"\xd9\xa3", b"_", b",",
    b"0x1p3",
]  # fmt: skip


def zipped(text: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("run.txt", text)
    return file.getvalue()


def mutated(text: bytes, random: Random) -> bytes:
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(text) + 1)
        end = min(len(text), at + random.choice((1, 1, 2, 8, 60)))
        piece = random.choice(
            (
                random.choice(NASTY),
                random.randbytes(1),
                text[at:end] * 2,
                b"",
                text[at:end][::-1],
                text[end : 2 * end - at],
            )
        )
        text = text[:at] + piece + text[end if random.random() < 0.7 else at :]
    return text


def strictly(file):
    rules = RunRules(topics={b"301", b"302", b"303"}, depth=6)
    run = read_run(unpacked(file), rules)
    assert run.problems.errors == 0
    assert all(abs(score) < 1e308 for r in run.rankings.values() for score in r.scores)


def documents(file):
    problems = Problems()
    found = list(read_documents(unpacked(file), problems))
    assert found or problems.errors
    "".join(document.docno + document.title + document.text for document in found).encode()


def topics(file):
    found = read_topics(unpacked(file)).topics
    assert found
    "".join(topic.number + topic.title + topic.narrative for topic in found).encode()


def any_format(file):
    formats = ("trec", "trec5", "msmarco", "scores", "json", "jsonl", "ntcir")
    read_run(file, RunRules(formats=formats, tag="bm25"))


def judgments(file):
    found = recognise_qrels(file)
    file.seek(0)
    read_qrels(file, format=found.format)


def marks(file):
    found = read_marks(unpacked(file), assessor="ada")
    assert found.marks
    assert read_marks(io.BytesIO(b"".join(write_marks(found.marks)))).marks == found.marks


@pytest.fixture
def unless_it_hangs() -> Iterator[None]:
    """A reader that never ends fails its test, and not the whole suite."""

    def fail(*_: object) -> None:
        raise AssertionError("a reader hangs")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    ("read", "good"),
    [
        pytest.param(strictly, RUN, id="run"),
        pytest.param(strictly, gzip.compress(RUN, mtime=0), id="run.gz"),
        pytest.param(strictly, zipped(RUN), id="run.zip"),
        pytest.param(read_run_leniently, RUN, id="lenient-run"),
        pytest.param(read_qrels, QRELS, id="qrels"),
        pytest.param(read_qrels_leniently, QRELS, id="lenient-qrels"),
        pytest.param(any_format, METADATA + RUN, id="run-metadata"),
        pytest.param(any_format, JSON_RUN, id="run-json"),
        pytest.param(any_format, JSON_LINES, id="run-jsonl"),
        pytest.param(any_format, b"7 d1 1\n7 d2 2\n7 d3 3\n8 d1 1\n", id="run-msmarco"),
        pytest.param(judgments, b"7 d1 1\n7 d2 0\n7 d3 2\n8 d1 1\n", id="qrels-cranfield"),
        pytest.param(marks, MARKS, id="marks-jsonl"),
        pytest.param(marks, QRELS, id="marks-trec"),
        pytest.param(marks, DOCCANO, id="marks-doccano"),
        pytest.param(topics, TREC, id="topics-trec"),
        pytest.param(topics, XML.replace(b"doc", b"topic"), id="topics-xml"),
        pytest.param(topics, JSONL, id="topics-jsonl"),
        pytest.param(topics, JSON, id="topics-json"),
        pytest.param(topics, TURNS, id="topics-turns"),
        pytest.param(topics, QUOTED, id="topics-quoted"),
        pytest.param(topics, CSV, id="topics-csv"),
        pytest.param(topics, b"7 layers\n8 heat\n", id="topics-space"),
        pytest.param(topics, DOCTYPE + TREC, id="topics-doctype"),
        pytest.param(topics, NTCIR, id="topics-ntcir"),
        pytest.param(documents, TREC.replace(b"top>", b"doc>"), id="documents-trec"),
        pytest.param(documents, XML, id="documents-xml"),
        pytest.param(documents, SMART, id="documents-smart"),
        pytest.param(documents, JSONL, id="documents-jsonl"),
        pytest.param(documents, TSV, id="documents-tsv"),
        pytest.param(documents, CSV, id="documents-csv"),
        pytest.param(documents, JSON, id="documents-json"),
    ],
)
def test_a_damaged_file_is_accepted_or_refused(read, good, unless_it_hangs):
    random = Random(42)
    refused, held = 0, []
    for number in range(MUTATIONS):
        if number % (MUTATIONS // 4) == 0:
            held.append(blocks_held())
        try:
            read(io.BytesIO(mutated(good, random)))
        except Refused as refusal:
            assert refusal.problems.errors
            refused += 1
    assert refused or read is documents
    # The first quarter fills what is remembered for good; a leak grows with every file.
    assert blocks_held() - held[1] < MUTATIONS // 2


def blocks_held() -> int:
    """Pieces of memory that Python holds and cannot let go."""
    gc.collect()
    return sys.getallocatedblocks()
