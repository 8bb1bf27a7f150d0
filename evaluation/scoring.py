"""From judgments and a run to scores by topic: the one path of the commands and the library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias

from evaluation.conventions import HOUSE, Convention
from evaluation.expectations import expected_scores, find_ties
from evaluation.frames import build_frame
from evaluation.judging import JudgedRun, Judging, Judgments, judge
from evaluation.measures import Asked, Measure, MeasureError
from evaluation.phrases import counted
from evaluation.ragged import FloatArray
from evaluation.reading.paths import open_input, rules_of_any
from evaluation.reading.repairs import refuse_other_topics
from evaluation.reading.runs.reader import Run, read_run, read_run_leniently
from evaluation.tables import Table, table_text, text_of

Ties: TypeAlias = Literal["docno", "expected"]
DIGITS = 4


@dataclass(frozen=True)
class ScoringRules:
    """How runs are scored.

    rel: the lowest relevant grade. depth: rankings are cut there. judged_only: unjudged documents
    are removed. answered_only: only topics that the run answers count. ties: documents with equal
    scores are ordered by docno, or scores are expected values over all their orders. lenient: runs
    are read as trec_eval reads them.
    """

    convention: Convention = HOUSE
    rel: int = 1
    depth: int | None = None
    judged_only: bool = False
    answered_only: bool = False
    ties: Ties = "docno"
    lenient: bool = False

    def check(self) -> None:
        """Raises ValueError for a depth or a grade below 1 or 0, and MeasureError where expected
        values lack the ranks that they need."""
        if self.depth is not None and self.depth < 1:
            raise ValueError(f"a ranking cannot be cut at {self.depth}")
        if self.rel < 0:
            raise ValueError(f"the lowest relevant grade cannot be {self.rel}")
        if self.ties == "expected" and (self.judged_only or self.depth is not None):
            raise MeasureError(
                "expected values over ties need all ranks: neither cut nor condense rankings"
            )

    @property
    def needs_rankings(self) -> bool:
        """Whether the rankings are used again after they were judged."""
        return self.answered_only or self.ties == "expected"

    def resolve(self, asked: Iterable[Asked]) -> tuple[Asked, ...]:
        """Return each measure with the lowest relevant grade, none twice under one name."""
        named = {each.name: each for each in asked}
        return tuple(Asked(each.name, each.measure.resolved(self.rel)) for each in named.values())


@dataclass(frozen=True, eq=False)
class RunScores:
    """The scores of one run.

    `values[i]` is float64[topics], the scores by `asked[i]` in the order of `topic_numbers`, NaN
    where undefined, and `overall[i]` its mean, or what the measure prints instead of a mean.

    >>> from evaluation import evaluate
    >>> scores = evaluate({7: {"d1": 1}, 8: {"d3": 1}}, {7: {"d1": 2.5, "d2": 1}}, ["AP", "P@2"])
    >>> print(scores)
    measure  value
    AP       0.5000
    P@2      0.2500
    run, 2 topics
    >>> scores["AP"], scores.means, scores.topics
    (0.5, {'AP': 0.5, 'P@2': 0.25}, ('7', '8'))
    >>> scores.by_topic["AP"], scores.of_topic(7)
    ({'7': 1.0, '8': 0.0}, {'AP': 1.0, 'P@2': 0.5})
    """

    tag: str
    topic_numbers: tuple[bytes, ...]
    asked: tuple[Asked, ...]
    values: list[FloatArray]
    overall: list[float]
    rules: ScoringRules = ScoringRules()
    file: str = ""

    @cached_property
    def topics(self) -> tuple[str, ...]:
        """The topics that count, as text."""
        return tuple(map(text_of, self.topic_numbers))

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures, as they were asked for."""
        return tuple(asked.name for asked in self.asked)

    @property
    def means(self) -> dict[str, float]:
        """The value of the run by each measure."""
        return dict(zip(self.measures, self.overall, strict=True))

    @property
    def by_topic(self) -> dict[str, dict[str, float]]:
        """The score of each topic by each measure: `by_topic[measure][topic]`."""
        return {
            name: dict(zip(self.topics, values.tolist(), strict=True))
            for name, values in zip(self.measures, self.values, strict=True)
        }

    def of_topic(self, topic: object) -> dict[str, float]:
        """Return the scores of one topic by measure; KeyError for a topic that does not count."""
        if str(topic) not in self.topics:
            raise KeyError(f"no scores of topic {topic}")
        place = self.topics.index(str(topic))
        return {n: float(v[place]) for n, v in zip(self.measures, self.values, strict=True)}

    def __getitem__(self, measure: object) -> float:
        if str(measure) not in self.measures:
            raise KeyError(f"{measure} was not computed; there are {', '.join(self.measures)}")
        return self.means[str(measure)]

    def frame(self) -> Any:
        """Return the values as a pandas DataFrame: one row, a column per measure."""
        return build_frame([{"run": self.tag, **self.means}], "run")

    def topic_frame(self) -> Any:
        """Return the scores as a pandas DataFrame: a row per topic, a column per measure."""
        columns = [values.tolist() for values in self.values]
        rows = zip(self.topics, *columns, strict=True)
        names = ("topic", *self.measures)
        return build_frame((dict(zip(names, row, strict=True)) for row in rows), "topic")

    def __str__(self) -> str:
        rows = [[name, f"{value:z.{DIGITS}f}"] for name, value in self.means.items()]
        note = f"{self.tag}, {counted(len(self.topics), 'topic')}"
        return table_text(Table(["measure", "value"], rows, texts=2, note=note))

    __repr__ = __str__


