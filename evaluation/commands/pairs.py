"""pairs: all pairs of runs, as differences or as ranks and letters."""

from __future__ import annotations

import argparse
import sys
from itertools import combinations
from typing import get_args

import numpy as np

from evaluation import tables
from evaluation.commands import files
from evaluation.commands.arguments import judged_runs_parser, parse_probability
from evaluation.commands.records import add_groups_option, check_groups, read_records
from evaluation.commands.score import (
    add_scoring_options,
    add_table_options,
    add_ties_option,
    requested_measures,
)
from evaluation.comparison import (
    DecidedPairs,
    Method,
    Pairs,
    ScoredRuns,
    decide_all_pairs,
    describe_groups,
)
from evaluation.phrases import counted
from evaluation.ragged import FloatArray
from evaluation.significance import PairDecisions, Scale, pair_deviations, scale_of
from evaluation.tables import Table

EPILOG = """
The family is all runs given: p is adjusted for all their pairs, and adding or removing a run
changes every p.

maximum: the studentised maximum by sign flips, with a standard error for each pair. Below six
topics nothing differs. A run whose topics would cost the others more than a tenth of theirs is not
compared, and may have any rank. hsd: Tukey's HSD, whose one variance for all pairs is wrong where
some runs are more alike than others. randomised: Tukey's range over shuffled runs, wrong there too.

Exit status: 0; 2 when a file is rejected or the command is wrong.
"""


# Standard errors of pairs that differ by a larger factor make one variance wrong.
UNEQUAL = 2.0


def parser() -> argparse.ArgumentParser:
    parser = judged_runs_parser("pairs", "Compare all pairs of runs.", EPILOG)
    add_scoring_options(parser, default="AP")
    add_ties_option(parser)
    add_pair_options(parser)
    return parser


def add_pair_options(parser: argparse.ArgumentParser) -> None:
    """The options that decide how all pairs are tested and printed."""
    parser.add_argument("--method", choices=get_args(Method), default="maximum")
    parser.add_argument("--alpha", metavar="A", type=parse_probability, default=0.05)
    add_groups_option(parser)
    parser.add_argument("--ranks", action="store_true", help="print rank intervals and letters")
    add_table_options(parser)


def run(options: argparse.Namespace) -> int:
    records = read_records(options.runs, options)
    if records is None:
        return files.REFUSED
    check_method(options, parser())
    check_groups(records, parser())
    built = [build_table(records.scored(asked), options) for asked in requested_measures(options)]
    tables.print_tables(built, options.format)
    return 0


def check_method(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """End with a message where groups are asked for that the method cannot flip."""
    if options.groups is not None and options.method != "maximum":
        parser.error("--groups requires --method maximum")


def build_table(runs: ScoredRuns, options: argparse.Namespace) -> Table:
    """All pairs of runs by one measure, or their ranks and letters."""
    found = decide_all_pairs(runs, options.alpha, options.method)
    pairs, tags, scale = found.pairs, found.runs.tags, scale_of(runs.measure)
    if options.method != "maximum":
        warn_of_unequal_pairs(scale.tested(found.runs.scores), runs.name)
    note = note_of(pairs, options) + describe_groups(runs.groups) + found.note
    if options.ranks:
        header = ["measure", "run", "letters", "mean", "best rank", "worst rank"]
        rows = [ranks_of(found, run, options.digits) for run in found.order]
        return Table(header, rows, texts=3, note=note)
    header = ["measure", "run", "other", "difference", "p"]
    rows = [
        [
            *(runs.name, tags[run], tags[other]),
            printed_difference(pairs, run, other, scale, options.digits),
            f"{pairs.p[run, other]:.3g}",
        ]
        for run, other in combinations(found.order, 2)
        if not {tags[run], tags[other]} & found.short.keys()
    ]
    return Table(header, rows, texts=3, note=note)


def printed_difference(pairs: Pairs, run: int, other: int, scale: Scale, digits: int) -> str:
    """The difference of two means, of two totals, or the ratio of two geometric means."""
    value = scale.printed(np.array([pairs.differences[run, other]]), pairs.topics).item()
    return f"{value:{'' if scale.unit == 'ratio' else '+'}.{digits}f}"


def ranks_of(found: DecidedPairs, run: int, digits: int) -> list[str]:
    pairs = found.pairs
    ranks = [str(int(end[run])) for end in (pairs.rank_low, pairs.rank_high)]
    mean = f"{found.value(run):z.{digits}f}"
    return [found.runs.name, found.runs.tags[run], pairs.letters[run], mean, *ranks]


def warn_of_unequal_pairs(scores: FloatArray, measure: str) -> None:
    """Say on stderr where one variance for all pairs does not fit these runs."""
    deviations = pair_deviations(scores)
    if len(deviations) and deviations.max() > UNEQUAL * deviations.min():
        print(
            f"{measure}: some pairs of runs vary more than twice as much as others, so one"
            " variance for all pairs does not hold; use --method maximum",
            file=sys.stderr,
        )


def note_of(pairs: Pairs, options: argparse.Namespace) -> str:
    def value(number: float | None) -> str:
        return "undefined" if number is None else f"{number:z.{options.digits}f}"

    runs, topics = counted(len(pairs.means), "run"), counted(pairs.topics, "topic")
    note = f"{runs} and {topics}; alpha {options.alpha:g}"
    if isinstance(pairs, PairDecisions):
        note = f"studentised maximum over {note}, critical t {value(pairs.critical)}"
    else:
        name = "Tukey's HSD" if options.method == "hsd" else "Tukey's range, randomised,"
        note = f"{name} over {note}, margin {value(pairs.margin)}"
    if not isinstance(pairs, PairDecisions) and pairs.residual_variance is not None:
        note += f", residual variance {value(pairs.residual_variance)}"
    left_out = f"; {counted(pairs.undefined, 'topic')} excluded, undefined for a run"
    return note + (left_out if pairs.undefined else "")
