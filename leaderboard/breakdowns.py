"""Behind a number: a run by topics, a topic by runs, one ranking, two runs beside each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from django.core.files.storage import default_storage
from django.http import Http404
from numpy.typing import NDArray

from evaluation.measures import parse_measure
from leaderboard.comparing import AgainstBaseline, means_of, test_family
from leaderboard.disclosure import Sight
from leaderboard.documents import open_documents
from leaderboard.models import Collection, Edition, Judgment, Run, Score, Topic
from leaderboard.rankings import Rankings
from leaderboard.scoring import mask_of
from leaderboard.standings import Board, verdict_of

TOP = 10
PAGE = 20
NEVER_JUDGED = 10
SNIPPET = 280


@dataclass(frozen=True)
class Scores:
    """All runs of a board on one measure: `values[i]` are those of `runs[i]`, NaN = undefined.

    Columns are the evaluated topics in the order of their positions.
    """

    measure: str
    runs: list[Run]
    topics: list[Topic]
    values: NDArray[np.float64]

    def of(self, run: Run) -> NDArray[np.float64]:
        return self.values[self.runs.index(run)]

    @cached_property
    def contenders(self) -> NDArray[np.float64]:
        """The rows of runs that are not the organisers' own; all rows where there are none."""
        rows = [place for place, run in enumerate(self.runs) if not run.team.of_organisers]
        return self.values[rows] if rows else self.values

    @cached_property
    def median(self) -> NDArray[np.float64]:
        return np.nanmedian(self.contenders, axis=0)


def read_scores(edition: Edition, measure: str, runs: Sequence[Run]) -> Scores:
    rows = Score.objects.filter(score_set__edition=edition, measure=measure)
    arrays = {
        run_id: np.frombuffer(by_topic, dtype="<f8")
        for run_id, by_topic in rows.values_list("score_set__run_id", "by_topic")
    }
    mask = mask_of(edition)
    topics = [
        topic
        for topic, counts in zip(topics_of(edition.track.collection), mask, strict=True)
        if counts
    ]
    runs = [run for run in runs if run.pk in arrays]
    values = np.array([arrays[run.pk][mask] for run in runs]).reshape(len(runs), len(topics))
    return Scores(measure, runs, topics, values)


def topics_of(collection: Collection) -> list[Topic]:
    return list(collection.topics.order_by("position"))


# A run by topics


@dataclass(frozen=True)
class MeasureLine:
    """One measure of a run among the runs of its board."""

    measure: str
    mean: float | None
    rank: int
    of: int
    others: dict[str, float]
    median: float
    best: float
    best_run: Run


@dataclass(frozen=True)
class TopicLine:
    topic: Topic
    score: float
    rank: int
    baseline: float | None
    median: float
    worst: float
    best: float
    best_run: Run

    @property
    def difference(self) -> float | None:
        return None if self.baseline is None else self.score - self.baseline

    @property
    def lost(self) -> float:
        return self.best - self.score


@dataclass(frozen=True)
class RunBreakdown:
    measure: str
    lines: list[MeasureLine]
    topics: list[TopicLine]
    values: NDArray[np.float64]
    baseline_values: NDArray[np.float64] | None


def run_breakdown(board: Board, run: Run) -> RunBreakdown:
    """How a run of the board does on every measure, and on every topic by the ranking one."""
    runs = [standing.run for standing in board.standings]
    scores = read_scores(board.edition, board.measure, runs)
    baseline = board.baseline if board.baseline in scores.runs else None
    return RunBreakdown(
        measure=board.measure,
        lines=[_measure_line(board, run, measure) for measure in board.measures],
        topics=_topic_lines(scores, run, baseline, parse_measure(board.measure).direction),
        values=scores.of(run),
        baseline_values=None if baseline is None else scores.of(baseline),
    )


