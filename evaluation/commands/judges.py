"""judges: which judge agrees most with people, and how sure that is."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import combinations

import numpy as np

from evaluation import tables
from evaluation.agreement import STATISTICS, Estimate
from evaluation.agreement.calibration import Calibration
from evaluation.agreement.judges import (
    FEWEST_DOCUMENTS,
    USUAL,
    JudgesBoard,
    JudgeStanding,
    PartOfJudge,
    compare_judges,
)
from evaluation.agreement.system_rankings import (
    USUAL_ORDER,
    RankedSystems,
    Truth,
    compare_rankings,
)
from evaluation.answers.reported import ReportedValues, read_reported
from evaluation.commands import files
from evaluation.commands.arguments import command_parser, whole_number
from evaluation.commands.kappa import names_of, read_marks
from evaluation.commands.layers import add_about_options
from evaluation.commands.score import add_table_options
from evaluation.phrases import counted
from evaluation.problems import Refused
from evaluation.ragged import FloatArray
from evaluation.reading import paths
from evaluation.reading.judging.qrels import Qrels
from evaluation.tables import Table

EPILOG = f"""
The first file has the judgments of people, each other one is a judge. Judges are compared with
people on the documents that both graded: kappa and alpha with intervals over topics, the mean
difference of grades (bias) and their mean distance (error), and documents without a grade of the
judge (abstained). Letters and ranks are those of all pairs of judges, by the flips of topics that
compare runs. Below {FEWEST_DOCUMENTS} documents a judge has no rank.

A judge may say how sure it is of each grade, from 0 to 1: in a fifth column, or in JSON lines as
"confidence", or as "probabilities" of all grades. Then its Brier score and calibration error are
printed, and with --calibration the confidence and the share of right grades in each of ten bins.

--about nugget and --about support compare marks of answers, as `kappa` does; a mark alone on a
line of JSON can have a confidence.

--values MEASURE: the files have values of systems instead, `run topic measure value`. Judges are
then compared by the board of systems that they make: tau with its interval and letters over
topics, tau_AP, tau of the first ten of people, mean distance and mean difference of the values. A
system without a value of a judge is at its end.

