"""Facts of a run from a file of JSON or YAML, each a name and a flat value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evaluation.problems import Problems
from evaluation.reading.runs.run_metadata import read_metadata
from rankfield.errors import SiteError


def read_facts_file(path: Path) -> dict[str, Any]:
    """Return the facts of a file; raises `SiteError` if it has none.

    Names of nested keys are joined by dots, and lists of values become one text.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SiteError(f"{path} is not UTF-8.") from None
    facts = read_json(path, text) if text.lstrip().startswith(("{", "[")) else read_yaml(path, text)
    if not facts:
        raise SiteError(f"{path} has no facts: write lines such as k1: 0.9, or a JSON object.")
    return facts


def read_json(path: Path, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SiteError(f"{path} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise SiteError(f'{path} is a JSON list. Facts are an object, such as {{"k1": 0.9}}.')
    return dict(flatten(found))


def flatten(found: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value under the path of its names.

    >>> dict(flatten({"retriever": {"k": 10}, "fields": ["title", "text"], "seed": None}))
    {'retriever.k': 10, 'fields': 'title, text'}
    """
    for name, value in found.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{before}{name}.")
        elif isinstance(value, list) and name != "efficiency":
            yield f"{before}{name}", ", ".join(map(str, value))
        elif value is not None:
            yield f"{before}{name}", value


def read_yaml(path: Path, text: str) -> dict[str, Any]:
    """Read the plain YAML that ir_metadata uses: names, values, lists, and nesting by indent."""
    lines = ["ir_metadata.start", *text.splitlines(), "ir_metadata.end"]
    problems = Problems()
    found = read_metadata([(number, f" {line}") for number, line in enumerate(lines)], problems)
    for problem in problems:
        raise SiteError(f"{path}, line {problem.line}: {problem.message}.")
    return {name: read_value(value) for name, value in found.items() if value}


def read_value(text: str) -> Any:
    """Return a number, true or false that a text is, or the text.

    >>> read_value("0.9"), read_value("true"), read_value("BM25 of Lucene 10"), read_value('"x')
    (0.9, True, 'BM25 of Lucene 10', '"x')
    """
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float | str) else text
