"""curve: precision and recall, averaged over all topics or of a single one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

import numpy as np

from evaluation import tables
from evaluation.commands import files
from evaluation.commands.arguments import judged_runs_parser
from evaluation.commands.records import read_records
from evaluation.commands.score import add_scoring_options, add_table_options
from evaluation.curves import mean_curve, precision_recall
from evaluation.judging import JudgedRun
from evaluation.measures import MeasureError
from evaluation.measures.ranks import LEVELS
from evaluation.tables import Table

EPILOG = """
Without --topic: interpolated precision at the recall levels 0, 0.1, ... 1, averaged over topics
(trec_eval's iprec_at_recall). With --topic N: the steps of this topic, a line for the rank of each
relevant document that was retrieved, without interpolation; --levels prints the eleven levels.

Exit status: 0; 2 when a file is rejected, a topic is not judged or the command is wrong.
"""


def parser() -> argparse.ArgumentParser:
    parser = judged_runs_parser("curve", "Print the precision-recall curve of each run.", EPILOG)
    parser.add_argument("--topic", metavar="N", help="the curve of this topic only")
    parser.add_argument(
        "--levels", action="store_true", help="with --topic: interpolate at eleven recall levels"
    )
    add_scoring_options(parser, default="IPrec11")
    add_table_options(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    if options.measures:
        raise MeasureError("a curve has no measure: remove -m")
    records = read_records(options.runs, options)
    if records is None:
        return files.REFUSED
    topic = None if options.topic is None else options.topic.encode()
    if topic is not None and topic not in records.judged[0].judgments.topics:
        print(f"{options.qrels}: error: topic {options.topic} is not judged", file=sys.stderr)
        return files.REFUSED
    has_ranks = topic is not None and not options.levels
    rows = [
        [tag, *cells]
        for tag, judged in zip(records.tags, records.judged, strict=True)
        for cells in build_rows(judged, topic, options)
    ]
    header = ["run", *(["rank"] if has_ranks else []), "recall", "precision"]
    tables.print_table(Table(header, rows, texts=1), options.format)
    return 0


def build_rows(
    judged: JudgedRun, topic: bytes | None, options: argparse.Namespace
) -> list[list[str]]:
    """The points of a curve, as cells."""
    if topic is None:
        mean = mean_curve(judged, options.rel)
        levels, precision = mean.levels, mean.precision
    else:
        place = judged.judgments.topics.index(topic)
        curve = precision_recall(judged, place, options.rel)
        if not options.levels:
            points = zip(curve.rank, curve.recall, curve.precision, strict=True)
            return [[str(rank), *numbers(point, options.digits)] for rank, *point in points]
        levels, precision = np.array(LEVELS), curve.interpolated
    return [numbers(point, options.digits) for point in zip(levels, precision, strict=True)]


def numbers(values: Iterable[float], digits: int) -> list[str]:
    return [f"{value:.{digits}f}" for value in values]
