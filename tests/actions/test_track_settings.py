"""Which settings of a track go together."""

from __future__ import annotations

import pytest

from leaderboard.actions.track_settings import check

LONG = f"nDCG(gains={{{','.join(f'{grade}:{grade}0' for grade in range(1, 30))}}})@10"


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({}, []),
        ({"measures": ["map", "P@5"], "primary_measure": "AP"}, []),
        ({"measures": ["P@5"]}, ["primary_measure"]),
        ({"measures": ["nonsense"]}, ["measures"]),
        ({"measures": ["AP", LONG]}, ["measures"]),
        ({"measures": ["AP", "xinfAP"]}, ["measures"]),
        ({"excluded_topics": ["99"]}, ["excluded_topics", "exclusion_reason"]),
        ({"excluded_topics": ["3"], "exclusion_reason": "ambiguous"}, []),
        ({"ladder_step": 0.01, "public_topics": ["3"]}, ["ladder_step", "public_topics"]),
        ({"run_kind": "ranked"}, []),
        ({"run_kind": "answers", "answer_rules": "rag24"}, ["run_kind"]),
        ({"answer_ranking": "references"}, ["answer_ranking"]),
        ({"closes_at": None, "measures": None, "disclosure": None}, []),
    ],
)
def test_settings_that_do_not_go_together_are_found(track, changes, fields):
    assert [problem.field for problem in check(track, changes)] == fields


def test_ten_unknown_topics_are_named_and_the_others_counted(track):
    topics = {"public_topics": [f"x{number}" for number in range(12)], "disclosure": "leaderboard"}
    (problem,) = check(track, topics)
    assert problem.message.endswith("x8, x9 and 2 more.") and problem.found == "x0"
