"""Efficiency: the costs of a run, each in one unit and with its origin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django import forms

from leaderboard.runs.facts.kinds import Fact

SELF_REPORTED = "self-reported"
ORIGINS = {
    "organiser": "measured by the organisers",
    "tool": "measured by a tool",
    SELF_REPORTED: "self-reported",
}
FIGURE_PARTS = ("value", "unit", "origin")
# Costs are positive, because charts show them on a logarithmic axis.
LEAST, MOST = 1e-12, 1e18
NUMBER = re.compile(r"\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z]*)\s*")


@dataclass(frozen=True)
class Cost:
    """A cost of a run; `units` gives each unit as a multiple of the first."""

    name: str
    label: str
    units: Mapping[str, float]

    @property
    def unit(self) -> str:
        """Return the unit in which figures are stored and compared."""
        return next(iter(self.units))

    def unit_of(self, value: float) -> str:
        """Return the largest unit in which the value is at least 1."""
        units = sorted(self.units, key=lambda unit: self.units[unit])
        return [unit for unit in units if self.units[unit] <= value or unit == units[0]][-1]


SECONDS = {"s": 1.0, "ms": 1e-3, "min": 60.0, "h": 3600.0}
GIGABYTES = {"GB": 1.0, "MB": 1e-3, "kB": 1e-6, "TB": 1e3}
COSTS = {
    cost.name: cost
    for cost in (
        Cost("seconds_per_topic", "Time per topic", SECONDS),
        Cost("run_seconds", "Total run time", SECONDS),
        Cost("run_energy", "Total run energy", {"J": 1.0, "kJ": 1e3, "Wh": 3.6e3}),
        Cost("run_price", "Total run price", {"USD": 1.0}),
        Cost("model_calls_per_topic", "Language model calls per topic", {"calls": 1.0}),
        Cost("parameters", "Model parameters", {"million": 1.0, "billion": 1e3}),
        Cost("index_seconds", "Indexing time", SECONDS),
        Cost("index_size", "Index size", GIGABYTES),
        Cost("memory", "Peak memory", GIGABYTES),
    )
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One cost of one run: `value` in the unit of its cost."""

    what: str
    value: float
    unit: str
    origin: str

    @property
    def cost(self) -> Cost:
        return COSTS[self.what]

    @property
    def words(self) -> str:
        """Return the value in the largest unit in which it is at least 1.

        >>> Figure("memory", 0.512, "GB", "tool").words
        '512 MB'
        """
        return self.words_in(self.cost.unit_of(self.value))

    def words_in(self, unit: str) -> str:
        """Return the value in the unit that other figures have.

        >>> Figure("memory", 2.0, "GB", "tool").words_in("MB")
        '2,000 MB'
        """
        return f"{format_cost(self.value / self.cost.units[unit])} {unit}"

    @property
    def origin_in_words(self) -> str:
        return ORIGINS[self.origin]

    @property
    def is_measured(self) -> bool:
        return self.origin != SELF_REPORTED


def format_cost(value: float) -> str:
    """Format a cost with three digits.

    >>> format_cost(0.00123456), format_cost(12.0), format_cost(340000)
    ('0.00123', '12', '340,000')
    """
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 1000 else f"{value:.3g}"


def find_figure(facts: Mapping[str, Any], cost: str) -> Figure | None:
    """Return the figure of one cost in the facts of a run, if stated."""
    figures = facts.get("efficiency", ())
    return next((Figure(**figure) for figure in figures if figure["what"] == cost), None)


def find_common_cost(stated: Sequence[Mapping[str, Any]]) -> Cost | None:
    """Return the cost that most of these facts have, the first of several; None without any."""
    counts = {name: sum(find_figure(each, name) is not None for each in stated) for name in COSTS}
    most = max(COSTS, key=lambda name: counts[name])
    return COSTS[most] if counts[most] else None


