"""pairs: all runs against each other by Tukey's HSD, as pairs or with ranks and letters."""

from __future__ import annotations

import argparse
from itertools import combinations

import numpy as np

from evaluation.commands import files, tables
from evaluation.commands.compare import parse_probability
from evaluation.commands.records import Records, read_records
from evaluation.commands.score import add_scoring_options, add_table_options, requested_measures
from evaluation.commands.tables import Table
from evaluation.measures import Asked
from evaluation.significance import AllPairs, tukey_hsd

EPILOG = """
The family is all runs given: p is adjusted for all their pairs, and adding or removing a run
changes every p.

Exit status: 0; 2 when a file is rejected or the command is wrong.
"""


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m evaluation pairs",
        description="Compare all pairs of runs with Tukey's HSD.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    files.add_reading_options(parser)
    parser.add_argument("runs", metavar="RUN", nargs="+")
    add_scoring_options(parser, default="AP")
    parser.add_argument("--alpha", metavar="A", type=parse_probability, default=0.05)
    parser.add_argument("--ranks", action="store_true", help="print rank intervals and letters")
    add_table_options(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    records = read_records(options.runs, options)
    if records is None:
        return files.REFUSED
    for asked in requested_measures(options):
        table = compare_on_measure(asked, records, options)
        tables.print_table(table, options.format)
    return 0


def compare_on_measure(asked: Asked, records: Records, options: argparse.Namespace) -> Table:
    direction = asked.measure.direction
    pairs = tukey_hsd(records.scores(asked.measure), 1 - options.alpha, direction)
    order = np.argsort(-direction * pairs.means, kind="stable").tolist()
    note = note_of(pairs, options)
    if options.ranks:
        header = ["measure", "run", "letters", "mean", "best rank", "worst rank"]
        rows = [ranks_of(asked.name, records.tags, pairs, run, options.digits) for run in order]
        return Table(header, rows, texts=3, note=note)
    header = ["measure", "run", "other", "difference", "p"]
    rows = [
        [
            *(asked.name, records.tags[run], records.tags[other]),
            f"{pairs.differences[run, other]:+.{options.digits}f}",
            f"{pairs.p[run, other]:.3g}",
        ]
        for run, other in combinations(order, 2)
    ]
    return Table(header, rows, texts=3, note=note)


def ranks_of(measure: str, tags: list[str], pairs: AllPairs, run: int, digits: int) -> list[str]:
    mean = f"{pairs.means[run]:.{digits}f}"
    ranks = [str(int(end[run])) for end in (pairs.rank_low, pairs.rank_high)]
    return [measure, tags[run], pairs.letters[run], mean, *ranks]


def note_of(pairs: AllPairs, options: argparse.Namespace) -> str:
    def value(number: float | None) -> str:
        return "undefined" if number is None else f"{number:.{options.digits}f}"

    note = (
        f"Tukey's HSD over {len(pairs.means)} runs and {pairs.topics} topics; alpha"
        f" {options.alpha:g}, margin {value(pairs.margin)},"
        f" residual variance {value(pairs.residual_variance)}"
    )
    left_out = f"; {pairs.undefined} topics left out, undefined for a run"
    return note + (left_out if pairs.undefined else "")