def _measure_line(board: Board, run: Run, measure: str) -> MeasureLine:
    direction = parse_measure(measure).direction
    means = {
        standing.run: mean
        for standing in board.standings
        if (mean := standing.scores[measure]) is not None
    }
    mean = means.get(run)
    best_run = max(means, key=lambda each: direction * means[each])
    contenders = [means[each] for each in means if not each.team.of_organisers]
    better = sum(direction * value > direction * (mean or 0.0) for value in means.values())
    return MeasureLine(
        measure=measure,
        mean=mean,
        rank=better + 1,
        of=len(means),
        others={each.pk: value for each, value in means.items() if each != run},
        median=float(np.median(contenders or list(means.values()))),
        best=means[best_run],
        best_run=best_run,
    )


def _topic_lines(scores: Scores, run: Run, baseline: Run | None, direction: int) -> list[TopicLine]:
    own = scores.of(run)
    good = np.where(np.isnan(scores.values), -np.inf, direction * scores.values)
    best_rows = good.argmax(axis=0)
    best = np.nanmax(direction * scores.values, axis=0) * direction
    worst = np.nanmin(direction * scores.values, axis=0) * direction
    ranks = (good > direction * own).sum(axis=0) + 1
    against = None if baseline is None else scores.of(baseline)
    return [
        TopicLine(
            topic=topic,
            score=float(own[place]),
            rank=int(ranks[place]),
            baseline=None if against is None else float(against[place]),
            median=float(scores.median[place]),
            worst=float(worst[place]),
            best=float(best[place]),
            best_run=scores.runs[best_rows[place]],
        )
        for place, topic in enumerate(scores.topics)
    ]


# All topics


@dataclass(frozen=True)
class TopicSummary:
    topic: Topic
    judged: int
    relevant: int
    median: float
    best: float
    best_run: Run | None


def topic_summaries(board: Board) -> list[TopicSummary]:
    """Every evaluated topic with its judgments and how the runs did."""
    scores = read_scores(board.edition, board.measure, [each.run for each in board.standings])
    grades = grades_by_topic(board.edition)
    threshold = board.edition.track.relevance_threshold
    direction = parse_measure(board.measure).direction
    summaries = []
    for place, topic in enumerate(scores.topics):
        column = direction * scores.values[:, place]
        judged = grades.get(topic.pk, [])
        defined = column.size and not np.isnan(column).all()
        best = int(np.nanargmax(column)) if defined else None
        summaries.append(
            TopicSummary(
                topic=topic,
                judged=len(judged),
                relevant=sum(grade >= threshold for grade in judged),
                median=float(scores.median[place]) if defined else np.nan,
                best=np.nan if best is None else float(scores.values[best, place]),
                best_run=None if best is None else scores.runs[best],
            )
        )
    return summaries


def grades_by_topic(edition: Edition) -> dict[int, list[int]]:
    grades: dict[int, list[int]] = {}
    rows = Judgment.objects.filter(judgment_set=edition.judgment_set_id)
    for topic_id, grade in rows.values_list("topic_id", "grade"):
        grades.setdefault(topic_id, []).append(grade)
    return grades


# A topic by runs


@dataclass(frozen=True)
class Answer:
    """What one run retrieved for the topic in view."""

    run: Run
    rank: int | None
    score: float
    is_baseline: bool
    is_own: bool
    first_relevant: int | None
    # Grades of the first ten; None where nobody judged.
    top_grades: list[int | None]
    retrieved: int

    @property
    def relevant_in_top(self) -> int:
        return sum(grade is not None and grade > 0 for grade in self.top_grades)

    @property
    def unjudged_in_top(self) -> int:
        return sum(grade is None or grade < 0 for grade in self.top_grades)


@dataclass(frozen=True)
class JudgedDocument:
    docno: str
    title: str
    grade: int
    # The rank in each answer, in their order; None where it was not retrieved.
    ranks: list[int | None]

    @property
    def found(self) -> int:
        return sum(rank is not None and rank <= 100 for rank in self.ranks)


@dataclass(frozen=True)
class UnjudgedDocument:
    docno: str
    title: str
    runs: int
    best_rank: int


@dataclass(frozen=True)
class TopicBreakdown:
    topic: Topic
    previous: Topic | None
    next: Topic | None
    evaluated: bool
    grades: dict[int, int]
    relevant: int
    median: float
    answers: list[Answer]
    judged: list[JudgedDocument]
    never_judged: list[UnjudgedDocument]

    @property
    def num_judged(self) -> int:
        return sum(self.grades.values())


