"""How the commands about answers open their files, and the rules that their options give."""

from __future__ import annotations

import argparse
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path, PurePath
from typing import BinaryIO

from evaluation.answers.dialects import DIALECTS
from evaluation.answers.findings import Findings
from evaluation.answers.lengths import Unit
from evaluation.answers.line_drafts import read_passages
from evaluation.answers.objects import LONGEST_LINE, open_answers
from evaluation.answers.reading import read_answers
from evaluation.answers.rules import FIXES, PRESETS, AnswerRules
from evaluation.answers.runs import AnswerRun
from evaluation.answers.topics import AnswerTopic, read_answer_topics
from evaluation.commands import files
from evaluation.commands.arguments import whole_number
from evaluation.problems import Refused
from evaluation.reading.lines import numbered_lines
from evaluation.reading.paths import LIMITS, open_input
from evaluation.reading.repairs import LONGEST_TAG

UNITS: dict[str, Unit] = {
    "words": "words",
    "words-nfkc": "words-nfkc",
    "characters": "characters-nfkc",
    "characters-nfkc": "characters-nfkc",
}
NO_TAG = re.compile(r"[^A-Za-z0-9._-]+")
RUN_HELP = "run of answers: a file, .gz, .zip with a file per topic, a folder; - is stdin"


def add_rule_options(parser: argparse.ArgumentParser) -> None:
    """The options that decide how answers are read, checked and repaired."""
    group = parser.add_argument_group("rules of the track")
    group.add_argument(
        "--preset", metavar="P", choices=PRESETS, help=f"rules of: {', '.join(PRESETS)} (common)"
    )
    group.add_argument(
        "--dialect",
        metavar="D",
        choices=DIALECTS,
        help=f"where the content does not decide: {', '.join(DIALECTS)}",
    )
    group.add_argument("--topics", metavar="FILE", help="topics, perhaps with a limit of each")
    group.add_argument("--docnos", metavar="FILE", help="documents, or a list of docnos")
    group.add_argument("--passages", metavar="FILE", help="the run that nuggets of R2C2 point at")
    group.add_argument("--limit", metavar="N", type=whole_number(1), help="longest answer")
    group.add_argument("--unit", choices=UNITS, help="unit of the limit")
    files.add_fix_option(group, FIXES)


def rules_of(options: argparse.Namespace, path: str) -> AnswerRules:
    """Return the rules that the options give; raises `RefusedOption`, OSError."""
    rules = replace(PRESETS[options.preset or "common"], fix=frozenset(options.fix))
    if options.dialect:
        rules = replace(rules, dialect=options.dialect)
    if options.limit is not None:
        rules = replace(rules, limit=options.limit)
    if options.unit:
        rules = replace(rules, unit=UNITS[options.unit])
    if options.topics:
        rules = replace(rules, topics=read_topics_of(options.topics))
    if options.docnos:
        rules = replace(rules, docnos=files.read_docnos(options.docnos))
    if options.passages:
        with open_input(options.passages) as file:
            findings = Findings()
            lines = numbered_lines(file, findings, LONGEST_LINE)
            rules = replace(rules, passages=read_passages(lines, findings))
    return replace(rules, name=name_of(path))


def read_topics_of(path: str) -> dict[str, AnswerTopic]:
    """Return the topics of a file; raises `RefusedOption`, OSError."""
    try:
        with open_input(path) as file:
            return read_answer_topics(file)
    except Refused as refusal:
        raise files.RefusedOption(path, refusal.problems) from None


def name_of(path: str) -> str:
    """Return the name that a run has where it states none: that of its file, as a run tag.

    >>> name_of("runs/old oak.jsonl.gz"), name_of("-")
    ('old-oak', '')
    """
    name = PurePath(path).name.removesuffix(".gz").removesuffix(".zip")
    return NO_TAG.sub("-", PurePath(name).stem).strip("-")[:LONGEST_TAG]


@contextmanager
def open_run(path: str) -> Iterator[BinaryIO]:
    """The bytes of a run of answers; a folder is like an archive of its files."""
    if Path(path).is_dir():
        yield pack_folder(Path(path))
    elif path == "-":
        with open_input(path) as file:
            yield file
    else:
        with open(path, "rb") as raw:
            yield open_answers(raw, LIMITS)


def pack_folder(folder: Path) -> BinaryIO:
    """Return the files of a folder as an archive."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                archive.write(path, path.relative_to(folder).as_posix())
    packed.seek(0)
    return packed


def read_run_of(path: str, options: argparse.Namespace) -> AnswerRun:
    """Return a run of answers as the options say; raises `Refused`, OSError."""
    rules = rules_of(options, path)
    with open_run(path) as file:
        return read_answers(file, rules)
