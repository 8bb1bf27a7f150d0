"""convert: judgments, a golden set or a snapshot in another format, also of a search engine."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from evaluation import tables
from evaluation.commands import files
from evaluation.commands.arguments import command_parser
from evaluation.problems import Refused, refuse
from evaluation.reading import paths
from evaluation.reading.judging.qrels import Qrels
from evaluation.reading.repairs import LONGEST_TAG
from evaluation.reading.runs.snapshots import read_snapshots
from evaluation.reading.topics import read_topics

EPILOG = """
trec writes qrels, json {"topic": {"docno": grade}} as pytrec_eval and ranx read it, topics the
number and the text of each query. opensearch writes judgments for the import of its search
relevance workbench, rank-eval requests for _rank_eval of Elasticsearch and OpenSearch: each query
is a match of its text with --field in --index. Texts are those of --topics, else of the file
itself. Documents with a negative grade were not judged, and are excluded from the last two.

run writes a snapshot of Quepid (CSV) as a run; its queries are found by their texts in --topics.

Exit status: 0; 2 when a file is rejected or cannot be read, or when the command is wrong.
"""


@dataclass(frozen=True)
class Converted:
    """Judgments with the texts of their topics, as far as they are known."""

    qrels: Qrels
    texts: Mapping[str, str]
    index: str
    field: str

    def judged(self) -> Iterator[tuple[str, str, dict[str, int]]]:
        """Yield the number, the text and the graded documents of every topic."""
        for topic, grades in self.qrels.grades.items():
            number = topic.decode()
            given = {docno.decode(): grade for docno, grade in grades.items() if grade >= 0}
            yield number, self.texts[number], given


def qrels_lines(converted: Converted) -> Iterator[bytes]:
    for topic, docno, grade in converted.qrels.lines():
        yield b"%b 0 %b %d\n" % (topic, docno, grade)


def json_qrels(converted: Converted) -> Iterator[bytes]:
    grades = converted.qrels.grades.items()
    named = {topic.decode(): {d.decode(): g for d, g in of.items()} for topic, of in grades}
    yield _json_bytes(named)


def topic_lines(converted: Converted) -> Iterator[bytes]:
    for number, text, _ in converted.judged():
        yield f"{number}\t{' '.join(text.split())}\n".encode()


def opensearch_judgments(converted: Converted) -> Iterator[bytes]:
    rated = [
        {"query": text, "ratings": [{"docId": d, "rating": str(g)} for d, g in grades.items()]}
        for _, text, grades in converted.judged()
    ]
    yield _json_bytes({"name": "judgments", "type": "IMPORT_JUDGMENT", "judgmentRatings": rated})


def rank_eval_requests(converted: Converted) -> Iterator[bytes]:
    index = converted.index
    requests = [
        {
            "id": number,
            "request": {"query": {"match": {converted.field: text}}},
            "ratings": [{"_index": index, "_id": d, "rating": g} for d, g in grades.items()],
        }
        for number, text, grades in converted.judged()
    ]
    yield _json_bytes({"requests": requests, "metric": {"dcg": {"k": 10, "normalize": True}}})


def _json_bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"


TARGETS: dict[str, Callable[[Converted], Iterator[bytes]]] = {
    "trec": qrels_lines,
    "json": json_qrels,
    "topics": topic_lines,
    "opensearch": opensearch_judgments,
    "rank-eval": rank_eval_requests,
}
SNAPSHOT = "run"
# These need the text of every query.
OF_TEXTS = ("topics", "opensearch", "rank-eval")


def parser() -> argparse.ArgumentParser:
    parser = command_parser("convert", "Write judgments in another format.", EPILOG)
    parser.add_argument("qrels", metavar="FILE", help="judgments or a golden set; .gz is unpacked")
    parser.add_argument(
        "--to",
        required=True,
        metavar="FORMAT",
        choices=(*TARGETS, SNAPSHOT),
        help=f"of judgments {', '.join(TARGETS)}; of a snapshot {SNAPSHOT}",
    )
    parser.add_argument("--topics", metavar="FILE", help="the texts of the queries")
    parser.add_argument("--index", metavar="NAME", default="index", help="of rank-eval (index)")
    parser.add_argument("--field", metavar="NAME", default="text", help="of rank-eval (text)")
    parser.add_argument("--snapshot", metavar="NAME", help="which one, where a file has several")
    files.add_judgments_option(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    if options.to == SNAPSHOT:
        return convert_snapshot(options)
    path = options.qrels
    try:
        qrels = paths.read_judgments(path, lenient=False, format=options.qrels_format)
        texts = {}
        if options.to in OF_TEXTS and not options.topics and qrels.format != "golden":
            parser().error("--topics is needed: these judgments have no texts")
        if options.to in OF_TEXTS:
            path = options.topics or options.qrels
            texts = read_texts(path, qrels)
    except (Refused, OSError) as reason:
        return files.report_refusal(path, reason)
    files.report(options.qrels, qrels.problems)
    converted = Converted(qrels, texts, options.index, options.field)
    tables.write_bytes(TARGETS[options.to](converted))
    return 0


def convert_snapshot(options: argparse.Namespace) -> int:
    """Write a snapshot as a run, whose tag is made of its name."""
    if not options.topics:
        parser().error("--topics is needed: a snapshot has the texts of its queries only")
    path = options.topics
    try:
        with paths.open_input(path) as file:
            numbers = {topic.title: topic.number for topic in read_topics(file).topics}
        path = options.qrels
        with paths.open_input(path) as file:
            snapshots = read_snapshots(file, numbers)
    except (Refused, OSError) as reason:
        return files.report_refusal(path, reason)
    name = options.snapshot or (next(iter(snapshots)) if len(snapshots) == 1 else "")
    if name not in snapshots:
        parser().error(f"--snapshot is one of: {', '.join(snapshots)}")
    tables.write_bytes(snapshots[name].lines(tag_of(name)))
    return 0


def tag_of(name: str) -> str:
    """Return a name as a run tag.

    >>> tag_of("(3/5/26) Weekly check")
    '3-5-26-Weekly-check'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-")[:LONGEST_TAG] or "snapshot"


def read_texts(path: str, qrels: Qrels) -> dict[str, str]:
    """Return the text of every judged topic; raises `Refused` where one has none, OSError."""
    with paths.open_input(path) as file:
        texts = {topic.number: topic.title for topic in read_topics(file).topics}
    missing = [topic.decode() for topic in qrels.grades if not texts.get(topic.decode())]
    if missing:
        hint = "Give the topics by --topics."
        raise refuse("E_TOPIC", f"topic {missing[0]} has no text", hint=hint)
    return texts
