"""simulate: what each order of judging finds, with judgments that exist as the assessor."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from evaluation import tables
from evaluation.commands import files
from evaluation.commands.arguments import judged_runs_parser, whole_number
from evaluation.commands.rescoring import RescoredRuns, read_rescoring
from evaluation.commands.reuse import team_and_tags, teams_of
from evaluation.commands.score import (
    add_scoring_options,
    add_table_options,
    requested_measures,
)
from evaluation.conventions import CONVENTIONS
from evaluation.phrases import counted
from evaluation.pooling import (
    ORDERS,
    Budget,
    Ending,
    Guards,
    MissesInARow,
    SimulatedOrder,
    Simulation,
)
from evaluation.tables import Table

BUDGETS, STOPS = [25, 50, 100], [10, 20, 30]
EPILOG = """
Candidates are the documents in the depth pool of the runs that QRELS has a grade for. They are
judged topic by topic in each order, with the grades of QRELS as answers, until judging ends.

Orders:
  depth     by best rank, then by run
  fusion    by the sum of 1 / (60 + rank) over the runs (reciprocal rank fusion)
  mtf       move to front: follow a run until a document is not relevant
  maxmean   from the run with the highest mean of its posterior
  hedge     by the runs, weighted by what was relevant so far
  thompson  from the run with the highest random draw from its posterior

Judging of a topic ends after --budget documents, or at --stop N: N documents in a row that are
not relevant, at least 30 judged. Without either option, both tables are printed.

judged is the share of the candidates, found the share of the relevant ones, over all topics. tau
(Kendall's tau_b) and tau_AP compare the board of the documents judged with that of all candidates.

Exit status: 0; 2 when a file is rejected or the command is wrong.
"""


def parser() -> argparse.ArgumentParser:
    parser = judged_runs_parser(
        "simulate", "Simulate judging in several orders, with known judgments.", EPILOG
    )
    parser.add_argument(
        "--order",
        dest="orders",
        choices=ORDERS,
        action="append",
        help="order of judging; repeatable (default: all)",
    )
    for name, usual, what in (
        ("--budget", BUDGETS, "documents per topic"),
        ("--stop", STOPS, "misses in a row that end a topic"),
    ):
        parser.add_argument(
            name,
            metavar="N",
            type=whole_number(1),
            nargs="+",
            action="extend",
            default=[],
            help=f"{what} (default: {' '.join(map(str, usual))})",
        )
    parser.add_argument(
        "--depth",
        dest="pool_depth",
        metavar="N",
        type=whole_number(1),
        default=100,
        help="depth of the pool (default: 100)",
    )
    parser.add_argument(
        "--seeds", metavar="N", type=whole_number(1), default=5, help="seeds to average over"
    )
    parser.add_argument(
        "--guards",
        action="store_true",
        help="begin with 20 documents by depth, then every fifth from the run seen least; at most"
        " two in a row of one team",
    )
    parser.add_argument(
        "--team",
        metavar="NAME=TAG,TAG",
        type=team_and_tags,
        action="append",
        default=[],
        help="with --guards: the runs of a team, by their tags; repeatable",
    )
    add_scoring_options(parser, default="AP nDCG@10")
    add_table_options(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    if options.team and not options.guards:
        parser().error("--team needs --guards")
    read = read_rescoring(options)
    if read is None:
        return files.REFUSED
    try:
        simulation = build_simulation(read, options)
        teams = name_teams([each.tag for each in read.runs], options)
    except ValueError as error:
        parser().error(str(error))
    built = []
    for endings in list_endings(options):
        guards = Guards() if options.guards else None
        outcomes = simulation.simulate(
            options.orders or list(ORDERS), endings, options.seeds, teams, guards
        )
        built.append(build_table(simulation, list(outcomes), options))
    tables.print_tables(built, options.format, between="\n")
    return 0


def build_simulation(read: RescoredRuns, options: argparse.Namespace) -> Simulation:
    return Simulation(
        runs=read.runs,
        judgments=read.judgments,
        measures=[asked.measure for asked in requested_measures(options)],
        depth=options.pool_depth,
        rel=options.rel,
        cutoff=options.depth,
        is_condensed=options.condensed,
        convention=CONVENTIONS[options.convention],
    )


def name_teams(tags: Sequence[str], options: argparse.Namespace) -> list[str]:
    """The team of each run; ValueError for a tag that is unknown or in two teams."""
    teams = [""] * len(tags)
    for name, team in teams_of(tags, options.team).items():
        for number in team.on_board:
            teams[number] = name
    return teams


def list_endings(options: argparse.Namespace) -> list[list[Ending]]:
    """The endings of each table: those asked for, or the usual ones of both kinds."""
    budgets, stops = options.budget, options.stop
    if not (budgets or stops):
        budgets, stops = BUDGETS, STOPS
    both: list[list[Ending]] = [[Budget(n) for n in budgets], [MissesInARow(n) for n in stops]]
    return [endings for endings in both if endings]


def build_table(
    simulation: Simulation, outcomes: Sequence[SimulatedOrder], options: argparse.Namespace
) -> Table:
    names = [asked.name for asked in requested_measures(options)]
    header = ["order", "until", "judged", "found"]
    header += [f"{name} {what}" for name in names for what in ("tau", "tau_AP")]
    rows = []
    for each in outcomes:
        values = [each.judged, None if np.isnan(each.found) else each.found]
        values += [value for board in each.boards for value in (board.tau, board.tau_ap)]
        cells = ["-" if value is None else f"{value:z.{options.digits}f}" for value in values]
        rows.append([each.order, str(each.ending), *cells])
    return Table(header, rows, texts=2, note=note_of(simulation, options))


def note_of(simulation: Simulation, options: argparse.Namespace) -> str:
    """What was simulated, in a line."""
    documents = sum(len(each.docnos) for each in simulation.candidates)
    by_chance = [name for name in options.orders or ORDERS if ORDERS[name].is_random]
    note = (
        f"{counted(len(simulation.runs), 'run')}, {counted(len(simulation.candidates), 'topic')};"
        f" {counted(documents, 'judged document')} in the pool of depth {simulation.depth},"
        f" {simulation.num_relevant:,} relevant (from grade {simulation.rel})"
    )
    if by_chance:
        note += f"; {options.seeds} seeds of {', '.join(by_chance)}"
    return f"{note}; with guards" if options.guards else note
