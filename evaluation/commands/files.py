"""Opening the files that a command is given, and saying what is wrong with them."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TextIO

from evaluation.conventions import CONVENTIONS
from evaluation.judging import Judgments
from evaluation.phrases import counted
from evaluation.problems import Problem, Problems, Refused
from evaluation.reading.docnos import Docnos
from evaluation.reading.documents import read_documents
from evaluation.reading.judging.intents import read_intents
from evaluation.reading.judging.qrels_lines import LAYOUTS, layout_of
from evaluation.reading.paths import ANY_RUN, name_of_run, open_input, read_any_run
from evaluation.reading.recognition import RUN_FORMATS
from evaluation.reading.repairs import FIXES, match_known_topics
from evaluation.reading.runs.reader import Run, read_run
from evaluation.scoring import ScoringRules, check_topics, read_run_to_score

SHOWN = 50
REFUSED = 2
# How hints name a format of judgments.
SELECTED = re.compile(r"\b[Ss]elect the format (\w+)")


def add_reading_options(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    """The options that decide how judgments and runs are read."""
    number: dict[str, str] = {"nargs": "?"} if optional else {}
    what = "judgments; .gz is unpacked; - is stdin"
    parser.add_argument("qrels", metavar="QRELS", help=what, **number)  # type: ignore[arg-type]
    add_judgments_option(parser)
    parser.add_argument("--lenient", action="store_true", help="accept what trec_eval accepts")
    parser.add_argument(
        "--convention",
        choices=CONVENTIONS,
        default="house",
        help="house matches trec_eval 10.0, trec_eval-9 matches 9.0.8",
    )
    add_run_rules(parser)


def add_fix_option(parser: argparse._ActionsContainer, fixes: Mapping[str, str] = FIXES) -> None:
    names = "; ".join(f"{name}: {what}" for name, what in fixes.items())
    parser.add_argument(
        "--fix",
        metavar="NAME",
        action="append",
        choices=fixes,
        default=[],
        help=f"repair what is certain, repeatable ({names})",
    )


def add_run_rules(parser: argparse._ActionsContainer) -> None:
    """The rules of a track that decide how the lines of a run are read."""
    add_fix_option(parser)
    parser.add_argument(
        "--takes",
        metavar="FORMAT",
        nargs="+",
        choices=RUN_FORMATS,
        default=["trec"],
        help=f"accepted formats of runs, from {', '.join(RUN_FORMATS)} (trec)",
    )
    parser.add_argument("--docnos", metavar="FILE", help="documents, or a list of docnos")
    parser.add_argument("--unknown-documents", choices=("refuse", "drop"), default="refuse")
    parser.add_argument("--duplicates", choices=("refuse", "keep_best"), default="refuse")


def add_judgments_option(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--qrels-format",
        metavar="FORMAT",
        type=judgment_format,
        help=f"format of the judgments: {', '.join(LAYOUTS)}, or the names of columns in their"
        ' order, such as "docno topic grade" (default: what the file shows)',
    )


def judgment_format(text: str) -> str:
    try:
        return layout_of(text).format
    except Refused as refusal:
        (problem,) = refusal.problems
        raise argparse.ArgumentTypeError(f"{text}: {problem.message}. {problem.hint}") from None


def read_probabilities(path: str) -> dict[bytes, dict[bytes, float]]:
    """The probability of each subtopic of each topic; raises `Refused`."""
    with open_input(path) as file:
        return read_intents(file)


def read_scored_run(path: str, judgments: Judgments, options: argparse.Namespace) -> Run:
    """A run as the scoring options say."""
    if options.lenient or has_plain_rules(options):
        run = read_run_to_score(path, judgments, rules_of(options), options.processes)
    else:
        run = read_ruled_run(path, judgments.topics, options)
    return check_run(path, run, judgments, options)


def has_plain_rules(options: argparse.Namespace) -> bool:
    """Whether runs are read as six columns, and nothing in them is changed."""
    changed = options.fix or options.docnos or options.duplicates == "keep_best"
    return not changed and options.takes == ["trec"]


def check_run(path: str, run: Run, judgments: Judgments, options: argparse.Namespace) -> Run:
    """The run; raises `Refused` where none of its topics is judged, which trec_eval scores."""
    try:
        return check_topics(run, judgments)
    except Refused as refusal:
        if not options.lenient:
            raise
        report(path, refusal.problems)
        return run


def read_whole_run(path: str, topics: Collection[bytes], options: argparse.Namespace) -> Run:
    """A run with all its documents; its topics are repaired by those known."""
    if options.lenient or has_plain_rules(options):
        return read_any_run(path, options.lenient)
    return read_ruled_run(path, topics, options)


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


def read_ruled_run(path: str, topics: Collection[bytes], options: argparse.Namespace) -> Run:
    """A run in the formats and with the repairs that the options name; raises `Refused`.

    Topics are spelled like the known ones. The name of the file replaces a missing tag.
    """
    name = name_of_run(path)
    tag = getattr(options, "tag", None)
    rules = replace(
        ANY_RUN,
        docnos=None if options.docnos is None else read_docnos(options.docnos),
        tag=(tag or name) if "tag" in options.fix else tag,
        name=name,
        unknown_documents=options.unknown_documents,
        duplicates=options.duplicates,
        formats=tuple(options.takes),
        fix=tuple(options.fix),
    )
    with open_input(path) as file:
        run = read_run(file, rules)
    if "topics" in options.fix:
        known = set(topics)
        unknown = [topic for topic in run.rankings if topic not in known]
        renamed = match_known_topics(unknown, known, known.intersection(run.rankings))
        rankings = {renamed.get(topic, topic): ranking for topic, ranking in run.rankings.items()}
        run = replace(run, rankings=rankings)
    return run


def read_docnos(path: str) -> Docnos:
    """The docnos of documents, or of a list of them; raises `Refused`, OSError."""
    problems = Problems()
    with open_input(path) as file:
        docnos = Docnos.of(document.docno.encode() for document in read_documents(file, problems))
    problems.raise_if_refused()
    return docnos


def report(path: str, problems: Problems, shown: int = SHOWN, output: TextIO | None = None) -> None:
    """Say what is wrong with a file, errors first; on standard error where no output is given."""
    output = sys.stderr if output is None else output
    ordered = [*problems.of("error"), *problems.of("warning"), *problems.of("note")]
    for problem in ordered[:shown]:
        hint = f"\n    {problem.hint}{name_options(problem)}" if problem.hint else ""
        print(f"{path}: {problem.severity}: {problem}{hint}", file=output)
    if len(problems) > shown:
        totals = ", ".join(f"{code} {count:,}" for code, count in problems.totals().items())
        print(f"{path}: {counted(len(problems), 'problem')} in total: {totals}", file=output)


def name_options(problem: Problem) -> str:
    """Say which options do what a hint suggests."""
    format = SELECTED.search(problem.hint)
    repair = f" Repair with --fix {problem.fix}." if problem.fix else ""
    if "does not accept this format" in problem.message:
        repair += " Option: --takes FORMAT, as --help lists them."
    return repair + (f" Option: --qrels-format {format[1]}." if format else "")


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
