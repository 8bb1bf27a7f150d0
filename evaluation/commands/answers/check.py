"""answers check: everything that is wrong with a run of answers, at the line where it is."""

from __future__ import annotations

import argparse

from evaluation.answers.reading import CheckedAnswers, check_answers
from evaluation.answers.rules import AnswerRules
from evaluation.commands import files
from evaluation.commands.answers.inputs import RUN_HELP, add_rule_options, open_run, rules_of
from evaluation.commands.arguments import command_parser
from evaluation.commands.check import report_check
from evaluation.phrases import counted
from evaluation.problems import Problems, Refused

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
    return report_check(options, lambda: check_run(options.run, rules))


def check_run(path: str, rules: AnswerRules) -> tuple[Problems, str]:
    """Return the warnings of an accepted run and what it is; raises `Refused`, OSError."""
    with open_run(path) as file:
        accepted = check_answers(file, rules)
    return accepted.problems, describe_run(accepted)


def describe_run(run: CheckedAnswers) -> str:
    """Say what a run is, and what repairs have changed."""
    facts = [f"run {run.name}"] if run.name else []
    facts += [f"dialect {run.dialect}", counted(run.num_answers, "answer")]
    facts += [f"{name}: {counted(count, 'repair')}" for name, count in run.repaired.items()]
    return ", ".join(facts)
