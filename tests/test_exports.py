"""Boards as tables, whatever strangers call their runs and teams."""

from __future__ import annotations

import csv
import io
import json
from types import SimpleNamespace

import pytest

from leaderboard.boards.board_files import FORMATS
from leaderboard.boards.columns import paper_columns
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.exports import file_of
from leaderboard.boards.standings import Board, find_board
from leaderboard.display.csv_tables import render_table, tabulate
from leaderboard.models import Run, Team, Track, User
from tests.builders import OTHER_RUN, RUN, make_run, work

pytestmark = pytest.mark.long


def board_of(track: Track, user: User) -> Board:
    track.refresh_from_db()
    return find_board(sight_of(track, user))


@pytest.fixture
def run(track: Track, ben: User) -> Run:
    return make_run(track, ben, RUN)


def written(format: str, track: Track, user: User, papers: bool = False) -> str:
    board = board_of(track, user)
    columns = paper_columns(board) if papers else board.columns_of_table
    return FORMATS[format].write(file_of(board, columns))


def rows(text: str, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text), delimiter=delimiter))


def test_names_in_json_are_written_as_people_read_them(track, run, ada):
    Team.objects.filter(pk=run.team_id).update(name="Bäckerei 面包")
    text = written("json", track, ada)
    assert '"Bäckerei 面包"' in text and text.endswith("}\n")


@pytest.mark.parametrize("name", ["=1+1", "+1", "-x", "@SUM(A1)"])
def test_no_cell_is_a_formula(track, run, ada, name):
    Team.objects.filter(pk=run.team_id).update(name=name)
    Run.objects.update(tag=name)
    for format, delimiter in (("csv", ","), ("tsv", "\t")):
        row = rows(written(format, track, ada), delimiter)[1]
        assert row[2:4] == [f"'{name}", f"'{name}"]


def test_a_number_stays_a_number(track, run, ada):
    other = make_run(track, ada, OTHER_RUN)
    Track.objects.update(baseline=run)
    work()
    head, _, second = rows(written("csv", track, ada))
    line = dict(zip(head, second, strict=True))
    assert line["run"] == other.pk
    assert float(line["difference"]) == pytest.approx(-1 / 6)
    assert line["difference"].startswith("-")


def test_what_is_missing_is_empty_and_never_zero(track, run, ada):
    head, first = rows(written("csv", track, ada))
    line = dict(zip(head, first, strict=True))
    assert (line["rank"], line["p"], line["difference"]) == ("1", "", "")


def test_a_separator_in_a_name_moves_no_column(track, run, ada):
    Team.objects.filter(pk=run.team_id).update(name='a,"b"')
    assert rows(written("csv", track, ada))[1][3] == 'a,"b"'


def test_latex_prints_names_and_runs_none_of_them(track, run, ada):
    Team.objects.filter(pk=run.team_id).update(name="50% & \\input{x}$_^~#")
    text = written("tex", track, ada, papers=True)
    assert (
        "50\\% \\& \\textbackslash{}input\\{x\\}\\$\\_\\textasciicircum{}\\textasciitilde{}\\#"
        in text
    )


def late(track: Track, ada: User, run: Run) -> None:
    """Ben's run came after the deadline; that of the organisers beside it never does."""
    make_run(track, ada, OTHER_RUN)
    Track.objects.update(closes_at=run.received_at)


@pytest.mark.parametrize(("format", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_a_late_run_is_marked_in_a_column(track, run, ada, format, delimiter):
    late(track, ada, run)
    table = rows(written(format, track, ada), delimiter)
    place = table[0].index("late")
    assert [line[place] for line in table[1:]] == ["True", "False"]


def test_a_late_run_is_marked_in_json(track, run, ada):
    late(track, ada, run)
    standings = json.loads(written("json", track, ada))["standings"]
    assert [each["late"] for each in standings] == [True, False]


@pytest.mark.parametrize("format", ["md", "tex"])
def test_a_late_run_is_marked_beside_its_name_in_papers(track, run, ada, format):
    late(track, ada, run)
    text = written(format, track, ada, papers=True)
    assert "ben-bm25 (late) " in text and "other (late)" not in text


def test_without_a_late_run_nothing_speaks_of_any(track, run, ada):
    assert all("late" not in written(format, track, ada) for format in FORMATS)


def test_latex_is_a_booktabs_table_with_the_best_in_bold(track, run, ada):
    make_run(track, ada, OTHER_RUN)
    lines = written("tex", track, ada, papers=True).splitlines()
    assert lines[1:7] == [
        "\\begin{table}",
        "\\caption{Bread track: 2 runs by AP; judgments v1, 3 topics.}",
        "\\begin{tabular}{rllrrr}",
        "\\toprule",
        "Rank & Run & Team & AP & nDCG@10 & P@5 \\\\",
        "\\midrule",
    ]
    assert lines[7].startswith("1 & ben-bm25 & ben & \\textbf{0.6944} & ")
    assert lines[8].startswith("2 & other & organisers & 0.5278 & ")
    assert lines[9:] == ["\\bottomrule", "\\end{tabular}", "\\end{table}"]


def test_a_caption_of_latex_is_one_line_without_commands(track, run, ada):
    Track.objects.update(name="Bread\n\\end{document}")
    caption = written("tex", track, ada, papers=True).splitlines()[2]
    assert caption.startswith("\\caption{Bread \\textbackslash{}end\\{document\\}: 1 run by AP")


def test_markdown_prints_names_as_they_are(track, run, ada):
    Team.objects.filter(pk=run.team_id).update(name="a|b [x](javascript:y) <i>`*")
    row = written("md", track, ada, papers=True).splitlines()[2]
    assert "a\\|b \\[x\\](javascript:y) \\<i\\>\\`\\*" in row


def test_a_table_says_on_what_it_was_computed(track, run, ada):
    text = written("md", track, ada, papers=True)
    assert text.endswith("Bread track: 1 run by AP; judgments v1, 3 topics.\n")


def test_what_a_missing_part_would_say_is_empty():
    rows = [
        SimpleNamespace(name="a", part=None),
        SimpleNamespace(name="b", part=SimpleNamespace(mean=2.0)),
    ]
    table = tabulate(rows, [("name", "name"), ("mean", "part.mean")])
    assert render_table(table) == "name,mean\r\na,\r\nb,2.0\r\n"
