"""pairs: all pairs of runs, as differences or as ranks and letters."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from itertools import combinations
from typing import TypeAlias

import numpy as np

from evaluation.commands import files, tables
from evaluation.commands.arguments import judged_runs_parser, parse_probability
from evaluation.commands.records import Records, read_records
from evaluation.commands.score import (
    add_scoring_options,
    add_table_options,
    add_ties_option,
    requested_measures,
)
from evaluation.commands.tables import Table
from evaluation.measures import Asked, Measure
from evaluation.ragged import FloatArray
from evaluation.significance import (
    AllPairs,
    PairDecisions,
    Scale,
    compare_all_pairs,
    decide_pairs,
    has_values,
    randomised_tukey,
    scale_of,
    tukey_hsd,
)

EPILOG = """
The family is all runs given: p is adjusted for all their pairs, and adding or removing a run
changes every p.

maximum: the studentised maximum by sign flips, with a standard error for each pair. Below six
topics nothing differs. hsd: Tukey's HSD, whose one variance for all pairs is wrong where some
runs are more alike than others. randomised: Tukey's range over shuffled runs, wrong there too.

Exit status: 0; 2 when a file is rejected or the command is wrong.
"""


Pairs: TypeAlias = PairDecisions | AllPairs

# Standard errors of pairs that differ by a larger factor make one variance wrong.
UNEQUAL = 2.0


def by_range(scores: FloatArray, level: float, direction: int) -> AllPairs:
    return randomised_tukey(scores, level, direction=direction)


METHODS: dict[str, Callable[[FloatArray, float, int], Pairs]] = {
    "maximum": compare_all_pairs,
    "hsd": tukey_hsd,
    "randomised": by_range,
}


def parser() -> argparse.ArgumentParser:
    parser = judged_runs_parser("pairs", "Compare all pairs of runs.", EPILOG)
    add_scoring_options(parser, default="AP")
    add_ties_option(parser)
    parser.add_argument("--method", choices=METHODS, default="maximum")
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
    scale = scale_of(asked.measure)
    values = records.scores(asked.measure)
    kept = np.flatnonzero(has_values(values)).tolist()
    left_out = [tag for run, tag in enumerate(records.tags) if run not in kept]
    records, scores = records.of(kept), scale.tested(values[kept])
    pairs = METHODS[options.method](scores, 1 - options.alpha, direction)
    if options.method != "maximum":
        warn_of_unequal_pairs(scores, asked.name)
    order = np.argsort(-direction * pairs.means, kind="stable").tolist()
    note = note_of(pairs, options)
    if left_out:
        note += f"; excluded, undefined on every topic: {', '.join(left_out)}"
    if options.ranks:
        header = ["measure", "run", "letters", "mean", "best rank", "worst rank"]
        rows = [
            ranks_of(asked.name, records, pairs, run, options.digits, asked.measure)
            for run in order
        ]
        return Table(header, rows, texts=3, note=note)
    header = ["measure", "run", "other", "difference", "p"]
    rows = [
        [
            *(asked.name, records.tags[run], records.tags[other]),
            printed_difference(pairs, run, other, scale, options.digits),
            f"{pairs.p[run, other]:.3g}",
        ]
        for run, other in combinations(order, 2)
    ]
    return Table(header, rows, texts=3, note=note)


def printed_difference(pairs: Pairs, run: int, other: int, scale: Scale, digits: int) -> str:
    """The difference of two means, of two totals, or the ratio of two geometric means."""
    value = scale.printed(np.array([pairs.differences[run, other]]), pairs.topics).item()
    return f"{value:{'' if scale.unit == 'ratio' else '+'}.{digits}f}"


def ranks_of(
    measure: str, records: Records, pairs: Pairs, run: int, digits: int, of: Measure
) -> list[str]:
    mean = f"{of.aggregate(records.scores(of)[run]):.{digits}f}"
    ranks = [str(int(end[run])) for end in (pairs.rank_low, pairs.rank_high)]
    return [measure, records.tags[run], pairs.letters[run], mean, *ranks]


def warn_of_unequal_pairs(scores: FloatArray, measure: str) -> None:
    """Say on stderr where one variance for all pairs does not fit these runs."""
    errors = decide_pairs(scores, np.zeros(1)).errors[np.triu_indices(len(scores), 1)]
    if len(errors) and errors.max() > UNEQUAL * errors.min():
        print(
            f"{measure}: some pairs of runs vary more than twice as much as others, so one"
            " variance for all pairs does not hold; use --method maximum",
            file=sys.stderr,
        )


def note_of(pairs: Pairs, options: argparse.Namespace) -> str:
    def value(number: float | None) -> str:
        return "undefined" if number is None else f"{number:.{options.digits}f}"

    note = f"{len(pairs.means)} runs and {pairs.topics} topics; alpha {options.alpha:g}"
    if isinstance(pairs, PairDecisions):
        note = f"studentised maximum over {note}, critical t {value(pairs.critical)}"
    else:
        name = "Tukey's HSD" if options.method == "hsd" else "Tukey's range, randomised,"
        note = f"{name} over {note}, margin {value(pairs.margin)}"
    if isinstance(pairs, AllPairs) and pairs.residual_variance is not None:
        note += f", residual variance {value(pairs.residual_variance)}"
    left_out = f"; {pairs.undefined} topics excluded, undefined for a run"
    return note + (left_out if pairs.undefined else "")
