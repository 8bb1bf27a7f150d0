"""The packages of the house import each other in one direction only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import AddField, CreateModel
from django.db.migrations.operations.base import Operation
from django.db.models import NOT_PROVIDED

from leaderboard.boards.staleness import ADDITIONS

ROOT = Path(__file__).parent.parent

# A package imports only from packages named before it.
ORDER = [
    "models",
    "sight",
    "display",
    "infrastructure",
    "notifications",
    "runs",
    "collections",
    "assessments",
    "scoring",
    "jobs",
    "boards",
    "analysis",
    "actions",
    "archives",
    "pages",
    "api",
    "management",
]
# Django and the servers look for these at the root.
AT_THE_ROOT = {"__init__", "apps", "environment", "safeguards", "settings", "urls", "wsgi"}
# Their `__init__` names what others may use; that of any other package is a docstring alone.
FACES = {
    "models",
    "sight",
    "display/charts",
    "runs/facts",
    "analysis",
    "pages/wording",
    "api",
    "management/sample",
}

# From here on code of the version before runs beside a migrated database.
LASTS = "0054"
# What a later migration did that older code does not live with, with the reason it may.
KNOWN_BREAKS = {
    "0055_longer_identifiers": "longer columns, which take what old code writes",
    "0057_benchmarks": "other names of tables, and no version with the former ones was released",
    "0058_calculations": "what jobs keep, and no version with the former tables was released",
    "0066_corrected_means": "a further kind of calculation, which older code does not ask for",
    "0071_judged_answers": "further reasons and ways of pooling, which older code does not write",
    "0076_judges": "a further kind of calculation, which older code does not ask for",
    "0072_battles": "a further kind of calculation, which older code does not ask for",
    "0084_ranks_of_reported_systems": "a further kind, which older code does not ask for",
    "0086_third_opinions_and_drawn_pairs": "a further rule, which older code does not write",
    "0068_people_of_benchmarks": "people move, and no version with them on tracks was released",
    "0070_teams_of_benchmarks": "where they were, which no released version knows",
    "0080_messages": "a further state of emails, which older code does not write",
}


def python_files(folder: str) -> list[Path]:
    return [
        path for path in sorted((ROOT / folder).rglob("*.py")) if "migrations" not in path.parts
    ]


def is_import(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(parse(path)):
        yield from names_in(node)


def names_in(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def package_files() -> list[Path]:
    return [path for path in python_files("leaderboard") if package_of(path) in ORDER]


def package_of(path: Path) -> str:
    return path.relative_to(ROOT / "leaderboard").parts[0].removesuffix(".py")


def packages_used_by(path: Path) -> set[str]:
    """Return the packages of the site that a module imports from."""
    names = [name.split(".") for name in imports_of(path) if name.startswith("leaderboard.")]
    return {words[1] for words in names if words[1] in ORDER}


def test_a_package_imports_only_what_stands_before_it() -> None:
    place = {package: number for number, package in enumerate(ORDER)}
    assert not [
        f"{path} may not import {used}"
        for path in package_files()
        for used in packages_used_by(path)
        if place[used] > place[package_of(path)]
    ]


def test_no_two_classes_have_one_name() -> None:
    """Django wants every command to be a `Command`."""
    found: dict[str, list[str]] = {}
    for path in python_files("leaderboard"):
        for node in parse(path).body:
            if isinstance(node, ast.ClassDef) and node.name != "Command":
                found.setdefault(node.name, []).append(path.name)
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


def test_every_module_stands_in_a_package() -> None:
    packages = {package_of(path) for path in python_files("leaderboard")}
    assert packages == {*ORDER, *AT_THE_ROOT}


def test_our_modules_are_imported_at_the_top() -> None:
    """An import inside a function or for annotations alone would hide an arrow that goes back."""
    # Django wants checks and signals registered when the app is ready.
    ready = {"leaderboard", "leaderboard.safeguards", "leaderboard.boards"}
    ready |= {"leaderboard.boards.staleness"}
    for path in python_files("leaderboard"):
        ours = {name for name in inner_imports(path) if name.split(".")[0] == "leaderboard"}
        assert ours <= (ready if path.stem == "apps" else set()), path


def inner_imports(path: Path) -> Iterator[str]:
    tree = parse(path)
    inner = [node for child in tree.body if not is_import(child) for node in ast.walk(child)]
    for node in inner:
        yield from names_in(node)


WRITES = {"save", "create", "update", "delete", "get_or_create", "update_or_create"}
WRITES |= {"bulk_create", "bulk_update"}


def writes_a_row(call: ast.AST, verbs: set[str]) -> bool:
    """Whether a call may write a row: not that of a set, of a route, or of a form not kept."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    verb, target = call.func.attr, call.func.value
    of_a_set = verb == "update" and not call.keywords
    of_a_route = verb == "delete" and bool(call.args)
    is_not_kept = any(keyword.arg == "commit" for keyword in call.keywords)
    of_a_library = isinstance(target, ast.Call) and ast.unparse(target) == "super()"
    return verb in verbs and not (of_a_set or of_a_route or is_not_kept or of_a_library)


def writing_methods() -> set[str]:
    """Return the methods of our models that write rows."""
    return {
        method.name
        for path in python_files("leaderboard/models")
        for method in ast.walk(parse(path))
        if isinstance(method, ast.FunctionDef)
        and any(writes_a_row(node, WRITES) for node in ast.walk(method))
    }


def test_pages_and_api_write_no_rows() -> None:
    verbs = WRITES | writing_methods()
    assert not [
        f"{path}:{node.lineno}"
        for folder in ("leaderboard/pages", "leaderboard/api")
        for path in python_files(folder)
        for node in ast.walk(parse(path))
        if writes_a_row(node, verbs)
    ]


