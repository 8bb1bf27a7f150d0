"""plan: how many topics a collection needs, and how deep a pool."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial

from evaluation import tables
from evaluation.commands import files
from evaluation.commands.arguments import (
    command_parser,
    parse_positive,
    parse_probability,
    whole_number,
)
from evaluation.commands.records import add_groups_option
from evaluation.commands.rescoring import RescoredRuns, read_rescoring
from evaluation.commands.score import (
    add_scoring_options,
    add_table_options,
    requested_measures,
)
from evaluation.measures import Asked
from evaluation.phrases import counted
from evaluation.pooling import compare_depths
from evaluation.problems import Refused
from evaluation.ragged import IntArray
from evaluation.reading import paths
from evaluation.reading.groups import number_groups, read_groups
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
    add_groups_option(parser)
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
    groups = read_groups_of(options, read.judgments.topics)
    built = []
    for asked in requested_measures(options):
        try:
            rows = read.scores(asked.measure, read.qrels, range(len(read.runs)))
            variances = variances_of(rows, groups)
        except ValueError as error:
            parser().error(str(error))
        if asked.measure.definition.aggregate == "mean":
            if options.difference and not variances.paired:
                parser().error(f"{asked.name}: the runs differ by the same everywhere")
            built.append(topics_table(variances, asked.name, options))
        built.append(depths_table(read, asked, options))
    tables.print_tables(built, options.format, between="\n")
    return 0


def read_groups_of(options: argparse.Namespace, topics: Sequence[bytes]) -> IntArray | None:
    """The group of each topic, None without groups; ends with a message where one has none."""
    if options.groups is None:
        return None
    try:
        with paths.open_input(options.groups) as file:
            return number_groups(topics, read_groups(file))
    except (Refused, OSError) as reason:
        files.report_refusal(options.groups, reason)
        raise SystemExit(files.REFUSED) from None
    except ValueError as error:
        parser().error(str(error))


def check(options: argparse.Namespace) -> None:
    """End with a message where the options leave nothing to plan from."""
    if options.qrels is not None:
        if len(options.runs) < 2:
            parser().error("QRELS needs two runs or more")
        if options.variance is not None:
            parser().error("--variance cannot be combined with runs, which give an estimate")
        if not (options.effect or options.difference or options.width):
            options.difference = [0.05, 0.1]
    elif options.groups is not None:
        parser().error("--groups needs QRELS and runs")
    elif not (options.effect or options.difference or options.width):
        parser().error("give --effect, --difference or --width, or QRELS and runs")
    elif options.variance is None and (options.difference or options.width):
        parser().error("--difference and --width need --variance, or QRELS and runs")


def topics_table(variances: Variances | None, name: str, options: argparse.Namespace) -> Table:
    """Build a row per design; without variances only effects are planned for."""
    power, alpha = options.power, options.alpha
    rows = []
    for effect in options.effect:
        rows += rows_of_effect(effect, f"effect {effect:g}", options, variances)
    if variances is not None:
        for difference in options.difference:
            detects = f"difference {difference:g}"
            effect = difference / variances.paired**0.5
            rows += rows_of_effect(effect, detects, options, variances)
            for runs in options.num_runs or RUNS:
                units = anova_topics(difference, variances.residual, runs, power, alpha)
                rows.append(["ANOVA", str(runs), detects, str(variances.topics_of(units))])
        for width in options.width:
            units = interval_topics(width, variances.paired, 1 - alpha)
            topics = str(variances.topics_of(units))
            rows.append(["interval", "2", f"width {width:g}", topics])
    note = f"alpha {alpha:g}, power {power:g}"
    if variances is not None:
        note += f"; variance {variances.residual:.4g}, of differences {variances.paired:.4g}"
        if variances.per_group != 1:
            note += f", of whole groups of {variances.per_group:.3g} topics on average"
    if name:
        note = f"{name}; {note}"
    return Table(["design", "runs", "detects", "topics"], rows, texts=1, note=note)


def rows_of_effect(
    effect: float, detects: str, options: argparse.Namespace, variances: Variances | None
) -> list[list[str]]:
    """The topics of a pair alone, and of a run named in advance in a family."""
    power, alpha = options.power, options.alpha
    topics_of = str if variances is None else variances.topics_of
    rows = [["paired t", "2", detects, str(topics_of(topics_needed(effect, power, alpha)))]]
    for runs in options.num_runs or RUNS:
        for family, design in DESIGNS.items():
            units = topics_in_family(effect, runs, family, power, alpha)
            rows.append([design, str(runs), detects, str(topics_of(units))])
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
