"""Opening the files that a command is given, and saying what is wrong with them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from io import BufferedReader, BytesIO, FileIO
from typing import TYPE_CHECKING, BinaryIO, TextIO

from evaluation.conventions import CONVENTIONS, Convention
from evaluation.judging import Judging, Judgments
from evaluation.problems import Problems, Refused
from evaluation.reading.columns import INTEGER, TO_JUDGE
from evaluation.reading.containers import GIB, KIB, MIB, Limits, unpacked
from evaluation.reading.intents import read_intents
from evaluation.reading.qrels import Qrels, read_qrels, read_qrels_leniently
from evaluation.reading.repairs import FIXES, match_known_topics
from evaluation.reading.run_rules import RunRules
from evaluation.reading.runs import Run, read_run, read_run_leniently

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SHOWN = 50
CHUNK = 128 * KIB
LONG = 32 * MIB
REFUSED = 2
# Nobody else's time is at stake here: only a bomb stops the reading.
LIMITS = Limits(upload=1024 * GIB, unpacked=1024 * GIB, ratio=1000)
ANY_DEPTH = 1_000_000_000
ANY_RUN = RunRules(depth=ANY_DEPTH)


@contextmanager
def open_input(path: str, limits: Limits = LIMITS) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked where it is compressed; `-` is the standard input.

    Raises `Refused` for a container that cannot be unpacked.
    """
    if path == "-":
        yield unpacked(BytesIO(sys.stdin.buffer.read()), limits)
    else:
        with BufferedReader(ProgressReader(path), CHUNK) as file:
            yield unpacked(file, limits)


class ProgressReader(FileIO):
    """A long file that shows on a terminal how much of it has been read."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path
        self.size = os.fstat(self.fileno()).st_size
        self.percent = 0
        self.shown = self.size >= LONG and sys.stderr.isatty()

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        count = super().readinto(buffer)
        if self.shown and self.tell() * 100 // self.size > self.percent:
            self.percent = self.tell() * 100 // self.size
            rest = f"{self.path} {self.percent} %" if self.percent < 100 else ""
            print(f"\r\033[K{rest}", end="", file=sys.stderr, flush=True)
        return count


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


def read_judgments(path: str, lenient: bool, subtopics: bool = False) -> Qrels:
    """Judgments in four columns, or five of a stratified sample; raises `Refused`."""
    with open_input(path) as file:
        format = "subtopics" if subtopics else judgment_format(file)
        if lenient and format == "trec":
            return read_qrels_leniently(file)
        return read_qrels(file, format=format)


def read_probabilities(path: str) -> dict[bytes, dict[bytes, float]]:
    """The probability of each subtopic of each topic; raises `Refused`."""
    with open_input(path) as file:
        return read_intents(file)


def judgment_format(file: BinaryIO) -> str:
    """Return strata if the first line of judgments has the five columns of a sample, else trec."""
    start = file.tell()
    first = next((line for line in file if line.strip() and not line.startswith(b"#")), b"")
    file.seek(start)
    columns = first.split()
    if len(columns) != 5:
        return "trec"
    is_grade = columns[4] == TO_JUDGE or INTEGER.fullmatch(columns[4])
    return "strata" if is_grade else "trec"


def read_any_run(path: str, lenient: bool) -> Run:
    """A run, whatever topics and documents it names."""
    with open_input(path) as file:
        return read_run_leniently(file) if lenient else read_run(file, ANY_RUN)


def read_scored_run(path: str, judgments: Judgments, options: argparse.Namespace) -> Run:
    """A run as the scoring options say; like trec_eval, leniently only as far as it counts."""
    convention: Convention = CONVENTIONS[options.convention]
    # Commands that compare runs repair none.
    if getattr(options, "fix", None) and not options.lenient:
        return read_repaired_run(path, judgments, options)
    store = partial(Judging, judgments, convention, keep=needs_rankings(options))
    with open_input(path) as file:
        if not options.lenient:
            return read_run(file, ANY_RUN, store, options.processes)
        return read_run_leniently(
            file,
            convention.float32_scores,
            topics=judgments.index.numbers,
            depth=options.depth,
            store=store,
        )


def needs_rankings(options: argparse.Namespace) -> bool:
    """Whether the rankings are used again after they were judged."""
    return options.intersection or getattr(options, "ties", "docno") == "expected"


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
