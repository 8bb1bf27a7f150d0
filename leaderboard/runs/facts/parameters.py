"""Parameters: facts of one flat value, by which a board shows, sorts, filters and groups runs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from leaderboard.runs.facts.declared import BY_NAME
from leaderboard.runs.facts.figures import COSTS, find_figure
from leaderboard.runs.facts.kinds import TextFact
from leaderboard.runs.facts.values import EMPTY_VALUES, MOST_ENTRIES, find_label, format_fact

# What begins the name of a cost, since a team may have a fact of the same name.
OF_COSTS = "efficiency."
# Declared facts of one short value; the type of a run has a column of its own.
FLAT = {
    name
    for name, fact in BY_NAME.items()
    if name not in ("kind", "primary")
    and (fact.options or (isinstance(fact, TextFact) and fact.rows == 1))
}
EXPONENT = re.compile(r"e([+-])0+(?=\d)")


@dataclass(frozen=True)
class Parameter:
    """A fact of one flat value, or a cost in the unit of its kind.

    `is_number` holds if each run that states it states a number.
    """

    name: str
    label: str
    is_number: bool
    unit: str = ""

    @property
    def cost(self) -> str:
        """The name of the cost; "" of another fact."""
        return self.name.removeprefix(OF_COSTS) if self.unit else ""

    def value(self, facts: Mapping[str, Any]) -> Any:
        """Return the stated value, of a cost in its unit; None if not stated."""
        if self.cost:
            figure = find_figure(facts, self.cost)
            return None if figure is None else figure.value
        found = facts.get(self.name)
        if self.name in BY_NAME:
            return None if found in EMPTY_VALUES else format_fact(self.name, found)
        return None if found in EMPTY_VALUES else found

    def number(self, facts: Mapping[str, Any]) -> float | None:
        """Return the value as a number; None if not stated or no number."""
        return read_number(self.value(facts)) if self.is_number else None

    def words(self, facts: Mapping[str, Any]) -> str:
        """Return the value as boards print it and filters name it; "" if not stated."""
        if self.cost:
            figure = find_figure(facts, self.cost)
            return "" if figure is None else figure.words
        return format_value(self.value(facts))

    def order(self, facts: Mapping[str, Any]) -> Any:
        """Return what sorts the runs; None if not stated."""
        if self.is_number:
            return self.number(facts)
        return self.words(facts).casefold() or None


def read_number(value: Any) -> float | None:
    """Return a number that is stated as such or as text; None if it is none.

    >>> read_number("1e-5"), read_number(8), read_number("large"), read_number(True)
    (1e-05, 8.0, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def format_value(value: Any) -> str:
    """Return a value as text.

    >>> format_value(1e-05), format_value(True), format_value("large"), format_value(None)
    ('1e-5', 'yes', 'large', '')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return EXPONENT.sub(r"e\1", repr(value)) if isinstance(value, float) else str(value)


def find_parameters(stated: Sequence[Mapping[str, Any]]) -> list[Parameter]:
    """Return the parameters that these runs state, by label; of many those most runs state.

    >>> runs = [{"lr": 1e-05, "encoder": "large"}, {"lr": "2e-5", "code": "https://a.example"}]
    >>> [(each.name, each.is_number) for each in find_parameters(runs)]
    [('encoder', False), ('lr', True)]
    """
    counts = Counter(chain.from_iterable(stated))
    costs = Counter(f"{OF_COSTS}{name}" for facts in stated for name in _stated_costs(facts))
    known = {name: number for name, number in counts.items() if _is_flat(name)} | costs
    most = sorted(known, key=lambda name: (-known[name], name))[:MOST_ENTRIES]
    found = [_parameter_of(name, name in costs, stated) for name in most]
    return sorted(found, key=lambda parameter: (parameter.label.casefold(), parameter.name))


def _stated_costs(facts: Mapping[str, Any]) -> Iterable[str]:
    return (figure["what"] for figure in facts.get("efficiency", ()))


def _is_flat(name: str) -> bool:
    return name in FLAT or name not in BY_NAME


def _parameter_of(name: str, is_cost: bool, stated: Sequence[Mapping[str, Any]]) -> Parameter:
    if is_cost:
        cost = COSTS[name.removeprefix(OF_COSTS)]
        return Parameter(name, cost.label, is_number=True, unit=cost.unit)
    values = [facts[name] for facts in stated if name in facts]
    return Parameter(name, find_label(name), name not in BY_NAME and _are_numbers(values))


def _are_numbers(values: Sequence[Any]) -> bool:
    """Whether all are numbers, each text looked at once, since a board has thousands of values."""
    kinds = set(map(type, values))
    if kinds <= {int, float}:
        return True
    return bool not in kinds and all(read_number(value) is not None for value in set(values))
