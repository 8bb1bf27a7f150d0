"""Every measure with its definition and a worked example, for the measures page."""

from __future__ import annotations

import inspect
import math
import re
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from evaluation.answers.measures import ANSWER_MEASURES, AnswerDefinition
from evaluation.answers.measures import example as example_of_answers
from evaluation.measures import MEASURES, Definition, example, example_run
from leaderboard.display.numbers import MINUS, count, score

INFINITE = {math.inf: "∞", -math.inf: f"{MINUS}∞"}


@dataclass(frozen=True)
class ExplainedMeasure:
    definition: Definition
    details: str
    value: float

    @property
    def signature(self) -> str:
        """The name with its parameters; it can break in a narrow column."""
        return self.definition.signature.replace(",", ", ")

    @property
    def anchor(self) -> str:
        """Where the page has it; a measure of answers may be called as one of rankings."""
        name = self.definition.name
        is_of_answers = isinstance(self.definition, AnswerDefinition)
        return f"{name}-of-answers" if is_of_answers and name in MEASURES else name

    @property
    def direction(self) -> str:
        if isinstance(self.definition, AnswerDefinition) and not self.definition.has_direction:
            return "neither more nor less is better"
        return "higher is better" if self.definition.higher_is_better else "lower is better"

    @property
    def range(self) -> str:
        low, high = (INFINITE.get(end, f"{end:g}") for end in self.definition.range)
        return f"{low} to {high}"

    @property
    def printed(self) -> str:
        counts = self.definition.unit in ("documents", "topics")
        return count(self.value) if counts else score(self.value)

    @property
    def trec_names(self) -> list[str]:
        return self.definition.trec_name.split()


@dataclass(frozen=True)
class Family:
    """The measures that one file of formulas declares."""

    title: str
    about: str
    measures: list[ExplainedMeasure]


@cache
def measure_families() -> list[Family]:
    """Return the measures of rankings, and then those of answers, by the files of formulas."""
    every: list[Definition] = [*MEASURES.values(), *ANSWER_MEASURES.values()]
    modules = groupby(every, key=lambda each: inspect.getmodule(each.formula))
    return [
        Family(
            *_split_heading(module.__doc__ or ""),
            [_explain_measure(measure) for measure in declared],
        )
        for module, declared in modules
    ]


def _split_heading(doc: str) -> tuple[str, str]:
    title, _, about = inspect.cleandoc(doc).partition("\n\n")
    return " ".join(title.split()).rstrip("."), " ".join(about.split())


def _explain_measure(definition: Definition) -> ExplainedMeasure:
    is_of_answers = isinstance(definition, AnswerDefinition)
    work = example_of_answers if is_of_answers else example
    return ExplainedMeasure(definition, _details(definition), work(definition.example))


def _details(definition: Definition) -> str:
    """Return the docstring of a measure between its first line and its source."""
    text = inspect.cleandoc(definition.formula.__doc__ or "").partition("\n")[2]
    found = re.search(r"(.*?)(?=^Source:|^>>>|\Z)", text, re.DOTALL | re.MULTILINE)
    return " ".join(found[1].split()) if found else ""


def example_grades() -> list[int | None]:
    """Return the grades of the example ranking, in rank order."""
    run = example_run()
    grades = dict(zip(run.rank.tolist(), run.grade.tolist(), strict=True))
    return [grades.get(rank) for rank in range(1, int(run.retrieved[0]) + 1)]
