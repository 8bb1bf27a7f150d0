"""settle: one grade per document from the marks of several assessors, as qrels."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from evaluation import tables
from evaluation.commands import files
from evaluation.commands.arguments import command_parser
from evaluation.marks import Mark, replay
from evaluation.phrases import counted
from evaluation.problems import Refused, refuse
from evaluation.reading.judging.marks import FORMATS, MarkLog, assessor_of, read_assessor_folder
from evaluation.reading.paths import open_input, read_judgments
from evaluation.settlement import RULES, Settled, settle
from evaluation.tables import text_of

EPILOG = """
Rules:
  first     the first opinion, as TREC does: by turn, then by its place in the files
  majority  the most frequent grade, on a tie the one that was given first
  median    the middle grade, of an even number the lower middle
  single    the grade that all opinions share; documents with different grades have none
  agreed    the grade of more than half of the opinions; others have none, until a third is asked
There is no mean, because grades are not numbers.

Formats:
  marks.jsonl  an object per line with topic, docno, assessor and grade, or the kind "cannot",
               "later" or "undo". A correction names in "replaces" the key of an earlier mark.
  trec         topic assessor docno grade. 0 or Q0 as the assessor is the name of the file.
  doccano      an export of Doccano; the name of the file is the assessor. The label begins or
               ends with the grade.

Give all files of an assessment: marks of one file can replace those of a file before it. A folder
has a trec file for each assessor; a file's name without its ending is the assessor.
Decisions are judgments of an organiser, and beat every rule. Documents without a grade are not
printed.

Exit status: 0; 2 when a file is rejected or cannot be read, or when the command is wrong.
"""


def parser() -> argparse.ArgumentParser:
    parser = command_parser("settle", "Print one grade per document from marks.", EPILOG)
    parser.add_argument(
        "marks", metavar="MARKS", nargs="+", help="files or folders; .gz is unpacked, - is stdin"
    )
    parser.add_argument("--rule", choices=RULES, default="first")
    parser.add_argument("--format", choices=FORMATS, help="of all files (default: by their lines)")
    parser.add_argument("--decisions", metavar="QRELS", help="grades that an organiser decided")
    return parser


def run(options: argparse.Namespace) -> int:
    path, log = "", MarkLog()
    try:
        for path in options.marks:
            read_source(path, options.format, log)
        decisions: dict[tuple[str, str], int] = {}
        if options.decisions is not None:
            path = options.decisions
            decisions = read_decisions(path)
    except (Refused, OSError) as reason:
        return files.report_refusal(path, reason)
    settled = settle(log.marks, options.rule, decisions)
    tables.write_bytes(qrels_lines(settled))
    for line in summary_of(log.marks, settled, decisions):
        print(line, file=sys.stderr)
    return 0


def read_source(path: str, format: str | None, log: MarkLog) -> None:
    """Read one file into the log, or a folder with the qrels of one assessor in each file."""
    if Path(path).is_dir() and format in (None, "trec"):
        paths = sorted(Path(path).glob("[!.]*"))
        if not paths:
            raise refuse("E_EMPTY", "the folder has no files")
        read_assessor_folder(paths, log)
        return
    with open_input(path) as file:
        name = "" if path == "-" else Path(path).name
        read = log.read(file, format, assessor_of(name), path)
    files.report(path, read.problems)


def read_decisions(path: str) -> dict[tuple[str, str], int]:
    """The grade that an organiser gave each topic and docno; a negative grade decides nothing."""
    grades = read_judgments(path, lenient=False).grades
    return {
        (text_of(topic), text_of(docno)): grade
        for topic, judged in grades.items()
        for docno, grade in judged.items()
        if grade >= 0
    }


def qrels_lines(settled: Iterable[Settled]) -> Iterator[bytes]:
    """`topic 0 docno grade` in the order of topic and docno."""
    for each in sorted(settled, key=lambda each: (each.topic, each.docno)):
        if each.grade is not None:
            yield f"{each.topic} 0 {each.docno} {each.grade}\n".encode()


def summary_of(
    marks: Sequence[Mark], settled: Sequence[Settled], decisions: Iterable[tuple[str, str]]
) -> Iterator[str]:
    """How much was settled, in a few lines."""
    assessors = len({mark.assessor for mark in marks})
    valid = len(replay(marks))
    others = "" if valid == len(marks) else f", {valid:,} valid after corrections"
    yield f"{counted(len(marks), 'mark')} of {counted(assessors, 'assessor')}{others}"
    several = [each for each in settled if len(each.grades) > 1]
    one = sum(len(each.grades) == 1 for each in settled)
    differing = sum(each.is_disputed for each in several)
    yield f"{counted(one, 'document')} with one opinion"
    disputed = f"{differing:,} of them disputed"
    yield f"{counted(len(several), 'document')} with several opinions, {disputed}"
    ungraded = sum(each.grade is None for each in settled)
    yield f"{counted(ungraded, 'document')} without a grade"
    if unknown := set(decisions) - {(each.topic, each.docno) for each in settled}:
        yield f"decisions about documents without marks, ignored: {len(unknown):,}"
