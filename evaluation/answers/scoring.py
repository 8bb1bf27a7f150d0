"""Scoring of runs of answers: measures of answers, and measures of rankings on their views."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from evaluation.answers.judged import AnswerMarks, Grades, JudgedAnswers, judge_answers
from evaluation.answers.measures import AnswerMeasure, parse_answer_measure
from evaluation.answers.rankings import VIEWS, View, ranking_run
from evaluation.answers.runs import AnswerRun
from evaluation.comparison import ScoredRuns
from evaluation.judging import Judgments, judge, prepare
from evaluation.measures import Definition, Measure, MeasureError, parse_measure
from evaluation.ragged import FloatArray
from evaluation.reading.groups import number_groups
from evaluation.reading.judging.qrels import Qrels
from evaluation.significance import topic_order

# Below this share of marked pairs, bounds are printed instead of a score.
ENOUGH_JUDGED = 0.95
OF_VIEW = re.compile(rf"(.+?)\s*\(({'|'.join(VIEWS)})\)\s*")
NOT_JUDGED = -1


@dataclass(frozen=True)
class ViewMeasure:
    """A measure of rankings on a view of the answers: `nDCG@10 (cited)`."""

    measure: Measure
    view: View

    @property
    def definition(self) -> Definition:
        return self.measure.definition

    @property
    def direction(self) -> int:
        return self.measure.direction

    @property
    def range(self) -> tuple[float, float]:
        return self.measure.range

    def aggregate(self, scores: FloatArray) -> float:
        return self.measure.aggregate(scores)

    def __str__(self) -> str:
        return f"{self.measure} ({self.view})"


@dataclass(frozen=True)
class AskedOfAnswers:
    """A measure and the name by which it was asked for."""

    name: str
    measure: AnswerMeasure | ViewMeasure


@dataclass(frozen=True)
class AnswerScore:
    """The score of a run by one measure: over all and by topic, NaN where undefined.

    `low` and `high` are the bounds by what is unjudged, and `judged` is the share of pairs with a
    mark. They are the score itself and 1 where nothing can be unjudged.
    """

    overall: float
    by_topic: Mapping[str, float]
    low: float
    high: float
    judged: float = 1.0
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class AnswerRunScores:
    """The scores of one run; `ignored` counts marks of what is not in the run."""

    run: str
    dialect: str
    topics: tuple[str, ...]
    asked: tuple[AskedOfAnswers, ...]
    scores: Mapping[str, AnswerScore]
    layers: Mapping[str, str]
    ignored: int = 0
    file: str = ""


def scored_runs(
    asked: AskedOfAnswers,
    runs: Sequence[AnswerRunScores],
    grouping: Mapping[bytes, bytes] | None = None,
) -> ScoredRuns:
    """Return the runs by one measure on all topics on which any of them has a score.

    Raises MeasureError for lengths, of which neither more nor less is better, and where no topic
    has a score; ValueError where a topic has no group.
    """
    measure = asked.measure
    if isinstance(measure, AnswerMeasure) and not measure.definition.has_direction:
        raise MeasureError(f"{asked.name}: neither more nor less is better")
    by_topic = [each.scores[asked.name].by_topic for each in runs]
    names = list(dict.fromkeys(topic for scores in by_topic for topic in scores))
    if not names:
        raise MeasureError(f"{asked.name}: no topic has a score by which runs can be compared")
    order = topic_order([name.encode("utf-8", "surrogatepass") for name in names])
    names = [names[place] for place in order.tolist()]
    topics = [name.encode("utf-8", "surrogatepass") for name in names]
    rows = [[scores.get(name, math.nan) for name in names] for scores in by_topic]
    scores = np.array(rows, np.float64).reshape(len(runs), len(names))
    groups = None if grouping is None else number_groups(topics, grouping)
    return ScoredRuns(asked.name, measure, [r.run for r in runs], topics, scores, groups)


def ask(text: str) -> AskedOfAnswers:
    """Return the measure that a text asks for; raises MeasureError.

    >>> ask("strict_vital").measure, str(ask("nDCG@10(cited)").measure)
    (Nuggets(of=vital,partial=0), 'nDCG@10 (cited)')
    """
    of_view = OF_VIEW.fullmatch(text)
    if of_view is None:
        return AskedOfAnswers(text, parse_answer_measure(text))
    view: View = "cited" if of_view[2] == "cited" else "references"
    return AskedOfAnswers(text, ViewMeasure(parse_measure(of_view[1]), view))


def grades_of(qrels: Qrels) -> Grades:
    """Return judgments by the text of topics and docnos, without what was only in the pool."""
    return {
        topic.decode("utf-8", "replace"): {
            docno.decode("utf-8", "replace"): grade
            for docno, grade in judged.items()
            if grade != NOT_JUDGED
        }
        for topic, judged in qrels.grades.items()
    }


@dataclass(frozen=True)
class AnswerScorer:
    """What scores runs of a track: the marks, the judgments, the topics and the measures.

    `answered_only` averages over the answers of each run, as many public tools do.
    """

    marks: AnswerMarks
    topics: Sequence[str]
    asked: tuple[AskedOfAnswers, ...]
    qrels: Qrels | None = None
    answered_only: bool = False

    @cached_property
    def judgments(self) -> Judgments | None:
        return None if self.qrels is None else prepare(self.qrels)

    def score(self, run: AnswerRun, file: str = "") -> AnswerRunScores:
        """Return the scores of a run; a run without answers is scored by its marks alone."""
        topics, marks = self.topics, self.marks
        if self.answered_only:
            given = self._answered(run)
            topics = [topic for topic in topics if topic in given]
            grades = {topic: g for topic, g in marks.grades.items() if topic in given}
            marks = replace(marks, grades=grades)
        judged = judge_answers(run.name, run.answers, marks, topics)
        scores = {}
        for each in self.asked:
            measure = each.measure
            if isinstance(measure, ViewMeasure):
                scores[each.name] = self._score_view(measure, run)
            else:
                scores[each.name] = _score(measure, judged)
        layers = {"assignments": marks.assignments, "support": marks.support}
        origins = {name: layer.origin for name, layer in layers.items() if layer is not None}
        ignored = self._count_ignored(run)
        name, dialect = run.name, run.dialect
        return AnswerRunScores(
            name, dialect, judged.topics, self.asked, scores, origins, ignored, file
        )

    def _answered(self, run: AnswerRun) -> set[str]:
        layer = self.marks.assignments
        by_marks = layer.topics_of(run.name) if layer and not run.answers else ()
        return {*run.answers, *by_marks}

    def _count_ignored(self, run: AnswerRun) -> int:
        marks = self.marks
        ignored = 0
        if marks.assignments and marks.bank and not marks.assignments.of_questions:
            answered = [*self._answered(run)]
            ignored += marks.assignments.count_ignored(marks.bank, run.name, answered)
        if marks.support:
            ignored += marks.support.count_ignored(run.name, run.answers)
        return ignored

    def _score_view(self, measure: ViewMeasure, run: AnswerRun) -> AnswerScore:
        if self.judgments is None:
            raise MeasureError(f"{measure}: judgments of documents are missing")
        judgments = self.judgments
        if self.answered_only:
            answered = {topic.encode() for topic in run.answers}
            judgments = judgments.of([topic for topic in judgments.topics if topic in answered])
        ranked = judge(ranking_run(run, measure.view), judgments)
        values = measure.measure.scores(ranked)
        names = [topic.decode("utf-8", "replace") for topic in judgments.topics]
        overall = measure.measure.aggregate(values)
        by_topic = dict(zip(names, values.tolist(), strict=True))
        return AnswerScore(overall, by_topic, overall, overall)


def _score(measure: AnswerMeasure, judged: JudgedAnswers) -> AnswerScore:
    found = measure.scores(judged)
    by_topic = _named(judged, found.by_topic)
    if measure.definition.unjudged == "none":
        return AnswerScore(found.overall, by_topic, found.overall, found.overall)
    low, high = measure.bounds(judged)
    lowest, highest = _named(judged, low.by_topic), _named(judged, high.by_topic)
    bounds = {topic: (lowest[topic], highest[topic]) for topic in by_topic}
    share = measure.judged_share(judged)
    return AnswerScore(found.overall, by_topic, low.overall, high.overall, share, bounds)


def _named(judged: JudgedAnswers, values: FloatArray) -> dict[str, float]:
    """Return the defined values by topic."""
    pairs = zip(judged.topics, values.tolist(), strict=True)
    return {topic: value for topic, value in pairs if not math.isnan(value)}


def score_answers(
    run: AnswerRun, marks: AnswerMarks, measures: Sequence[str], topics: Sequence[str]
) -> dict[str, float]:
    """Return the value of each measure for a run, over the topics of the track.

    >>> from evaluation.answers.runs import Answer, Sentence
    >>> from evaluation.problems import Problems
    >>> answer = Answer("t1", (Sentence("Cedar smells strong."),))
    >>> run = AnswerRun("oak", "common", {"t1": answer}, Problems())
    >>> score_answers(run, AnswerMarks(), ["Words", "SupportR"], ["t1", "t2"])
    {'Words': 3.0, 'SupportR': 0.0}
    """
    scorer = AnswerScorer(marks, topics, tuple(map(ask, measures)))
    return {name: score.overall for name, score in scorer.score(run).scores.items()}
