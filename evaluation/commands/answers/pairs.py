"""answers pairs: all pairs of runs of answers, by the tests of ranked runs."""

from __future__ import annotations

import argparse

from evaluation import tables
from evaluation.commands import files
from evaluation.commands.answers.compare import read_scored_runs
from evaluation.commands.answers.inputs import RUN_HELP, add_rule_options
from evaluation.commands.answers.score import add_mark_options
from evaluation.commands.arguments import command_parser
from evaluation.commands.pairs import add_pair_options, build_table, check_method

EPILOG = """
The tests are those of `pairs`, the measures those of `answers compare`. Without RUN, the runs are
those of the marks. `pairs --answers` is the same command.

Exit status: 0; 2 when a file is rejected or the command is wrong.
"""


def parser() -> argparse.ArgumentParser:
    parser = command_parser("answers pairs", "Compare all pairs of runs of answers.", EPILOG)
    parser.add_argument("runs", metavar="RUN", nargs="*", help=RUN_HELP)
    add_mark_options(parser)
    add_pair_options(parser)
    add_rule_options(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    check_method(options, parser())
    scored = read_scored_runs(options.runs, options, parser())
    if scored is None:
        return files.REFUSED
    tables.print_tables([build_table(each, options) for each in scored], options.format)
    return 0
