"""The arrows of the house go one way."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import AddField
from django.db.migrations.operations.base import Operation
from django.db.models import NOT_PROVIDED

ROOT = Path(__file__).parent.parent

# From the ground up: a module imports only from floors beneath its own.
FLOORS = [
    {"environment", "numbers", "logs", "outages", "storing", "recalling", "cached_values"},
    {"settings"},
    {"safeguards", "buckets"},
    {"bodies"},
    {"apps", "turns", "reserving", "portions", "connections", "sessions", "encodings"},
    {"models", "charts", "changes", "previewing"},
    {"documents", "rankings", "archives", "manifests", "facts", "answers", "downloads"},
    {"stating", "families", "means", "pseudonyms", "quotas", "stored_bytes"},
    {"repeats", "telling", "splitting"},
    {"editions"},
    {"scoring"},
    {"importing", "erasing", "comparing", "pooling", "calling", "mailing", "rescoring"},
    {"ladder"},
    {"checking", "disclosure", "leases", "sweeping", "admitting", "gauging"},
    {"examining", "keeping"},
    {"jobs", "joining", "granting", "announcing", "appointing", "refusing"},
    {"celery", "uploads", "organising", "standings", "limits", "receipts", "team_accounts"},
    {"addresses", "columns", "glancing", "commissioning", "replacing", "retrying"},
    {"breakdowns", "forms", "exports", "sample", "processes", "parts"},
    {"showing", "freezing", "appendices", "portraits", "wording", "drawings"},
    {"tabulating", "judged", "archiving", "packing"},
    {"views", "api", "accounts", "context", "middleware", "restoring"},
    {"urls", "wsgi", "management"},
]
FLOOR = {module: height for height, modules in enumerate(FLOORS) for module in modules}
# jobs asks the running Celery worker whether it is being stopped.
KNOWN = {("jobs", "celery"), ("leases", "celery"), ("processes", "urls")}

# From here on code of the version before runs beside a migrated database.
LASTS = "0018"
WIDENS = {"CreateModel", "AddField", "AddIndex", "AddConstraint", "AlterModelOptions", "RunPython"}
# What a later migration did that older code does not live with, with the reason it may.
KNOWN_BREAKS = {
    "0026_judgments_released": "one more choice, of which no database knows",
    "0029_plain_labels": "other labels of choices, of which no database knows",
}


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


def later_operations() -> list[tuple[str, Operation]]:
    migrations = MigrationLoader(None).disk_migrations
    return [
        (name, operation)
        for (app, name), migration in sorted(migrations.items())
        if app == "leaderboard" and name[:4] > LASTS
        for operation in migration.operations
    ]


def test_a_migration_only_adds():
    """Old code runs beside a new database while hosts are upgraded one after the other.

    What goes away goes away one version after the code that used it.
    """
    for name, operation in later_operations():
        kind = type(operation).__name__
        assert kind in WIDENS or name in KNOWN_BREAKS, f"{name}: {kind} breaks the code before it"


def test_a_new_column_takes_rows_of_old_code():
    """Old code writes rows without it, so the database has to know what stands there."""
    for name, operation in later_operations():
        if isinstance(operation, AddField) and not operation.field.many_to_many:
            fills = operation.field.null or operation.field.db_default is not NOT_PROVIDED
            assert fills or name in KNOWN_BREAKS, f"{name}: {operation.name} has no db_default"


# `zipfile` takes longer to import than a small run takes to read.
LATE = {"evaluation.reading.zip_member"}


def late_imports(path: Path) -> Iterator[str]:
    """What a file of the evaluation imports inside a function or for the type checker alone."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.If | ast.FunctionDef):
            for inner in ast.walk(node):
                if isinstance(inner, ast.ImportFrom) and inner.module:
                    yield from (f"{inner.module}.{alias.name}" for alias in inner.names)


@pytest.mark.parametrize("path", python_files("evaluation"), ids=str)
def test_evaluation_imports_its_own_modules_at_the_top(path: Path) -> None:
    assert not {name for name in late_imports(path) if name.startswith("evaluation")} - LATE
