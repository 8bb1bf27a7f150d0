"""compare: every run beside a baseline, with interval, test, effect size, wins and losses."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from evaluation import tables
from evaluation.commands import files
from evaluation.commands.arguments import (
    command_parser,
    parse_positive,
    parse_probability,
    parse_region,
    whole_number,
)
from evaluation.commands.printing import json_number
from evaluation.commands.records import add_groups_option, check_groups, read_records
from evaluation.commands.score import (
    add_scoring_options,
    add_table_options,
    add_ties_option,
    requested_measures,
)
from evaluation.comparison import (
    CORRECTIONS,
    ComparedRisk,
    Comparison,
    Design,
    Records,
    ScoredRuns,
    compare_on_measure,
    compare_over,
    describe_groups,
    describe_risks,
)
from evaluation.gates import GateReport, ScoredPair, check_gate
from evaluation.significance import TESTS, Gate, scale_of
from evaluation.tables import Table

WORSE, CANNOT_TELL = 1, 4
EPILOG = """
The family is all runs compared with the baseline, or all pairs of runs with --family all. For
each measure, p is adjusted over the family. The intervals hold jointly for the whole family;
a test whose intervals could contradict its p prints none. GMAP and GMBpref are tested by
ln max(value, 1e-5), and their difference is the ratio of the geometric means; the difference of
a sum is that of the totals.

--and compares systems over several collections by the mean of their mean differences, by sign
flips of the topics of each collection around its own mean. Each QRELS is one collection: topics of
a QRELS that is named twice are flipped together. The claim is about these collections, not about
others; there is no test where a collection has fewer than two topics.

--region R is for two runs that were named before any result was seen. The probabilities come
from the paired t-test of these two alone (noninformative prior) and are not adjusted:
that the run is better by more than R, that the two are within R of each other, that it is worse
by more than R. R is in the unit of the difference; for a ratio, within R is 1 / (1 + R) to 1 + R.

--risk A adds a table of what each run risks beside BASELINE. URisk is the mean gain with losses
counted 1 + A times, TRisk that over its standard error, GeoRisk beside what all runs let expect;
worst is the mean gain on the tenth of the topics that lost most, a tenth the gain that a tenth of
the topics does not exceed, with its interval from 36 topics on; p is of the exact sign test.

--margin M is a gate for one RUN, in CI: BASELINE is a fixed reference, and a loss of up to M is
accepted. The answer is pass, if a loss of M or more is ruled out (95 %); worse, if a loss is shown
(97.5 %), unless it is within the margin; else cannot tell, with the topics that are needed. The
first measure decides. A reference that many builds are held against needs --builds N: each then has
an Nth of the 5 %. Where topics are added until there is an answer, --look 1, 2, ... counts the
looks.

--holds-under QRELS repeats all with other grades of the same topics, such as those of another
prompt, repeat or version of a machine. A verdict that counts for the exit status is one that holds
under each of them; where the answers of a gate differ, it cannot tell.

