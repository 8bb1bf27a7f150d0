"""Measures of diversity, on judgments with subtopics."""

from io import BytesIO
from math import log2

import pytest

from evaluation.__main__ import main
from evaluation.judging import JudgedRun, judge, prepare
from evaluation.measures import parse_measure
from evaluation.measures.diversity import subtopic_scores
from evaluation.problems import Refused
from evaluation.reading.judging.intents import read_intents, with_probabilities
from evaluation.reading.judging.qrels import read_qrels
from evaluation.reading.runs.reader import read_run

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


TIED = b"1 1 a 1\n1 2 a 1\n1 3 b 1\n1 4 b 1\n1 1 c 1\n1 3 c 1\n"


@pytest.mark.parametrize("lines", [TIED, b"".join(sorted(TIED.splitlines(True), reverse=True))])
@pytest.mark.parametrize(
    ("text", "ideal"),
    [
        # All gain 2 first; after c, a and b gain 1.5 each.
        ("alpha-nDCG@3", 2 + 1.5 / log2(3) + 1.5 / 2),
        ("nERR-IA@3", 2 + 1.5 / 2 + 1.5 / 3),
    ],
)
def test_of_equal_documents_the_ideal_takes_the_highest_docno(text, ideal, lines):
    run = judge(
        read_run(BytesIO(b"1 Q0 a 1 1 t\n")),
        prepare(read_qrels(BytesIO(lines), format="subtopics")),
    )
    assert parse_measure(text).scores(run)[0] == 2 / ideal


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


INTENTS = b"1 1 0.5\n1 2 0.3\n1 3 0.2\n"
HIGHEST = 1 + 0.5 / 2 + 0.25 / 3 + 0.125 / 4 + 0.0625 / 5


def with_intents(intents: bytes) -> JudgedRun:
    qrels = read_qrels(BytesIO(QRELS), format="subtopics")
    weighed = with_probabilities(qrels, read_intents(BytesIO(intents)))
    return judge(read_run(BytesIO(RUN)), prepare(weighed))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("P-IA@5", (0.5 * 2 + 0.3 * 2 + 0.2) / 5),
        ("AP-IA", 0.5 * 0.7 + 0.3 * 1 + 0.2 * 0.25),
        ("ERR-IA@5", (0.5 * 1.1 + 0.3 * 1.25 + 0.2 * 0.25) / HIGHEST),
        (
            "D-nDCG@5",
            (0.8 + 0.3 / log2(3) + 0.2 / log2(5) + 0.5 / log2(6))
            / (0.8 + 0.5 / log2(3) + 0.3 / log2(4) + 0.2 / log2(5)),
        ),
        # The ideal has a, then d (gain .25), c (.2) and b (.15).
        ("nERR-IA@5", 0.975 / (0.8 + 0.25 / 2 + 0.2 / 3 + 0.15 / 4)),
        ("alpha-nDCG@5", 0.949391),
        ("strec@1", 2 / 3),
    ],
)
def test_probabilities_weigh_the_subtopics(text, value):
    assert parse_measure(text).scores(with_intents(INTENTS))[0] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("text", ["P-IA@5", "AP-IA", "ERR-IA@5", "nERR-IA@5", "D#-nDCG@5"])
@pytest.mark.parametrize("intents", [b"1 1 .2\n1 2 .2\n1 3 .2\n1 4 .4\n", b"2 1 1\n"])
def test_equal_probabilities_change_nothing(text, intents):
    found = parse_measure(text).scores(with_intents(intents))
    assert found == pytest.approx(parse_measure(text).scores(judged()))


def test_problems_of_probabilities_have_their_lines():
    with pytest.raises(Refused) as refusal:
        read_intents(BytesIO(b"1 1 0.5\n1 2\n1 2 2\n1 1 0.5\n"))
    found = [(problem.code, problem.line) for problem in refusal.value.problems]
    assert found == [("E_COLUMNS", 2), ("E_PROBABILITY", 3), ("E_DUP_INTENT", 4)]


def test_a_judged_subtopic_without_a_probability_is_a_problem():
    with pytest.raises(Refused, match="E_INTENT"):
        with_intents(b"1 1 0.5\n1 2 0.5\n")


def test_some_topics_keep_their_probabilities():
    judgments = with_intents(INTENTS).judgments
    assert judgments.of([b"1"]).intents.weight.tolist() == [0.5, 0.3, 0.2]


def test_the_command_reads_probabilities(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    for name, written in (("qrels", QRELS), ("run", RUN), ("intents", INTENTS), ("empty", b"")):
        (tmp_path / name).write_bytes(written)
    assert main(["score", "qrels", "run", "--intents", "intents", "-m", "P-IA@5"]) == 0
    assert capfd.readouterr().out.split() == ["P-IA@5", "all", "0.3600"]
    assert main(["score", "qrels", "run", "--intents", "empty", "-m", "P-IA@5"]) == 2
    assert "empty: error: E_EMPTY" in capfd.readouterr().err


def test_a_packed_record_keeps_the_subtopics_of_its_documents():
    run, measure = judged(), parse_measure("alpha-nDCG@5")
    again = JudgedRun.unpack(run.pack(), run.judgments)
    assert measure.scores(again).tolist() == measure.scores(run).tolist()


@pytest.mark.parametrize("command", ["compare", "pairs"])
def test_runs_are_compared_by_probable_subtopics(command, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    for name, written in (("qrels", QRELS), ("run", RUN), ("intents", INTENTS)):
        (tmp_path / name).write_bytes(written)
    (tmp_path / "none").write_bytes(b"1 Q0 x 1 1 none\n")
    asked = ["--intents", "intents", "-m", "P-IA@5", "--format", "tsv"]
    assert main([command, "qrels", "none", "run", *asked]) == 0
    assert "+0.3600" in capfd.readouterr().out
    assert main([command, "qrels", "none", "run", *asked[2:]]) == 0
    assert "+0.3333" in capfd.readouterr().out, "each subtopic weighs a third"


def test_commands_of_whole_boards_read_subtopics_too(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    turned = RUN.replace(b" 8 t", b" 1 t").replace(b" t", b" u")
    files = (("qrels", QRELS), ("run", RUN), ("turned", turned), ("intents", INTENTS))
    for name, written in files:
        (tmp_path / name).write_bytes(written)
    words = ["qrels", "run", "turned", "--intents", "intents", "-m", "P-IA@5", "--format", "tsv"]
    assert main(["reuse", *words]) == 0
    lines = [line.split("\t") for line in capfd.readouterr().out.splitlines()]
    assert lines[1][:6] == ["t", "t", "0", "0", "0.3600", "0.3600"]
    assert main(["compare", "qrels", "run", "turned", "-m", "AP"]) == 2
