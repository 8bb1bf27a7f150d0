"""Declaration of measures: formula, parameters and description.

`MEASURES` is the table of all declared measures by name; the page of measures and
`python -m evaluation measures` print it, and the parser uses it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evaluation.ragged import FloatArray

Gains: TypeAlias = tuple[tuple[int, float], ...]
Value: TypeAlias = int | float | str | Gains | None
Formula: TypeAlias = Callable[..., FloatArray]

LARGEST = 1_000_000_000
LARGEST_NUMBER = 1e100
DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
INFINITY = math.inf


class MeasureError(ValueError):
    """A text that names no measure, or a measure that cannot be computed, with what is allowed."""


@dataclass(frozen=True)
class Parameter:
    """One parameter: `read` takes its text and raises ValueError for a value out of range.

    A `default` of None for an optional parameter has a meaning of its own (rel: the threshold
    of the track; k: no cutoff).
    """

    name: str
    default: Value
    allowed: str
    read: Callable[[str], Value]
    required: bool = False


def integer(name: str, low: int, default: int | None = None, required: bool = False) -> Parameter:
    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,10}", text) or not low <= int(text) <= LARGEST:
            raise ValueError(text)
        return int(text)

    return Parameter(name, default, f"an integer of at least {low}", read, required)


def number(
    name: str,
    default: float | None,
    allowed: str,
    within: Callable[[float], bool] = lambda value: True,
    required: bool = False,
) -> Parameter:
    def read(text: str) -> float:
        if not DECIMAL.fullmatch(text):
            raise ValueError(text)
        value = float(text)
        if abs(value) > LARGEST_NUMBER or not within(value):
            raise ValueError(text)
        return value

    return Parameter(name, default, allowed, read, required)


def choice(name: str, *options: str) -> Parameter:
    """Return a parameter with these options; the first is the default."""

    def read(text: str) -> str:
        if text not in options:
            raise ValueError(text)
        return text

    return Parameter(name, options[0], "one of " + ", ".join(options), read)


def read_gains(text: str) -> Gains:
    """Read a gain map, without the grades whose gain is the grade itself.

    >>> read_gains("{2:9,1:3,4:4}")
    ((1, 3.0), (2, 9.0))
    """
    pairs = [pair.split(":") for pair in text.removeprefix("{").removesuffix("}").split(",")]
    gains = {GRADE.read(grade.strip()): GAIN.read(gain.strip()) for grade, gain in pairs}
    if len(gains) < len(pairs) or not (text.startswith("{") and text.endswith("}")):
        raise ValueError(text)
    return tuple(sorted((g, v) for g, v in gains.items() if g != v))  # type: ignore[misc]


def value_text(value: Value) -> str:
    """Return the shortest text of a value that parses back to it.

    >>> value_text(2.0), value_text(0.1), value_text(((1, 3.0), (2, 9.5)))
    ('2', '0.1', '{1:3,2:9.5}')
    """
    if isinstance(value, tuple):
        return "{" + ",".join(f"{grade}:{value_text(gain)}" for grade, gain in value) + "}"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


GRADE = integer("grade", 0)
GAIN = number("gain", None, "a number")
CUTOFF = integer("k", 1, required=True)
OPTIONAL_CUTOFF = integer("k", 1)
REL = integer("rel", 0)
HOLES = choice("holes", "nonrelevant", "condensed")
GAINS = Parameter("gains", (), "a map of grades to gains such as {1:3,2:9}", read_gains)


@dataclass(frozen=True)
class Definition:
    """A declared measure.

    `formula` takes a JudgedRun and the parameters by name and gives one float per topic.
    `at` is the parameter behind `@`; `parameters` are the others in canonical order.
    `bounds` says whether the two treatments of what is unjudged enclose every value (`true`),
    are only two scenarios (`scenarios`), or have no meaning for this measure (`none`);
    `unbounded` is the parameter and the value with which they have none.
    """

    name: str
    formula: Formula
    parameters: tuple[Parameter, ...]
    at: Parameter | None
    range: tuple[float, float]
    unit: str
    higher_is_better: bool
    aggregate: Literal["mean", "sum", "geometric mean"]
    trec_name: str
    also: tuple[str, ...]
    bounds: Literal["true", "scenarios", "none"]
    check: Callable[[Mapping[str, Value]], None] | None
    unbounded: tuple[str, Value] | None = None

    @property
    def description(self) -> str:
        """The first line of the formula's docstring."""
        return (self.formula.__doc__ or "").strip().splitlines()[0]

    @property
    def source(self) -> str:
        """The source that the docstring cites."""
        found = re.search(r"Source: (.*?)\n *(?:\n|$)", self.formula.__doc__ or "", re.DOTALL)
        return re.sub(r"\s+", " ", found[1]).strip() if found else ""

    @property
    def example(self) -> str:
        """A measure text that the docstring computes."""
        found = re.search(r'example\("(.+?)"\)', self.formula.__doc__ or "")
        return found[1] if found else self.name

    @property
    def printed_by_topic(self) -> bool:
        """Whether trec_eval prints a line per topic, not only one over all."""
        return self.name != "NumQ" and self.aggregate != "geometric mean"

    @property
    def signature(self) -> str:
        """The name with its parameters and their defaults.

        >>> MEASURES["RBP"].signature
        'RBP(rel=1,p=0.8,gain=binary)'
        """
        shown = [_with_default(p) for p in self.parameters if p.name != "holes"]
        inside = f"({','.join(shown)})" if shown else ""
        if self.at is None:
            return self.name + inside
        return self.name + inside + (f"@{self.at.name}" if self.at.required else "[@k]")

    @property
    def trec_names(self) -> list[str]:
        """The names in trec_eval, with letters for parameters.

        >>> MEASURES["AP"].trec_names
        ['map', 'map_cut_k']
        """
        return re.sub(r"\{(\w)[^}]*\}", r"\1", self.trec_name).split()

    def parameter(self, name: str) -> Parameter | None:
        return next((p for p in self.parameters if p.name == name), None)


