"""Opening the files that a command is given, and saying what is wrong with them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TextIO

from evaluation.conventions import CONVENTIONS
from evaluation.judging import Judgments
from evaluation.problems import Problems, Refused
from evaluation.reading.intents import read_intents
from evaluation.reading.paths import ANY_RUN, open_input
from evaluation.reading.repairs import FIXES, match_known_topics
from evaluation.reading.runs import Run, read_run
from evaluation.scoring import ScoringRules, read_run_to_score

SHOWN = 50
REFUSED = 2


def add_reading_options(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    """The options that decide how judgments and runs are read."""
    number: dict[str, str] = {"nargs": "?"} if optional else {}
    what = "judgments; .gz is unpacked; - is stdin"
    parser.add_argument("qrels", metavar="QRELS", help=what, **number)  # type: ignore[arg-type]
    parser.add_argument("--lenient", action="store_true", help="accept what trec_eval accepts")
    parser.add_argument(
        "--convention",
        choices=CONVENTIONS,
        default="house",
        help="house matches trec_eval 10.0, trec_eval-9 matches 9.0.8",
    )


def add_fix_option(parser: argparse._ActionsContainer) -> None:
    names = "; ".join(f"{name}: {what}" for name, what in FIXES.items())
    parser.add_argument(
        "--fix",
        metavar="NAME",
        action="append",
        choices=FIXES,
        default=[],
        help=f"repair what is certain, repeatable ({names})",
    )


def read_probabilities(path: str) -> dict[bytes, dict[bytes, float]]:
    """The probability of each subtopic of each topic; raises `Refused`."""
    with open_input(path) as file:
        return read_intents(file)


def read_scored_run(path: str, judgments: Judgments, options: argparse.Namespace) -> Run:
    """A run as the scoring options say."""
    # Commands that compare runs repair none.
    if getattr(options, "fix", None) and not options.lenient:
        return read_repaired_run(path, judgments, options)
    return read_run_to_score(path, judgments, rules_of(options), options.processes)


def rules_of(options: argparse.Namespace) -> ScoringRules:
    """The rules of scoring that the options ask for."""
    return ScoringRules(
        convention=CONVENTIONS[options.convention],
        rel=options.rel,
        depth=options.depth,
        judged_only=options.condensed,
        answered_only=options.intersection,
        ties=options.ties,
        lenient=options.lenient,
    )


def read_repaired_run(path: str, judgments: Judgments, options: argparse.Namespace) -> Run:
    """A run with the repairs that --fix names; topics are spelled as the judgments spell them."""
    rules = replace(ANY_RUN, fix=tuple(options.fix), tag=options.tag)
    with open_input(path) as file:
        run = read_run(file, rules)
    if "topics" in options.fix:
        known = set(judgments.topics)
        unknown = [topic for topic in run.rankings if topic not in known]
        renamed = match_known_topics(unknown, known, known.intersection(run.rankings))
        rankings = {renamed.get(topic, topic): ranking for topic, ranking in run.rankings.items()}
        run = replace(run, rankings=rankings)
    return run


def report(path: str, problems: Problems, shown: int = SHOWN, output: TextIO | None = None) -> None:
    """Say what is wrong with a file, errors first; on standard error where no output is given."""
    output = sys.stderr if output is None else output
    ordered = [*problems.of("error"), *problems.of("warning"), *problems.of("note")]
    for problem in ordered[:shown]:
        repair = f" Repair with --fix {problem.fix}." if problem.fix else ""
        hint = f"\n    {problem.hint}{repair}" if problem.hint else ""
        print(f"{path}: {problem.severity}: {problem}{hint}", file=output)
    if len(problems) > shown:
        totals = ", ".join(f"{code} {count:,}" for code, count in problems.totals().items())
        print(f"{path}: {len(problems):,} problems in total: {totals}", file=output)


class RefusedOption(Refused):
    """The file of an option that cannot be used."""

    def __init__(self, path: str, problems: Problems) -> None:
        super().__init__(problems)
        self.path = path


def report_refusal(path: str, reason: Refused | OSError) -> int:
    """Say why a file cannot be used; the exit status of the command."""
    if isinstance(reason, Refused):
        report(reason.path if isinstance(reason, RefusedOption) else path, reason.problems)
    else:
        print(f"{reason.filename or path}: error: {reason.strerror or reason}", file=sys.stderr)
    return REFUSED


def show_current_file(place: int, paths: Sequence[str]) -> None:
    """On a terminal, show which of several files is being read."""
    if len(paths) > 1 and sys.stderr.isatty():
        end = "\n" if place == len(paths) else ""
        print(f"\r\033[K{place}/{len(paths)} {paths[place - 1]}", end=end, file=sys.stderr)
