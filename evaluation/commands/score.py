"""score: the values of measures for runs, printed as trec_eval prints them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TypeAlias

from evaluation import tables
from evaluation.commands import files, printing
from evaluation.commands.arguments import command_parser, whole_number
from evaluation.commands.scored_files import FileScorer, count_processes
from evaluation.judging import Judgments, prepare
from evaluation.measures import (
    DIVERSITY,
    SAMPLED,
    Asked,
    MeasureError,
    is_of_one_stratum,
    measures_of_sample,
    parse_measures,
)
from evaluation.problems import Refused
from evaluation.reading import paths
from evaluation.reading.judging.intents import with_probabilities
from evaluation.scoring import RunScores

Intents: TypeAlias = dict[bytes, dict[bytes, float]]

NAMED = 5
EPILOG = """
Measures: names such as nDCG@10, AP(rel=2) or RBP(p=0.8), trec_eval's names (map, ndcg_cut_10,
P.5,10) and its sets official and all_trec; `python -m evaluation measures` lists them all.

Exit status: 0 when every run is scored; 2 when a file is rejected or cannot be read, or when the
command is wrong. Problems of a rejected run are on standard error, and the other runs are scored.

Every judged topic counts: a topic without results in the run counts as an empty ranking. With
several runs, the results of each begin with a line `runid all TAG`.

