"""Files that rank systems: what is read, and what is told by line."""

from __future__ import annotations

from io import BytesIO

import pytest

from evaluation.__main__ import main
from evaluation.problems import Refused
from evaluation.reading.system_rankings import SystemRanking, read_system_ranking

RANKED = {"oak": 0.4, "elm": 0.7, "ash": -1.0}


def read(text: str, **known: set[str]) -> SystemRanking:
    return read_system_ranking(BytesIO(text.encode()), **known)


def problems_of(text: str, **known: set[str]) -> list[tuple[int | None, str]]:
    with pytest.raises(Refused) as refused:
        read(text, **known)
    return [(problem.line, problem.code) for problem in refused.value.problems]


@pytest.mark.parametrize(
    "text",
    [
        "oak\t0.4\nelm\t0.7\nash\t-1\n",
        "oak 0.4\nelm   7e-1\nash -1\n",
        "system,score\r\noak,0.4\r\nelm,0.7\r\nash,-1\r\n",
        "# by hand\n\noak\t0.4\nelm\t0.7\nash\t-1\n",
        '{"oak": 0.4, "elm": 0.7, "ash": -1}',
        '{\n  "oak": 0.4,\n  "elm": 0.7,\n  "ash": -1\n}\n',
        '{"system": "oak", "score": 0.4}\n{"system": "elm", "score": 0.7}\n'
        '{"system": "ash", "score": -1}\n',
        '[{"system": "oak", "score": 0.4}, {"system": "elm", "score": 0.7},'
        ' {"system": "ash", "score": -1}]',
    ],
)
def test_scores_of_systems_have_many_forms(text):
    found = read(text)
    assert dict(zip(found.systems, found.scores.tolist(), strict=True)) == RANKED
    assert (found.format, found.has_levels) == ("scores", True)


@pytest.mark.parametrize(
    "text", ["elm\noak\nash\n", '["elm", "oak", "ash"]', '["elm",\n"oak","ash"]']
)
def test_a_list_is_read_from_the_best_down(text):
    found = read(text)
    assert (found.systems, found.scores.tolist()) == (["elm", "oak", "ash"], [3, 2, 1])
    assert (found.format, found.has_levels) == ("order", False)


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("", [(None, "E_EMPTY")]),
        ("# nothing\n", [(None, "E_EMPTY")]),
        ("oak 0.4\nelm nan\nash inf\nfir x\n", [(2, "E_SCORE"), (3, "E_SCORE"), (4, "E_SCORE")]),
        ("oak 0.4\nelm 0.1\noak 0.2\n", [(3, "E_DUP_SYSTEM")]),
        ("oak 0.4 1\nelm 0.1\nash 1\n", [(1, "E_COLUMNS")]),
        ("oak 0.4\nelm\nash 1\n", [(2, "E_COLUMNS")]),
        ("oak\t0.4\n\t0.1\n", [(2, "E_SYSTEM")]),
        ("oak\t0.4\nelm tree\t0.1\n", [(2, "E_CHAR")]),
        ("oak 0.4\n", [(None, "E_FEW_SYSTEMS")]),
        ("oak 1\nelm 1\n", [(None, "E_NO_ORDER")]),
        ('{"oak": 1, "oak": 2}', [(1, "E_JSON")]),
        ('{"oak": true, "elm": NaN}', [(None, "E_SCORE"), (None, "E_SCORE")]),
        ('[["oak", 1]]', [(None, "E_JSON")]),
        ('{"system": "oak", "score": 1}\n{"system"\n', [(2, "E_JSON")]),
    ],
)
def test_faults_are_told_by_line(text, problems):
    assert problems_of(text) == problems


def test_bytes_that_are_no_text_are_told_by_line():
    with pytest.raises(Refused, match="line 2: E_ENCODING"):
        read_system_ranking(BytesIO(b"oak 1\nelm\xe9 2\n"))


def test_a_system_that_is_not_known_is_told_by_line():
    assert problems_of("oak 1\nfir 2\n", known={"oak", "elm"}) == [(2, "E_UNKNOWN_SYSTEM")]
    assert read("oak 1\nelm 2\n", known={"oak", "elm", "ash"}).systems == ["oak", "elm"]


def test_a_header_is_no_system():
    assert read("run value\noak 1\nelm 2\n").systems == ["oak", "elm"]
    assert read("run\nscore\n").systems == ["run", "score"]


def test_the_command_checks_a_ranking_of_systems(tmp_path, capfd):
    path, names = tmp_path / "mine.tsv", tmp_path / "systems.txt"
    path.write_text("oak 1\nelm 2\n")
    names.write_text("oak\nelm\nash\n")
    assert main(["check", str(path), "--ranking"]) == 0
    assert capfd.readouterr().err.endswith("accepted, 2 systems with scores\n")
    assert main(["check", str(path), "--ranking", "--systems", str(names)]) == 0
    names.write_text("oak\n")
    assert main(["check", str(path), "--ranking", "--systems", str(names)]) == 2
    assert "line 2: E_UNKNOWN_SYSTEM" in capfd.readouterr().out
