"""Orders that learn hand out batches, keep a log that replays, and never draw twice."""

from __future__ import annotations

import pytest
from pytest_django.asserts import assertContains

from evaluation.pooling import HandedOut, Marked, ReplayError, estimate_relevant
from leaderboard.actions.assessments import add_assessor, finish_topic, reassign
from leaderboard.actions.refusals import ActionError
from leaderboard.assessments import drawing, learning, random_parts
from leaderboard.assessments.distribution import missing_opinions
from leaderboard.assessments.drawing import draw_documents
from leaderboard.assessments.learning import load_log, replay_order
from leaderboard.assessments.marking import SentMark, record_mark
from leaderboard.assessments.queues import lease_documents, measure_progress
from leaderboard.assessments.random_parts import find_random_parts
from leaderboard.models import Assessment, Assignment
from tests.assessments.marks import judge_in_order
from tests.builders import make_assessment, make_collection, make_pool, make_run, make_track


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """A warm-up of two documents, and batches of two, as the pools here are small."""
    monkeypatch.setattr(drawing, "BATCH", 2)
    for module in (drawing, learning, random_parts):
        monkeypatch.setattr(module, "GUARDS", learning.Guards(warm_up=2, every=3))


@pytest.fixture
def wide_pool(ada, ben, cat):
    """Thirty documents per topic, of two runs that share ten."""
    documents = "".join(f'{{"_id": "d{n:02}"}}\n' for n in range(30))
    track = make_track(make_collection(ada, qrels=None, documents=documents), disclosure="blind")
    tops = {ben: range(20), cat: range(29, 9, -1)}
    runs = [
        make_run(track, user, "".join(lines_of(user.username, found)))
        for user, found in tops.items()
    ]
    return make_pool(track, ada, runs, size=20)


def lines_of(tag, numbers):
    for number in "123":
        for rank, document in enumerate(numbers, 1):
            yield f"{number} Q0 d{document:02} {rank} {100 - rank} {tag}\n"


@pytest.fixture
def learning_one(wide_pool, ada, dan):
    make_assessment(wide_pool, ada, dan, order="thompson", seed=7, random_part=0)
    return Assignment.objects.get(topic__number="1")


@pytest.fixture
def with_random_part(wide_pool, ada, dan):
    make_assessment(wide_pool, ada, dan, order="thompson", seed=7, random_part=4)
    return Assignment.objects.get(topic__number="1")


def is_even(document) -> int:
    return int(document.docno[1:]) % 2 == 0


def test_the_first_batch_is_the_warm_up_and_small_ones_follow(learning_one):
    draw_documents(learning_one)
    handed = lease_documents(learning_one, "tab", most=1).documents
    assert learning_one.documents.count() == 2
    record_mark(learning_one, SentMark(handed[0].pk, grade=1))
    lease_documents(learning_one, "tab", most=2)
    reasons = list(learning_one.documents.values_list("drawn_by", "marks_before"))
    assert reasons == [("warm-up", 0)] * 2 + [("least seen", 1), ("order", 1)]


def test_every_document_is_handed_out_once(learning_one):
    judge_in_order(learning_one, is_even)
    docnos = list(learning_one.documents.values_list("docno", flat=True))
    assert len(docnos) == len(set(docnos)) == 30
    finish_topic(learning_one)


def test_the_log_replays_exactly_with_undone_and_changed_grades(learning_one):
    assessment, topic = learning_one.assessor.assessment, learning_one.topic
    draw_documents(learning_one)
    for number in range(8):
        document = lease_documents(learning_one, "tab", most=1).documents[0]
        mark = record_mark(learning_one, SentMark(document.pk, grade=is_even(document)))
        if number % 3 == 0:
            record_mark(learning_one, SentMark(document.pk, kind="undo", replaces=mark.key))
        if number % 3 == 1:
            record_mark(learning_one, SentMark(document.pk, grade=2, replaces=mark.key))
    log = load_log(assessment, topic)
    assert replay_order(assessment, topic).log == log
    assert sum(isinstance(event, HandedOut) for event in log) == learning_one.documents.count()
    assert Marked(document.docno.encode(), True) in log


def test_a_log_with_another_document_does_not_replay(learning_one):
    judge_in_order(learning_one, is_even, most=10)
    first, last = learning_one.documents.first(), learning_one.documents.last()
    learning_one.documents.filter(pk=last.pk).update(docno="d99")
    learning_one.documents.filter(pk=first.pk).update(docno=last.docno)
    with pytest.raises(ReplayError):
        replay_order(learning_one.assessor.assessment, learning_one.topic)


def test_grades_decide_what_comes_next(wide_pool, ada, dan):
    """Documents from d20 on are in Cat's run alone."""
    make_assessment(wide_pool, ada, dan, order="maxmean", seed=7)
    one, other = Assignment.objects.filter(topic__number__in="12").order_by("topic__number")
    judge_in_order(one, lambda document: int(document.docno >= "d20"), most=14)
    judge_in_order(other, lambda document: int(document.docno < "d10"), most=14)
    of_cat = [each.documents.filter(docno__gte="d20").count() for each in (one, other)]
    assert of_cat[0] > of_cat[1]


