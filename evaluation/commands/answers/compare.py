"""answers compare: every run of answers beside a baseline, by the tests of ranked runs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from evaluation.answers.scoring import ENOUGH_JUDGED, AnswerRunScores, scored_runs
from evaluation.commands import files
from evaluation.commands.answers.inputs import RUN_HELP, add_rule_options
from evaluation.commands.answers.score import add_mark_options, default_measures, score_runs
from evaluation.commands.arguments import command_parser
from evaluation.commands.compare import add_design_options, compare_scored, design_of
from evaluation.commands.records import read_grouping
from evaluation.commands.score import add_table_options
from evaluation.comparison import ScoredRuns
from evaluation.problems import Refused

EPILOG = """
Runs are compared topic by topic, as `compare` does. A topic without an answer scores 0, one that
is undefined for a run does not count for its pairs. Measures that have no scores per topic
(over=pairs, CalibrationError) or no better direction (lengths) are rejected. `compare --answers`
is the same command.

Exit status: 0; 1 with --fail-if-worse when a run is significantly worse than the baseline on a
measure; 2 when a file is rejected or the command is wrong.
"""


def parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "answers compare", "Compare runs of answers with a baseline, topic by topic.", EPILOG
    )
    parser.add_argument("baseline", metavar="BASELINE", help=RUN_HELP)
    parser.add_argument("runs", metavar="RUN", nargs="+")
    add_mark_options(parser)
    add_design_options(parser)
    add_table_options(parser)
    add_rule_options(parser)
    parser.set_defaults(further=[])
    return parser


def run(options: argparse.Namespace) -> int:
    design = design_of(options, len(options.runs) + 1, parser())
    scored = read_scored_runs([options.baseline, *options.runs], options, parser())
    return files.REFUSED if scored is None else compare_scored([scored], design, options)


def read_scored_runs(
    run_paths: Sequence[str], options: argparse.Namespace, parser: argparse.ArgumentParser
) -> list[ScoredRuns] | None:
    """Return the runs by each measure; None where a file is refused, and why has been said."""
    default = default_measures(options)
    if not default and not options.measures:
        parser.error("--nuggets, --assignments, --support, --verdicts or --qrels is needed")
    try:
        grouping = read_grouping(options.groups)
    except (Refused, OSError) as reason:
        files.report_refusal(options.groups, reason)
        return None
    runs, status = score_runs(options, run_paths, default)
    if status:
        return None
    warn_of_unjudged(runs)
    try:
        return [scored_runs(asked, runs, grouping) for asked in runs[0].asked]
    except ValueError as error:
        parser.error(str(error))


def warn_of_unjudged(runs: Sequence[AnswerRunScores]) -> None:
    """Name the runs whose scores would be replaced by bounds."""
    for each in runs:
        for name, score in each.scores.items():
            if score.judged < ENOUGH_JUDGED:
                message = f"{score.judged:.0%} of the pairs of {each.run} have a mark"
                print(f"{name}: warning: only {message}".replace("%", " %"), file=sys.stderr)
