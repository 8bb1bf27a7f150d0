"""agree: whether measures put runs in the same order, by Kendall's tau and tau_AP."""

from __future__ import annotations

import argparse
from itertools import permutations

import numpy as np

from evaluation import tables
from evaluation.agreement import tau_ap_matrix, tau_matrix
from evaluation.commands import files
from evaluation.commands.arguments import judged_runs_parser
from evaluation.commands.records import read_records
from evaluation.commands.score import add_scoring_options, add_table_options, requested_measures
from evaluation.phrases import counted
from evaluation.tables import Table

EPILOG = """
tau is Kendall's tau_b. tau_AP gives more weight to agreement at the top of the ranking. Few topics
make both too low, and no interval over topics holds for them.

Exit status: 0; 2 when a file is rejected or the command is wrong.
"""


def parser() -> argparse.ArgumentParser:
    parser = judged_runs_parser("agree", "Compare how measures rank runs.", EPILOG)
    add_scoring_options(parser, default="official")
    add_table_options(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    records, every = read_records(options.runs, options), requested_measures(options)
    if records is None:
        return files.REFUSED
    boards = np.array(
        [
            [a.measure.direction * a.measure.aggregate(row) for row in records.scores(a.measure)]
            for a in every
        ]
    )
    tau, tau_ap = tau_matrix(boards), tau_ap_matrix(boards)
    rows = [
        [
            *(every[one].name, every[other].name),
            *(f"{taus[one, other]:z.{options.digits}f}" for taus in (tau, tau_ap)),
        ]
        for one, other in permutations(range(len(every)), 2)
    ]
    header = ["measure", "reference", "tau", "tau_AP"]
    runs, topics = counted(len(options.runs), "run"), counted(len(records.topics), "topic")
    note = f"{runs}, {topics}; few topics make tau too low"
    table = Table(header, rows, texts=2, note=note)
    tables.print_table(table, options.format)
    return 0
