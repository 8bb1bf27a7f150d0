"""Topics end by people: stop proposals, the second round of a budget, and the version made."""

from __future__ import annotations

import pytest

from evaluation.pooling import MissesInARow
from leaderboard.actions.assessments import close_assessment, end_topic, start_second_round
from leaderboard.actions.refusals import ActionError
from leaderboard.actions.tracks import change_track
from leaderboard.assessments import rounds
from leaderboard.assessments.drawing import count_undrawn
from leaderboard.assessments.rounds import find_stop_proposals, plan_second_round
from leaderboard.models import Assessment, Assignment
from tests.assessments.marks import judge_in_order
from tests.assessments.test_learning_orders import small_batches, wide_pool  # noqa: F401
from tests.assessments.test_organisers_pages import PLAN
from tests.builders import make_assessment, work

DESK = "/benchmarks/bread/judging/judging-1/"


@pytest.fixture
def begun(wide_pool, ada, dan):  # noqa: F811
    """Ten documents per topic: the six of the first round are judged; only topic 2 has hits."""
    assessment = make_assessment(wide_pool, ada, dan, order="thompson", budget=10)
    for assignment in Assignment.objects.select_related("topic"):
        grade = int(assignment.topic.number == "2")
        judge_in_order(assignment, lambda document, grade=grade: grade)
    return assessment


def test_the_first_round_has_sixty_percent_of_each_topic(begun):
    assert [each.num_documents for each in Assignment.objects.all()] == [6, 6, 6]
    assert [each.documents.count() for each in Assignment.objects.all()] == [6, 6, 6]


def test_the_rest_goes_to_topics_that_still_have_relevant_documents(begun, ada):
    assert start_second_round(begun, ada) == 12
    rows = Assignment.objects.order_by("topic__number")
    assert [each.num_documents for each in rows] == [6, 18, 6]
    assert count_undrawn(rows[1]) == 12
    with pytest.raises(ActionError, match="begins once"):
        start_second_round(begun, ada)


def test_the_second_round_waits_for_every_topic(wide_pool, ada, dan):  # noqa: F811
    assessment = make_assessment(wide_pool, ada, dan, order="thompson", budget=10)
    judge_in_order(Assignment.objects.first(), lambda document: 1)
    assert plan_second_round(assessment) is None


def test_misses_in_a_row_and_a_used_budget_are_proposed(begun, ada, monkeypatch):
    monkeypatch.setattr(rounds, "STOP", MissesInARow(4, at_least=5))
    start_second_round(begun, ada)
    found = {each.assignment.topic.number: each for each in find_stop_proposals(begun)}
    assert {number: each.reason for number, each in found.items()} == {"1": "budget", "3": "budget"}
    Assignment.objects.filter(topic__number="1").update(num_documents=9)
    (first, _) = find_stop_proposals(begun)
    assert (first.reason, first.judged, first.misses) == ("misses", 6, 6)


def test_an_organiser_ends_a_topic_on_the_desk(begun, ada, as_ada):
    page = as_ada.get(DESK).content.decode()
    assert "Topics that could be finished" in page and "Start the second round" in page
    as_ada.post(DESK + "second-round/")
    assignment = Assignment.objects.get(topic__number="2")
    as_ada.post(f"{DESK}assignments/{assignment.pk}/end/")
    assignment.refresh_from_db()
    assert assignment.finished_at is not None and assignment.num_documents == 6


def test_a_topic_of_another_order_is_not_ended_early(assessment, ada):
    with pytest.raises(ActionError, match="learns"):
        end_topic(Assignment.objects.first(), ada)


def test_a_version_says_how_its_documents_were_drawn(begun, ada):
    made = close_assessment(begun, ada, "v1", is_early=True)
    work()
    made.refresh_from_db()
    assert made.note.startswith("18 documents have a grade. Drawn by Thompson sampling, 10 docu")
    assert f"seed {begun.seed}" in made.note and "AP and recall of runs outside" in made.note
    assert made.pool_depth is None and made.pooled_runs.count() == 2


def test_the_board_of_such_a_version_says_what_it_cannot_estimate(begun, ada, as_ada):
    made = close_assessment(begun, ada, "v1", is_early=True)
    work()
    change_track(begun.track, ada, {"judgment_set": made})
    work()
    for address in ("/benchmarks/bread/board/", "/benchmarks/bread/judgments/"):
        page = as_ada.get(address).content.decode()
        assert "Drawn by Thompson sampling, 10 documents per topic. Documents outside" in page


@pytest.mark.parametrize("order", ["thompson", "maxmean"])
def test_a_plan_with_an_order_that_learns_has_a_budget_and_one_opinion(as_ada, pool, order):
    address = "/benchmarks/bread/pools/pool-1/judging/"
    answer = as_ada.post(address, {**PLAN, "order": order, "budget": 2})
    assert answer.status_code == 422 and "one opinion per document" in answer.content.decode()
    plan = {**PLAN, "order": order, "budget": 2, "overlap": "none"}
    page = as_ada.post(address, {**plan, "act": "look"}).content.decode()
    assert "<dt>Documents</dt><dd>6</dd>" in page and "come back once" not in page
    as_ada.post(address, plan)
    assert Assessment.objects.get().budget == 2


def test_an_order_that_takes_all_has_no_budget(as_ada, pool):
    as_ada.post("/benchmarks/bread/pools/pool-1/judging/", {**PLAN, "budget": 2})
    assert Assessment.objects.get().budget is None
