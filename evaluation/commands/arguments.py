"""How every command begins, and the numbers that its options take."""

from __future__ import annotations

import argparse

from evaluation.commands import files
from evaluation.reading import paths


def command_parser(command: str, description: str, epilog: str) -> argparse.ArgumentParser:
    """Begin the parser of a command; the epilog keeps its lines."""
    return argparse.ArgumentParser(
        f"python -m evaluation {command}",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add `--json` where `--format json` is known, so that every command has one word for it."""
    for action in parser._actions:
        if action.dest == "format" and "json" in (action.choices or ()):
            parser.add_argument(
                "--json",
                dest="format",
                action="store_const",
                const="json",
                help="the same as --format json",
            )
            return


def add_report_option(parser: argparse.ArgumentParser) -> None:
    """What a command says of itself, as sentences or as JSON."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="of the report")


def judged_runs_parser(command: str, description: str, epilog: str) -> argparse.ArgumentParser:
    """Begin the parser of a command that takes judgments and runs."""
    parser = command_parser(command, description, epilog)
    files.add_reading_options(parser)
    parser.add_argument("runs", metavar="RUN", nargs="+")
    return parser


def whole_number(low: int) -> argparse._ActionType:
    """Return a reader of whole numbers from `low` up."""

    def read_number(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not low <= int(text) <= paths.ANY_DEPTH:
            raise argparse.ArgumentTypeError(f"{text}: expected an integer of at least {low}")
        return int(text)

    return read_number


def parse_probability(text: str) -> float:
    value = _number_or_zero(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected a number between 0 and 1")
    return value


def parse_positive(text: str) -> float:
    value = _number_or_zero(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}: expected a number above 0")
    return value


def parse_region(text: str) -> float:
    """A region of equivalence, which may be 0: then only a direction is probable."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}: expected a number of at least 0")
    return value


def _number_or_zero(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
