"""board: print the board of a track as text, CSV or JSON."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from evaluation import tables
from evaluation.tables import Table
from rankfield.answers import Board, Standing
from rankfield.commands.arguments import site_of, site_parser
from rankfield.commands.numbers import number_text, p_text
from rankfield.commands.outcomes import EXIT_STATUS, OK

# Drawn by the site itself.
FILES = ("csv", "tsv", "md", "tex")


def parser() -> argparse.ArgumentParser:
    parser = site_parser("board", "Print the board of a track.", EXIT_STATUS)
    parser.add_argument("track", metavar="TRACK")
    parser.add_argument("-m", "--measure", default="", help="measure to rank by")
    parser.add_argument("--baseline", metavar="ID", default="", help="run to compare with")
    parser.add_argument("--judgments", metavar="VERSION", default="", help="an earlier version")
    parser.add_argument(
        "--family",
        choices=("baseline", "all"),
        default="",
        help="what the tests compare: runs with the baseline, or all pairs of runs",
    )
    parser.add_argument("--format", choices=("text", *FILES, "json"), default="text")
    return parser


def run(options: argparse.Namespace) -> int:
    site = site_of(options)
    choice = {name: getattr(options, name) for name in ("measure", "baseline", "judgments")}
    choice["family"] = options.family
    if options.format in FILES:
        content = site.board_file(options.track, options.format, **choice)
        tables.write_bytes([content])
        return OK
    board = site.board(options.track, **choice)
    if options.format == "json":
        print(json.dumps(asdict(board), indent=2))
    else:
        tables.print_table(build_table(board), "text")
    return OK


def build_table(board: Board) -> Table:
    measures = list(board.standings[0].scores) if board.standings else [board.measure]
    header = ["rank", "run", "team", "verdict", *measures, "difference", "p adjusted"]
    rows = [
        [
            str(standing.rank),
            standing.tag,
            standing.team,
            verdict_text(board, standing),
            *(number_text(standing.scores[measure]) for measure in measures),
            number_text(standing.difference),
            p_text(standing.p_adjusted),
        ]
        for standing in board.standings
    ]
    note = f"{board.measure}, judgments {board.judgments}; {board.test}"
    return Table(header, rows, texts=4, note=note)


def verdict_text(board: Board, standing: Standing) -> str:
    return "baseline" if standing.run == board.baseline else standing.verdict or ""
