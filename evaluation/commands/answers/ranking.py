"""answers ranking: the documents of a run of answers as a ranked run."""

from __future__ import annotations

import argparse

from evaluation import tables
from evaluation.answers.rankings import VIEWS, ranking_run, trec_lines
from evaluation.commands import files
from evaluation.commands.answers.inputs import RUN_HELP, add_rule_options, read_run_of
from evaluation.commands.arguments import command_parser
from evaluation.problems import Refused

EPILOG = """
The references are in their order, those with scores by score. The cited documents are in the
order of first citation, within a sentence the strongest first. Scores are k, k-1 ... 1.

Exit status: 0; 2 when the run is rejected, when a file cannot be read or when the command is wrong.
"""


def parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "answers ranking", "Write the documents of a run of answers as a TREC run.", EPILOG
    )
    parser.add_argument("run", metavar="FILE", help=RUN_HELP)
    parser.add_argument("--view", choices=VIEWS, default="references")
    parser.add_argument(
        "--with-references", action="store_true", help="add uncited references after cited ones"
    )
    add_rule_options(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    try:
        answers = read_run_of(options.run, options)
        ranked = ranking_run(answers, options.view, options.with_references)
    except (Refused, OSError) as reason:
        return files.report_refusal(options.run, reason)
    files.report(options.run, answers.problems)
    tables.write_bytes(trec_lines(ranked))
    return 0
