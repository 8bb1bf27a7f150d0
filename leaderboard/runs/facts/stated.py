"""Facts of one run: validation, storage and display."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from leaderboard.models import Run
from leaderboard.runs.facts.declared import BY_NAME, FACTS
from leaderboard.runs.facts.kinds import LONGEST, Link, is_storable

# What others send is kept small: it is shown on pages, and read by every list.
MOST_ENTRIES = 60
LARGEST_EXACT = 2**53
UNSAID: tuple[Any, ...] = (None, "", [])


def clean_facts(given: Any) -> dict[str, Any]:
    """Facts as they are kept; raises ValueError, whose words begin with the name.

    A null takes a fact back.  Names that are not declared hold texts, numbers, true or false.
    """
    if not isinstance(given, dict) or len(given) > MOST_ENTRIES:
        raise ValueError(f"is a JSON object of at most {MOST_ENTRIES} entries")
    return {name: _clean(name, value) for name, value in given.items()}


def _clean(name: str, value: Any) -> Any:
    if not name.isprintable() or len(name) > LONGEST:
        raise ValueError("has a name that cannot be shown")
    if value is None:
        return None
    try:
        return BY_NAME[name].clean(value) if name in BY_NAME else _plain(value)
    except ValueError as problem:
        raise ValueError(f"`{name}` {problem}") from None


def _plain(value: Any) -> str | int | float | bool:
    if isinstance(value, str) and is_storable(value):
        return value.strip()
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and abs(value) <= LARGEST_EXACT:
        return value
    raise ValueError("holds texts of at most 1,000 characters, numbers, true, false and null")


def stated(run: Run) -> dict[str, Any]:
    """All facts of a run, those that have a column of their own among them."""
    primary = {"primary": True} if run.is_primary else {}
    return {"kind": str(run.kind), **primary, **run.facts}


def columns_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a run that state these facts; what is empty is not stated."""
    rest = {name: value for name, value in facts.items() if value not in UNSAID}
    return {
        "kind": rest.pop("kind", Run.Kind.AUTOMATIC),
        "is_primary": rest.pop("primary", False),
        "facts": rest,
    }


def missing_facts(required: Iterable[str], facts: Mapping[str, Any]) -> list[str]:
    """The names of the facts that are asked for and not stated."""
    return [name for name in required if facts.get(name) in UNSAID]


@dataclass(frozen=True)
class Row:
    """A fact as a page prints it."""

    label: str
    words: str
    href: str = ""


def label_of(name: str) -> str:
    return BY_NAME[name].called if name in BY_NAME else name


def words_of(name: str, value: Any) -> str:
    """A value as a page prints it."""
    if value in UNSAID:
        return "not said"
    return BY_NAME[name].words(value) if name in BY_NAME else str(value)


def rows_of(facts: Mapping[str, Any]) -> list[Row]:
    """The declared facts in their order, then the others by name."""
    names = [*BY_NAME, *sorted(name for name in facts if name not in BY_NAME)]
    return [
        Row(
            label_of(name),
            words_of(name, facts[name]),
            facts[name] if isinstance(BY_NAME.get(name), Link) else "",
        )
        for name in names
        if facts.get(name) not in UNSAID
    ]


def schema() -> dict[str, Any]:
    """JSON Schema of the facts of a run, for the pages of the API."""
    return {
        "type": "object",
        "properties": {fact.name: fact.described() for fact in FACTS},
        "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
    }
