"""measures: every measure with its parameters, what it is, and what trec_eval calls it."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping

from evaluation import tables
from evaluation.answers.measures import ALIASES, ANSWER_MEASURES
from evaluation.commands.arguments import command_parser
from evaluation.measures import MEASURES, Definition, MeasureError
from evaluation.measures.declaring import TREC_EVAL, value_text
from evaluation.tables import Table

EPILOG = """
A measure under trec_eval's name has trec_eval's value to the last printed digit: topics are added
one after the other. Under our own names, a mean is the exact sum divided by the number of topics.

Exit status: 0; 2 when the command is wrong.
"""


def parser() -> argparse.ArgumentParser:
    parser = command_parser("measures", "List all measures, or show details of one.", EPILOG)
    parser.add_argument("name", metavar="NAME", nargs="?")
    parser.add_argument("--answers", action="store_true", help="measures of answers, not of runs")
    parser.add_argument("--format", choices=tables.FORMATS, default="text")
    return parser


def run(options: argparse.Namespace) -> int:
    known: Mapping[str, Definition] = ANSWER_MEASURES if options.answers else MEASURES
    if options.name and options.name not in known:
        raise MeasureError(f"{options.name}: no such measure; there are {', '.join(known)}")
    if options.name:
        tables.write_bytes([full_docstring(known[options.name]).encode()])
    elif options.format == "json":
        listed = [measure_facts(definition) for definition in known.values()]
        tables.write_bytes([json.dumps(listed, indent=2).encode() + b"\n"])
    elif options.answers:
        tables.print_table(table_of_answer_measures(), options.format)
    else:
        tables.print_table(table_of_measures(), options.format)
    return 0


def range_text(definition: Definition) -> str:
    low, high = (
        "no limit" if math.isinf(limit) else value_text(limit) for limit in definition.range
    )
    return f"{low} to {high}"


def table_of_measures() -> Table:
    header = ["measure", "what it is", "trec_eval", "range", "better"]
    rows = [
        [
            definition.signature,
            definition.description,
            " ".join(definition.trec_names),
            range_text(definition),
            "higher" if definition.higher_is_better else "lower",
        ]
        for definition in MEASURES.values()
    ]
    return Table(header, rows, texts=len(header))


def table_of_answer_measures() -> Table:
    header = ["measure", "what it is", "other names", "range", "better"]
    rows = [
        [
            definition.signature,
            definition.description,
            " ".join(alias for alias, text in ALIASES.items() if text == name),
            range_text(definition),
            ("higher" if definition.higher_is_better else "lower")
            if definition.has_direction
            else "-",
        ]
        for name, definition in ANSWER_MEASURES.items()
    ]
    return Table(header, rows, texts=len(header))


def measure_facts(definition: Definition) -> dict[str, object]:
    """What is known about a measure, for JSON; a limit of None means that there is none."""
    return {
        "name": definition.name,
        "signature": definition.signature,
        "description": definition.description,
        "trec_eval": definition.trec_names,
        "also": list(definition.also),
        "range": [None if math.isinf(limit) else limit for limit in definition.range],
        "unit": definition.unit,
        "higher_is_better": definition.higher_is_better,
        "aggregate": definition.aggregate,
        "bounds": definition.bounds,
        "source": definition.source,
    }


def full_docstring(definition: Definition) -> str:
    """The docstring of a measure below its signature."""
    lines = (definition.formula.__doc__ or "").rstrip().splitlines()
    text = "\n".join(line.removeprefix("    ") for line in lines)
    names = " and ".join(definition.trec_names)
    named = f"trec_eval calls it {names}" if names else "trec_eval has no equal measure"
    also = f"; also known as {', '.join(definition.also)}" if definition.also else ""
    theirs = TREC_EVAL.get(definition.name)
    differs = f"\nAs trec_eval computes it: {theirs.__doc__}\n" if theirs else ""
    return f"{definition.signature}: {text}\n\n{named}{also}.\n{differs}"