def _with_default(parameter: Parameter) -> str:
    if parameter.required:
        return parameter.name
    default = 1 if parameter.name == "rel" else parameter.default
    return f"{parameter.name}={value_text(default)}"


MEASURES: dict[str, Definition] = {}
TREC_EVAL: dict[str, Formula] = {}
"""By our name, each formula that trec_eval computes in another way than we do."""


def as_trec_eval(name: str) -> Callable[[Formula], Formula]:
    """Declare the decorated formula as trec_eval's for the measure that we call `name`.

    It takes one argument more than ours: `written`, the parameters as trec_eval's name gives
    them, empty where it gives none.
    """

    def declare(formula: Formula) -> Formula:
        TREC_EVAL[name] = formula
        return formula

    return declare


def measure(
    name: str,
    *parameters: Parameter,
    at: Parameter | None = None,
    rel: bool = True,
    range: tuple[float, float] = (0, 1),
    unit: str = "share",
    higher_is_better: bool = True,
    aggregate: Literal["mean", "sum", "geometric mean"] = "mean",
    trec_name: str = "",
    also: tuple[str, ...] = (),
    bounds: Literal["true", "scenarios", "none"] = "scenarios",
    check: Callable[[Mapping[str, Value]], None] | None = None,
    unbounded: tuple[str, Value] | None = None,
) -> Callable[[Formula], Formula]:
    """Declare the decorated formula as a measure."""

    def declare(formula: Formula) -> Formula:
        all_parameters = (*((REL,) if rel else ()), *parameters, HOLES)
        MEASURES[name] = Definition(
            name,
            formula,
            all_parameters,
            at,
            range,
            unit,
            higher_is_better,
            aggregate,
            trec_name,
            also,
            bounds,
            check,
            unbounded,
        )
        return formula

    return declare
