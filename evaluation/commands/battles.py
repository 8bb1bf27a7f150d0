"""battles: rank runs by votes on pairs of answers or of rankings."""

from __future__ import annotations

import argparse
import sys
from itertools import combinations

from evaluation import tables
from evaluation.battles import BattleBoard, Kind, Vote, find_side_voters, make_board
from evaluation.battles.boards import FEWEST_BATTLES, share_preferring_more
from evaluation.commands import files
from evaluation.commands.arguments import command_parser
from evaluation.commands.score import add_table_options
from evaluation.phrases import counted
from evaluation.problems import Refused
from evaluation.reading.judging.votes import read_votes
from evaluation.reading.paths import open_input
from evaluation.significance import Interval
from evaluation.tables import Table

EPILOG = """
votes.jsonl has an object per line:
  {"topic": "7", "left": "oak", "right": "elm", "vote": "left", "voter": "ada"}
vote is left, right, tie or both bad, which counts as a tie. kind is person or machine; people and
machines are never mixed. left_words, right_words, left_citations and right_citations are optional.

Strengths are those of Davidson's model, with geometric mean 1. preferred is the chance of being
preferred to an average run, ties counted half. Intervals are 95 %, clustered by topic, over all
runs and pairs together; below six topics there are none.

Exit status: 0; 2 when a file is rejected or the command is wrong.
"""
KIND_OF: dict[str, Kind] = {"people": "person", "machines": "machine"}


def parser() -> argparse.ArgumentParser:
    parser = command_parser("battles", "Rank runs by votes on pairs of them.", EPILOG)
    parser.add_argument("votes", metavar="VOTES", help=".gz is unpacked; - is stdin")
    parser.add_argument("--voters", choices=KIND_OF, default="people")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--pairs", action="store_true", help="print each pair of runs")
    shown.add_argument(
        "--effects", action="store_true", help="print what length, citations and position do"
    )
    add_table_options(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    try:
        with open_input(options.votes) as file:
            read = read_votes(file)
    except (Refused, OSError) as reason:
        return files.report_refusal(options.votes, reason)
    votes = [vote for vote in read.votes if vote.kind == KIND_OF[options.voters]]
    if not votes:
        parser().error(f"the file has no votes of {options.voters}")
    board = make_board(votes)
    tables.print_table(build_table(board, votes, options), options.format)
    for each in find_side_voters(votes):
        print(f"{each.voter} chose {each.side} in all {each.votes} votes", file=sys.stderr)
    return 0


def build_table(board: BattleBoard, votes: list[Vote], options: argparse.Namespace) -> Table:
    if options.effects:
        return table_of_effects(board, votes, options.digits)
    make = table_of_pairs if options.pairs else table_of_runs
    return make(board, options.digits)


def table_of_runs(board: BattleBoard, digits: int) -> Table:
    header = ["run", "letters", "strength", "preferred", "low", "high"]
    header += ["best rank", "worst rank", "battles", "won", "tied"]
    rows = []
    for run in board.pairs.order:
        has_rank = board.num_battles[run] >= FEWEST_BATTLES
        ends = (board.pairs.rank_low[run], board.pairs.rank_high[run])
        numbers = (board.strengths.strengths[run], board.preferred(run))
        row = [board.games.runs[run], board.pairs.letters[run] if has_rank else ""]
        row += [f"{number:.{digits}f}" for number in numbers]
        row += [
            *cells_of(board.interval(run), digits),
            *(str(e) if has_rank else "-" for e in ends),
        ]
        row += [str(board.num_battles[run]), f"{board.won[run]:.{digits}f}"]
        rows.append([*row, f"{board.tied[run]:.{digits}f}"])
    return Table(header, rows, texts=2, note=note_of(board))


def table_of_pairs(board: BattleBoard, digits: int) -> Table:
    header = ["run", "other", "battles", "beats", "difference", "low", "high", "p"]
    rows = []
    for run, other in combinations(board.pairs.order.tolist(), 2):
        battles = f"{board.games.played[run, other]:.0f}"
        numbers = (board.chance(run, other), board.pairs.difference(run, other))
        cells = [f"{number:.{digits}f}" for number in numbers]
        cells += cells_of(board.pairs.interval(run, other), digits)
        names = [board.games.runs[run], board.games.runs[other]]
        rows.append([*names, battles, *cells, f"{board.pairs.p_of(run, other):.3g}"])
    note = f"difference: of natural logarithms of strengths; {note_of(board)}"
    return Table(header, rows, texts=2, note=note)


def table_of_effects(board: BattleBoard, votes: list[Vote], digits: int) -> Table:
    header = ["difference", "share preferring more", "odds", "low", "high"]
    rows = []
    for effect in board.effects:
        share = share_preferring_more(votes, effect.name)
        first = "-" if share is None else f"{share:.{digits}f}"
        odds = f"{effect.odds:.{digits}f}"
        rows.append([effect.name, first, odds, *cells_of(effect.interval, digits)])
    note = "odds that the left side wins, for twice the words, one citation more, being at the left"
    return Table(header, rows, texts=1, note=note)


def cells_of(interval: Interval | None, digits: int) -> list[str]:
    if interval is None:
        return ["-", "-"]
    return [f"{end:.{digits}f}" for end in (interval.low, interval.high)]


def note_of(board: BattleBoard) -> str:
    votes, topics = len(board.games.outcomes), len(board.games.topics)
    half = "; each run has half a won and half a lost game more" * board.strengths.has_half_games
    return (
        f"{counted(votes, 'vote')} on {counted(topics, 'topic')}; ties {board.strengths.tie:.4f}"
        f"; no rank below {FEWEST_BATTLES} battles{half}"
    )
