"""bounds: what scores could become if every unjudged document were judged."""

from __future__ import annotations

import argparse

from evaluation import tables
from evaluation.commands import files
from evaluation.commands.arguments import judged_runs_parser
from evaluation.commands.records import read_records
from evaluation.commands.score import add_scoring_options, add_table_options, requested_measures
from evaluation.comparison import Records
from evaluation.judging import JudgedRun
from evaluation.measures import Asked, MeasureError
from evaluation.tables import Table

EPILOG = """
low: no unjudged document is relevant. high: every unjudged document has the top grade. For
measures such as P@10, no further judgment leads outside these bounds. For measures marked with *,
low and high are only two scenarios.

Exit status: 0; 2 when a file is rejected, a measure has no bounds or the command is wrong.
"""


def parser() -> argparse.ArgumentParser:
    parser = judged_runs_parser(
        "bounds", "Compute score bounds over all missing judgments.", EPILOG
    )
    add_scoring_options(parser, default="P@10")
    add_table_options(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    every = requested_measures(options)
    for asked in every:
        if asked.measure.definition.bounds == "none":
            raise MeasureError(f"{asked.name} has no bounds")
    records = read_records(options.runs, options)
    if records is None:
        return files.REFUSED
    rows = [row for asked in every for row in build_rows(asked, records, options.digits)]
    scenarios = any(asked.measure.definition.bounds != "true" for asked in every)
    note = "* two scenarios; other judgments may lead outside them" if scenarios else ""
    table = Table(["measure", "run", "low", "score", "high"], rows, texts=2, note=note)
    tables.print_table(table, options.format)
    return 0


def build_rows(asked: Asked, records: Records, digits: int) -> list[list[str]]:
    mark = "" if asked.measure.definition.bounds == "true" else "*"

    def build_row(tag: str, judged: JudgedRun) -> list[str]:
        low, high = asked.measure.bounds(judged)
        reached = (low, asked.measure.scores(judged), high)
        means = [f"{asked.measure.aggregate(each):z.{digits}f}" for each in reached]
        return [asked.name + mark, tag, *means]

    return [build_row(*each) for each in zip(records.tags, records.judged, strict=True)]
