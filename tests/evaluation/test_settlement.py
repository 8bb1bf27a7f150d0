"""Logs of marks, replayed and settled, also by a plain second implementation."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.marks import Mark, replay
from evaluation.settlement import RULES, Settled, settle


def opinion(assessor: str, grade: int | None, docno: str = "d1", **more) -> Mark:
    kind = more.pop("kind", "grade")
    return Mark("301", docno, assessor, grade, kind, **more)


def settled(*marks: Mark, rule: str = "first", **more) -> Settled:
    [found] = settle(marks, rule, **more)
    return found


def test_a_correction_takes_the_place_of_the_mark_it_names():
    log = [opinion("ada", 2, key="1"), opinion("ada", 0, key="2", replaces="1")]
    assert replay(log) == log[1:]


def test_an_undo_leaves_nothing_and_brings_nothing_back():
    log = [
        opinion("ada", 2, key="1"),
        opinion("ada", 0, key="2", replaces="1"),
        opinion("ada", None, kind="undo", key="3", replaces="2"),
    ]
    assert replay(log) == []


def test_after_an_undo_a_document_can_be_marked_again():
    undo = opinion("ada", None, kind="undo", key="2", replaces="1")
    again = opinion("ada", 1, key="3")
    assert replay([opinion("ada", 2, key="1"), undo, again]) == [again]


def test_a_mark_that_arrives_again_is_not_revived():
    first, better = opinion("ada", 2, key="1"), opinion("ada", 0, key="2", replaces="1")
    assert replay([first, better, first]) == [better]


def test_a_mark_replaces_only_earlier_ones():
    log = [opinion("ada", 0, key="2", replaces="1"), opinion("ben", 2, key="1")]
    assert replay(log) == log


def test_marks_without_keys_are_all_kept_in_the_order_of_arrival():
    log = [opinion("ben", 1), opinion("ada", 2), opinion("ben", 0, "d2")]
    assert replay(log) == log


@pytest.mark.parametrize(
    ("grades", "first", "majority", "median", "single", "agreed"),
    [
        ([2], 2, 2, 2, 2, 2),
        ([1, 1, 1], 1, 1, 1, 1, 1),
        ([2, 0], 2, 2, 0, None, None),
        ([3, 0, 0], 3, 0, 0, None, 0),
        ([0, 3, 1], 0, 0, 1, None, None),
        ([3, 3, 0, 0], 3, 3, 0, None, None),
        # The first opinion is in the minority: of 1 and 2, the one given first wins.
        ([0, 2, 1, 1, 2], 0, 2, 1, None, None),
    ],
)
def test_each_rule_chooses_a_grade_that_was_given(grades, first, majority, median, single, agreed):
    marks = [opinion(f"a{place}", grade) for place, grade in enumerate(grades)]
    chosen = [settled(*marks, rule=rule).grade for rule in RULES]
    assert chosen == [first, majority, median, single, agreed]


def test_the_first_opinion_goes_by_turn_before_arrival():
    early, late = opinion("ben", 0, turn=2), opinion("ada", 2, turn=1)
    assert settled(early, late) == Settled("301", "d1", 2, (2, 0), True)


def test_marks_without_a_grade_and_repeats_do_not_count():
    others = [
        opinion("ada", None, kind="cannot", reason="language"),
        opinion("cat", None, kind="later"),
        opinion("ben", 3, is_repeat=True),
    ]
    assert settled(*others, opinion("ben", 1)).grades == (1,)


def test_a_document_that_cannot_be_judged_has_no_grade():
    assert settled(opinion("ada", None, kind="cannot")) == Settled("301", "d1", None, (), False)


@pytest.mark.parametrize("rule", RULES)
def test_a_decision_beats_every_rule(rule):
    marks = [opinion("ada", 2), opinion("ben", 0), opinion("cat", 2)]
    found = settled(*marks, rule=rule, decisions={("301", "d1"): 1})
    assert (found.grade, found.is_disputed) == (1, True)


def test_a_decision_grades_a_document_that_no_assessor_could():
    mark = opinion("ada", None, kind="cannot")
    assert settled(mark, decisions={("301", "d1"): 0}).grade == 0


def test_a_decision_about_a_document_without_marks_is_ignored():
    assert settle([opinion("ada", 2)], "first", {("301", "typo"): 1}) == settle(
        [opinion("ada", 2)], "first"
    )


def plain_replay(log: list[Mark]) -> list[Mark]:
    """The definition, mark by mark: is it an answer, and does no later mark replace it?"""
    log = [m for at, m in enumerate(log) if not m.key or m.key not in {x.key for x in log[:at]}]
    return [
        mark
        for at, mark in enumerate(log)
        if mark.kind != "undo"
        and not (mark.key and any(later.replaces == mark.key for later in log[at + 1 :]))
    ]


def plain_grade(marks: list[Mark], rule: str) -> int | None:
    """The grade of one document by the words of the rule."""
    by_turn = [m.grade for turn in (1, 2, 3) for m in marks if m.turn == turn]
    grades = [grade for grade in by_turn if grade is not None]
    if not grades or (rule == "single" and any(grade != grades[0] for grade in grades)):
        return None
    if rule == "agreed":
        half = len(grades) / 2
        return next((grade for grade in grades if grades.count(grade) > half), None)
    if rule == "majority":
        counts = Counter(grades)
        return next(grade for grade in grades if counts[grade] == max(counts.values()))
    if rule == "median":
        # Half of the grades, or just under half, are below the lower middle.
        ascending = sorted(grades)
        while len(ascending) > 2:
            ascending = ascending[1:-1]
        return ascending[0]
    return grades[0]


@st.composite
def logs(draw) -> list[Mark]:
    keys = st.sampled_from(["", "1", "2", "3", "4", "5", "6"])
    kinds = st.sampled_from(["grade"] * 4 + ["cannot", "later", "undo"])
    marks = []
    for _ in range(draw(st.integers(0, 14))):
        kind = draw(kinds)
        mark = Mark(
            draw(st.sampled_from(["301", "302"])),
            draw(st.sampled_from(["d1", "d2"])),
            draw(st.sampled_from(["ada", "ben", "cat"])),
            draw(st.integers(0, 3)) if kind == "grade" else None,
            kind,
            turn=draw(st.integers(1, 3)),
            key=draw(keys),
            replaces=draw(keys),
            is_repeat=draw(st.sampled_from([False, False, False, True])),
        )
        marks.append(mark)
    return marks


@given(logs())
def test_random_logs_replay_as_the_definition_has_it(log):
    assert replay(log) == plain_replay(log)


@given(logs(), st.sampled_from(RULES))
def test_random_logs_settle_as_the_definition_has_it(log, rule):
    counted = [mark for mark in plain_replay(log) if not mark.is_repeat]
    for found in settle(log, rule):
        own = [m for m in counted if (m.topic, m.docno) == (found.topic, found.docno)]
        assert found.grade == plain_grade(own, rule)
        assert found.is_disputed == (len({m.grade for m in own} - {None}) > 1)
    documents = {(found.topic, found.docno) for found in settle(log, rule)}
    assert documents == {(mark.topic, mark.docno) for mark in counted}


@given(logs())
def test_replaying_a_replayed_log_changes_nothing(log):
    assert replay(replay(log)) == replay(log)


@pytest.mark.night
def test_a_million_marks_are_settled():
    marks = (
        Mark(str(n % 50), f"d{n // 100}", f"a{n % 100 // 50}", n % 4, key=f"k{n}")
        for n in range(1_000_000)
    )
    found = settle(marks, "majority")
    assert (len(found), sum(each.is_disputed for each in found)) == (500_000, 500_000)
