"""reuse: whether judgments serve new runs, by leaving out one team at a time."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from functools import partial

from evaluation import tables
from evaluation.agreement import ranks
from evaluation.commands import files
from evaluation.commands.arguments import judged_runs_parser, whole_number
from evaluation.commands.rescoring import RescoredRuns, read_rescoring
from evaluation.commands.score import (
    add_scoring_options,
    add_table_options,
    requested_measures,
)
from evaluation.measures import Asked
from evaluation.pooling import Reusability, TeamRuns, depth_pool, leave_one_team_out
from evaluation.tables import Table

EPILOG = """
Documents that only one team has in the pool lose their judgments, and the runs of the team are
scored again: as if the team had not taken part when the pool was made. A run that is in no --team
counts as its own team. tau is Kendall's tau_b between the boards before and after.

Exit status: 0; 2 when a file is rejected or the command is wrong.
"""


def parser() -> argparse.ArgumentParser:
    parser = judged_runs_parser(
        "reuse", "Exclude one team at a time and score its runs again.", EPILOG
    )
    parser.add_argument(
        "--team",
        metavar="NAME=TAG,TAG",
        type=team_and_tags,
        action="append",
        default=[],
        help="the runs of a team, by their tags; repeatable",
    )
    parser.add_argument(
        "--pool-depth",
        metavar="N",
        type=whole_number(1),
        default=100,
        help="documents of each run that were pooled (default: 100)",
    )
    add_scoring_options(parser, default="AP")
    add_table_options(parser)
    return parser


def team_and_tags(text: str) -> tuple[str, tuple[str, ...]]:
    name, _, tags = text.partition("=")
    if not name or not all(tags.split(",")):
        raise argparse.ArgumentTypeError(f"{text}: expected NAME=TAG,TAG,...")
    return name, tuple(tags.split(","))


def run(options: argparse.Namespace) -> int:
    read = read_rescoring(options)
    if read is None:
        return files.REFUSED
    try:
        teams = teams_of([each.tag for each in read.runs], options.team)
    except ValueError as error:
        parser().error(str(error))
    built = [
        build_table(leave_out(read, teams, asked, options), read, asked, options)
        for asked in requested_measures(options)
    ]
    tables.print_tables(built, options.format)
    return 0


def teams_of(
    tags: Sequence[str], named: Sequence[tuple[str, tuple[str, ...]]]
) -> dict[str, TeamRuns]:
    """Return the runs of each team by number; ValueError for a tag that is unknown or in two."""
    team_of = {tag: name for name, listed in named for tag in listed}
    counted = Counter(tag for _, listed in named for tag in set(listed))
    for tag, times in counted.items():
        if tag not in tags:
            raise ValueError(f"no run has the tag {tag}")
        if times > 1:
            raise ValueError(f"the run {tag} is in two teams")
    teams: dict[str, tuple[int, ...]] = {}
    for number, tag in enumerate(tags):
        name = team_of.get(tag, tag)
        teams[name] = (*teams.get(name, ()), number)
    return {name: TeamRuns(runs, runs) for name, runs in teams.items()}


def leave_out(
    read: RescoredRuns, teams: dict[str, TeamRuns], asked: Asked, options: argparse.Namespace
) -> Reusability:
    pool = depth_pool(read.runs, options.pool_depth, read.judgments.topics)
    rescore = partial(read.means, asked.measure)
    direction = asked.measure.direction
    return leave_one_team_out(read.qrels, pool, teams, rescore, options.rel, direction)


def build_table(
    found: Reusability, read: RescoredRuns, asked: Asked, options: argparse.Namespace
) -> Table:
    board = read.means(asked.measure, read.qrels, range(len(read.runs)))
    rank = ranks(board, asked.measure.direction)
    digits, rows = options.digits, []
    for team in found.teams:
        for place, run in enumerate(team.runs):
            scores = (team.before[place], team.after[place], 0.0 - 100 * team.drop[place])
            moved = (rank[run], rank[run] + team.ranks_lost[place])
            rows.append(
                [
                    *(team.team, read.runs[run].tag, str(team.unique), str(team.unique_relevant)),
                    *(f"{score:z.{digits}f}" for score in scores[:2]),
                    *(f"{scores[2]:+z.1f}", *map(str, moved)),
                    "-" if team.tau is None else f"{team.tau:z.{digits}f}",
                ]
            )
    header = [
        *("team", "run", "unique", "relevant", asked.name, "without"),
        *("change %", "rank", "rank without", "tau"),
    ]
    lowest = "-" if found.lowest_tau is None else f"{found.lowest_tau:z.{digits}f}"
    note = (
        f"{asked.name}: mean error {found.mean_error:.{digits}f}, lowest tau {lowest};"
        f" pool depth {options.pool_depth}"
    )
    return Table(header, rows, texts=2, note=note)
