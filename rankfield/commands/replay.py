"""replay: send topics to a search engine and write what it answers as a run."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TextIO

from evaluation.commands import files
from evaluation.commands.arguments import add_report_option, parse_positive, whole_number
from evaluation.phrases import counted
from evaluation.problems import Refused
from evaluation.reading.paths import open_input
from evaluation.reading.topics import Topic, read_topics
from rankfield.commands.outcomes import NOT_REACHED, OK
from rankfield.errors import SiteError
from rankfield.progress import ProgressBar, is_watched
from rankfield.replay import SHAPES, Failed, Ranked, Replay, Requests, Shape

SHOWN = 20
EPILOG = """
In the URL and in the texts of the template, {query} is the text of a topic, {topic} its number
and {depth} how many documents are wanted. With a template, which is a file of JSON, requests are
POST, else GET:

rankfield replay http://localhost:9200/news/_search --queries topics.tsv --template body.json
  body.json: {"query": {"match": {"text": "{query}"}}, "size": "{depth}"}
rankfield replay "http://localhost:8983/solr/news/select?q={query}&rows={depth}&fl=id,score" \\
  --queries topics.tsv

The answers of OpenSearch, Elasticsearch, Solr and Vespa are recognised. For others, --hits, --docno
and --score name the places, such as --hits data.items --docno meta.id. Where scores are missing or
contradict the order, documents get scores by rank.

What is rejected for a while (429, 502, 503, 504, no connection) is sent again with growing pauses.
Topics that fail are listed and are missing in the run. If none of the first ten topics succeeds, no
further one is sent.

Exit status: 0; 2 when a file is rejected or the command is wrong; 3 when a topic failed.
"""


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "rankfield replay",
        description="Send topics to a search engine and write its rankings as a run.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("url", metavar="URL")
    parser.add_argument("--queries", metavar="FILE", required=True, help="topics in any format")
    parser.add_argument("--template", metavar="FILE", type=Path, help="the body of each request")
    parser.add_argument("-o", "--output", metavar="FILE", help="the run (standard output)")
    parser.add_argument("--tag", default="replay", help="name of the run (replay)")
    parser.add_argument("--depth", metavar="N", type=whole_number(1), default=1000)
    parser.add_argument("--concurrency", metavar="N", type=whole_number(1), default=4)
    parser.add_argument("--attempts", metavar="N", type=whole_number(1), default=4)
    parser.add_argument("--timeout", metavar="S", type=parse_positive, default=30.0)
    parser.add_argument("--header", metavar="NAME:VALUE", action="append", default=[])
    parser.add_argument("--engine", choices=SHAPES, help="whose answers they are (recognised)")
    for name, what in (("hits", "hits"), ("docno", "docno of a hit"), ("score", "score of a hit")):
        parser.add_argument(f"--{name}", metavar="PATH", default="", help=f"place of the {what}")
    add_report_option(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    if not options.url.startswith(("https://", "http://")):
        raise SiteError(f"{options.url} is no URL with https:// or http://.")
    if len(options.tag.split()) != 1:
        raise SiteError("The tag is one word.")
    try:
        with open_input(options.queries) as file:
            topics = read_topics(file).topics
    except (Refused, OSError) as reason:
        return files.report_refusal(options.queries, reason)
    replay = Replay(
        Requests(options.url, read_template(options), options.depth, read_headers(options)),
        read_shape(options),
        options.concurrency,
        options.attempts,
        options.timeout,
    )
    with open_output(options.output) as opened:
        outcomes = write_run(replay, topics, options.tag, opened)
    if options.format == "json":
        # Without a file for it, the run is on standard output.
        print(json.dumps(summarise(outcomes)), file=sys.stdout if options.output else sys.stderr)
    else:
        report(outcomes)
    return NOT_REACHED if any(isinstance(each, Failed) for each in outcomes) else OK


def open_output(path: str | None) -> AbstractContextManager[TextIO]:
    return open(path, "w", encoding="utf-8") if path else nullcontext(sys.stdout)


def read_template(options: argparse.Namespace) -> Any:
    if options.template is None:
        if "{query}" not in options.url:
            raise SiteError("Neither URL nor template has the query: write {query} into one.")
        return None
    text = options.template.read_text(encoding="utf-8")
    try:
        template = json.loads(text)
    except ValueError as error:
        raise SiteError(f"{options.template} is no JSON: {error}") from None
    if "{query}" not in text + options.url:
        raise SiteError(f"{options.template} has no text {{query}}, which stands for the query.")
    return template


def read_headers(options: argparse.Namespace) -> dict[str, str]:
    pairs = [header.partition(":") for header in options.header]
    if any(not name.strip() or not colon for name, colon, _ in pairs):
        raise SiteError("A header is its name, a colon and its value.")
    return {name.strip(): value.strip() for name, _, value in pairs}


def read_shape(options: argparse.Namespace) -> Shape | None:
    """Return where the answers have their hits; None where that is recognised."""
    if not (options.engine or options.hits or options.docno or options.score):
        return None
    if not (options.engine or options.hits):
        raise SiteError("With --docno or --score, name --engine or --hits too.")
    known = SHAPES[options.engine or "results"]
    named = (options.hits or known.hits, options.docno or known.docno)
    return Shape(*named, options.score or known.score)


def write_run(
    replay: Replay, topics: list[Topic], tag: str, output: TextIO
) -> list[Ranked | Failed]:
    """Write the lines of each topic once it is answered, and return all outcomes."""
    bar, outcomes = ProgressBar(len(topics), is_watched(), unit="topics"), []
    for outcome in replay.run(topics, bar.show):
        outcomes.append(outcome)
        if isinstance(outcome, Ranked):
            output.writelines(
                f"{outcome.topic} Q0 {docno} {rank} {score!r} {tag}\n"
                for rank, (docno, score) in enumerate(outcome.documents, 1)
            )
    bar.end()
    return outcomes


def summarise(outcomes: Sequence[Ranked | Failed]) -> dict[str, object]:
    """Return the numbers of ranked and failed topics, what was done to them, and why they failed.

    >>> summarise([Ranked("7", [], ""), Failed("8", "status 400")])
    {'ranked': 1, 'notes': {}, 'empty': ['7'], 'failed': {'8': 'status 400'}}
    """
    ranked = [each for each in outcomes if isinstance(each, Ranked)]
    return {
        "ranked": len(ranked),
        "notes": {each.topic: each.note for each in ranked if each.note},
        "empty": [each.topic for each in ranked if not each.documents],
        "failed": {each.topic: each.reason for each in outcomes if isinstance(each, Failed)},
    }


def report(outcomes: Iterable[Ranked | Failed]) -> None:
    """Say what failed and what was done to rankings."""
    ranked = [each for each in outcomes if isinstance(each, Ranked)]
    failed = [each for each in outcomes if isinstance(each, Failed)]
    lines = [f"{counted(len(ranked), 'topic')} ranked."]
    notes = Counter(note for each in ranked for note in each.note.split(", ") if note)
    lines += [f"{counted(number, 'topic')}: {note}." for note, number in notes.items()]
    if empty := [each.topic for each in ranked if not each.documents]:
        lines.append(f"No hits for {counted(len(empty), 'topic')}: {', '.join(empty[:SHOWN])}.")
    lines += [f"Topic {each.topic} failed: {each.reason}" for each in failed[:SHOWN]]
    if len(failed) > SHOWN:
        lines.append(f"And {len(failed) - SHOWN} more topics failed.")
    print("\n".join(lines), file=sys.stderr)
