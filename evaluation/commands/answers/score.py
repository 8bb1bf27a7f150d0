"""answers score: the values of measures for runs of answers."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence

from evaluation import tables
from evaluation.answers.assignment_files import read_assignments
from evaluation.answers.judged import AnswerMarks, topics_of
from evaluation.answers.marks import bank_of_marks
from evaluation.answers.measures import (
    ALIASES,
    ANSWER_MEASURES,
    AnswerMeasure,
    split_measures,
)
from evaluation.answers.nugget_files import read_nuggets
from evaluation.answers.runs import AnswerRun
from evaluation.answers.scoring import (
    ENOUGH_JUDGED,
    AnswerRunScores,
    AnswerScore,
    AnswerScorer,
    AskedOfAnswers,
    ViewMeasure,
    ask,
    grades_of,
)
from evaluation.answers.support_files import read_support
from evaluation.answers.verdicts import read_verdicts
from evaluation.commands import files
from evaluation.commands.answers.inputs import (
    RUN_HELP,
    add_rule_options,
    name_of,
    open_run,
    read_run_of,
    read_topics_of,
)
from evaluation.commands.arguments import command_parser
from evaluation.conventions import SCORING_VERSION
from evaluation.measures import MeasureError
from evaluation.phrases import counted
from evaluation.problems import Problems, Refused
from evaluation.reading import paths
from evaluation.settlement import RULES
from evaluation.tables import Table

EPILOG = f"""
Measures of answers: {", ".join(ANSWER_MEASURES)}.
Other names: {", ".join(ALIASES)}.
Measures of rankings on a view of the answers: "nDCG@10 (cited)", "AP (references)".

Every topic of the nuggets counts, an unanswered one 0. Below 95 % of marked pairs, the bounds are
printed in place of the score: all unjudged as none, and all as full. Without --nuggets, the
nuggets are those that any run has marks of; without RUN, the runs are those of the marks.

