"""The parts of the reference that the code states: measures, commands, calls and settings."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
django.setup()

from django.core.management import load_command_class  # noqa: E402

from evaluation.__main__ import COMMANDS as EVALUATION_COMMANDS  # noqa: E402
from evaluation.__main__ import module_of  # noqa: E402
from leaderboard.api import api  # noqa: E402
from leaderboard.api.describing import Call, DescribedPart, group_calls  # noqa: E402
from leaderboard.models import Track  # noqa: E402
from leaderboard.models.track_settings import setting_fields  # noqa: E402
from leaderboard.pages.views.measure_reference import (  # noqa: E402
    ExplainedMeasure,
    measure_families,
)
from rankfield.commands.listing import OWN_COMMANDS, SITE_COMMANDS  # noqa: E402

ROOT = Path(__file__).parents[2]
SERVER_COMMANDS = sorted(
    path.stem
    for path in (ROOT / "leaderboard" / "management" / "commands").glob("*.py")
    if path.stem != "__init__"
)
# Options of every command of Django.
DJANGO_OPTIONS = {
    *("--version", "--verbosity", "--settings", "--pythonpath", "--traceback"),
    *("--no-color", "--force-color", "--skip-checks"),
}


def cell(text: object) -> str:
    """Return a text for a cell of a table.

    >>> cell("a | b <c>")
    'a \\\\| b &lt;c>'
    """
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")


def table(header: list[str], rows: Iterable[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def describe_measures() -> str:
    """Return a section for each measure: what it is, parameters, names, source, an example."""
    parts: list[str] = []
    for family in measure_families():
        parts.append(f"## {family.title}\n\n{family.about}")
        parts += [describe_measure(measure) for measure in family.measures]
    return "\n\n".join(parts)


def describe_measure(measure: ExplainedMeasure) -> str:
    definition = measure.definition
    anchor = re.sub(r"\W+", "-", definition.name.replace("#", "sharp").lower())
    rows = [
        ["written", f"`{measure.signature}`"],
        *(
            [["also", ", ".join(f"`{name}`" for name in definition.also)]]
            if definition.also
            else []
        ),
        ["trec_eval", ", ".join(f"`{name}`" for name in definition.trec_names) or "none"],
        ["range", f"{measure.range}, {measure.direction}; {definition.aggregate} over topics"],
        ["example", f"`{definition.example}` = {measure.printed}"],
        ["source", cell(definition.source) or "by definition"],
    ]
    return "\n\n".join(
        part
        for part in (
            f"### {definition.name} {{ #{anchor} }}",
            cell(definition.description),
            cell(measure.details),
            table(["", ""], rows),
        )
        if part
    )


@contextmanager
def wide_terminal() -> Iterator[None]:
    """Let help be printed for 88 columns, regardless of the terminal of the build."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "88"
    yield
    os.environ.pop("COLUMNS")
    if before is not None:
        os.environ["COLUMNS"] = before


def describe_command(title: str, parser: argparse.ArgumentParser) -> str:
    parser.prog = title
    with wide_terminal():
        return f"### {title}\n\n```text\n{parser.format_help().rstrip()}\n```"


def describe_commands() -> str:
    """Return the help of each command, without a server, with a site and of a server."""
    parts = ["## Without a server", "`rankfield score` and `python -m evaluation score` are one."]
    parts += [
        describe_command(f"rankfield {name}", import_module(module_of(name)).parser())
        for name in EVALUATION_COMMANDS
    ]
    parts += [
        describe_command(f"rankfield {name}", import_module(f"rankfield.commands.{name}").parser())
        for name in OWN_COMMANDS
    ]
    parts += ["## With a site", "They read `RANKFIELD_URL` and `RANKFIELD_TOKEN`."]
    parts += [
        describe_command(f"rankfield {name}", import_module(f"rankfield.commands.{name}").parser())
        for name in SITE_COMMANDS
    ]
    parts += [
        "## Of the server",
        "In a checkout, `.venv/bin/python manage.py serve` is `rankfield serve`. Each command also"
        " takes the options of Django, such as `--traceback`.",
    ]
    parts += [
        describe_command(f"rankfield {name}", server_parser(name)) for name in SERVER_COMMANDS
    ]
    return "\n\n".join(parts)


def server_parser(name: str) -> argparse.ArgumentParser:
    """Return the parser of a command of the server, whose help omits the options of Django."""
    parser = load_command_class("leaderboard", name).create_parser("rankfield", name)
    for action in parser._actions:
        if DJANGO_OPTIONS & set(action.option_strings):
            action.help = argparse.SUPPRESS
    # Django puts its own options last, whatever their order.
    parser.formatter_class = argparse.HelpFormatter
    return parser


def describe_api() -> str:
    """Return every call of the API from its OpenAPI document."""
    parts: list[str] = []
    for group in group_calls(api.get_openapi_schema()):
        parts.append(f"## {group.title}")
        parts += [describe_call(call) for call in group.calls]
    return "\n\n".join(parts)


def describe_call(call: Call) -> str:
    says = ["".join(f"`{p.words}`" if p.is_code else p.words for p in said) for said in call.says]
    parts = [f"### {call.title} {{ #{call.anchor} }}", f"`{call.method} {call.path}`", *says]
    return "\n\n".join([*parts, *(describe_part(part) for part in call.parts)])


def describe_part(part: DescribedPart) -> str:
    is_answer = part.title.startswith("Answer")
    rows = [
        [
            f"`{field.name}`" + (", required" if field.required and not is_answer else ""),
            cell(field.kind),
            cell("".join(f"`{p.words}`" if p.is_code else p.words for p in field.says)),
        ]
        for field in part.fields
    ]
    return table([part.title, "type", "meaning"], rows)


def describe_site_settings() -> str:
    """Return the table of environment variables, which the page for operators states."""
    text = (ROOT / "docs" / "operating.md").read_text()
    found = re.search(r"^\| variable \|.*?(?=\n\n)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise LookupError("docs/operating.md has no table of settings")
    # Its links to other parts of that page.
    return found[0].replace("](#", "](../operating.md#")


def describe_track_settings() -> str:
    """Return the settings of a track by their names in the API, with choices."""
    rows = []
    for model_field in setting_fields(Track):
        setting = model_field.setting
        label = setting.label or str(model_field.verbose_name).capitalize()
        hint = setting.description or setting.hint
        choices = "; ".join(
            f"`{value}`: {str(name)[0].lower()}{str(name)[1:]}"
            for value, name in model_field.choices or ()
        )
        rows.append([f"`{model_field.name}`", cell(label), cell(hint), cell(choices)])
    return table(["name in the API", "on the page", "meaning", "choices"], rows)


GENERATED: dict[str, Callable[[], str]] = {
    "measures": describe_measures,
    "commands": describe_commands,
    "api": describe_api,
    "settings": describe_site_settings,
    "track_settings": describe_track_settings,
}