def topic_or_404(collection: Collection, number: str) -> Topic:
    topic = collection.topics.filter(number=number).first() if "\0" not in number else None
    if topic is None:
        raise Http404("no such topic")
    return topic


def neighbours(topic: Topic) -> tuple[Topic | None, Topic | None]:
    topics = Topic.objects.filter(collection=topic.collection_id)
    before = topics.filter(position__lt=topic.position).order_by("-position").first()
    return before, topics.filter(position__gt=topic.position).order_by("position").first()


def topic_breakdown(board: Board, topic: Topic) -> TopicBreakdown:
    """What every run of the board retrieved for a topic, and what was judged."""
    scores = read_scores(board.edition, board.measure, [each.run for each in board.standings])
    grades = grades_of(board.edition, topic)
    retrieved = {run.pk: docnos_of(run, topic) for run in scores.runs}
    answers = _answers(board, scores, topic, grades, retrieved)
    titles = Titles(board.edition.track.collection)
    before, after = neighbours(topic)
    return TopicBreakdown(
        topic=topic,
        previous=before,
        next=after,
        evaluated=topic in scores.topics,
        grades=dict(sorted(Counter(grades.values()).items(), reverse=True)),
        relevant=sum(grade >= board.edition.track.relevance_threshold for grade in grades.values()),
        median=float(scores.median[scores.topics.index(topic)])
        if topic in scores.topics and scores.runs
        else np.nan,
        answers=answers,
        judged=_judged_documents(grades, answers, retrieved, titles),
        never_judged=_never_judged(grades, retrieved, titles),
    )


def grades_of(edition: Edition, topic: Topic) -> dict[str, int]:
    rows = Judgment.objects.filter(judgment_set=edition.judgment_set_id, topic=topic)
    return dict(rows.values_list("docno", "grade"))


@contextmanager
def rankings_of(run: Run) -> Iterator[Rankings]:
    with default_storage.open(run.ranking_file.name) as file:
        yield Rankings(file)


def docnos_of(run: Run, topic: Topic) -> list[str]:
    with rankings_of(run) as rankings:
        ranking = rankings.ranking(topic.number)
    return [] if ranking is None else [docno.decode() for docno in ranking.docnos]


def _answers(
    board: Board,
    scores: Scores,
    topic: Topic,
    grades: dict[str, int],
    retrieved: dict[str, list[str]],
) -> list[Answer]:
    if topic not in scores.topics:
        return []
    column = scores.values[:, scores.topics.index(topic)]
    direction = parse_measure(board.measure).direction
    threshold = board.edition.track.relevance_threshold
    good = np.where(np.isnan(column), -np.inf, direction * column)
    answers = []
    for place in np.argsort(-good, kind="stable"):
        run = scores.runs[place]
        docnos = retrieved[run.pk]
        relevant = (
            rank for rank, docno in enumerate(docnos, start=1) if grades.get(docno, -1) >= threshold
        )
        answers.append(
            Answer(
                run=run,
                rank=None if np.isnan(column[place]) else int((good > good[place]).sum()) + 1,
                score=float(column[place]),
                is_baseline=run == board.baseline,
                is_own=board.sight.owns(run),
                first_relevant=next(relevant, None),
                top_grades=[grades.get(docno) for docno in docnos[:TOP]],
                retrieved=len(docnos),
            )
        )
    return answers


def _judged_documents(
    grades: dict[str, int],
    answers: list[Answer],
    retrieved: dict[str, list[str]],
    titles: Titles,
) -> list[JudgedDocument]:
    ranks = {
        run_id: {docno: rank for rank, docno in enumerate(docnos, start=1) if docno in grades}
        for run_id, docnos in retrieved.items()
    }
    named = titles.of(grades)
    documents = [
        JudgedDocument(
            docno, named.get(docno, ""), grade, [ranks[each.run.pk].get(docno) for each in answers]
        )
        for docno, grade in grades.items()
    ]
    return sorted(documents, key=lambda each: (-each.grade, -each.found, each.docno))


