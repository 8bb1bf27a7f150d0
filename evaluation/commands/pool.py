"""pool: the documents to judge, gathered from the tops of runs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from evaluation import tables
from evaluation.commands import files
from evaluation.commands.arguments import command_parser, whole_number
from evaluation.pooling import (
    METHODS,
    SIZED,
    DepthStratum,
    Pool,
    Pooled,
    order_for_judging,
    pool_runs,
)
from evaluation.problems import Refused
from evaluation.reading import paths
from evaluation.reading.repairs import refuse_other_topics
from evaluation.reading.runs.reader import Run
from evaluation.tables import Table, text_of

EPILOG = """
Methods:
  depth   the first --depth documents of every run
  take    --size documents per topic, by best rank
  rrf     --size documents per topic, by reciprocal rank fusion
  rbp     --size documents per topic, by the weights of RBP
  strata  a sample per range of ranks: --strata 10:1,100:0.2 draws all documents with a best rank
          up to 10 and a fifth of those up to 100

The trec format has topic and docno on each line. tsv and json add the rank of each document in
each run, its stratum and the probability with which it was drawn.

The sample format is for --method strata. It has all documents of the strata, drawn or not, in the
five columns that xinfAP and infNDCG need: topic 0 docno stratum grade. The grade is -1 for a
document that was not drawn and ? for a drawn one without a grade. With --qrels, drawn documents
have their grades. In four steps:
  pool --method strata --strata 10:1,100:0.2 RUNS                                 > to-judge
  judge these documents and write the judgments, in four columns, to judged
  pool --method strata --strata 10:1,100:0.2 --qrels judged --format sample RUNS  > sample
  score sample RUN -m xinfAP -m infNDCG
Use the same runs, strata and --seed both times. A file that still has a ? is rejected by score.

Exit status: 0; 2 when a file is rejected or cannot be read, or when the command is wrong.
"""


def strata(text: str) -> list[DepthStratum]:
    try:
        pairs = [pair.split(":") for pair in text.split(",")]
        return [DepthStratum(int(to), float(rate)) for to, rate in pairs]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: expected RANK:RATE,RANK:RATE,...") from None


def parser() -> argparse.ArgumentParser:
    parser = command_parser("pool", "List documents to judge from the top of each run.", EPILOG)
    parser.add_argument("runs", metavar="RUN", nargs="+")
    parser.add_argument("--lenient", action="store_true", help="accept what trec_eval accepts")
    parser.add_argument("--method", choices=METHODS, default="depth")
    parser.add_argument("--depth", metavar="N", type=whole_number(1), default=100)
    parser.add_argument("--size", metavar="N", type=whole_number(1), help="documents per topic")
    parser.add_argument("--strata", metavar="RANK:RATE,...", type=strata)
    parser.add_argument(
        "--qrels",
        metavar="FILE",
        help="exclude documents judged here (--format sample: write their grades)",
    )
    files.add_judgments_option(parser)
    files.add_run_rules(parser)
    parser.add_argument("--order", choices=("docno", "random", "priority"), default="docno")
    parser.add_argument("--seed", metavar="N", type=whole_number(0), default=0)
    parser.add_argument("--format", choices=("trec", "tsv", "json", "sample"), default="trec")
    return parser


def run(options: argparse.Namespace) -> int:
    path, qrels = options.qrels, None
    try:
        if options.qrels is not None:
            qrels = paths.read_judgments(
                options.qrels, options.lenient, format=options.qrels_format
            )
        runs = []
        for place, path in enumerate(options.runs, 1):
            files.show_current_file(place, options.runs)
            run = files.read_whole_run(path, () if qrels is None else qrels.grades, options)
            if qrels is not None and run.rankings.keys().isdisjoint(qrels.grades):
                raise refuse_other_topics(run.rankings.keys(), qrels.grades)
            runs.append(run)
    except (Refused, OSError) as reason:
        return files.report_refusal(path, reason)
    try:
        pool = build_pool(runs, options)
    except ValueError as error:
        parser().error(str(error))
    if options.format == "sample":
        tables.write_bytes(pool.sample_lines(None if qrels is None else qrels.grades))
    else:
        print_pool(pool if qrels is None else pool.without(qrels.grades), options)
    print(pool.describe(None if qrels is None else qrels.grades), file=sys.stderr)
    return 0


def build_pool(runs: list[Run], options: argparse.Namespace) -> Pool:
    if options.format == "sample" and options.method != "strata":
        raise ValueError("--format sample needs --method strata")
    if options.method == "strata" and not options.strata:
        raise ValueError("--method strata needs --strata RANK:RATE,...")
    if options.method in SIZED and options.size is None:
        raise ValueError(f"--method {options.method} needs --size N")
    if options.method == "strata" and len(options.strata) == 1 and options.strata[0].rate < 1:
        print(
            "warning: xinfAP is too low from one stratum that is drawn in part; draw the first"
            " ranks in full, such as --strata 10:1,100:0.2",
            file=sys.stderr,
        )
    how = (options.method, options.depth, options.size, options.strata, options.seed)
    return pool_runs(runs, *how)


def sort_pool(pool: Pool, options: argparse.Namespace) -> Iterator[tuple[bytes, Pooled]]:
    for topic in pool.topics:
        for document in order_for_judging(pool, topic, options.order, options.seed):
            yield topic, document


def print_pool(pool: Pool, options: argparse.Namespace) -> None:
    documents = sort_pool(pool, options)
    if options.format == "trec":
        tables.write_bytes(b"%b %b\n" % (topic, each.docno) for topic, each in documents)
    elif options.format == "json":
        listed = [pool_facts(topic, each, pool) for topic, each in documents]
        document = {"method": pool.method, "runs": list(pool.runs), "documents": listed}
        tables.write_bytes([json.dumps(document, indent=2).encode() + b"\n"])
    else:
        header = ["topic", "docno", "places", "stratum", "inclusion"]
        rows = [[str(fact) for fact in row(topic, each, pool)] for topic, each in documents]
        tables.print_table(Table(header, rows, texts=3), "tsv")


def row(topic: bytes, document: Pooled, pool: Pool) -> list[object]:
    places = " ".join(f"{pool.runs[place.run]}:{place.rank}" for place in document.places)
    return [text_of(topic), text_of(document.docno), places, document.stratum, document.inclusion]


def pool_facts(topic: bytes, document: Pooled, pool: Pool) -> dict[str, object]:
    return {
        "topic": text_of(topic),
        "docno": text_of(document.docno),
        "places": [{"run": pool.runs[p.run], "rank": p.rank} for p in document.places],
        "stratum": document.stratum,
        "inclusion": document.inclusion,
    }
