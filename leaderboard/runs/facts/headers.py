"""Facts of a run in ir_metadata: read from the header of its file, rendered for downloads.

Facts that the schema of ir_metadata has are read from there. All facts are written under
`rankfield` too, so that they survive a download and a new upload.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from leaderboard.models import Run
from leaderboard.runs.facts.declared import BY_NAME, FACTS
from leaderboard.runs.facts.figures import FiguresFact
from leaderboard.runs.facts.kinds import ChoicesFact, Fact
from leaderboard.runs.facts.values import MOST_ENTRIES, all_facts, clean_facts

SECTION = "rankfield"
HARDWARE = ("cpu.model", "gpu.model", "ram")
WALL_CLOCK = "resources.runtime.wallclock"


def read_header(metadata: Mapping[str, str]) -> dict[str, Any]:
    """Return the facts in a header; unreadable values are ignored.

    >>> read_header({"implementation.source.repository": "https://a.example/x"})
    {'code': 'https://a.example/x'}
    >>> read_header({"rankfield.k1": "0.9", "rankfield.retriever.depth": "100"})
    {'k1': '0.9', 'retriever.depth': '100'}
    """
    facts: dict[str, Any] = {}
    for fact in FACTS:
        for value in _candidate_values(fact, metadata):
            with suppress(ValueError):
                facts.setdefault(fact.name, fact.clean(value))
    return _undeclared_facts(metadata) | facts


def _undeclared_facts(metadata: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters in our section, which have no place in the schema."""
    begin, found = f"{SECTION}.", {}
    for path in [path for path in metadata if path.startswith(begin)][:MOST_ENTRIES]:
        name = path.removeprefix(begin)
        if name.partition(".")[0] not in BY_NAME:
            with suppress(ValueError):
                found |= clean_facts({name: metadata[path]})
    return found


def _candidate_values(fact: Fact, metadata: Mapping[str, str]) -> Iterator[Any]:
    """Yield the possible values of a fact, the most reliable first."""
    own = f"{SECTION}.{fact.name}"
    if isinstance(fact, FiguresFact):
        yield [*_list_objects(own, metadata)] or None
        yield [{"what": "run_seconds", "value": metadata.get(WALL_CLOCK), "origin": "tool"}]
    elif isinstance(fact, ChoicesFact):
        yield [metadata[path] for path in _list_paths(own, metadata)] or metadata.get(own)
    yield from (metadata[path] for path in (own, *fact.paths) if path in metadata)
    if fact.name == "hardware":
        paths = (f"platform.hardware.{part}" for part in HARDWARE)
        yield ", ".join(metadata[path] for path in paths if path in metadata) or None


def _list_paths(path: str, metadata: Mapping[str, str]) -> Iterator[str]:
    number = 1
    while f"{path}.{number}" in metadata:
        yield f"{path}.{number}"
        number += 1


def _list_objects(path: str, metadata: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield the objects of a list, each with its own keys."""
    number = 1
    while f"{path}.{number}.what" in metadata:
        names = ("what", "value", "unit", "origin")
        places = {name: f"{path}.{number}.{name}" for name in names}
        yield {name: metadata[place] for name, place in places.items() if place in metadata}
        number += 1


def render_metadata(run: Run) -> str:
    """Return the facts of a run as YAML in the schema of ir_metadata."""
    facts = all_facts(run)
    tree: dict[str, Any] = {"tag": str(run), "actor": {"team": run.team.name}}
    tree["method"] = {"automatic": facts["kind"] == Run.Kind.AUTOMATIC}
    for fact in FACTS:
        if fact.paths and fact.name in facts:
            _set_at_path(tree, fact.paths[0].split("."), facts[fact.name])
    tree[SECTION] = facts
    return "".join(f"{line}\n" for line in _yaml(tree))


def _set_at_path(tree: dict[str, Any], path: list[str], value: Any) -> None:
    *way, last = path
    for key in way:
        tree = tree.setdefault(key, {})
    tree[last] = value


def _yaml(value: Any) -> Iterator[str]:
    """Yield lines of YAML; texts are quoted as in JSON, which YAML allows."""
    if isinstance(value, dict):
        for key, entry in value.items():
            if isinstance(entry, dict | list):
                yield f"{_key(key)}:"
                yield from (f"  {line}" for line in _yaml(entry))
            else:
                yield f"{_key(key)}: {json.dumps(entry, ensure_ascii=False)}"
    else:
        for entry in value:
            first, *rest = _yaml(entry) if isinstance(entry, dict) else [json.dumps(entry)]
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)


def _key(text: str) -> str:
    return text if text.replace("_", "").replace(" ", "").isalnum() else json.dumps(text)