def clean_figure(given: Any) -> Figure:
    """Return a figure with its value in the unit of its cost; raises ValueError.

    >>> clean_figure({"what": "seconds_per_topic", "value": 250, "unit": "ms"}).value
    0.25
    """
    parts = given if isinstance(given, dict) else {}
    what, unit, origin = (str(parts.get(part) or "") for part in ("what", "unit", "origin"))
    if what not in COSTS:
        raise ValueError(f"is a list of objects whose `what` is one of {', '.join(COSTS)}")
    cost = COSTS[what]
    value, attached = parse_number(parts.get("value"))
    unit, origin = unit or attached or cost.unit, origin or SELF_REPORTED
    if unit not in cost.units:
        raise ValueError(f"{what}: the unit is one of {', '.join(cost.units)}")
    if origin not in ORIGINS:
        raise ValueError(f"{what}: the origin is one of {', '.join(ORIGINS)}")
    value *= cost.units[unit]
    if not LEAST <= value <= MOST:
        raise ValueError(f"{what}: the value must be above 0")
    return Figure(what, value, cost.unit, origin)


def parse_number(value: Any) -> tuple[float, str]:
    """Return a number, and the unit that follows it in a text.

    >>> parse_number("1250ms"), parse_number(3)
    ((1250.0, 'ms'), (3.0, ''))
    """
    if isinstance(value, str) and (found := NUMBER.fullmatch(value)):
        value, unit = _float(found[1]), found[2]
    else:
        unit = ""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MOST:
        raise ValueError("the value must be a number")
    return float(value), unit


def _float(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


@dataclass(frozen=True)
class FiguresFact(Fact):
    """The figures of a run, one per cost, in the order of the costs."""

    def clean(self, value: Any) -> list[dict[str, Any]]:
        if not isinstance(value, list):
            raise ValueError("is a list of figures")
        figures = {figure.what: asdict(figure) for figure in map(clean_figure, value)}
        if len(figures) < len(value):
            raise ValueError("has a duplicate cost")
        return [figures[name] for name in COSTS if name in figures]

    def format(self, value: Any) -> str:
        figures = [Figure(**figure) for figure in value]
        return "; ".join(
            f"{figure.cost.label.lower()} {figure.words}, {figure.origin_in_words}"
            for figure in figures
        )

    def schema(self) -> dict[str, Any]:
        units = sorted({unit for cost in COSTS.values() for unit in cost.units})
        properties = {
            "what": {"type": "string", "enum": list(COSTS)},
            "value": {"type": "number", "exclusiveMinimum": 0},
            "unit": {"type": "string", "enum": units, "description": "Stored in base units."},
            "origin": {"type": "string", "enum": list(ORIGINS), "default": SELF_REPORTED},
        }
        required = ["what", "value"]
        return {
            "type": "array",
            "items": {"type": "object", "properties": properties, "required": required},
        }

    def fields(self) -> dict[str, forms.Field]:
        """Return fields for the number, unit and origin of each cost."""
        fields: dict[str, forms.Field] = {}
        for cost in COSTS.values():
            fields[f"{cost.name}-value"] = forms.FloatField(
                label=cost.label, widget=forms.NumberInput(attrs={"step": "any", "min": "0"})
            )
            fields[f"{cost.name}-unit"] = _select(f"{cost.label}: unit", cost.units)
            fields[f"{cost.name}-origin"] = _select(f"{cost.label}: origin", ORIGINS)
            fields[f"{cost.name}-origin"].initial = SELF_REPORTED
        return fields

    def read_form(self, cleaned: Mapping[str, Any]) -> list[dict[str, Any]] | None:
        figures = [
            {"what": name, **{part: cleaned.get(f"{name}-{part}") for part in FIGURE_PARTS}}
            for name in COSTS
            if cleaned.get(f"{name}-value") is not None
        ]
        return figures or None

    def initial(self, value: Any) -> dict[str, Any]:
        return {
            f"{figure['what']}-{part}": figure[part] for figure in value for part in FIGURE_PARTS
        }


def _select(label: str, choices: Iterable[str]) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=[(choice, choice) for choice in choices])