def score_run(
    run: Run, judgments: Judgments, asked: Sequence[Asked], rules: ScoringRules, file: str = ""
) -> RunScores:
    """Score one run by measures that `rules.resolve` returned."""
    if rules.answered_only:
        judgments = judgments.of([topic for topic in judgments.topics if topic in run.rankings])
    values_of = values_by_topic(run, build_record(run, judgments, rules), rules)
    values = [values_of(each.measure) for each in asked]
    overall = [a.measure.aggregate(scores) for a, scores in zip(asked, values, strict=True)]
    return RunScores(run.tag, judgments.topics, tuple(asked), values, overall, rules, file)


def values_by_topic(
    run: Run, judged: JudgedRun, rules: ScoringRules
) -> Callable[[Measure], FloatArray]:
    """What computes the scores of a run by topic: as ranked, or expected over its ties."""
    if rules.ties == "docno":
        return lambda measure: measure.scores(judged)
    tied = find_ties(run, judged)
    return lambda measure: expected_scores(measure, tied)


def check_topics(run: Run, judgments: Judgments) -> Run:
    """Return the run; raises `Refused` where none of its topics is judged.

    Not for runs that are read as trec_eval reads them: it scores such a run.
    """
    answered = run.rankings.keys()
    judged = judgments.left_out | {*judgments.topics}
    if answered and answered.isdisjoint(judged):
        raise refuse_other_topics(answered, sorted(judged))
    return run


def build_record(run: Run, judgments: Judgments, rules: ScoringRules) -> JudgedRun:
    """Match a run with its judgments, cut and condensed as the rules say."""
    judged = judge(run, judgments, rules.depth, rules.convention)
    return judged.condensed() if rules.judged_only else judged


def read_run_to_score(
    path: str, judgments: Judgments, rules: ScoringRules, processes: int = 1
) -> Run:
    """Read a run and judge it meanwhile; raises `Refused`, OSError.

    Like trec_eval, the lenient reader looks only as far as it counts.
    """
    store = partial(Judging, judgments, rules.convention, keep=rules.needs_rankings)
    with open_input(path) as file:
        if not rules.lenient:
            return read_run(file, rules_of_any(path, file), store, processes)
        return read_run_leniently(
            file,
            rules.convention.float32_scores,
            topics=judgments.index.numbers,
            depth=rules.depth,
            store=store,
        )