--ties expected: equal scores are not ordered by docno. The value is the mean over all orders of
documents with equal scores, by closed forms (McSherry and Najork 2008), for P, R, RCap, F,
Success, RR, AP, DCG and nDCG. Other measures that depend on order are rejected.
"""


def parse_measures_option(text: str) -> tuple[Asked, ...]:
    try:
        return parse_measures(text)
    except MeasureError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def topic_numbers(text: str) -> frozenset[bytes]:
    return frozenset(text.encode().split())


def add_scoring_options(parser: argparse.ArgumentParser, default: str) -> None:
    """The options that decide what is computed, `default` where no measure is asked for.

    Several default measures are separated by spaces.
    """
    parser.set_defaults(default_measures=default, ties="docno")
    parser.add_argument(
        "-m",
        dest="measures",
        metavar="MEASURE",
        type=parse_measures_option,
        action="append",
        help=f"measure to compute; repeatable (default: {default})",
    )
    add_topic_options(parser)
    parser.add_argument(
        "-l", dest="rel", metavar="N", type=whole_number(0), default=1, help="relevant from grade N"
    )
    parser.add_argument(
        "-M", dest="depth", metavar="N", type=whole_number(1), help="cut rankings at N"
    )
    parser.add_argument(
        "-J", dest="condensed", action="store_true", help="remove unjudged documents"
    )
    parser.add_argument(
        "--processes",
        metavar="N",
        type=whole_number(1),
        default=1,
        help="processes for reading a large uncompressed run, or several runs with `score`"
        " (default: 1, and with `score` as many as cores if that is faster)",
    )
    parser.add_argument(
        "--top-grade",
        metavar="N",
        type=whole_number(0),
        help="top grade of the scale (default: highest in the judgments)",
    )
    parser.add_argument(
        "--subtopics",
        action="store_true",
        help="column 2 of the judgments is the subtopic (assumed for measures of diversity)",
    )
    parser.add_argument(
        "--intents",
        metavar="FILE",
        help="probabilities of subtopics, for ERR-IA, nERR-IA, P-IA, AP-IA, D-nDCG and D#-nDCG;"
        " lines: topic subtopic probability",
    )


def add_ties_option(parser: argparse.ArgumentParser) -> None:
    """The option about equal scores; without it the default of `add_scoring_options`."""
    parser.add_argument(
        "--ties",
        choices=("docno", "expected"),
        default="docno",
        help="order equal scores by docno, or take the expected value over all their orders",
    )


def check_ties(options: argparse.Namespace) -> None:
    """Raises MeasureError where expected values lack the ranks that they need."""
    try:
        files.rules_of(options).check()
    except MeasureError:
        raise MeasureError("--ties expected needs all ranks: remove -J and -M") from None


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """How a table is printed."""
    parser.add_argument("--format", choices=tables.FORMATS, default="text")
    parser.add_argument("--digits", metavar="N", type=whole_number(1), default=4, help="decimals")


def add_topic_options(parser: argparse.ArgumentParser) -> None:
    """The options that decide over which topics is averaged."""
    parser.add_argument(
        "-c", action="store_true", help="average over all judged topics (the default)"
    )
    parser.add_argument(
        "--intersection",
        action="store_true",
        help="average over judged topics in the run, like trec_eval without -c",
    )
    parser.add_argument(
        "--without-topics",
        metavar="NUMBERS",
        type=topic_numbers,
        default=frozenset(),
        help="exclude these topics, separated by spaces",
    )
    parser.add_argument(
        "--drop-empty-topics",
        action="store_true",
        help="exclude topics with no relevant document at level -l",
    )


def parser() -> argparse.ArgumentParser:
    parser = command_parser("score", "Score runs against judgments, with trec_eval output.", EPILOG)
    files.add_reading_options(parser)
    parser.add_argument("runs", metavar="RUN", nargs="+", help="runs; .gz is unpacked, - is stdin")
    add_scoring_options(parser, default="official")
    parser.set_defaults(processes=None)
    add_ties_option(parser)
    parser.add_argument("--tag", help="with --fix tag: the tag to use")
    parser.add_argument("-q", dest="by_topic", action="store_true", help="also print each topic")
    parser.add_argument("-n", dest="no_summary", action="store_true", help="print no `all` lines")
    parser.add_argument("--format", choices=printing.FORMATS, default="trec")
    parser.add_argument(
        "--digits",
        metavar="N",
        type=whole_number(1),
        help="significant digits; 17 is lossless (default: four decimals)",
    )
    return parser


def run(options: argparse.Namespace) -> int:
    check_ties(options)
    try:
        judgments = read_judgments(options)
    except (Refused, OSError) as reason:
        return files.report_refusal(options.qrels, reason)
    options.processes = options.processes or count_processes(options.runs)
    outcomes = FileScorer(judgments, requested_measures(options), options).score_all()
    status, scored = 0, []
    for path, outcome in zip(options.runs, outcomes, strict=True):
        if isinstance(outcome, RunScores):
            scored.append(outcome)
        else:
            status = files.report_refusal(path, outcome)
    layout = printing.Printing(options.by_topic, not options.no_summary, options.digits)
    print_scores(scored, layout, options.format)
    return status


def read_intents(options: argparse.Namespace) -> Intents | None:
    """The probabilities of subtopics, None without --intents; raises RefusedOption, OSError."""
    if options.intents is None:
        return None
    try:
        return files.read_probabilities(options.intents)
    except Refused as reason:
        raise files.RefusedOption(options.intents, reason.problems) from None


def read_judgments(options: argparse.Namespace) -> Judgments:
    """The judgments of the topics that count, with the probabilities of subtopics.

    Raises Refused, OSError.
    """
    asked, intents = requested_measures(options), read_intents(options)
    subtopics = options.subtopics or intents is not None
    subtopics = subtopics or any(a.measure.name in DIVERSITY for a in asked)
    qrels = paths.read_judgments(options.qrels, options.lenient, subtopics, options.qrels_format)
    if intents is not None:
        qrels = with_probabilities(qrels, intents)
    for topic in sorted(options.without_topics - qrels.grades.keys()):
        print(f"{options.qrels}: note: topic {topic.decode()} is not judged", file=sys.stderr)
    needed = max(1, options.rel) if options.drop_empty_topics else -sys.maxsize
    topics = [
        topic
        for topic, grades in sorted(qrels.grades.items())
        if topic not in options.without_topics and max(grades.values()) >= needed
    ]
    judgments = prepare(qrels, topics, options.top_grade)
    warn_of_sample(options.qrels, judgments, asked)
    return judgments


def warn_of_sample(path: str, judgments: Judgments, asked: Sequence[Asked]) -> None:
    """Name the measures that take documents of a sample that were not drawn as not relevant."""
    known = measures_of_sample(judgments)
    others = [each.name for each in asked if each.measure.name not in known]
    if others:
        more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
        print(
            f"{path}: warning: these judgments are a sample, which {', '.join(others[:NAMED])}"
            f"{more} cannot estimate: documents that were not drawn count as not judged."
            f" Use {' or '.join(SAMPLED)}.",
            file=sys.stderr,
        )
    if any(each.measure.name == "xinfAP" for each in asked) and is_of_one_stratum(judgments):
        print(
            f"{path}: warning: xinfAP is too low from one stratum that is drawn in part, by up to"
            " .23 where a tenth is drawn. Draw the first ten ranks in full.",
            file=sys.stderr,
        )


def requested_measures(options: argparse.Namespace) -> tuple[Asked, ...]:
    """What -m asks for, each measure with the threshold of -l, none twice under one name."""
    lists = options.measures or map(parse_measures, options.default_measures.split())
    return files.rules_of(options).resolve(asked for each in lists for asked in each)


def print_scores(scored: Sequence[RunScores], layout: printing.Printing, form: str) -> None:
    if form == "json":
        tables.write_bytes([printing.json_bytes(scored, layout)])
    elif form == "trec":
        for scores in scored:
            if len(scored) > 1:
                tables.write_bytes([b"%-22s\tall\t%b\n" % (b"runid", scores.tag.encode())])
            tables.write_bytes(printing.trec_lines(scores, layout))
    else:
        tables.print_table(printing.build_table(scored, layout), form)
