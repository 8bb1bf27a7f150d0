"""Facts of one run: validation, storage and display."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from leaderboard.models import Run
from leaderboard.runs.facts.declared import BY_NAME, FACTS
from leaderboard.runs.facts.kinds import LONGEST, LinkFact, is_storable

# Facts stay small, because pages and lists show them.
MOST_ENTRIES = 60
LARGEST_EXACT = 2**53
EMPTY_VALUES: tuple[Any, ...] = (None, "", [])


def clean_facts(given: Any) -> dict[str, Any]:
    """Return facts to store; raise ValueError with a message that begins with the name.

    A null deletes a fact.  Undeclared names can have a text, a number, true or false.
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
        return BY_NAME[name].clean(value) if name in BY_NAME else _clean_undeclared(value)
    except ValueError as problem:
        raise ValueError(f"`{name}` {problem}") from None


def _clean_undeclared(value: Any) -> str | int | float | bool:
    if isinstance(value, str) and is_storable(value):
        return value.strip()
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and abs(value) <= LARGEST_EXACT:
        return value
    raise ValueError(
        "may only contain text of up to 1,000 characters, numbers, true, false and null"
    )


def all_facts(run: Run) -> dict[str, Any]:
    """Return all facts of a run, including those with a column of their own."""
    primary = {"primary": True} if run.is_primary else {}
    return {"kind": str(run.kind), **primary, **run.facts}


def build_columns(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a run for these facts; empty values are not stored."""
    rest = {name: value for name, value in facts.items() if value not in EMPTY_VALUES}
    return {
        "kind": rest.pop("kind", Run.Kind.AUTOMATIC),
        "is_primary": rest.pop("primary", False),
        "facts": rest,
    }


def missing_facts(required: Iterable[str], facts: Mapping[str, Any]) -> list[str]:
    """Return the names of required facts that are not stated."""
    return [name for name in required if facts.get(name) in EMPTY_VALUES]


@dataclass(frozen=True)
class FactRow:
    """A fact as a page shows it."""

    label: str
    words: str
    href: str = ""


def find_label(name: str) -> str:
    """Return the label of a fact, or its name if it is not declared."""
    if name in ("description", "tag"):
        return name.capitalize()
    return BY_NAME[name].label if name in BY_NAME else name


def format_fact(name: str, value: Any) -> str:
    """Return a value as a page shows it."""
    if value in EMPTY_VALUES:
        return "not stated"
    return BY_NAME[name].format(value) if name in BY_NAME else str(value)


def build_rows(facts: Mapping[str, Any], commit_link: str = "") -> list[FactRow]:
    """Return the stated facts: the declared ones in their order, then the others by name."""
    names = [*BY_NAME, *sorted(name for name in facts if name not in BY_NAME)]
    return [
        FactRow(
            find_label(name),
            format_fact(name, facts[name]),
            _link(name, facts[name], commit_link),
        )
        for name in names
        if facts.get(name) not in EMPTY_VALUES
    ]


def _link(name: str, value: Any, commit_link: str) -> str:
    if name == "commit":
        return commit_link
    return value if isinstance(BY_NAME.get(name), LinkFact) else ""


def facts_schema() -> dict[str, Any]:
    """Return the JSON Schema of the facts of a run, for the API documentation."""
    return {
        "type": "object",
        "properties": {fact.name: fact.documented_schema() for fact in FACTS},
        "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
    }
