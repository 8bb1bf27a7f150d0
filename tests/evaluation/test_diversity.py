"""Measures of diversity, on judgments with subtopics."""

from io import BytesIO

import pytest

from evaluation.__main__ import main
from evaluation.judging import JudgedRun, judge, prepare
from evaluation.measures import parse_measure
from evaluation.measures.diversity import subtopic_scores
from evaluation.problems import Refused
from evaluation.reading.qrels import read_qrels
from evaluation.reading.runs import read_run

QRELS = b"1 1 a 1\n1 2 a 1\n1 2 b 1\n1 3 c 1\n1 1 d 1\n"
RUN = b"".join(b"1 Q0 %c %d %d t\n" % (c, n, 9 - n) for n, c in enumerate(b"abxcd", 1))


def judged() -> JudgedRun:
    judgments = prepare(read_qrels(BytesIO(QRELS), format="subtopics"))
    return judge(read_run(BytesIO(RUN)), judgments)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("alpha-nDCG@5", 0.949391),  # ndeval
        ("ERR-IA@5", 0.629349),  # ndeval
        ("P-IA@5", 1 / 3),
        ("strec@1", 2 / 3),
        ("I-rec@5", 1),
        ("AP-IA", ((1 + 2 / 5) / 2 + 1 + 1 / 4) / 3),
    ],
)
def test_a_ranking_of_three_intents_is_scored_as_by_ndeval(text, value):
    assert parse_measure(text).scores(judged())[0] == pytest.approx(value, abs=1e-6)


def test_each_subtopic_has_its_own_score():
    run = judged()
    by_name = dict(zip(run.judgments.intents.names, subtopic_scores(run), strict=True))
    assert by_name == pytest.approx({b"1": 0.7, b"2": 1.0, b"3": 0.25})


def test_the_command_reads_subtopics_where_it_is_told(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_bytes(QRELS)
    (tmp_path / "run").write_bytes(RUN)
    assert main(["score", "--subtopics", "qrels", "run", "-m", "alpha-nDCG@5"]) == 0
    assert capfd.readouterr().out.split() == ["alpha-nDCG@5", "all", "0.9494"]
    assert main(["score", "qrels", "run", "-m", "ERR-IA@5"]) == 0
    assert capfd.readouterr().out.split() == ["ERR-IA@5", "all", "0.6293"]


def test_a_document_judged_twice_for_a_subtopic_is_a_problem():
    with pytest.raises(Refused, match="E_DUP_QREL"):
        read_qrels(BytesIO(QRELS + b"1 1 a 0\n"), format="subtopics")
