"""The arrows of the house go one way."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# From the ground up: a module imports only from floors beneath its own.
FLOORS = [
    {"environment", "numbers"},
    {"settings"},
    {"models", "charts", "changes", "previewing"},
    {"documents", "rankings", "archives", "manifests", "facts", "answers"},
    {"stating"},
    {"repeats", "telling"},
    {"scoring"},
    {"importing", "comparing", "pooling", "calling"},
    {"checking", "disclosure", "leases", "sweeping", "erasing"},
    {"jobs", "joining", "granting", "announcing"},
    {"celery", "uploads", "organising", "standings", "limits", "receipts"},
    {"columns", "commissioning", "replacing", "retrying"},
    {"breakdowns", "forms", "exports", "sample", "processes"},
    {"showing", "freezing", "appendices", "portraits", "wording", "drawings", "parts"},
    {"tabulating", "judged", "archiving", "packing"},
    {"views", "api", "accounts", "context", "middleware", "restoring"},
    {"urls", "wsgi", "management"},
]
FLOOR = {module: height for height, modules in enumerate(FLOORS) for module in modules}
# jobs asks the running Celery worker whether it is being stopped.
KNOWN = {("jobs", "celery"), ("leases", "celery"), ("processes", "urls")}


def python_files(folder: str) -> list[Path]:
    return [
        path for path in sorted((ROOT / folder).rglob("*.py")) if "migrations" not in path.parts
    ]


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module_of(path: Path) -> str:
    return named(path.relative_to(ROOT / "leaderboard").with_suffix("").parts)


def named(words: Sequence[str]) -> str:
    """The module that stands on a floor; each module of template tags stands by itself."""
    return words[1] if words[0] == "templatetags" and len(words) > 1 else words[0]


@pytest.mark.parametrize("path", python_files("leaderboard"), ids=str)
def test_arrows_go_down(path: Path) -> None:
    own = module_of(path)
    if own == "__init__":
        return
    for name in imports_of(path):
        words = name.split(".")
        if words[0] == "leaderboard" and len(words) > 1 and named(words[1:]) in FLOOR:
            other = named(words[1:])
            allowed = other == own or FLOOR[other] < FLOOR[own] or (own, other) in KNOWN
            assert allowed, f"{own} may not import {other}"


@pytest.mark.parametrize("path", python_files("leaderboard"), ids=str)
def test_every_module_has_a_floor(path: Path) -> None:
    assert module_of(path) in FLOOR or module_of(path) == "__init__"


@pytest.mark.parametrize("path", python_files("evaluation"), ids=str)
def test_evaluation_stands_alone(path: Path) -> None:
    roots = {name.split(".")[0] for name in imports_of(path)}
    assert not roots & {"django", "leaderboard", "celery"}


@pytest.mark.parametrize("folder", ["leaderboard", "evaluation", "tests"])
def test_no_drawer_for_everything(folder: str) -> None:
    stems = {path.stem for path in python_files(folder)}
    assert not stems & {"utils", "helpers", "services", "managers", "core", "misc", "common"}


@pytest.mark.parametrize("path", sorted((ROOT / "templates").rglob("*.html")), ids=str)
def test_templates_print_and_run_nothing_inline(path: Path) -> None:
    text = path.read_text()
    for word in ("|safe", "style=", "onclick", "<script>", "<style"):
        assert word not in text
