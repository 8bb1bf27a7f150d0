"""GET /tracks/{slug}/corrected-means: the means of a machine, corrected by people."""

from __future__ import annotations

import pytest

from leaderboard.actions import pools
from leaderboard.models import Pool
from tests.builders import make_assessment, work
from tests.pages.test_corrected_means import judge, make_board

API = "/api/v1/tracks/bread/corrected-means?machine=m1&measure=P@2"


@pytest.fixture
def sample(collection, ada, ben, cat) -> Pool:
    board = make_board(collection, ada, ben, cat)
    return pools.draw_sample(collection.judgment_sets.get(version="m1"), board, ada)


def test_without_people_there_is_a_note(ada_api, sample):
    assert ada_api.get(API).json()["note"].startswith("People judge a sample first")
    assert ada_api.get(f"{API}&format=csv").status_code == 409


def test_the_numbers_follow(ada_api, sample, ada):
    judge(sample, ada)
    assert ada_api.get(API).json()["means_follow"]
    work()
    found = ada_api.get(API).json()
    assert (found["note"], found["means_follow"], found["judged"]) == (None, False, found["drawn"])
    assert [row["corrected"] for row in found["runs"]] == pytest.approx([5 / 6, 1])


def test_the_table_is_a_file(ada_api, sample, ada):
    judge(sample, ada)
    ada_api.get(API)
    work()
    assert ada_api.get(f"{API}&format=csv").content.startswith(b"run,tag,rank_by_machine")


def test_who_judges_reads_nothing_here(ada_api, sample, ada):
    make_assessment(sample, ada, ada)
    assert ada_api.get(API).status_code == 403
