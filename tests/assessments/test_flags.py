"""Flags count what is unusual: eleven documents, so the bounds are lowered here."""

from __future__ import annotations

import pytest

from leaderboard.assessments import flags
from leaderboard.assessments.flags import find_flags
from leaderboard.assessments.pool_documents import top_documents_by_team
from tests.assessments.marks import judge_everything
from tests.builders import make_assessment


@pytest.fixture(autouse=True)
def lower_bounds(monkeypatch):
    monkeypatch.setattr(flags, "FEWEST_MARKS", 11)
    monkeypatch.setattr(flags, "FEWEST_SHARED", 11)
    monkeypatch.setattr(flags, "LONG_ROW", 11)


def differing(document) -> int:
    """Two grades in turn, so that no row is long."""
    return int(document.docno[1:]) % 2


def test_marks_like_all_others_raise_no_flag(assessment):
    judge_everything(assessment, differing)
    assert find_flags(assessment) == []


def test_a_median_of_less_than_five_seconds_is_fast(assessment):
    judge_everything(assessment, differing, seconds=[4])
    (flag,) = find_flags(assessment)
    assert (flag.kind, flag.value, flag.count, flag.assessor.name) == ("fast", 4, 11, "A1")


def test_too_few_marks_are_not_fast(assessment, monkeypatch):
    monkeypatch.setattr(flags, "FEWEST_MARKS", 12)
    judge_everything(assessment, differing, seconds=[4])
    assert find_flags(assessment) == []


def test_one_grade_many_times_in_a_row(assessment):
    judge_everything(assessment, lambda document: 0)
    (flag,) = find_flags(assessment)
    assert (flag.kind, flag.value, flag.count) == ("row", 0, 11)


def test_two_who_agree_no_better_than_chance(pool, ada, dan, eve):
    assessment = make_assessment(pool, ada, dan, eve, overlap="all", overlap_size=2)
    judge_everything(assessment, differing, only="A1")
    judge_everything(assessment, lambda document: 1 - differing(document), only="A2")
    (flag,) = find_flags(assessment)
    assert (flag.kind, flag.assessor.name, flag.other.name, flag.count) == ("pair", "A1", "A2", 11)
    assert flag.value < 0


def test_who_grades_the_own_team_higher_than_others_do(pool, ada, ben, dan, eve, monkeypatch):
    """Ben's run has four of the documents that others judge too: two of 16 patterns of signs."""
    monkeypatch.setattr(flags, "ALPHA", 0.13)
    assessment = make_assessment(
        pool, ada, ben, dan, eve, overlap="all", overlap_size=3, allows_participants=True
    )
    own = top_documents_by_team(pool, 10)[pool.track.team_of(ben).pk]
    judge_everything(
        assessment,
        lambda found: 2 if (found.assignment.topic.number, found.docno) in own else 0,
        only="A1",
    )
    for name in ("A2", "A3"):
        judge_everything(assessment, lambda document: 0, only=name)
    (flag,) = [flag for flag in find_flags(assessment) if flag.kind == "own"]
    assert (flag.assessor.name, flag.value, flag.count, flag.p) == ("A1", 2, 4, 2 / 16)


def test_the_same_grades_as_others_are_no_lift(pool, ada, ben, dan):
    assessment = make_assessment(
        pool, ada, ben, dan, overlap="all", overlap_size=2, allows_participants=True
    )
    judge_everything(assessment, differing)
    assert find_flags(assessment) == []