Exit status: 0; 1 with --fail-if-worse when a run is significantly worse than the baseline on a
measure, and with --margin when it is worse; 2 when a file is rejected or the command is wrong; 4
with --require-pass when the gate cannot tell.
"""


def parser() -> argparse.ArgumentParser:
    parser = command_parser("compare", "Compare runs with a baseline, topic by topic.", EPILOG)
    files.add_reading_options(parser)
    parser.add_argument("baseline", metavar="BASELINE", help="the baseline run")
    parser.add_argument("runs", metavar="RUN", nargs="+")
    add_scoring_options(parser, default="AP")
    add_ties_option(parser)
    add_design_options(parser)
    parser.add_argument(
        "--and",
        dest="further",
        metavar="FILE",
        nargs="+",
        action="append",
        default=[],
        help="QRELS BASELINE RUN ... of another collection, its runs in the order of the systems:"
        " compare by the mean over the collections; repeatable",
    )
    parser.add_argument(
        "--margin", metavar="M", type=parse_positive, help="with one RUN: a gate, see below"
    )
    parser.add_argument(
        "--builds",
        metavar="N",
        type=whole_number(1),
        default=1,
        help="how many runs are held against this baseline in total",
    )
    parser.add_argument("--look", metavar="K", type=whole_number(1), help="K-th look at this pair")
    parser.add_argument("--require-pass", action="store_true", help="exit 4 if it cannot tell")
    parser.add_argument(
        "--holds-under",
        metavar="QRELS",
        nargs="+",
        action="extend",
        default=[],
        help="a verdict counts if it holds with these grades too; repeatable",
    )
    add_table_options(parser)
    return parser


def add_design_options(parser: argparse.ArgumentParser) -> None:
    """The options that decide how runs are tested against the baseline."""
    parser.add_argument("--test", choices=TESTS, default="max_t")
    parser.add_argument(
        "--correction",
        choices=CORRECTIONS,
        help="max_t for the test max_t, else holm; none does not adjust p",
    )
    parser.add_argument(
        "--family",
        choices=["baseline", "all"],
        default="baseline",
        help="adjust p for all comparisons with the baseline, or for all pairs of runs",
    )
    parser.add_argument(
        "--region",
        metavar="R",
        type=parse_region,
        help="with one RUN: probabilities that it is better, within R of the baseline, or worse",
    )
    parser.add_argument("--alpha", metavar="A", type=parse_probability, default=0.05)
    parser.add_argument(
        "--risk", metavar="A", type=parse_region, nargs="?", const=1.0, help="also print risks"
    )
    add_groups_option(parser)
    parser.add_argument("--fail-if-worse", action="store_true", help="exit 1 if a run is worse")


def run(options: argparse.Namespace) -> int:
    design = design_of(options, len(options.runs) + 1, parser())
    check_further(options)
    check_margin(options)
    named = [[options.qrels, options.baseline, *options.runs], *options.further]
    records = read_collections(named, options)
    if records is None:
        return files.REFUSED
    check_groups(records[0], parser())
    versions = read_collections(
        [[qrels, options.baseline, *options.runs] for qrels in options.holds_under], options
    )
    if versions is None:
        return files.REFUSED
    if options.margin is not None:
        return run_gate([records[0], *versions], options)
    if not options.further:
        under = [
            [each.scored(asked) for asked in requested_measures(options)]
            for each in (records[0], *versions)
        ]
        return compare_scored(under, design, options)
    comparisons = []
    for asked in requested_measures(options):
        scores = [each.scored(asked) for each in records]
        comparisons += compare_over(scores, [qrels for qrels, *_ in named], design)
    print_comparisons(comparisons, [], design, note_over(design, options), options)
    return status_of(comparisons, options)


def compare_scored(
    under: Sequence[Sequence[ScoredRuns]], design: Design, options: argparse.Namespace
) -> int:
    """Print the comparisons by each measure, and the risks if they are asked for.

    `under` has the scores with QRELS, then with each version of --holds-under.
    """
    scored, *_ = under
    comparisons, *others = (
        [row for each in of_version for row in compare_on_measure(each, design)]
        for of_version in under
    )
    risks = []
    if options.risk is not None:
        risks = [row for each in scored for row in describe_risks(each, options.risk)]
    note = design.describe(len(scored[0].tags)) + describe_groups(scored[0].groups)
    held = hold_verdicts(comparisons, others)
    print_comparisons(comparisons, risks, design, note, options, held)
    return status_of(comparisons, options, held)


def hold_verdicts(
    comparisons: Sequence[Comparison], others: Sequence[Sequence[Comparison]]
) -> list[HeldVerdict]:
    """The verdicts under QRELS and under each version, in the order of the comparisons."""
    beside = [{(row.measure, row.run): row.verdict for row in version} for version in others]
    return [
        HeldVerdict(
            row.measure,
            row.run,
            (row.verdict, *(version.get((row.measure, row.run), "") for version in beside)),
        )
        for row in comparisons
        if row.verdict != "baseline"
    ]


@dataclass(frozen=True)
class HeldVerdict:
    """The verdicts of a run by a measure: under QRELS, then under each version."""

    measure: str
    run: str
    verdicts: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return len(set(self.verdicts)) == 1


def status_of(
    comparisons: Sequence[Comparison],
    options: argparse.Namespace,
    held: Sequence[HeldVerdict] = (),
) -> int:
    """Return 1 with --fail-if-worse where a run is worse under each version."""
    verdicts = [row.verdict for row in comparisons]
    if held:
        verdicts = [row.verdicts[0] for row in held if row.holds]
    return WORSE if options.fail_if_worse and "worse" in verdicts else 0


def design_of(options: argparse.Namespace, systems: int, parser: argparse.ArgumentParser) -> Design:
    """Return the design that the options ask for; end with a message where they do not fit."""
    design = Design(options.test, options.correction, options.family, options.alpha, options.region)
    try:
        design.check(systems)
    except ValueError as error:
        parser.error(str(error))
    if options.groups is not None and options.test != "max_t":
        parser.error("--groups requires --test max_t")
    return design


def check_margin(options: argparse.Namespace) -> None:
    """End with a message where the options of a gate cannot be combined."""
    if options.holds_under and options.further:
        parser().error("--holds-under excludes --and")
    if options.margin is None:
        if options.require_pass or options.look is not None or options.builds > 1:
            parser().error("--builds, --look and --require-pass need --margin")
        return
    if len(options.runs) > 1 or options.further or options.fail_if_worse:
        parser().error("--margin takes one RUN and excludes --and and --fail-if-worse")
    if options.region is not None or options.test != "max_t" or options.family != "baseline":
        parser().error("--margin has its own test and excludes --region, --test and --family")


def run_gate(under: Sequence[Records], options: argparse.Namespace) -> int:
    """Print a report for every measure; the first decides about the exit status.

    `under` has the records with QRELS, then with each version of --holds-under.
    """
    gate = Gate(options.margin, options.builds, options.look)
    reports, *others = (
        [check_gate(ScoredPair.of(asked, records), gate) for asked in requested_measures(options)]
        for records in under
    )
    held = [
        HeldVerdict(row.measure, row.run, (row.answer, *(of[place].answer for of in others)))
        for place, row in enumerate(reports)
    ]
    print_gate(reports, under[0].note, options, held)
    answer = held[0].verdicts[0] if held[0].holds else "cannot tell"
    if answer == "worse":
        return WORSE
    return CANNOT_TELL if options.require_pass and answer == "cannot tell" else 0


def print_gate(
    reports: Sequence[GateReport],
    grouped: str,
    options: argparse.Namespace,
    held: Sequence[HeldVerdict],
) -> None:
    if options.format == "json":
        document = [
            asdict(report)
            | {"answer": report.answer, "sentences": report.sentences}
            | ({"answers": list(row.verdicts)} if _has_versions(held) else {})
            for report, row in zip(reports, held, strict=True)
        ]
        tables.write_bytes([json.dumps(document, indent=2).encode() + b"\n"])
        return
    digits = options.digits

    def value(number: float | None) -> str:
        return "" if number is None else f"{number:+z.{digits}f}"

    header = ["measure", "run", "answer", "difference", "low", "high", "margin", "topics", "needed"]
    rows = [
        [
            *(report.measure, report.run, report.answer),
            *map(value, (report.difference, report.low, report.high)),
            *(f"{options.margin:g}", str(report.outcome.topics)),
            "" if report.outcome.needed is None else str(report.outcome.needed),
        ]
        for report in reports
    ]
    first = reports[0]
    note = f"{first.measure}: {' '.join(first.sentences)}{grouped}"
    note += (
        f" Unjudged in the first ten: {first.unjudged:.1f},"
        f" of {first.reference} {first.unjudged_reference:.1f}."
    )
    tables.print_table(Table(header, rows, texts=3, note=note), options.format)
    if first.moved:
        print()
        moved = [
            [
                each.topic,
                *(f"{n:z.{digits}f}" for n in (each.reference, each.new)),
                value(each.difference),
            ]
            for each in first.moved
        ]
        header = ["topic", first.reference, first.run, "difference"]
        tables.print_table(Table(header, moved, texts=1), options.format)
    print_held(held, "answer", options)


def print_held(held: Sequence[HeldVerdict], what: str, options: argparse.Namespace) -> None:
    """Print what is said under each version, where there are several."""
    if not _has_versions(held):
        return
    print()
    header = ["measure", "run", options.qrels, *options.holds_under, "holds"]
    rows = [
        [row.measure, row.run, *(text or "none" for text in row.verdicts), _yes(row.holds)]
        for row in held
    ]
    broken = sum(not row.holds for row in held)
    note = f"{what}s under each version: {broken} of {len(held)} do not hold"
    tables.print_table(Table(header, rows, texts=len(header), note=note), options.format)


def _has_versions(held: Sequence[HeldVerdict]) -> bool:
    return any(len(row.verdicts) > 1 for row in held)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def check_further(options: argparse.Namespace) -> None:
    """End with a message where the collections of --and cannot be compared."""
    if not options.further:
        return
    if any(len(group) != len(options.runs) + 2 for group in options.further):
        parser().error("--and takes QRELS, BASELINE and as many RUNs as the first collection has")
    if options.test != "max_t" or options.correction == "none" or options.region is not None:
        parser().error("--and requires --test max_t with adjustment and excludes --region")
    if options.groups is not None:
        parser().error("--and excludes --groups")
    if options.risk is not None:
        parser().error("--and excludes --risk")
    for asked in requested_measures(options):
        if scale_of(asked.measure).unit == "total":
            parser().error(f"{asked.name} is a sum, which has no mean over collections")


def read_collections(
    named: Sequence[Sequence[str]], options: argparse.Namespace
) -> list[Records] | None:
    """Read QRELS and runs of each collection; None where a file is refused."""
    found = []
    for qrels, *runs in named:
        records = read_records(runs, argparse.Namespace(**vars(options) | {"qrels": qrels}))
        if records is None:
            return None
        found.append(records)
    return found


def note_over(design: Design, options: argparse.Namespace) -> str:
    systems = len(options.runs) + 1
    pairs = f"all pairs of {systems} systems" if design.family == "all" else "the baseline"
    return (
        f"mean over {len(options.further) + 1} collections; maximum t of sign flips, over"
        f" {pairs}; alpha {design.alpha:g}"
    )


def print_comparisons(
    comparisons: Sequence[Comparison],
    risks: Sequence[ComparedRisk],
    design: Design,
    note: str,
    options: argparse.Namespace,
    held: Sequence[HeldVerdict] = (),
) -> None:
    if options.format == "json":
        document = {
            "test": options.test,
            "correction": design.adjustment,
            "family": options.family,
            "alpha": options.alpha,
            "region": options.region,
            "collections": 1 + len(options.further),
            "comparisons": [
                asdict(comparison) | {"mean": json_number(comparison.mean)}
                for comparison in comparisons
            ],
            "risks": [asdict(each) for each in risks],
        }
        if _has_versions(held):
            document["holds_under"] = [asdict(row) | {"holds": row.holds} for row in held]
        tables.write_bytes([json.dumps(document, indent=2).encode() + b"\n"])
        return
    level = f"{100 * (1 - options.alpha):g} %"
    header = ["measure", "run", "verdict", "mean", "difference", f"low {level}", f"high {level}"]
    header += ["p", "p adjusted", "d_z", "wins", "losses", "ties"]
    rows = [row_of(comparison, options.digits) for comparison in comparisons]
    if options.region is not None:
        header += ["P better", "P within", "P worse"]
        rows = [
            row + probabilities_of(comparison, options.digits)
            for row, comparison in zip(rows, comparisons, strict=True)
        ]
    if left_out := [each for each in comparisons if math.isnan(each.mean)]:
        names = (f"{each.run} on {each.measure}" for each in left_out)
        note += f"; excluded, undefined on every topic: {', '.join(names)}"
    table = Table(header, rows, texts=3, note=note)
    tables.print_table(table, options.format)
    if risks:
        print()
        tables.print_table(risk_table(risks, options), options.format)
    print_held(held, "verdict", options)


def risk_table(risks: Sequence[ComparedRisk], options: argparse.Namespace) -> Table:
    def value(number: float | None) -> str:
        return "" if number is None else f"{number:+z.{options.digits}f}"

    header = ["measure", "run", "URisk", "TRisk", "GeoRisk", "worst", "a tenth", "low", "high"]
    header += ["wins", "losses", "ties", "p"]
    rows = []
    for each in risks:
        risk, ends = each.risk, each.risk.threshold_interval
        rows.append(
            [
                *(each.measure, each.run, value(risk.urisk), value(risk.trisk)),
                "" if each.geo_risk is None else f"{each.geo_risk:.{options.digits}f}",
                *(value(risk.worst), value(risk.threshold)),
                *(["", ""] if ends is None else [value(ends.low), value(ends.high)]),
                *(str(count) for count in (risk.wins, risk.losses, risk.ties)),
                f"{risk.p:.3g}",
            ]
        )
    return Table(header, rows, texts=2, note=f"losses count {1 + options.risk:g} times")


def probabilities_of(comparison: Comparison, digits: int) -> list[str]:
    found = comparison.probability
    if found is None:
        return [""] * 3
    return [f"{value:.{digits}f}" for value in (found.better, found.within, found.worse)]


def row_of(comparison: Comparison, digits: int) -> list[str]:
    def value(number: float | None, signed: str = "") -> str:
        return "" if number is None else f"{number:{signed}z.{digits}f}"

    first = [comparison.measure, comparison.run, comparison.verdict, value(comparison.mean)]
    outcome = comparison.outcome
    if outcome is None:
        return [*first, *([""] * 9)]
    return [
        *first,
        value(outcome.difference, "+"),
        value(outcome.low, "+"),
        value(outcome.high, "+"),
        "" if outcome.p is None else f"{outcome.p:.3g}",
        "" if outcome.p_adjusted is None else f"{outcome.p_adjusted:.3g}",
        "" if outcome.effect_size is None else f"{outcome.effect_size:+z.2f}",
        *(str(count) for count in (outcome.wins, outcome.losses, outcome.ties)),
    ]
