"""Topics are shared out by rule, and nobody judges what only the own team found."""

from __future__ import annotations

import pytest

from leaderboard.actions.assessments import add_assessor, reassign
from leaderboard.actions.refusals import ActionError
from leaderboard.assessments.distribution import missing_opinions
from leaderboard.assessments.drawing import (
    Drawn,
    draw_documents,
    group_lookalikes,
    order_documents,
    with_repeats,
)
from leaderboard.assessments.marking import SentMark, record_mark
from leaderboard.models import Assignment
from tests.builders import make_assessment


def shared_out(assessment) -> dict[tuple[str, int], str]:
    """The pseudonym by topic and turn."""
    rows = Assignment.objects.filter(assessor__assessment=assessment)
    return {(row.topic.number, row.turn): row.assessor.name for row in rows}


def test_one_assessor_gets_every_topic(assessment):
    assert shared_out(assessment) == {("1", 1): "A1", ("2", 1): "A1", ("3", 1): "A1"}


def test_the_work_is_shared_evenly(pool, ada, dan, eve):
    assessment = make_assessment(pool, ada, dan, eve)
    assert shared_out(assessment) == {("1", 1): "A1", ("2", 1): "A2", ("3", 1): "A2"}


def test_a_second_opinion_is_of_somebody_else(pool, ada, dan, eve):
    assessment = make_assessment(pool, ada, dan, eve, overlap="all", overlap_size=2)
    found = shared_out(assessment)
    assert {number: {found[number, 1], found[number, 2]} for number in "123"} == {
        number: {"A1", "A2"} for number in "123"
    }


def test_nobody_has_more_topics_than_the_rule_says(pool, ada, dan):
    assessment = make_assessment(pool, ada, dan, topics_per_assessor=2)
    assert len(shared_out(assessment)) == 2
    assert [opinion.topic.number for opinion in missing_opinions(assessment)] == ["3"]


def test_what_only_the_own_team_found_goes_to_others(pool, ada, ben, dan):
    """Ben's run alone has d5 for topic 2, and both runs have d4."""
    assessment = make_assessment(pool, ada, ben, dan, allows_participants=True)
    mine = Assignment.objects.filter(assessor__user=ben)
    own = {(each.topic.number, found.docno) for each in mine for found in order_documents(each)}
    assert own.isdisjoint({("2", "d5"), ("3", "d7"), ("3", "d8")})
    assert sum(each.num_documents for each in Assignment.objects.all()) == 11
    assert assessment.assessors.count() == 2


def test_what_is_left_of_a_topic_goes_to_another_assessor(pool, ada, dan, eve):
    assessment = make_assessment(pool, ada, dan, eve, topics_per_assessor=3)
    first = Assignment.objects.get(topic__number="1")
    draw_documents(first)
    record_mark(first, SentMark(first.documents.first().pk, grade=1))
    moved = reassign(first, ada, assessment.assessors.get(user=eve))
    first.refresh_from_db()
    assert (first.num_documents, moved.num_documents, len(order_documents(moved))) == (1, 3, 3)


def test_what_is_left_does_not_go_to_the_only_team_that_found_it(pool, ada, ben, dan):
    assessment = make_assessment(pool, ada, dan, allows_participants=True)
    ben = add_assessor(assessment, ben)
    second = Assignment.objects.get(topic__number="2")
    with pytest.raises(ActionError, match="Only the team of A2"):
        reassign(second, ada, ben)


def test_the_order_is_random_and_the_same_each_time(assignment):
    ordered = order_documents(assignment)
    assert {found.docno for found in ordered} == {"d1", "d2", "d3", "d9"}
    assert ordered == order_documents(assignment)


def test_some_documents_come_back_after_fifty_others():
    drawn = with_repeats([Drawn(str(number)) for number in range(200)], 7, b"1")
    again = [place for place, found in enumerate(drawn) if found.is_repeat]
    assert len(again) == 6
    assert all(place - drawn.index(Drawn(drawn[place].docno)) > 50 for place in again)


def test_nothing_comes_back_in_a_short_topic():
    assert len(with_repeats([Drawn(str(number)) for number in range(40)], 7, b"1")) == 40


def test_texts_that_are_nearly_the_same_share_a_number():
    words = [f"word{number}" for number in range(60)]
    texts = {
        "a": " ".join(words),
        "b": " ".join([*words, "more"]),
        "c": "another text of few words",
    }
    assert group_lookalikes(texts) == {"a": 0, "b": 0}


@pytest.mark.parametrize("texts", [{}, {"a": ""}, {"a": "", "b": ""}])
def test_empty_texts_are_like_no_other(texts):
    assert group_lookalikes(texts) == {}
