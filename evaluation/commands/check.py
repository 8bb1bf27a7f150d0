"""check: everything that is wrong with a run, or with judgments, at the line where it is."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from evaluation.answers.agreement import grades_of_layers
from evaluation.answers.nuggets import NuggetBank
from evaluation.commands import files
from evaluation.commands.arguments import command_parser
from evaluation.commands.layers import add_about_options, read_bank, read_layer
from evaluation.measures import SAMPLED
from evaluation.phrases import counted
from evaluation.problems import Problems, Refused
from evaluation.reading import paths
from evaluation.reading.containers import RUN_LIMITS
from evaluation.reading.docnos import Docnos
from evaluation.reading.judging.qrels import Qrels, read_qrels
from evaluation.reading.runs.reader import read_run
from evaluation.reading.runs.run_rules import RunRules
from evaluation.reading.system_rankings import read_system_ranking
from evaluation.reading.topics import read_topics

EPILOG = """
Exit status: 0 when the file is accepted, with or without warnings; 2 when it is rejected, when a
file cannot be read or when the command is wrong.
"""


def parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "check", "Check a run as strictly as an upload and report all problems.", EPILOG
    )
    parser.add_argument("run", metavar="RUN", help=".gz and .zip are unpacked; - is stdin")
    parser.add_argument("--topics", metavar="FILE", help="allowed topics, or their numbers")
    parser.add_argument(
        "--judged", metavar="FILE", help="topics that count, or their numbers (all)"
    )
    parser.add_argument("--qrels", action="store_true", help="the file is judgments, not a run")
    parser.add_argument(
        "--judge", action="store_true", help="the file is judgments of a judge, with confidences"
    )
    parser.add_argument(
        "--ranking", action="store_true", help="the file ranks systems: system score, or a list"
    )
    parser.add_argument("--systems", metavar="FILE", help="allowed systems, one per line (any)")
    add_about_options(parser)
    files.add_judgments_option(parser)
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="json: one problem per line"
    )
    add_rules(parser.add_argument_group("rules of the track"))
    return parser


def add_rules(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--tag", help="expected run tag; with --fix tag the tag to use")
    files.add_run_rules(group)
    group.add_argument(
        "--depth", metavar="N", type=int, default=1000, help="maximum documents per topic (1000)"
    )
    group.add_argument("--cutoff", metavar="K", type=int, help="note ties at this cutoff rank")
    group.add_argument("--missing-topics", choices=("warn", "refuse"), default="warn")


@dataclass(frozen=True)
class TrackFiles:
    """What a track has: topics, documents, nuggets, systems; None where they are not given."""

    topics: Collection[bytes] | None = None
    docnos: Docnos | None = None
    judged: Collection[bytes] | None = None
    nuggets: NuggetBank | None = None
    systems: Collection[str] | None = None


def build_rules(options: argparse.Namespace, known: TrackFiles) -> RunRules:
    return RunRules(
        known.topics,
        known.docnos,
        options.depth,
        tag=options.tag,
        missing_topics=options.missing_topics,
        unknown_documents=options.unknown_documents,
        duplicates=options.duplicates,
        formats=tuple(options.takes),
        cutoff=options.cutoff,
        judged=known.judged,
        fix=tuple(options.fix),
    )


def run(options: argparse.Namespace) -> int:
    given: list[Any] = []
    for path, read in (
        (options.topics, topic_numbers),
        (options.docnos, files.read_docnos),
        (options.judged, topic_numbers),
        (options.nuggets, read_bank),
        (options.systems, system_names),
    ):
        try:
            given.append(None if path is None else read(path))
        except (Refused, OSError) as reason:
            return files.report_refusal(path, reason)
    return report_check(options, lambda: check_file(options, TrackFiles(*given)))


def report_check(options: argparse.Namespace, check: Callable[[], tuple[Problems, str]]) -> int:
    """Print all problems of a file and whether it is accepted; return the exit status."""
    try:
        problems, summary = check()
    except Refused as refusal:
        print_problems(options, refusal.problems)
        print(f"{options.run}: rejected", file=sys.stderr)
        return files.REFUSED
    except OSError as reason:
        return files.report_refusal(options.run, reason)
    print_problems(options, problems)
    print(f"{options.run}: accepted, {summary}", file=sys.stderr)
    return 0


def check_file(options: argparse.Namespace, known: TrackFiles) -> tuple[Problems, str]:
    """The warnings of an accepted file and what it holds; raises `Refused`."""
    with paths.open_input(options.run, RUN_LIMITS) as file:
        if options.about:
            (marks,) = grades_of_layers([read_layer(file, options.about, known.nuggets)])
            holds = f"{counted(len(marks.grades), 'topic')}, {counted(marks.count, 'mark')}"
            return marks.problems, holds
        if options.ranking:
            ranking = read_system_ranking(file, known.systems)
            holds = counted(len(ranking.systems), "system")
            return ranking.problems, f"{holds} with scores" if ranking.has_levels else holds
        if options.qrels or options.judge:
            format = options.qrels_format
            if not options.judge:
                format = format or paths.judgment_format(file)
            qrels = read_qrels(
                file, known.topics, known.docnos, format=format, of_judge=options.judge
            )
            return qrels.problems, summary_of(qrels)
        accepted = read_run(file, build_rules(options, known))
        topics, lines = counted(len(accepted.rankings), "topic"), counted(accepted.lines, "line")
        return accepted.problems, f"tag {accepted.tag}, {topics}, {lines}"


def summary_of(qrels: Qrels) -> str:
    """What judgments hold, and for a sample what can be measured with it."""
    holds = f"{counted(len(qrels.grades), 'topic')}, {counted(qrels.count, 'judgment')}"
    undrawn = sum(grade < 0 for judged in qrels.grades.values() for grade in judged.values())
    if not qrels.strata or not undrawn:
        return holds
    return (
        f"{holds}, of them {counted(undrawn, 'document')} not drawn: a sample, from which only"
        f" {' and '.join(SAMPLED)} estimate"
    )


def topic_numbers(path: str) -> Collection[bytes]:
    """The numbers of topics, or of a plain list of numbers.

    They stay in the order of the file, so that hints look at them as the server's do.
    """
    try:
        with paths.open_input(path) as file:
            return dict.fromkeys(topic.number.encode() for topic in read_topics(file).topics)
    except Refused as refusal:
        numbers = plain_numbers(path)
        if not numbers or {problem.code for problem in refusal.problems} != {"E_FORMAT"}:
            raise
        return numbers


def system_names(path: str) -> set[str]:
    """The first word of each line."""
    with paths.open_input(path) as file:
        return {line.split()[0].decode("utf-8", "replace") for line in file if line.strip()}


def plain_numbers(path: str) -> dict[bytes, None]:
    """The lines of a file; none if one of them is more than a word."""
    with paths.open_input(path) as file:
        lines = [line.split() for line in file]
    one_word = all(len(words) <= 1 for words in lines)
    return dict.fromkeys(word for words in lines for word in words) if one_word else {}


def print_problems(options: argparse.Namespace, problems: Problems) -> None:
    if options.format == "text":
        files.report(options.run, problems, output=sys.stdout)
    else:
        print_lines(json.dumps(asdict(problem)) for problem in problems)


def print_lines(lines: Iterable[str]) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
