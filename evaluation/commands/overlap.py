"""overlap: how far two runs retrieve the same, topic by topic, as rank-biased overlap."""

from __future__ import annotations

import argparse

from evaluation import tables
from evaluation.agreement import rbo
from evaluation.commands import files
from evaluation.commands.arguments import command_parser, parse_probability, whole_number
from evaluation.commands.score import add_table_options
from evaluation.problems import Refused
from evaluation.reading import paths
from evaluation.reading.runs import Run
from evaluation.tables import Table, text_of

EPILOG = """
The value is 1 for equal rankings and 0 for rankings with no document in common. Beyond the last
document read, it is extrapolated.

Exit status: 0; 2 when a file is rejected or the command is wrong.
"""


def parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "overlap", "Compare the rankings of two runs without judgments.", EPILOG
    )
    parser.add_argument("runs", metavar="RUN", nargs=2)
    parser.add_argument("--lenient", action="store_true", help="accept what trec_eval accepts")
    parser.add_argument(
        "-p", metavar="P", type=parse_probability, default=0.9, help="higher favours deep ranks"
    )
    parser.add_argument(
        "-M", dest="depth", metavar="N", type=whole_number(1), default=20, help="cut at N"
    )
    add_table_options(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    runs = []
    for path in options.runs:
        try:
            runs.append(paths.read_any_run(path, options.lenient))
        except (Refused, OSError) as reason:
            return files.report_refusal(path, reason)
    one, other = runs
    rows = [
        [text_of(topic), f"{overlap_on_topic(one, other, topic, options):.{options.digits}f}"]
        for topic in sorted(one.rankings.keys() | other.rankings.keys())
    ]
    note = f"the first {options.depth} documents of {one.tag} and {other.tag}; p = {options.p:g}"
    table = Table(["topic", "RBO"], rows, texts=1, note=note)
    tables.print_table(table, options.format)
    return 0


def overlap_on_topic(one: Run, other: Run, topic: bytes, options: argparse.Namespace) -> float:
    tops = [_top(each, topic, options.depth) for each in (one, other)]
    return rbo(tops[0], tops[1], options.p)


def _top(run: Run, topic: bytes, depth: int) -> list[bytes]:
    return run.rankings[topic].docnos[:depth] if topic in run.rankings else []