Exit status: 0 when every run is scored; 2 when a file is rejected or cannot be read, or when the
command is wrong. Problems of a rejected run are on standard error, and the other runs are scored.
"""


def parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "answers score", "Score runs of answers by nuggets, support and documents.", EPILOG
    )
    parser.add_argument("runs", metavar="RUN", nargs="*", help=RUN_HELP)
    add_mark_options(parser)
    parser.add_argument("-q", dest="by_topic", action="store_true", help="print topics too")
    parser.add_argument("--format", choices=tables.FORMATS, default="text")
    add_rule_options(parser)
    return parser


def add_mark_options(parser: argparse.ArgumentParser) -> None:
    """The options that name nuggets, marks and judgments, and what is computed from them."""
    parser.add_argument("--nuggets", metavar="FILE", help="nuggets, in a file, .zip or folder")
    parser.add_argument("--assignments", metavar="FILE", help="which nuggets are in each answer")
    parser.add_argument("--compound", metavar="FILE", help="compound questions of DRAGUN")
    parser.add_argument("--support", metavar="FILE", help="which documents support each sentence")
    parser.add_argument(
        "--rule", choices=RULES, default="first", help="which mark counts where assessors differ"
    )
    parser.add_argument("--verdicts", metavar="FILE", help="results of ARGUE's evaluator")
    parser.add_argument("--qrels", metavar="FILE", help="judgments of documents")
    parser.add_argument(
        "-m",
        dest="measures",
        metavar="MEASURE",
        type=read_measures,
        action="append",
        help="measures, separated by commas; repeatable (default: what the files allow)",
    )
    parser.add_argument(
        "--answered-only", action="store_true", help="average over the answers of each run"
    )


def read_measures(text: str) -> list[AskedOfAnswers]:
    try:
        return [ask(part) for part in split_measures(text)]
    except MeasureError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(options: argparse.Namespace) -> int:
    lengths = ["Words", "Sentences", "Citations"] if options.runs else []
    scores, status = score_runs(options, options.runs, [*default_measures(options), *lengths])
    print_scores(options, scores)
    return status


def score_runs(
    options: argparse.Namespace, run_paths: Sequence[str], default: Sequence[str]
) -> tuple[list[AnswerRunScores], int]:
    """Return the scores of the runs that can be read, and the status: 2 where one is rejected."""
    try:
        marks = read_marks(options)
        qrels = paths.read_judgments(options.qrels, lenient=False) if options.qrels else None
        track = read_topics_of(options.topics) if options.topics else {}
    except (Refused, OSError) as reason:
        return [], files.report_refusal(options.qrels or "", reason)
    if qrels is not None:
        marks = AnswerMarks(
            marks.bank, marks.assignments, marks.support, grades_of(qrels), marks.verdicts
        )
    runs, status = read_runs(options, run_paths, marks)
    answered = [topic for _, each in runs for topic in each.answers]
    topics = list(track) or topics_of(marks, answered)
    asked = options.measures or [[ask(name) for name in default]]
    measures = tuple(dict.fromkeys(each for part in asked for each in part))
    check_measures(measures, options)
    note_needs(measures, marks)
    scorer = AnswerScorer(marks, topics, measures, qrels, options.answered_only)
    scores = []
    for path, each in runs:
        try:
            scores.append(scorer.score(each, path))
        except Refused as reason:
            status = files.report_refusal(path, reason)
    return scores, status


def read_marks(options: argparse.Namespace) -> AnswerMarks:
    """Read nuggets and layers; raises `RefusedOption`, OSError."""
    path = ""
    try:
        bank = assignments = support = None
        verdicts = {}
        if path := options.nuggets:
            with open_run(path) as file:
                bank = read_nuggets(file, name=path)
            files.report(path, bank.problems)
        if path := options.assignments:
            with open_run(path) as file:
                if options.compound:
                    with paths.open_input(options.compound) as compound:
                        assignments = read_assignments(file, bank, compound=compound)
                else:
                    name = name_of(path)
                    assignments = read_assignments(file, bank, run=name, rule=options.rule)
            files.report(path, assignments.problems)
            bank = bank or bank_of_marks(assignments)
        if path := options.support:
            with open_run(path) as file:
                support = read_support(file, run=name_of(path), rule=options.rule)
            files.report(path, support.problems)
        if path := options.verdicts:
            with open_run(path) as file:
                verdicts = read_verdicts(file)
    except Refused as refusal:
        raise files.RefusedOption(path, refusal.problems) from None
    return AnswerMarks(bank, assignments, support, verdicts=verdicts)


def read_runs(
    options: argparse.Namespace, run_paths: Sequence[str], marks: AnswerMarks
) -> tuple[list[tuple[str, AnswerRun]], int]:
    """Return the runs with their paths, and the status: 2 where one is rejected."""
    if not run_paths:
        return [("", each) for each in runs_of_marks(marks)], 0
    runs, status = [], 0
    for place, path in enumerate(run_paths, 1):
        files.show_current_file(place, run_paths)
        try:
            run = read_run_of(path, options)
        except (Refused, OSError) as reason:
            status = files.report_refusal(path, reason)
            continue
        files.report(path, run.problems)
        runs.append((path, run))
    return runs, status


def runs_of_marks(marks: AnswerMarks) -> list[AnswerRun]:
    """Return the runs that have marks, with their answers where the marks have them."""
    answers = marks.support.runs if marks.support else {}
    names = [*(marks.assignments.runs if marks.assignments else ()), *answers]
    names += [run for run, _ in marks.verdicts]
    return [AnswerRun(n, "", answers.get(n, {}), Problems()) for n in dict.fromkeys(names)]


def default_measures(options: argparse.Namespace) -> list[str]:
    """Return the measures that the given files allow."""
    names = []
    if options.nuggets or options.assignments:
        names += ["strict_vital", "strict_all", "vital", "all"]
    if options.support:
        names += ["SupportP", "SupportR"]
    if options.verdicts:
        names += ["ArgueP", "ArgueR"]
    if options.qrels:
        names += ["Cited", "CitedP", "nDCG@10 (cited)"]
    return names


def check_measures(measures: Sequence[AskedOfAnswers], options: argparse.Namespace) -> None:
    """Raise MeasureError for a measure whose file was not given."""
    given = {
        "nuggets": options.nuggets or options.assignments,
        "support": options.support,
        "documents": options.qrels,
        "correctness": options.assignments,
        "verdicts": options.verdicts,
    }
    for each in measures:
        for needed in needs_of(each.measure):
            if not given.get(needed, True):
                option = {"correctness": "assignments", "documents": "qrels"}.get(needed, needed)
                raise MeasureError(f"{each.name}: --{option} is missing")


def note_needs(measures: Sequence[AskedOfAnswers], marks: AnswerMarks) -> None:
    """Say where a measure does not know which uncited sentences need a citation."""
    has_needs = marks.support is not None and marks.support.needs
    for each in measures:
        if not has_needs and "SentenceSupport" in f"{each.measure} {parameters_of(each)}":
            message = "no marks of need, so only sentences that cite count"
            print(f"{each.name}: {message}", file=sys.stderr)


def parameters_of(asked: AskedOfAnswers) -> str:
    measure = asked.measure
    return "" if isinstance(measure, ViewMeasure) else str(measure.parameters)


def needs_of(measure: AnswerMeasure | ViewMeasure) -> list[str]:
    """Return the kinds of marks that a measure needs."""
    if isinstance(measure, ViewMeasure):
        return ["documents"]
    if measure.name in ("AnswerJudged", "CitationRelevance"):
        return ["nuggets" if measure.parameters.get("of") != "support" else "support"]
    is_of_both = measure.definition.unjudged == "both"
    return ["nuggets", "support"] if is_of_both else [measure.definition.domain]


def print_scores(options: argparse.Namespace, runs: Sequence[AnswerRunScores]) -> None:
    if options.format == "json":
        document = {
            "scoring_version": SCORING_VERSION,
            "runs": [json_run(scores, options.by_topic) for scores in runs],
        }
        tables.write_bytes([json.dumps(document, indent=2).encode() + b"\n"])
    elif runs:
        tables.print_table(build_table(runs, options.by_topic), options.format)
        ignored = sum(scores.ignored for scores in runs)
        if ignored:
            print(f"{counted(ignored, 'mark')} of nothing in the runs ignored", file=sys.stderr)


def json_run(scores: AnswerRunScores, by_topic: bool) -> dict[str, object]:
    return {
        "file": scores.file,
        "run": scores.run,
        "dialect": scores.dialect,
        "num_topics": len(scores.topics),
        "layers": dict(scores.layers),
        "scores": {
            each.name: json_score(str(each.measure), scores.scores[each.name], by_topic)
            for each in scores.asked
        },
        "ignored": scores.ignored,
    }


def json_score(measure: str, score: AnswerScore, by_topic: bool) -> dict[str, object]:
    entry: dict[str, object] = {
        "measure": measure,
        "all": number(score.overall),
        "low": number(score.low),
        "high": number(score.high),
        "judged": score.judged,
    }
    if by_topic:
        entry["topics"] = {topic: number(value) for topic, value in score.by_topic.items()}
        if score.bounds:
            entry["bounds"] = {topic: list(pair) for topic, pair in score.bounds.items()}
    return entry


def number(value: float) -> float | None:
    return None if math.isnan(value) else value


def build_table(runs: Sequence[AnswerRunScores], by_topic: bool) -> Table:
    """A line per run, or per run and topic, and a column per measure."""
    names = [each.name for each in runs[0].asked]
    header = ["run", *(["topic"] if by_topic else []), *names]
    rows = [row for scores in runs for row in run_rows(scores, by_topic)]
    layers = [f"{name} by {origin}" for name, origin in runs[0].layers.items()]
    note = ", ".join([counted(len(runs[0].topics), "topic"), *layers])
    return Table(header, rows, 2 if by_topic else 1, note)


def run_rows(scores: AnswerRunScores, by_topic: bool) -> Iterator[list[str]]:
    found = [scores.scores[each.name] for each in scores.asked]
    for topic in scores.topics if by_topic else ():
        yield [scores.run, topic, *(value_text(s.by_topic.get(topic, math.nan)) for s in found)]
    yield [scores.run, *(["all"] if by_topic else []), *map(score_text, found)]


def score_text(score: AnswerScore) -> str:
    """Return the score, or its bounds where little is judged.

    >>> score_text(AnswerScore(0.5, {}, 0.25, 0.75, 0.5))
    '0.2500 to 0.7500'
    """
    if score.judged < ENOUGH_JUDGED:
        return f"{value_text(score.low)} to {value_text(score.high)}"
    return value_text(score.overall)


def value_text(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:z.4f}"
