"""A column is declared once: for both boards, all their files, and the API."""

from __future__ import annotations

import pytest

from leaderboard.api import boards as board_calls
from leaderboard.api.benchmark_schemas import BenchmarkBoardOut, SystemStandingOut
from leaderboard.api.schemas import BoardOut, StandingOut
from leaderboard.boards import benchmark_boards, exports, standings
from leaderboard.boards.board_files import FORMATS
from leaderboard.boards.columns import LAST, Column
from leaderboard.models import User
from leaderboard.scoring.scores import BoardFigures
from tests.boards.food_benchmark import make_food_benchmark
from tests.builders import make_collection, make_run, make_track
from tests.pages.reading import page_at, words

pytestmark = pytest.mark.long

BOARDS = ["/benchmarks/food/tracks/bread/board/", "/benchmarks/food/board/"]
LENGTH = Column(
    "length",
    "Length of the name",
    ("length",),
    lambda row: (len(row.name),),
    lambda row: f"{len(row.name)} letters",
    order=lambda row: len(row.name),
    is_paper=True,
)


def make_scene(ada: User, ben: User, cat: User) -> None:
    make_food_benchmark(ada, ben, cat)


@pytest.fixture
def with_length(scene, monkeypatch) -> None:
    for module in (standings, benchmark_boards, exports):
        monkeypatch.setattr(module, "LAST", (*LAST, LENGTH))


@pytest.mark.parametrize("board", BOARDS)
def test_a_column_that_is_declared_is_on_both_boards(with_length, client, board):
    page = words(page_at(client, f"{board}?column=length&sort=length"))
    assert "Length of the name" in page and " letters" in page


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("format", FORMATS)
def test_a_column_that_is_declared_is_in_every_file(with_length, client, board, format):
    text = client.get(f"{board}?column=all&format={format}").text
    assert ("letters" if format in ("md", "tex") else "length") in text


@pytest.mark.parametrize("path", ["tracks/bread/leaderboard", "benchmarks/food/board"])
def test_the_api_says_the_same_of_the_rows_of_both_boards(scene, client, path):
    first = client.get(f"/api/v1/{path}").json()["standings"][0]
    assert {"rank", "rank_low", "team", "difference", "p_adjusted", "wins", "unit"} <= first.keys()


def share_answered(row) -> float:
    figures = row.figures
    return sum(each.num_answered for each in figures) / sum(each.num_topics for each in figures)


SHARE = Column(
    "share",
    "Topics answered",
    ("share_answered",),
    lambda row: (share_answered(row),),
    lambda row: f"{share_answered(row):.0%} of topics",
    order=share_answered,
    is_paper=True,
    needs_scores=True,
)


class TrackRow(StandingOut):
    share_answered: float | None


class SystemRow(SystemStandingOut):
    share_answered: float | None


class TrackRows(BoardOut):
    standings: list[TrackRow]


class SystemRows(BenchmarkBoardOut):
    standings: list[SystemRow]


@pytest.fixture
def with_share(scene, monkeypatch) -> None:
    for module in (standings, benchmark_boards, exports):
        monkeypatch.setattr(module, "LAST", (*LAST, SHARE))
    monkeypatch.setattr(board_calls, "BoardOut", TrackRows)
    monkeypatch.setattr(board_calls, "BenchmarkBoardOut", SystemRows)


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("format", FORMATS)
def test_a_column_counted_of_runs_is_in_every_file(with_share, client, board, format):
    text = client.get(f"{board}?column=all&format={format}").text
    assert ("of topics" if format in ("md", "tex") else "share_answered") in text


@pytest.mark.parametrize("board", BOARDS)
def test_a_column_counted_of_runs_is_on_both_boards(with_share, client, board):
    assert "100% of topics" in words(page_at(client, f"{board}?column=share"))


@pytest.mark.parametrize("path", ["tracks/bread/leaderboard", "benchmarks/food/board"])
def test_the_api_says_a_column_counted_of_runs(with_share, client, path):
    assert client.get(f"/api/v1/{path}").json()["standings"][0]["share_answered"] == 1


def test_topics_are_counted_whether_they_are_judged_or_not(ada, ben):
    track = make_track(make_collection(ada, "rye", qrels="1 0 d1 1\n"), "rye")
    run = make_run(track, ben)
    [figures] = BoardFigures([track.live_edition]).of([run.pk])
    assert (figures.num_answered, figures.num_topics) == (3, track.collection.num_topics)