def test_two_tabs_draw_different_documents(learning_one):
    draw_documents(learning_one)
    one = lease_documents(learning_one, "one", most=4).documents
    other = lease_documents(learning_one, "other", most=4).documents
    docnos = [document.docno for document in [*one, *other]]
    assert len(set(docnos)) == 8
    places = learning_one.documents.values_list("place", flat=True)
    assert list(places) == list(range(1, len(places) + 1))


def test_a_tab_with_enough_documents_draws_none(learning_one):
    draw_documents(learning_one)
    held = [document.pk for document in lease_documents(learning_one, "tab").documents]
    drawn = learning_one.documents.count()
    assert lease_documents(learning_one, "tab", held).documents == []
    assert learning_one.documents.count() == drawn


def test_no_team_is_drawn_more_than_twice_in_a_row(learning_one):
    """Ben's and Cat's teams both have documents left among the first twenty."""
    judge_in_order(learning_one, lambda document: int(document.docno < "d10"), most=20)
    rows = list(learning_one.documents.values_list("drawn_from", flat=True))[:20]
    assert all(len(set(rows[at : at + 3])) > 1 for at in range(17))


def test_the_budget_ends_a_topic(wide_pool, ada, dan):
    make_assessment(wide_pool, ada, dan, order="thompson", budget=12)
    assignment = Assignment.objects.get(topic__number="1")
    judge_in_order(assignment, is_even)
    progress = measure_progress(assignment)
    assert (progress.judged, progress.left) == (assignment.num_documents, 0)
    assert progress.judged <= 12


def test_a_topic_with_budget_left_is_not_finished(learning_one):
    judge_in_order(learning_one, is_even, most=4)
    learning_one.documents.unjudged().delete()
    with pytest.raises(ActionError, match="still wait"):
        finish_topic(learning_one)


def test_another_assessor_takes_over_the_order(learning_one, ada, eve):
    assessment = learning_one.assessor.assessment
    judge_in_order(learning_one, is_even, most=5)
    moved = reassign(learning_one, ada, add_assessor(assessment, eve))
    judge_in_order(moved, is_even)
    docnos = [each.docno for row in (learning_one, moved) for each in row.documents.kept()]
    assert len(docnos) == len(set(docnos)) == 30
    log = load_log(assessment, learning_one.topic)
    assert replay_order(assessment, learning_one.topic).log == log


def test_a_topic_does_not_go_to_whose_team_found_something_alone(wide_pool, ada, ben, dan):
    assessment = make_assessment(
        wide_pool, ada, ben, dan, order="thompson", allows_participants=True
    )
    judges = Assignment.objects.values_list("assessor__user__username", flat=True)
    assert set(judges) == {"dan"} and not missing_opinions(assessment)


def test_the_random_part_is_stored_before_the_order_starts(with_random_part):
    draw_documents(with_random_part)
    lease_documents(with_random_part, "tab", most=1)
    with_random_part.refresh_from_db()
    assert len(set(with_random_part.random_part)) == 4
    assert with_random_part.num_candidates == 30


def test_the_random_part_bounds_what_the_order_missed(with_random_part):
    judge_in_order(with_random_part, is_even)
    assessment, topic = with_random_part.assessor.assessment, with_random_part.topic
    part = next(each for each in find_random_parts(assessment) if each.topic == topic)
    even = sum(int(docno[1:]) % 2 == 0 for docno in Assignment.objects.get(topic=topic).random_part)
    assert (part.drawn, part.answered, part.relevant, part.found) == (4, 4, even, 15)
    assert part.estimate == estimate_relevant(30, 4, even)
    assert "random" in set(with_random_part.documents.values_list("drawn_by", flat=True))
    assert replay_order(assessment, topic).log == load_log(assessment, topic)


def test_there_is_no_bound_before_all_random_documents_are_judged(with_random_part):
    draw_documents(with_random_part)
    document = lease_documents(with_random_part, "tab", most=1).documents[0]
    record_mark(with_random_part, SentMark(document.pk, grade=1))
    [part] = find_random_parts(with_random_part.assessor.assessment)
    assert part.answered < 4 and part.estimate is None


def test_organisers_see_the_bound(with_random_part, as_ada):
    judge_in_order(with_random_part, is_even)
    page = as_ada.get("/benchmarks/bread/judging/judging-1/")
    assertContains(page, "<h2>Random documents</h2>")
    assertContains(page, "4 of 30")


@pytest.mark.parametrize(
    ("order", "budget", "fitting"),
    [("thompson", 10, 1), ("thompson", None, 4), ("random", None, 0)],
)
def test_the_random_part_fits_the_order_and_its_budget(order, budget, fitting):
    asked = Assessment(order=order, budget=budget, random_part=4)
    assert random_parts.fit_random_part(asked) == fitting