def test_digits_are_read_in_one_place():
    """Python's tests of digits accept what `int` does not read, such as ² or 5,000 digits."""
    asks = re.compile(r"\.is(digit|decimal|numeric)\(")
    found = {path.name for path in python_files("leaderboard") if asks.search(path.read_text())}
    assert found == {"whole_numbers.py"}


def test_a_package_begins_with_a_docstring_alone() -> None:
    for path in sorted((ROOT / "leaderboard").rglob("__init__.py")):
        folder = path.parent.relative_to(ROOT / "leaderboard").as_posix()
        if folder not in {".", *FACES} and "migrations" not in folder:
            assert ast.get_docstring(parse(path)) and len(parse(path).body) == 1, path


def test_evaluation_stands_alone() -> None:
    for path in python_files("evaluation"):
        assert not roots_of(imports_of(path)) & {"django", "leaderboard", "celery"}, path


def test_the_rooms_of_reading_need_each_other_in_one_direction() -> None:
    """A room is a folder of `evaluation/reading`, or a file beside them."""
    needs = {}
    for path in python_files("evaluation/reading"):
        room = room_of_reading(path.relative_to(ROOT).with_suffix("").parts)
        rooms = {room_of_reading(name.split(".")) for name in imports_of(path)}
        needs.setdefault(room, set()).update(rooms - {room, ""})
    assert list(TopologicalSorter(needs).static_order())


def room_of_reading(names: Sequence[str]) -> str:
    return names[2] if list(names[:2]) == ["evaluation", "reading"] and names[2:] else ""


def test_answers_stand_above_the_evaluation_of_rankings() -> None:
    """Only commands use them; what they are built on does not know them."""
    for path in python_files("evaluation"):
        package = path.relative_to(ROOT / "evaluation").parts[0]
        if package not in ("answers", "commands"):
            assert not [n for n in imports_of(path) if n.startswith("evaluation.answers")], path


def test_the_client_needs_no_server() -> None:
    """Only the command of the server imports Django, once it is called."""
    for path in python_files("rankfield"):
        names = [name for node in parse(path).body for name in names_in(node)]
        assert not roots_of(names) & {"django", "leaderboard", "celery", "pandas"}, path


def test_only_settings_know_the_client() -> None:
    for path in [*package_files(), *python_files("evaluation")]:
        assert "rankfield" not in roots_of(imports_of(path)), path


def roots_of(names: Iterable[str]) -> set[str]:
    return {name.split(".")[0] for name in names}


@pytest.mark.parametrize("folder", ["leaderboard", "evaluation", "rankfield", "tests"])
def test_no_drawer_for_everything(folder: str) -> None:
    stems = {path.stem for path in python_files(folder)}
    assert not stems & {"utils", "helpers", "services", "managers", "core", "misc", "common"}


TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
CONDITION = re.compile(r"{% (?:el)?if ")
THREE_TERMS = re.compile(r"{% (?:el)?if [^%]* (?:and|or) [^%]* (?:and|or) ")
ADDRESS = re.compile(r"\s*(?:href|src|action|hx-get)=\S+")


def test_templates_print_and_run_nothing_inline() -> None:
    for word in ("|safe", "style=", "onclick", "<script>", "<style"):
        assert not [path for path in TEMPLATES if word in path.read_text()]


def test_templates_ask_what_a_track_shows() -> None:
    """Its disclosure alone does not say that: a release or a deadline may have shown the rest."""
    lines = [(path, line) for path in TEMPLATES for line in path.read_text().splitlines()]
    asks = [found for found in lines if re.search(r"{% (el)?if .*disclosure == ", found[1])]
    assert [path.name for path, _ in asks] == ["overview.html"]


def test_a_line_of_a_template_is_short_and_asks_little() -> None:
    """`make lint` puts one tag on a line; only an address may be longer than 120 characters."""
    lines = [(path, line) for path in TEMPLATES for line in path.read_text().splitlines()]
    assert not [found for found in lines if len(CONDITION.findall(found[1])) > 2]
    assert not [found for found in lines if THREE_TERMS.search(found[1])]
    assert not [found for found in lines if len(found[1]) > 120 and not ADDRESS.match(found[1])]


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
        adds = isinstance(operation, ADDITIONS) or name in KNOWN_BREAKS
        assert adds, f"{name}: {operation} breaks the code before it"


def test_a_new_column_takes_rows_of_old_code():
    """Old code writes rows without it, so the database has to know what stands there.

    It writes no rows of a table that the same migration creates.
    """
    operations = later_operations()
    new = {(name, made.name_lower) for name, made in operations if isinstance(made, CreateModel)}
    for name, operation in operations:
        if not isinstance(operation, AddField) or (name, operation.model_name_lower) in new:
            continue
        if not operation.field.many_to_many:
            fills = operation.field.null or operation.field.db_default is not NOT_PROVIDED
            assert fills or name in KNOWN_BREAKS, f"{name}: {operation.name} has no db_default"


# `zipfile` takes longer to import than a small run takes to read.
LATE = {"evaluation.reading.zip_member"}


def late_imports(path: Path) -> Iterator[str]:
    """What a file of the evaluation imports inside a function or for the type checker alone."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.If | ast.FunctionDef):
            for inner in ast.walk(node):
                if isinstance(inner, ast.ImportFrom) and inner.module:
                    yield from (f"{inner.module}.{alias.name}" for alias in inner.names)


# The face tells the type checker what it loads late; tests/evaluation/test_public_face.py knows it.
FACE = ROOT / "evaluation" / "__init__.py"


def test_evaluation_imports_its_own_modules_at_the_top() -> None:
    for path in {*python_files("evaluation")} - {FACE}:
        late = {name for name in late_imports(path) if name.startswith("evaluation")}
        assert late <= LATE, path
