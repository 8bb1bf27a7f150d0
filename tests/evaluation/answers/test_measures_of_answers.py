"""Measures of answers: conventions, bounds and names; the formulas have doctests."""

import io
import math

import numpy as np
import pytest

from evaluation.answers.assignment_files import read_assignments
from evaluation.answers.judged import AnswerMarks, judge_answers
from evaluation.answers.measures import (
    ANSWER_MEASURES,
    example_answers,
    parse_answer_measure,
)
from evaluation.answers.measures.texts import calibration_error
from evaluation.answers.nugget_files import read_nuggets
from evaluation.answers.runs import Answer, Cited, Sentence
from evaluation.answers.scoring import score_answers
from evaluation.answers.support_files import read_support
from evaluation.measures import MeasureError
from tests.evaluation.answers.samples import common, lines_of, read

NUGGETS = [{"text": text, "importance": "vital"} for text in ("cedar", "oak")]
BANK = read_nuggets(
    io.BytesIO(lines_of(*({"qid": topic, "nuggets": NUGGETS} for topic in ("t1", "t2"))))
)


def scores_of(marks: str, measure: str, topics=("t1", "t2"), answered=("t1",)):
    layer = read_assignments(io.BytesIO(marks.encode()), BANK)
    answers = {topic: Answer(topic, (Sentence("Cedar."),)) for topic in answered}
    judged = judge_answers("oak", answers, AnswerMarks(BANK, layer), topics)
    found = parse_answer_measure(measure)
    return found.scores(judged), found.bounds(judged)


def test_a_topic_without_an_answer_scores_0_and_stays_in_the_mean():
    scores, _ = scores_of("oak t1 1 support\noak t1 2 support\n", "all")
    assert scores.by_topic.tolist() == [1, 0]
    assert scores.overall == 0.5


def test_marks_of_what_is_not_answered_never_count():
    scores, bounds = scores_of("oak t2 1 support\noak t2 2 support\n", "all", answered=("t1",))
    assert scores.by_topic.tolist() == [0, 0]
    assert bounds.high.by_topic.tolist() == [1, 0]


def test_topics_without_nuggets_do_not_count_for_nuggets():
    scores, _ = scores_of("oak t1 1 support\n", "all", topics=("t1", "t9"), answered=("t1", "t9"))
    assert math.isnan(scores.by_topic[1])
    assert scores.overall == 0.5


def test_an_unjudged_nugget_counts_as_none_between_its_bounds():
    scores, bounds = scores_of("oak t1 1 support\n", "all", topics=("t1",))
    assert (scores.overall, bounds.low.overall, bounds.high.overall) == (0.5, 0.5, 1)


def test_unjudged_support_is_in_neither_part_of_the_share():
    lines = b"oak t1 1 d1 FS\noak t1 2 d1 -1\n"
    cited = tuple(Sentence(text, (Cited("d1"),)) for text in ("Cedar.", "Oak."))
    marks = AnswerMarks(support=read_support(io.BytesIO(lines)))
    judged = judge_answers("oak", {"t1": Answer("t1", cited)}, marks, ["t1"])
    measure = parse_answer_measure("SupportP")
    assert measure.scores(judged).overall == 1
    assert [each.overall for each in measure.bounds(judged)] == [0.5, 1]
    assert measure.judged_share(judged) == 0.5


def test_pooled_variants_divide_sums_and_have_no_value_by_topic():
    scores, _ = scores_of("oak t1 1 support\n", "Nuggets(over=pairs)")
    assert scores.overall == 0.25
    assert np.isnan(scores.by_topic).all()


def test_bounds_enclose_every_score():
    judged = example_answers()
    for name, definition in ANSWER_MEASURES.items():
        measure = parse_answer_measure(name)
        low, high = measure.bounds(judged)
        if definition.unjudged != "none":
            assert low.overall <= measure.scores(judged).overall <= high.overall, name


def test_measures_of_an_empty_run_are_0_or_undefined():
    judged = judge_answers("oak", {}, AnswerMarks(BANK), ["t1", "t2"])
    for name, definition in ANSWER_MEASURES.items():
        value = parse_answer_measure(name).scores(judged).overall
        full = 1 if name == "AnswerJudged" else 0
        counts = definition.domain in ("nuggets", "support") and name != "NuggetsSaid"
        assert value == full if counts else math.isnan(value), name


def test_every_measure_has_description_source_and_example():
    for name, definition in ANSWER_MEASURES.items():
        assert definition.description.endswith("."), name
        assert definition.source, name
        assert parse_answer_measure(definition.example).name == name


def test_a_measure_prints_as_it_is_read():
    for text in ["Nuggets(of=vital)", "AnswerF1(r=Nuggets(partial=0))", "SetP(class=contradicts)"]:
        assert str(parse_answer_measure(text)) == text


def test_wrong_names_say_what_is_allowed():
    for text, what in {
        "Nugget": "no such measure",
        "Nuggets(partial=2)": "partial is a number from 0 to 1",
        "Words(k=1)": "no parameter k",
        "Sentences(1)": "write parameters as name=value",
    }.items():
        with pytest.raises(MeasureError, match=what):
            parse_answer_measure(text)


def test_calibration_needs_a_hundred_answers():
    sure = np.full(150, 90.0)
    right = np.arange(150) % 2.0
    assert calibration_error(sure, right) == pytest.approx(40)
    assert calibration_error(sure, right, last="dropped") == 0
    assert math.isnan(calibration_error(sure[:99], right[:99]))


def test_the_example_of_the_issue_on_f1_is_a_mean_of_topics():
    precision, recall = np.array([1, 0.5]), np.array([0.2, 0.5])
    by_topic = 2 * precision * recall / (precision + recall)
    assert by_topic.mean() == pytest.approx(0.4167, abs=1e-4)


def test_lengths_are_means_over_answers():
    run = read(common("t1"), common("t2", sentences=[]))
    assert score_answers(run, AnswerMarks(), ["Words", "Uncited"], ["t1", "t2"]) == {
        "Words": 3,
        "Uncited": 0,
    }