Exit status: 0; 2 when a file is rejected or the command is wrong.
"""

# The parts of the documents, by the names of the option.
PARTS: dict[str, Callable[[JudgeStanding], dict[str, PartOfJudge]]] = {
    "grade": lambda judge: {str(grade): part for grade, part in judge.by_grade.items()},
    "topic": lambda judge: {topic.decode(): part for topic, part in judge.by_topic.items()},
}


def parser() -> argparse.ArgumentParser:
    parser = command_parser("judges", "Compare judges with people.", EPILOG)
    parser.add_argument("people", metavar="PEOPLE", help="judgments; .gz is unpacked")
    parser.add_argument("judges", metavar="JUDGE", nargs="+")
    files.add_judgments_option(parser)
    add_about_options(parser)
    parser.add_argument("--lenient", action="store_true", help="accept what trec_eval accepts")
    parser.add_argument("--statistic", choices=STATISTICS, default=USUAL)
    parser.add_argument(
        "-l", dest="rel", metavar="N", type=whole_number(1), default=1, help="relevant from grade N"
    )
    told = parser.add_mutually_exclusive_group()
    told.add_argument("--pairs", action="store_true", help="print each pair of judges")
    told.add_argument(
        "--calibration", action="store_true", help="print the bins of confidence of each judge"
    )
    told.add_argument(
        "--by", choices=PARTS, help="print each judge by the grade of people, or by topic"
    )
    parser.add_argument("--values", metavar="MEASURE", help="the files have values of systems")
    add_table_options(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    path = ""
    try:
        if options.values:
            read = []
            for path in (options.people, *options.judges):
                with paths.open_input(path) as file:
                    read.append(read_reported(file))
            tables.print_table(table_of_systems(read, options), options.format)
            return 0
        path = options.people
        if options.about:
            grades = [*read_marks([path, *options.judges], options).values()]
        else:
            how = {"lenient": options.lenient, "format": options.qrels_format}
            grades = [paths.read_judgments(path, **how)]
            for path in options.judges:
                grades.append(paths.read_judge(path, **how))
    except (Refused, OSError) as reason:
        return files.report_refusal(path, reason)
    tables.print_table(table_of_judges(grades, options), options.format)
    return 0


def table_of_judges(grades: list[Qrels], options: argparse.Namespace) -> Table:
    judges = dict(zip(names_of(options.judges), grades[1:], strict=True))
    board = compare_judges(grades[0], judges, options.statistic, options.rel)
    if options.by:
        return table_of_parts(board, options.by, options.digits)
    make = table_of_standings
    if options.pairs or options.calibration:
        make = table_of_pairs if options.pairs else table_of_bins
    return make(board, options.digits)


def table_of_standings(board: JudgesBoard, digits: int) -> Table:
    shown = dict.fromkeys((board.statistic, USUAL, "alpha_ordinal"))
    header = ["judge", "letters", board.statistic, "low", "high", "best rank", "worst rank"]
    header += [*list(shown)[1:], "bias", "error", "documents", "abstained"]
    is_sure = any(each.calibration for each in board.standings)
    header += ["brier", "calibration error"] if is_sure else []
    rows = []
    for place in board.order:
        each, pairs = board.standings[place], board.pairs
        first = each.statistics[board.statistic]
        ends = (pairs.rank_low[place], pairs.rank_high[place])
        row = [each.name, pairs.letters[place] if each.has_rank else "", *_cells(first, digits)]
        row += [str(end) if each.has_rank else "-" for end in ends]
        row += [_cells(each.statistics[name], digits)[0] for name in list(shown)[1:]]
        row += [f"{each.bias:+z.{digits}f}", f"{each.error:.{digits}f}"]
        row += [str(each.documents), str(each.abstained)]
        rows.append([*row, *(_calibration_cells(each.calibration, digits) if is_sure else ())])
    note = f"{counted(len(board.topics), 'topic')} of people; 95 % intervals: jackknife over topics"
    return Table(header, rows, texts=2, note=note)


def table_of_pairs(board: JudgesBoard, digits: int) -> Table:
    rows = []
    for one, other in combinations(board.order, 2):
        interval = board.pairs.interval(one, other)
        ends = [f"{end:+z.{digits}f}" for end in (interval.low, interval.high)] if interval else []
        names = [board.standings[place].name for place in (one, other)]
        difference = f"{board.pairs.difference(one, other):+z.{digits}f}"
        p = f"{board.pairs.p_of(one, other):.3g}"
        rows.append([*names, difference, *(ends or ["-", "-"]), p])
    note = f"difference of {board.statistic}, by its values of the jackknife; p over all pairs"
    return Table(["judge", "other", "difference", "low", "high", "p"], rows, texts=2, note=note)


def table_of_bins(board: JudgesBoard, digits: int) -> Table:
    """The documents of each judge by its confidence, and the share of its grades that are right."""
    rows = [
        [
            *(standing.name, f"{each.low:.1f}", f"{each.high:.1f}", str(each.documents)),
            *(f"{value:.{digits}f}" for value in (each.confidence, each.right)),
        ]
        for standing in (board.standings[place] for place in board.order)
        for each in (standing.calibration.bins if standing.calibration else ())
    ]
    header = ["judge", "from", "to", "documents", "confidence", "right"]
    return Table(header, rows, texts=1, note="right: the share of grades that are those of people")


def table_of_parts(board: JudgesBoard, by: str, digits: int) -> Table:
    """Each judge on the documents of each topic, or of each grade by people."""
    rows = [
        [
            *(standing.name, name, str(part.documents)),
            *(f"{part.same:.{digits}f}", f"{part.bias:+z.{digits}f}"),
        ]
        for standing in (board.standings[place] for place in board.order)
        for name, part in PARTS[by](standing).items()
    ]
    note = "same: the share of documents with the grade of people"
    return Table(["judge", by, "documents", "same", "bias"], rows, texts=2, note=note)


def table_of_systems(read: list[ReportedValues], options: argparse.Namespace) -> Table:
    people, *judges = read
    measure, digits = options.values, options.digits
    runs = sorted(people.by_topic.get(measure, {}))
    if len(runs) < 2:
        parser().error(f"{options.people} has no values of two systems by {measure}")
    ranked = {
        name: RankedSystems(_values_of(judge, measure, runs))
        for name, judge in zip(names_of(options.judges), judges, strict=True)
    }
    board = compare_rankings(_truth_of(people, measure, runs), ranked)
    header = ["judge", "order", "tau", "tau_AP", "tau of the top", "error", "bias"]
    header += ["letters", "low", "high", "systems"]
    rows = []
    for place in board.order:
        each = board.standings[place]
        orders = [_cells(found, digits)[0] for found in each.statistics.values()]
        levels = ["-", "-"]
        if each.error is not None and each.bias is not None:
            levels = [f"{each.error:.{digits}f}", f"{each.bias:+z.{digits}f}"]
        ends = _cells(each.statistics[USUAL_ORDER], digits)[1:]
        order = _name_in_order(ranked[each.name], runs)
        letters = board.pairs.letters[place]
        rows.append([each.name, order, *orders, *levels, letters, *ends, str(each.named)])
    note = f"{measure} by people is the reference; 95 % intervals of tau: topics resampled"
    return Table(header, rows, texts=2, note=note)


def _truth_of(people: ReportedValues, measure: str, runs: list[str]) -> Truth:
    by_run = people.by_topic[measure]
    topics = sorted({topic for run in runs for topic in by_run[run]})
    scores = [[by_run[run].get(topic, np.nan) for topic in topics] for run in runs]
    return Truth(np.array(scores), np.array([people.mean(measure, run) for run in runs]))


def _values_of(judge: ReportedValues, measure: str, runs: list[str]) -> FloatArray:
    """The value of each system; a judge with one measure may name it otherwise."""
    own = measure if measure in judge.by_topic else next(iter(judge.by_topic))
    return np.array([judge.mean(own, run) for run in runs])


def _name_in_order(ranked: RankedSystems, runs: list[str]) -> str:
    """The systems that an entrant ranks, the best first."""
    order = np.argsort(-ranked.values, kind="stable")
    return " ".join(runs[place] for place in order if not np.isnan(ranked.values[place]))


def _calibration_cells(found: Calibration | None, digits: int) -> list[str]:
    if found is None:
        return ["-", "-"]
    return [_cells(each, digits)[0] for each in (found.brier, found.error)]


def _cells(found: Estimate, digits: int) -> list[str]:
    values = (found.value, found.low, found.high)
    return ["-" if value is None else f"{value:z.{digits}f}" for value in values]
