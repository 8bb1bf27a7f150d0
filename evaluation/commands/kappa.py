"""kappa: how far assessors agree: kappa, alpha, overlap, positive and negative agreement."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from evaluation import tables
from evaluation.agreement import STATISTICS, Agreement, agreement_of_assessors, grades_of
from evaluation.answers.agreement import ORIGIN, grades_by_assessor, grades_of_layers
from evaluation.commands import files
from evaluation.commands.answers.inputs import name_of, open_run
from evaluation.commands.arguments import command_parser, parse_probability, whole_number
from evaluation.commands.layers import Layer, add_about_options, read_bank, read_layer
from evaluation.commands.records import read_grouping
from evaluation.commands.score import add_table_options
from evaluation.phrases import counted
from evaluation.problems import Refused
from evaluation.reading import paths
from evaluation.reading.groups import number_groups
from evaluation.reading.judging.qrels import Qrels, read_qrels_by_assessor
from evaluation.tables import Table, text_of

NAMES = "\n".join(f"  {name:<17}{what}" for name, what in STATISTICS.items())
EPILOG = f"""
Give a file of judgments per assessor, or one file whose second column names the assessor.
Only documents that at least two assessors have judged count. Negative grades are no judgments.

{NAMES}

--about nugget and --about support compare marks of answers, as `answers score` reads them: which
nuggets are in an answer, which documents support a sentence. Their grades are -1 contradicts, 0
none, 1 partial, 2 full, and "relevant" means at least partial, with -l 2 full. Marks that name a
sentence by its place and by its text meet where a file has the text.

Intervals are those of a jackknife over topics, from three topics. A value that is not defined
is "-".

Exit status: 0; 2 when a file is rejected or the command is wrong.
"""


def parser() -> argparse.ArgumentParser:
    parser = command_parser("kappa", "Compare the grades of two or more assessors.", EPILOG)
    parser.add_argument("qrels", metavar="QRELS", nargs="+", help=".gz is unpacked; - is stdin")
    files.add_judgments_option(parser)
    add_about_options(parser)
    parser.add_argument("--lenient", action="store_true", help="accept what trec_eval accepts")
    parser.add_argument(
        "-l", dest="rel", metavar="N", type=whole_number(1), default=1, help="relevant from grade N"
    )
    parser.add_argument(
        "--bin", metavar="N", type=whole_number(1), help="grades from N become 1, lower ones 0"
    )
    parser.add_argument("-q", dest="by_topic", action="store_true", help="also print each topic")
    parser.add_argument(
        "--groups",
        metavar="FILE",
        help="lines `topic group`, such as conversations: intervals are over whole groups",
    )
    parser.add_argument("--level", metavar="P", type=parse_probability, default=0.95)
    add_table_options(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    try:
        assessors = read_marks(options.qrels, options) if options.about else read_grades(options)
        grouping = read_grouping(options.groups)
    except (Refused, OSError) as reason:
        return files.report_refusal(options.qrels[0], reason)
    if len(assessors) < 2:
        parser().error("two assessors are needed: give two files, or name them in column 2")
    print_agreement(assessors, grouping, options)
    return 0


def read_grades(options: argparse.Namespace) -> dict[str, Qrels]:
    """The judgments of each assessor; raises `RefusedOption`, OSError."""
    if len(options.qrels) == 1:
        with paths.open_input(options.qrels[0]) as file:
            read = read_qrels_by_assessor(file)
        return {text_of(name): qrels for name, qrels in read.items()}
    assessors = {}
    for name, path in zip(names_of(options.qrels), options.qrels, strict=True):
        try:
            assessors[name] = paths.read_judgments(
                path, options.lenient, format=options.qrels_format
            )
        except Refused as refusal:
            raise files.RefusedOption(path, refusal.problems) from None
    return assessors


def read_marks(paths_of_marks: Sequence[str], options: argparse.Namespace) -> dict[str, Qrels]:
    """The marks of each assessor, or of each file; raises `RefusedOption`, OSError."""
    layers: list[Layer] = []
    bank, path = read_bank(options.nuggets) if options.nuggets else None, ""
    try:
        for path in paths_of_marks:
            with open_run(path) as file:
                layers.append(read_layer(file, options.about, bank, name_of(path)))
            files.report(path, layers[-1].problems)
    except Refused as refusal:
        raise files.RefusedOption(path, refusal.problems) from None
    if len(layers) == 1:
        return grades_by_assessor(layers[0].log)
    return dict(zip(names_of(paths_of_marks), grades_of_layers(layers), strict=True))


def names_of(paths: Sequence[str]) -> list[str]:
    """The name of each file, or its whole path where two files have one name."""
    names = [Path(path).name for path in paths]
    if len(set(names)) == len(names):
        return names
    return [f"{place}:{path}" for place, path in enumerate(paths, 1)]


def print_agreement(
    assessors: Mapping[str, Qrels],
    grouping: Mapping[bytes, bytes] | None,
    options: argparse.Namespace,
) -> None:
    topics, grades, topic_of = grades_of(list(assessors.values()))
    units, over = topic_of, "topics"
    if grouping is not None:
        try:
            groups = number_groups(topics, grouping)
        except ValueError as error:
            parser().error(str(error))
        units, over = groups[topic_of], counted(len(np.unique(groups)), "group") + " of topics"
    if options.about:
        grades = grades - ORIGIN
    rel = options.rel
    if options.bin is not None:
        grades = np.where(np.isnan(grades), np.nan, (grades >= options.bin).astype(np.float64))
        rel = 1
    rows = []
    if options.by_topic:
        for place, topic in enumerate(topics):
            here = grades[:, topic_of == place]
            found = agreement_of_assessors(here, np.zeros(here.shape[1], np.int64), rel)
            rows += [[text_of(topic), *row(each, list(assessors), options)] for each in found]
    found = agreement_of_assessors(grades, units, rel, options.level)
    overall = ["all"] if options.by_topic else []
    rows += [[*overall, *row(each, list(assessors), options)] for each in found]
    counts = "pairs" if options.about else "documents"
    header = ["assessors", "statistic", counts, "value", "low", "high"]
    note = (
        f"{counted(len(assessors), 'assessor')}, {counted(len(topics), 'topic')}; relevant from"
        f" grade {options.bin or options.rel}; {options.level:.0%} intervals: jackknife over"
        f" {over}"
    )
    if options.by_topic:
        table = Table(["topic", *header], rows, texts=3, note=note)
    else:
        table = Table(header, rows, texts=2, note=note)
    tables.print_table(table, options.format)


def row(found: Agreement, names: Sequence[str], options: argparse.Namespace) -> list[str]:
    values = (found.value, found.low, found.high)
    cells = ["-" if value is None else f"{value:z.{options.digits}f}" for value in values]
    return [found.name_assessors(names), found.statistic, str(found.documents), *cells]
