"""answers convert: runs of answers, nuggets and marks in another format."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping

from evaluation import tables
from evaluation.answers.assignment_files import assigned_lines, mark_lines, read_assignments
from evaluation.answers.nugget_files import read_nuggets
from evaluation.answers.nugget_writing import WRITERS as NUGGET_WRITERS
from evaluation.answers.nugget_writing import NuggetWriter
from evaluation.answers.writing import WRITERS as RUN_WRITERS
from evaluation.answers.writing import AnswerWriter
from evaluation.commands import files
from evaluation.commands.answers.inputs import (
    RUN_HELP,
    add_rule_options,
    name_of,
    open_run,
    read_run_of,
    read_topics_of,
)
from evaluation.commands.arguments import command_parser
from evaluation.phrases import counted
from evaluation.problems import Refused

EPILOG = """
What the format cannot hold is counted on standard error. Assignments are written as columns (run
topic nugget label), or with --nuggets as nuggetizer writes them.

Exit status: 0; 2 when the file is rejected or cannot be read, or when the command is wrong.
"""
TARGETS = (*RUN_WRITERS, *NUGGET_WRITERS, "columns")


def parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "answers convert", "Write answers, nuggets or marks in another format.", EPILOG
    )
    parser.add_argument("run", metavar="FILE", help=RUN_HELP.replace("run of answers", "file"))
    parser.add_argument(
        "--to",
        required=True,
        metavar="FORMAT",
        choices=TARGETS,
        help=f"of runs {', '.join(RUN_WRITERS)}; of nuggets {', '.join(NUGGET_WRITERS)}; columns",
    )
    parser.add_argument("--nuggets", metavar="FILE", help="nuggets that the marks are of")
    add_rule_options(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    try:
        lines, lost = converted(options)
        tables.write_bytes(lines)
    except (Refused, OSError) as reason:
        return files.report_refusal(options.run, reason)
    for what, count in lost.items():
        print(f"{options.run}: lost: {what}, {counted(count, 'time')}", file=sys.stderr)
    return 0


def converted(options: argparse.Namespace) -> tuple[Iterator[bytes], Mapping[str, int]]:
    """Return the lines of the file in the other format, and what is lost once they are read."""
    if options.to in RUN_WRITERS:
        answers = read_run_of(options.run, options)
        files.report(options.run, answers.problems)
        topics = read_topics_of(options.topics) if options.topics else {}
        texts = {number: topic.text for number, topic in topics.items()}
        writer = AnswerWriter(answers, options.to, texts)
        return writer.lines(), writer.lost
    with open_run(options.run) as file:
        if options.to == "columns" or options.nuggets:
            return converted_marks(options)
        bank = read_nuggets(file, name=options.run)
    files.report(options.run, bank.problems)
    nuggets = NuggetWriter(bank, options.to)
    return nuggets.lines(), nuggets.lost


def converted_marks(options: argparse.Namespace) -> tuple[Iterator[bytes], Mapping[str, int]]:
    """Return assignments as columns, or beside their nuggets."""
    bank = None
    if options.nuggets:
        with open_run(options.nuggets) as file:
            bank = read_nuggets(file, name=options.nuggets)
    with open_run(options.run) as file:
        layer = read_assignments(file, bank, run=name_of(options.run))
    lost: Counter[str] = Counter()
    if options.to == "columns" or bank is None:
        return mark_lines(layer, lost), lost
    return assigned_lines(layer, bank, lost), lost
