"""A column is declared once: for both boards, all their files, and the API."""

from __future__ import annotations

import pytest

from leaderboard.boards import benchmark_boards, exports, standings
from leaderboard.boards.board_files import FORMATS
from leaderboard.boards.columns import LAST, Column
from leaderboard.models import User
from tests.boards.food_benchmark import make_food_benchmark
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
