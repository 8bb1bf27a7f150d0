"""overlap: how far two runs retrieve the same, topic by topic, as rank-biased overlap."""

from __future__ import annotations

import argparse

from evaluation import tables
from evaluation.agreement import rbo
from evaluation.commands import files
from evaluation.commands.arguments import command_parser, parse_probability, whole_number
from evaluation.commands.score import add_table_options
from evaluation.phrases import counted
from evaluation.problems import Refused, refuse
from evaluation.reading.runs.reader import Run
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
    files.add_run_rules(parser)
    add_table_options(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    runs: list[Run] = []
    for path in options.runs:
        try:
            known = runs[0].rankings if runs else ()
            runs.append(files.read_whole_run(path, known, options))
        except (Refused, OSError) as reason:
            return files.report_refusal(path, reason)
    one, other = runs
    if one.rankings.keys().isdisjoint(other.rankings):
        ours, theirs = (text_of(next(iter(run.rankings))) for run in runs)
        message = f'the runs have no topic in common: the first has "{ours}", the second "{theirs}"'
        return files.report_refusal(options.runs[1], refuse("E_UNKNOWN_TOPIC", message))
    rows = [
        [text_of(topic), f"{overlap_on_topic(one, other, topic, options):.{options.digits}f}"]
        for topic in sorted(one.rankings.keys() | other.rankings.keys())
    ]
    looked_at = f"the first {counted(options.depth, 'document')} of {one.tag} and {other.tag}"
    note = f"{looked_at}; p = {options.p:g}"
    table = Table(["topic", "RBO"], rows, texts=1, note=note)
    tables.print_table(table, options.format)
    return 0


def overlap_on_topic(one: Run, other: Run, topic: bytes, options: argparse.Namespace) -> float:
    tops = [_top(each, topic, options.depth) for each in (one, other)]
    return rbo(tops[0], tops[1], options.p)


def _top(run: Run, topic: bytes, depth: int) -> list[bytes]:
    return run.rankings[topic].docnos[:depth] if topic in run.rankings else []
