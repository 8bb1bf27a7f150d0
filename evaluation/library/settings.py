"""What the functions of the library take alike, and reading by it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, TypedDict, get_args

from evaluation.conventions import CONVENTIONS
from evaluation.judging import Judgments, prepare
from evaluation.measures import DIVERSITY, Asked, parse_measures
from evaluation.reading.objects import QrelsSource, RunSource, identifier, qrels_from, run_from
from evaluation.reading.runs.reader import Run
from evaluation.scoring import ScoringRules, Ties, check_topics, read_run_to_score

Measures = str | Iterable[Any]


class Settings(TypedDict, total=False):
    """How runs are scored; every name may be left out.

    rel: the lowest relevant grade of measures that name none (1). depth: rankings are cut there.
    judged_only: unjudged documents are removed. answered_only: only topics that the run answers
    count; without it, an unanswered topic is an empty ranking. topics: those that count.
    top_grade: that of the scale, by default the highest in the judgments. ties: "docno" orders
    equal scores by docno, descending; "expected" takes the mean over all their orders.
    convention: "house" or "trec_eval-9". lenient: files are read as trec_eval reads them.
    """

    rel: int
    depth: int | None
    judged_only: bool
    answered_only: bool
    topics: Collection[Any] | None
    top_grade: int | None
    ties: Ties
    convention: str
    lenient: bool


@dataclass(frozen=True)
class Scorer:
    """Judgments, measures and rules, ready for runs."""

    judgments: Judgments
    asked: tuple[Asked, ...]
    rules: ScoringRules

    @classmethod
    def of(cls, qrels: QrelsSource, measures: Measures, settings: Settings) -> Scorer:
        """Read judgments and measures; raises `Refused`, MeasureError, ValueError, OSError."""
        rules = rules_of(settings)
        texts = [measures] if isinstance(measures, str) else [str(each) for each in measures]
        asked = rules.resolve(each for text in texts for each in parse_measures(text))
        subtopics = any(each.measure.name in DIVERSITY for each in asked)
        read = qrels_from(qrels, lenient=rules.lenient, subtopics=subtopics)
        topics = settings.get("topics")
        if topics is None:
            chosen = sorted(read.grades)
        else:
            # A column of a DataFrame names a topic on every line; it counts once.
            chosen = list(dict.fromkeys(identifier(topic, "topic") for topic in topics))
        return cls(prepare(read, chosen, settings.get("top_grade")), asked, rules)

    def read(self, run: RunSource, tag: str = "run") -> Run:
        """Return a run; that of a path is judged while it is read. Raises `Refused`."""
        if isinstance(run, str | os.PathLike):
            read = read_run_to_score(os.fspath(run), self.judgments, self.rules)
        else:
            read = run_from(run, tag)
        return read if self.rules.lenient else check_topics(read, self.judgments)


def rules_of(settings: Settings) -> ScoringRules:
    """Return the rules that settings ask for; raises MeasureError, and ValueError or TypeError."""
    known: dict[str, Any] = {**settings}
    for of_judgments in ("topics", "top_grade"):
        known.pop(of_judgments, None)
    name = known.pop("convention", "house")
    if name not in CONVENTIONS:
        raise ValueError(f"no convention {name}; there are {', '.join(CONVENTIONS)}")
    if unknown := sorted(known.keys() - Settings.__annotations__.keys()):
        there_are = ", ".join(Settings.__annotations__)
        raise TypeError(f"no setting {unknown[0]}; there are {there_are}")
    rules = ScoringRules(CONVENTIONS[name], **known)
    if rules.ties not in get_args(Ties):
        raise ValueError(
            f"no treatment of ties {rules.ties}; there are {', '.join(get_args(Ties))}"
        )
    rules.check()
    return rules
