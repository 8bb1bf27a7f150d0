"""A run that several processes read is the run that one reads."""

import re
from functools import partial
from io import BytesIO
from pathlib import Path
from random import Random

import pytest

from evaluation import RunRules, judge, prepare, read_qrels, read_run
from evaluation.judging import Judging
from evaluation.problems import Refused
from evaluation.reading.runs import sharing
from tests.evaluation.reading.test_fast import lines

pytestmark = pytest.mark.usefixtures("both_ways")

TOPICS = [b"%d" % number for number in range(301, 340)]


@pytest.fixture
def judgments():
    judged = (b"%b 0 D%d 1\n" % (topic, number) for topic in TOPICS for number in range(9))
    return prepare(read_qrels(BytesIO(b"".join(judged))))


def read(path: Path, judgments, processes: int):
    with path.open("rb") as file:
        run = read_run(file, RunRules(), partial(Judging, judgments, keep=False), processes)
    judged = judge(run, judgments)
    record = [judged.topic, judged.rank, judged.grade, judged.retrieved]
    return run.tag, run.lines, list(run.rankings), list(run.problems), [a.tolist() for a in record]


@pytest.fixture(autouse=True)
def however_small(monkeypatch):
    monkeypatch.setattr(sharing, "SMALLEST", 0)


@pytest.mark.parametrize("processes", [2, 3, 7])
def test_several_processes_read_what_one_reads(processes, judgments, tmp_path):
    random = Random(processes)
    for end in ("\n", "\r\n", "\n\n"):
        (tmp_path / "run").write_bytes(b"".join(lines(random, topics=TOPICS, end=end)))
        alone = read(tmp_path / "run", judgments, 1)
        assert read(tmp_path / "run", judgments, processes) == alone


@pytest.mark.parametrize("spoilt", [b"301 Q0 D1 1 nan bm25\n", b"301 Q0 X 1 1 other\n", b"\xff\n"])
def test_what_is_wrong_in_the_last_part_is_told(spoilt, judgments, tmp_path):
    (tmp_path / "run").write_bytes(b"".join(lines(Random(1), topics=TOPICS)) + spoilt)
    with pytest.raises(Refused) as alone:
        read(tmp_path / "run", judgments, 1)
    with pytest.raises(Refused, match=re.escape(str(alone.value))):
        read(tmp_path / "run", judgments, 3)


def test_a_topic_in_two_parts_is_read_as_one(judgments, tmp_path):
    text = lines(Random(2), topics=TOPICS)
    (tmp_path / "run").write_bytes(b"".join([*text, b"301 Q0 X 99 -99 bm25\n"]))
    assert read(tmp_path / "run", judgments, 3) == read(tmp_path / "run", judgments, 1)


def test_a_part_ends_where_a_topic_does(tmp_path):
    text = b"".join(b"%d Q0 d%d 1 1 t\n" % (n // 10, n) for n in range(1000))
    (tmp_path / "run").write_bytes(text)
    with (tmp_path / "run").open("rb") as file:
        parts = sharing.split_by_topics(file, 0, 4)
    assert [part.start for part in parts] == [0, *(part.end for part in parts[:-1])]
    assert len(parts) == 4
    assert all(
        text[part.start - 20 : part.start].split()[-6] != text[part.start :].split()[0]
        for part in parts[1:]
    )
