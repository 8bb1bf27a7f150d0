"""Declaration of the measures of answers, as those of rankings are declared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from evaluation.answers.judged import Domain
from evaluation.measures.declaring import Definition, Parameter, choice, number
from evaluation.ragged import FloatArray

Formula: TypeAlias = Callable[..., "FloatArray | Share | float"]
Declared = TypeVar("Declared", bound=Formula)


class Share(NamedTuple):
    """A share by topic as what is divided and what it is divided by; 0/0 is 0.

    Pooled over pairs or sentences, the two are added over topics before they are divided.
    """

    part: FloatArray
    whole: FloatArray


@dataclass(frozen=True)
class AnswerDefinition(Definition):
    """A declared measure of answers.

    `domain` says which topics count, `unjudged` which pairs may be unjudged; where it
    `contradicts`, those contradict at the upper bound. Lengths have no direction.
    """

    domain: Domain = "nuggets"
    unjudged: Literal["nuggets", "support", "both", "none"] = "none"
    contradicts: bool = False
    has_direction: bool = True


ANSWER_MEASURES: dict[str, AnswerDefinition] = {}
"""All measures of answers by name, in the order of the reference."""

PARTIAL = number("partial", 0.5, "a number from 0 to 1", lambda value: 0 <= value <= 1)
OVER = choice("over", "topics", "pairs")
OF = choice("of", "all", "vital")
CITES = choice("cites", "first", "all")
CLASS = choice("class", "supports", "contradicts")


def answer_measure(
    name: str,
    *parameters: Parameter,
    domain: Domain,
    unjudged: Literal["nuggets", "support", "both", "none"] = "none",
    contradicts: bool = False,
    range: tuple[float, float] = (0, 1),
    unit: str = "share",
    higher_is_better: bool = True,
    has_direction: bool = True,
    also: tuple[str, ...] = (),
) -> Callable[[Declared], Declared]:
    """Declare the decorated formula, which takes JudgedAnswers, as a measure of answers."""

    def declare(formula: Declared) -> Declared:
        ANSWER_MEASURES[name] = AnswerDefinition(
            name,
            formula,  # type: ignore[arg-type]
            parameters,
            None,
            range,
            unit,
            higher_is_better,
            "mean",
            "",
            also,
            "none" if unjudged == "none" else "true",
            None,
            domain=domain,
            unjudged=unjudged,
            contradicts=contradicts,
            has_direction=has_direction,
        )
        return formula

    return declare
