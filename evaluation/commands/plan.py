"""plan: how many topics a collection needs, and how deep a pool."""

from __future__ import annotations

import argparse
from functools import partial

from evaluation import tables
from evaluation.commands import files
from evaluation.commands.arguments import (
    command_parser,
    parse_positive,
    parse_probability,
    whole_number,
)
from evaluation.commands.rescoring import RescoredRuns, read_rescoring
from evaluation.commands.score import (
    add_scoring_options,
    add_table_options,
    requested_measures,
)
from evaluation.measures import Asked
from evaluation.phrases import counted
from evaluation.pooling import compare_depths
from evaluation.significance import (
    Variances,
    anova_topics,
    interval_topics,
    topics_in_family,
    topics_needed,
    variances_of,
)
from evaluation.significance.across import Family
from evaluation.tables import Table

DEPTHS = (5, 10, 20, 50, 100)
RUNS = (2, 3, 10)
DESIGNS: dict[Family, str] = {"baseline": "baseline", "all": "all pairs"}
EPILOG = """
Topics for a run named in advance, as boards and compare test it (--runs N, with the baseline):
  baseline   against the baseline, for --effect D in standard deviations or --difference
  all pairs  against another run, where all pairs are tested
After Sakai's topic-set-size design:
  paired t   of two runs without any other, by the plain paired t-test
  ANOVA      one-way, of --runs N runs whose best and worst are --difference apart
  interval   of the mean difference of two runs, not wider than --width

The variance is given (--variance, within runs; the difference of two runs then varies by twice
as much) or estimated from QRELS and RUNs. With these, a second table shows pools of smaller
depths: documents to judge, hours, and how alike the runs are ordered (Kendall's tau_b, tau_AP).

Exit status: 0; 2 when a file is rejected or the command is wrong.
"""


def parser() -> argparse.ArgumentParser:
    parser = command_parser("plan", "Plan topics and the depth of a pool.", EPILOG)
    files.add_reading_options(parser, optional=True)
    parser.add_argument("runs", metavar="RUN", nargs="*")
    for name, metavar, what in (
        ("--effect", "D", "mean difference of two runs over its standard deviation"),
        ("--difference", "D", "smallest difference to detect"),
        ("--width", "W", "widest interval"),
    ):
        parser.add_argument(
            name,
            metavar=metavar,
            type=parse_positive,
            nargs="+",
            action="extend",
            default=[],
            help=what,
        )
    parser.add_argument("--variance", metavar="V", type=parse_positive, help="variance within runs")
    parser.add_argument(
        "--runs",
        dest="num_runs",
        metavar="N",
        type=whole_number(2),
        nargs="+",
        action="extend",
        default=[],
        help="numbers of runs to compare (default: 2 3 10)",
    )
    parser.add_argument("--alpha", metavar="A", type=parse_probability, default=0.05)
    parser.add_argument("--power", metavar="P", type=parse_probability, default=0.8)
    parser.add_argument(
        "--depth", dest="depths", metavar="N", type=whole_number(1), nargs="+", action="extend"
    )
    parser.add_argument(
        "--seconds", metavar="S", type=parse_positive, default=60.0, help="to judge a document"
    )
    add_scoring_options(parser, default="AP")
    add_table_options(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    check(options)
    if options.qrels is None:
        variance = options.variance
        typed = None if variance is None else Variances(variance, 2 * variance)
        tables.print_table(topics_table(typed, "", options), options.format)
        return 0
    read = read_rescoring(options)
    if read is None:
        return files.REFUSED
    for asked in requested_measures(options):
        try:
            rows = read.scores(asked.measure, read.qrels, range(len(read.runs)))
            variances = variances_of(rows)
        except ValueError as error:
            parser().error(str(error))
        if asked.measure.definition.aggregate == "mean":
            tables.print_table(topics_table(variances, asked.name, options), options.format)
            print()
        tables.print_table(depths_table(read, asked, options), options.format)
    return 0


def check(options: argparse.Namespace) -> None:
    """End with a message where the options leave nothing to plan from."""
    if options.qrels is not None:
        if len(options.runs) < 2:
            parser().error("QRELS needs two runs or more")
        if options.variance is not None:
            parser().error("--variance cannot be combined with runs, which give an estimate")
        if not (options.effect or options.difference or options.width):
            options.difference = [0.05, 0.1]
    elif not (options.effect or options.difference or options.width):
        parser().error("give --effect, --difference or --width, or QRELS and runs")
    elif options.variance is None and (options.difference or options.width):
        parser().error("--difference and --width need --variance, or QRELS and runs")


def topics_table(variances: Variances | None, name: str, options: argparse.Namespace) -> Table:
    """Build a row per design; without variances only effects are planned for."""
    power, alpha = options.power, options.alpha
    rows = []
    for effect in options.effect:
        rows += rows_of_effect(effect, f"effect {effect:g}", options)
    if variances is not None:
        for difference in options.difference:
            detects = f"difference {difference:g}"
            rows += rows_of_effect(difference / variances.paired**0.5, detects, options)
            for runs in options.num_runs or RUNS:
                topics = anova_topics(difference, variances.residual, runs, power, alpha)
                rows.append(["ANOVA", str(runs), detects, str(topics)])
        for width in options.width:
            topics = interval_topics(width, variances.paired, 1 - alpha)
            rows.append(["interval", "2", f"width {width:g}", str(topics)])
    note = f"alpha {alpha:g}, power {power:g}"
    if variances is not None:
        note += f"; variance {variances.residual:.4g}, of differences {variances.paired:.4g}"
    if name:
        note = f"{name}; {note}"
    return Table(["design", "runs", "detects", "topics"], rows, texts=1, note=note)


def rows_of_effect(effect: float, detects: str, options: argparse.Namespace) -> list[list[str]]:
    """The topics of a pair alone, and of a run named in advance in a family."""
    power, alpha = options.power, options.alpha
    rows = [["paired t", "2", detects, str(topics_needed(effect, power, alpha))]]
    for runs in options.num_runs or RUNS:
        for family, design in DESIGNS.items():
            topics = topics_in_family(effect, runs, family, power, alpha)
            rows.append([design, str(runs), detects, str(topics)])
    return rows


def depths_table(read: RescoredRuns, asked: Asked, options: argparse.Namespace) -> Table:
    rescore = partial(read.means, asked.measure)
    found = compare_depths(
        *(read.qrels, read.runs, options.depths or DEPTHS, rescore),
        *(options.rel, asked.measure.direction),
    )
    rows = [
        [
            *(str(n) for n in (each.depth, each.documents, each.judged, each.relevant)),
            f"{each.hours(options.seconds):.1f}",
            *("-" if t is None else f"{t:z.{options.digits}f}" for t in (each.tau, each.tau_ap)),
        ]
        for each in found
    ]
    unit = "second" if options.seconds == 1 else "seconds"
    pace = f"{options.seconds:g} {unit} per document"
    note = f"{asked.name}; {counted(len(read.runs), 'run')}; {pace}"
    header = ["depth", "documents", "judged", "relevant", "hours", "tau", "tau_AP"]
    return Table(header, rows, texts=0, note=note)