def _never_judged(
    grades: dict[str, int], retrieved: dict[str, list[str]], titles: Titles
) -> list[UnjudgedDocument]:
    """The documents that most runs have in their first ten and nobody has judged."""
    runs: Counter[str] = Counter()
    best: dict[str, int] = {}
    for docnos in retrieved.values():
        for rank, docno in enumerate(docnos[:TOP], start=1):
            if grades.get(docno, -1) < 0:
                runs[docno] += 1
                best[docno] = min(rank, best.get(docno, rank))
    first = sorted(runs, key=lambda docno: (-runs[docno], best[docno], docno))[:NEVER_JUDGED]
    named = titles.of(first)
    return [
        UnjudgedDocument(docno, named.get(docno, ""), runs[docno], best[docno]) for docno in first
    ]


@dataclass(frozen=True)
class Titles:
    """The titles of documents, empty where a collection came without them."""

    collection: Collection

    def of(self, docnos: Iterable[str]) -> dict[str, str]:
        if not self.collection.documents:
            return {}
        found = open_documents(self.collection.documents.name).find_many(docnos)
        return {
            docno: document.title or document.text[:SNIPPET] for docno, document in found.items()
        }


# One ranking


@dataclass(frozen=True)
class Retrieved:
    rank: int
    docno: str
    score: float
    # None where nobody judged, or where grades are not to be shown.
    grade: int | None
    title: str
    text: str


@dataclass(frozen=True)
class RankingPage:
    run: Run
    topic: Topic
    previous: Topic | None
    next: Topic | None
    documents: list[Retrieved]
    total: int
    page: int
    pages: int


def ranking_page(sight: Sight, run: Run, topic: Topic, page: int = 1) -> RankingPage:
    """What a run retrieved for a topic, a page of it, with grades where they may be seen."""
    with rankings_of(run) as rankings:
        ranking = rankings.ranking(topic.number)
    docnos = [] if ranking is None else [docno.decode() for docno in ranking.docnos]
    pages = max(1, -(-len(docnos) // PAGE))
    page = min(max(page, 1), pages)
    first = (page - 1) * PAGE
    shown = docnos[first : first + PAGE]
    grades = grades_of(sight.edition, topic) if sight.edition is not None else {}
    collection = run.track.collection
    documents = (
        open_documents(collection.documents.name).find_many(shown) if collection.documents else {}
    )
    before, after = neighbours(topic)
    return RankingPage(
        run=run,
        topic=topic,
        previous=before,
        next=after,
        documents=[
            Retrieved(
                rank=rank,
                docno=docno,
                score=float(ranking.scores[rank - 1]) if ranking is not None else np.nan,
                grade=grades.get(docno),
                title=documents[docno].title if docno in documents else "",
                text=documents[docno].text if docno in documents else "",
            )
            for rank, docno in enumerate(shown, start=first + 1)
        ],
        total=len(docnos),
        page=page,
        pages=pages,
    )


# Two runs


@dataclass(frozen=True)
class PairLine:
    topic: Topic
    a: float
    b: float

    @property
    def difference(self) -> float:
        return self.b - self.a


@dataclass(frozen=True)
class Pair:
    """Run `b` against run `a` on one measure: what the test says, and every topic."""

    a: Run
    b: Run
    measure: str
    mean_a: float
    mean_b: float
    against: AgainstBaseline
    test: str
    topics: list[PairLine]

    @property
    def verdict(self) -> str:
        return verdict_of(self.against)


def compare_runs(sight: Sight, a: Run, b: Run, measure: str) -> Pair:
    """One comparison that was planned: two runs make a family of their own."""
    edition = sight.edition
    if edition is None:
        raise Http404("nothing to compare")
    edition.track = sight.track
    scores = read_scores(edition, measure, [a, b])
    if len(scores.runs) < 2:
        raise Http404("both runs must be scored")
    means = means_of(edition, measure)
    tested = test_family(edition, measure, a.pk, [a.pk, b.pk])
    return Pair(
        a=a,
        b=b,
        measure=measure,
        mean_a=means[a.pk],
        mean_b=means[b.pk],
        against=tested[b.pk],
        test=sight.track.test,
        topics=[
            PairLine(topic, float(scores.of(a)[place]), float(scores.of(b)[place]))
            for place, topic in enumerate(scores.topics)
        ],
    )
