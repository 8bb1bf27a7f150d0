"""What the rows of every board have in common, and what a reader chooses among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from evaluation.significance import Difference
from leaderboard.runs.facts import FILTERS, Parameter
from leaderboard.scoring.scores import Figures

# What begins the name of a parameter in an address, as a column and as a filter, and its limits.
OF_PARAMETERS, FROM, TO = "fact.", "from.", "to."
# A menu has up to this many numbers; for more, a reader gives limits.
MOST_WORDS = 12
# The two questions that a board answers: each has its own family of tests.
AGAINST_BASELINE, AGAINST_ALL = "baseline", "all"


class Row(Protocol):
    """A row of a board: a run on its track, or a version of a system on a benchmark.

    `rank` is None where nothing ranks the row; `interval` has the ranks that it can have, and
    `against` its difference from the baseline, each where the board answers that question.
    """

    @property
    def key(self) -> str:
        """The id of the run or version."""
        ...

    @property
    def name(self) -> str: ...
    @property
    def full_name(self) -> str:
        """Its name with its version, if it has one."""
        ...

    @property
    def team(self) -> str: ...
    @property
    def at(self) -> datetime:
        """When it was submitted."""
        ...

    @property
    def has_pseudonym(self) -> bool:
        """Whether it has a pseudonym, so that only the day of `at` is told."""
        ...

    @property
    def facts(self) -> Mapping[str, Any]: ...
    @property
    def figures(self) -> Sequence[Figures]:
        """What was counted of its run, or of its run on each track that is scored."""
        ...

    @property
    def rank(self) -> int | None: ...
    @property
    def interval(self) -> tuple[int, int] | None: ...
    @property
    def against(self) -> Difference | None: ...
    @property
    def verdict(self) -> str: ...
    @property
    def breaks_after(self) -> bool:
        """Whether every row down to here is significantly better than every row below."""
        ...

    @property
    def is_own(self) -> bool: ...
    @property
    def is_baseline(self) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A reader's choices for a board; unknown values fall back to the defaults."""

    measure: str = ""
    # The key of the row that the others are held against.
    baseline: str = ""
    # The question asked of the tests: "baseline", "all", or "" for the default.
    family: str = ""
    sort: str = ""
    team: str = ""
    text: str = ""
    # The value that must be stated, by the name of the fact.
    facts: Mapping[str, str] = field(default_factory=dict)
    # The names of the columns to show; none: the default ones.
    columns: tuple[str, ...] = ()

    @property
    def has_filters(self) -> bool:
        return bool(self.team or self.text or self.facts)

    @property
    def words_of_facts(self) -> list[str]:
        """The filters by facts in words."""
        return list(self.facts.values())

    @property
    def sorted_by(self) -> str:
        """The name of the column that sorts the board, without the sign."""
        return self.sort.removeprefix("-") or "rank"

    @property
    def is_reversed(self) -> bool:
        return self.sort.startswith("-")

    def matches(self, row: Row) -> bool:
        """Whether the filters leave this row."""
        text = self.text.casefold()
        return (
            (not self.team or row.team == self.team)
            and all(FILTERS[n].matches(row.facts.get(n), word) for n, word in self.facts.items())
            and (text in row.name.casefold() or text in row.team.casefold())
        )


@dataclass(frozen=True)
class Limits:
    """What a reader wants of a parameter: a value in words, or a number within limits."""

    word: str = ""
    least: float | None = None
    most: float | None = None

    @property
    def words(self) -> str:
        """The value, or the limits: "from 4", "to 8", "4 to 8"."""
        if self.word:
            return self.word
        ends = [text for text in (self.least_text, self.most_text) if text]
        return " to ".join(ends) if len(ends) != 1 else f"{self._side} {ends[0]}"

    @property
    def least_text(self) -> str:
        return "" if self.least is None else f"{self.least:.12g}"

    @property
    def most_text(self) -> str:
        return "" if self.most is None else f"{self.most:.12g}"

    @property
    def _side(self) -> str:
        return "to" if self.least is None else "from"

    def admit(self, parameter: Parameter, row: Row) -> bool:
        """Whether a row states such a value."""
        if self.word and parameter.words(row.facts) != self.word:
            return False
        if self.least is None and self.most is None:
            return True
        number = parameter.number(row.facts)
        return (
            number is not None
            and (self.least is None or number >= self.least)
            and (self.most is None or number <= self.most)
        )


@dataclass(frozen=True)
class FactFilter:
    """A fact that filters a board: the values that its rows state, and the chosen one.

    A number of many values has none, but limits.
    """

    name: str
    label: str
    words: list[str]
    chosen: str
    # The names of the limits in an address, and the chosen ones.
    from_name: str = ""
    to_name: str = ""
    limits: Limits = Limits()


def find_fact_filters(rows: Iterable[Row], choice: Choice) -> list[FactFilter]:
    """Return a filter for each fact in which the rows differ."""
    stated, filters = [row.facts for row in rows], []
    for name, fact in FILTERS.items():
        values = [facts.get(name) for facts in stated]
        if all(value == values[0] for value in values):
            continue
        words = [word for word in fact.options if any(fact.matches(v, word) for v in values)]
        filters.append(FactFilter(name, fact.label, words, choice.facts.get(name, "")))
    return filters


def build_parameter_filter(parameter: Parameter, rows: Iterable[Row], limits: Limits) -> FactFilter:
    """Return the filter of a parameter: a menu of few values, limits of many numbers."""
    facts = [row.facts for row in rows]
    stated = {parameter.words(each): parameter.order(each) for each in facts}
    words = sorted((word for word in stated if word), key=lambda word: (stated[word], word))
    has_limits = parameter.is_number and (
        len(words) > MOST_WORDS or limits.least is not None or limits.most is not None
    )
    if not has_limits:
        return FactFilter(f"{OF_PARAMETERS}{parameter.name}", parameter.label, words, limits.word)
    unit = f" ({parameter.unit})" if parameter.unit else ""
    names = f"{FROM}{parameter.name}", f"{TO}{parameter.name}"
    return FactFilter("", f"{parameter.label}{unit}", [], "", *names, limits)


def assign_ranks(values: Sequence[float | None]) -> list[int | None]:
    """Return the ranks of sorted values: equal values share a rank, missing ones have none.

    >>> assign_ranks([0.5, 0.4, 0.4, 0.1, None])
    [1, 2, 2, 4, None]
    """
    ranks: list[int | None] = []
    for place, value in enumerate(values):
        tied = place > 0 and value is not None and values[place - 1] == value
        ranks.append(None if value is None else ranks[-1] if tied else place + 1)
    return ranks
