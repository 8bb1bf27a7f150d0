"""answers check: everything that is wrong with a run of answers, at the line where it is."""

from __future__ import annotations

import argparse
import sys

from evaluation.answers.reading import CheckedAnswers, check_answers
from evaluation.commands import files
from evaluation.commands.answers.inputs import RUN_HELP, add_rule_options, open_run, rules_of
from evaluation.commands.arguments import command_parser
from evaluation.commands.check import print_problems
from evaluation.phrases import counted
from evaluation.problems import Refused

EPILOG = """
The dialect is recognised by the content, the year of a track never: give its rules by --preset.
With --fix, the run is checked as repaired; `answers convert` writes the repaired run.

Exit status: 0 when the run is accepted, with or without warnings; 2 when it is rejected, when a
file cannot be read or when the command is wrong.
"""


def parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "answers check", "Check a run of answers and report all problems.", EPILOG
    )
    parser.add_argument("run", metavar="FILE", help=RUN_HELP)
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="json: one problem per line"
    )
    add_rule_options(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    try:
        rules = rules_of(options, options.run)
    except (Refused, OSError) as reason:
        return files.report_refusal(options.run, reason)
    try:
        with open_run(options.run) as file:
            accepted = check_answers(file, rules)
    except Refused as refusal:
        print_problems(options, refusal.problems)
        print(f"{options.run}: rejected", file=sys.stderr)
        return files.REFUSED
    except OSError as reason:
        return files.report_refusal(options.run, reason)
    print_problems(options, accepted.problems)
    print(f"{options.run}: accepted, {describe_run(accepted)}", file=sys.stderr)
    return 0


def describe_run(run: CheckedAnswers) -> str:
    """Say what a run is, and what repairs have changed."""
    facts = [f"run {run.name}"] if run.name else []
    facts += [f"dialect {run.dialect}", counted(run.num_answers, "answer")]
    facts += [f"{name}: {counted(count, 'repair')}" for name, count in run.repaired.items()]
    return ", ".join(facts)
