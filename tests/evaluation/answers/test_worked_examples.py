"""Numbers that can be checked by hand."""

import io

import numpy as np
import pytest

from evaluation.answers.assignment_files import read_assignments
from evaluation.answers.judged import AnswerMarks
from evaluation.answers.measures.texts import calibration_error
from evaluation.answers.nuggets import Nugget, NuggetBank
from evaluation.answers.runs import Answer, AnswerRun, Cited, Sentence
from evaluation.answers.scoring import AnswerScorer, ask, grades_of
from evaluation.answers.support_files import read_support
from evaluation.answers.verdicts import SentenceVerdict
from evaluation.problems import Problems
from evaluation.reading.judging.qrels import Qrels


def nuggets_of(topic, *parts):
    """Nuggets from importance and group; a layer names them by position."""
    return tuple(
        Nugget(topic, f"{topic}-{n}", "", importance=importance, group=group)
        for n, (importance, group) in enumerate(parts, 1)
    )


def scores_of(topics, labels, measures):
    """The scores of a run whose nuggets have these labels in their order."""
    lines = "".join(
        f"oak {topic} {n} {label}\n"
        for topic, of in labels.items()
        for n, label in enumerate(of.split(), 1)
    )
    bank = NuggetBank(topics, "", Problems())
    marks = AnswerMarks(bank, read_assignments(io.BytesIO(lines.encode()), bank))
    run = AnswerRun("oak", "", {}, Problems())
    return AnswerScorer(marks, list(topics), tuple(map(ask, measures))).score(run).scores


def test_vital_and_okay_nuggets():
    vital, okay = ("vital", None), ("okay", None)
    topics = {
        "a": nuggets_of("a", vital, vital, vital, okay, okay, okay),
        "b": nuggets_of("b", okay),
        "c": (),
    }
    labels = {"a": "support partial none support support none", "b": "partial"}
    wanted = {
        "strict_vital": (1 / 3, 0.111111),
        "strict_all": (0.5, 0.166667),
        "vital": (0.5, 0.166667),
        "all": (0.583333, 0.361111),
    }
    scores = scores_of(topics, labels, [*wanted, "WNuggets", "WNuggets(partial=0)"])
    for name, (of_a, mean) in wanted.items():
        assert scores[name].by_topic["a"] == pytest.approx(of_a, abs=1e-6)
        assert scores[name].overall == pytest.approx(mean, abs=1e-6)
    assert scores["WNuggets"].by_topic["a"] == pytest.approx(5 / 9)
    assert scores["WNuggets(partial=0)"].by_topic["a"] == pytest.approx(4 / 9)


def test_groups_count_once():
    parts = [("okay", group) for group in ("A", "A", "B", "C")]
    topics = {"t": nuggets_of("t", *parts)}
    names = ["Groups", "Groups(at=partial)", "GroupMean", "all"]
    scores = scores_of(topics, {"t": "support none partial none"}, names)
    assert [scores[name].overall for name in names] == pytest.approx([1 / 3, 2 / 3, 1 / 3, 0.375])


def test_a_contradicted_nugget_has_no_credit():
    topics = {"t": nuggets_of("t", *[("okay", None)] * 6)}
    scores = scores_of(topics, {"t": "contradicts " + "none " * 5}, ["Contradicted", "all"])
    assert (scores["Contradicted"].overall, scores["all"].overall) == (1 / 6, 0)


def support_scores(documents, lines, measures):
    """The scores of sentences that cite these documents, with support marks."""
    sentences = [Sentence(f"s{n}", tuple(map(Cited, of.split()))) for n, of in enumerate(documents)]
    marks = AnswerMarks(support=read_support(io.BytesIO(lines.encode())))
    run = AnswerRun("oak", "", {"t": Answer("t", tuple(sentences))}, Problems())
    return AnswerScorer(marks, ["t"], tuple(map(ask, measures))).score(run).scores


def test_support_of_the_first_citation_of_all_and_its_bounds():
    documents = ["d1", "d1", "d1 d2", "d1", ""]
    lines = "oak t 1 d1 2\noak t 2 d1 1\noak t 3 d1 0\noak t 3 d2 2\noak t 4 d1 -1\n"
    wanted = {
        "SupportP": (0.5, 0.375, 0.625),
        "SupportR": (0.375, 0.3, 0.5),
        "hard_precision": (1 / 3, 0.25, 0.5),
        "hard_recall": (0.25, 0.2, 0.4),
        "SupportP(cites=all)": (2 / 3, 0.5, 0.75),
        "SupportR(cites=all)": (0.5, 0.4, 0.6),
        "CitationP": (0.625, 0.5, 0.7),
    }
    scores = support_scores(documents, lines, [*wanted, "SupportF1"])
    for name, values in wanted.items():
        found = scores[name]
        assert (found.overall, found.low, found.high) == pytest.approx(values), name
    assert scores["SupportF1"].overall == pytest.approx(3 / 7)


def test_sentences_of_a_report_are_rewarded_or_penalised():
    scores = [2, -1, 0, -1, 1, -1, 0, 2, 0]
    verdicts = [SentenceVerdict(True, given=score) for score in scores]
    marks = AnswerMarks(verdicts={("oak", "t"): verdicts})
    run = AnswerRun("oak", "", {}, Problems())
    found = AnswerScorer(marks, ["t"], (ask("ArgueP"),)).score(run).scores["ArgueP"]
    assert found.overall == 0.5


def test_cited_documents_count_once_and_unjudged_ones_for_nothing():
    qrels = Qrels({b"t": {b"d1": 3, b"d2": 0}}, Problems())
    cited = tuple(map(Cited, ["d1", "d2", "d2", "d9"]))
    answer = Answer("t", (Sentence("Cedar.", cited),))
    run = AnswerRun("oak", "", {"t": answer}, Problems())
    asked = tuple(map(ask, ["Cited(grade)", "CitedP(rel=1)", "SetP (cited)", "SetR (cited)"]))
    marks = AnswerMarks(grades=grades_of(qrels))
    scores = AnswerScorer(marks, ["t"], asked, qrels).score(run).scores
    values = [scores[each.name].overall for each in asked]
    assert values == pytest.approx([1.5, 1 / 3, 1 / 3, 1])


def test_confidence_and_accuracy_differ_by_forty():
    for size, dropped in ((200, 28.284271), (150, 0)):
        sure, right = np.full(size, 90.0), np.arange(size) % 2.0
        assert calibration_error(sure, right) == pytest.approx(40)
        assert calibration_error(sure, right, last="dropped") == pytest.approx(dropped)
