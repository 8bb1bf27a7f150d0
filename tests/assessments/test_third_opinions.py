"""A third assessor judges what two differ on: documents, nuggets in answers and support alike."""

from __future__ import annotations

import pytest

from leaderboard.actions import assessments
from leaderboard.actions.refusals import ActionError
from leaderboard.analysis.judge_agreement import compute_assessor_agreement
from leaderboard.assessments.drawing import draw_documents
from leaderboard.assessments.judgments import find_outcome
from leaderboard.assessments.progress import find_disputes, measure_assessment
from leaderboard.models import Assessment, Assignment, Pool, User
from tests.assessments.marks import judge_everything, judge_in_order
from tests.assessments.test_judged_answers import pool_answers
from tests.builders import (
    OTHER_RUN,
    make_assessment,
    make_collection,
    make_pool,
    make_run,
    make_track,
)
from tests.scoring.test_answer_runs import ANSWERS
from tests.scoring.test_marks import make_nuggets

ADDRESS = "/benchmarks/bread/judging/judging-1/"


@pytest.fixture(params=["depth", "answers", "citations"])
def pool(request, ada, ben, cat) -> Pool:
    """A pool of seven documents, seven answers with nuggets, or four sentences with documents."""
    if request.param == "depth":
        track = make_track(make_collection(ada, qrels=None))
        runs = [make_run(track, ben), make_run(track, cat, OTHER_RUN)]
        return make_pool(track, ada, runs)
    track = make_track(make_collection(ada), run_kind="answers")
    make_run(track, ben, ANSWERS)
    make_nuggets(track)
    return pool_answers(track, request.param)


@pytest.fixture
def differing(pool: Pool, dan: User, eve: User) -> Assessment:
    """Dan gives 2 to everything, and Eve 0 to all of topic 1; Fay has nothing to judge yet."""
    judging = make_assessment(
        pool, pool.track.benchmark.owner, dan, eve, overlap="all", overlap_size=2, rule="agreed"
    )
    judge_everything(judging, lambda document: 2, only="A1")
    judge_everything(
        judging, lambda document: 0 if document.assignment.topic.number == "1" else 2, only="A2"
    )
    return judging


@pytest.fixture
def fay(db) -> User:
    return User.objects.create_user("fay", password="fay-s-word")


def ask(judging: Assessment, third: User):
    assessments.add_assessor(judging, third)
    return assessments.ask_third(judging, judging.track.benchmark.owner)


def test_who_has_not_judged_the_topic_gets_what_others_differ_on(differing, fay):
    differ = {dispute.docno for dispute in find_disputes(differing)}
    third = ask(differing, fay)
    [given] = Assignment.objects.filter(assessor__user=fay)
    assert (given.turn, given.topic.number, {*given.docnos}) == (3, "1", differ)
    assert (third.num_given, third.num_left) == (len(differ), 0)


def test_what_two_of_three_gave_counts(differing, fay):
    ask(differing, fay)
    judge_everything(differing, lambda document: 0, only="A3")
    outcome = find_outcome(differing)
    assert not outcome.open_disagreements and not find_disputes(differing)
    assert {found.grade for found in outcome.settled if found.topic == "1"} == {0}


def test_three_who_differ_leave_it_to_an_organiser(differing, fay):
    ask(differing, fay)
    judge_everything(differing, lambda document: 1, only="A3")
    assert len(find_disputes(differing)) == len(find_outcome(differing).open_disagreements) > 0
    with pytest.raises(ActionError, match="was asked about every"):
        assessments.ask_third(differing, differing.track.benchmark.owner)


def test_third_opinions_are_work_and_say_nothing_of_agreement(differing, fay):
    before = compute_assessor_agreement(differing), measure_assessment(differing)
    third = ask(differing, fay)
    assert measure_assessment(differing).num_left == before[1].num_left + third.num_given
    judge_everything(differing, lambda document: 0, only="A3")
    after = compute_assessor_agreement(differing)
    assert (after.judges, after.num_pairs) == (before[0].judges, before[0].num_pairs)


def test_later_disagreements_go_to_the_same_third(pool, ada, dan, eve, fay):
    judging = make_assessment(pool, ada, dan, eve, overlap="all", overlap_size=2, rule="agreed")
    judge_everything(judging, lambda document: 2, only="A1")
    of_eve = Assignment.objects.get(assessor__user=eve, topic__number="1")
    judge_in_order(of_eve, lambda document: 0, most=1)
    ask(judging, fay)
    draw_documents(Assignment.objects.get(assessor__user=fay))
    judge_in_order(of_eve, lambda document: 0)
    assessments.ask_third(judging, ada)
    given = Assignment.objects.get(assessor__user=fay)
    places = list(given.documents.values_list("place", flat=True))
    assert places == [*range(1, of_eve.num_documents + 1)] and given.turn == 3


def test_without_another_assessor_nobody_is_asked(differing):
    with pytest.raises(ActionError, match="Invite another one"):
        assessments.ask_third(differing, differing.track.benchmark.owner)


def test_other_rules_need_no_third(differing, fay):
    Assessment.objects.update(rule="single")
    with pytest.raises(ActionError, match="Change it first"):
        ask(differing, fay)


def test_organisers_ask_on_the_page_of_disagreements(differing, fay, as_ada):
    assessments.add_assessor(differing, fay)
    assert "Ask a third assessor" in as_ada.get(f"{ADDRESS}disagreements/").text
    said = as_ada.post(f"{ADDRESS}third-opinions/", follow=True).text
    assert "given to a third assessor" in said and "Ask a third assessor" not in said
