"""publish: print the scores of a run for a model card, a hub, a registry or a README."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from evaluation.commands.arguments import add_report_option
from rankfield.commands.arguments import site_of, site_parser
from rankfield.commands.outcomes import OK
from rankfield.errors import SiteError
from rankfield.publishing import WRITERS, Publication

EPILOG = """
eval-results     .eval_results/NAME.yaml in the repository of a model on Hugging Face
card             a table of Markdown for a model card
every-eval-ever  a record of Every Eval Ever, in JSON
badge            a badge that never changes, as SVG
badge-link       the Markdown that shows rankfield.svg and links to the page of the run

Each names the page of the run, which has what a reader needs to compute the scores again: the
judgments, the SHA-256 of the run, and the command. --json prints these as an object, with the text
to publish unless it is written to FILE.

Exit status: 0; 2 when the run has no scores that you may see or the command is wrong; 3 when the
site is not reached.
"""


def parser() -> argparse.ArgumentParser:
    parser = site_parser("publish", "Print the scores of a run in a format to publish.", EPILOG)
    parser.add_argument("track", metavar="TRACK")
    parser.add_argument("run", metavar="ID", help="the ID of the run")
    parser.add_argument("--as", dest="form", choices=WRITERS, default="card")
    parser.add_argument("-m", "--measure", default="", help="of one value (that of the board)")
    parser.add_argument("--dataset", metavar="ID", default="", help="the data set on the hub")
    parser.add_argument("--task", metavar="ID", default="default", help="task_id of the data set")
    parser.add_argument("--model", metavar="ID", default="", help="the model (facts, or the tag)")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="(standard output)")
    add_report_option(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    site = site_of(options)
    track, found = site.track(options.track), site.run(options.run)
    if not found.scores:
        raise SiteError(f"{options.run} has no scores that you may see.")
    measure = options.measure or track.primary_measure
    publication = Publication(
        found, track, site.page_of(found), measure, options.dataset, options.task, options.model
    )
    text = WRITERS[options.form](publication)
    if options.output is not None:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text, encoding="utf-8")
    if options.format == "json":
        print(json.dumps(describe(publication, options, text), indent=2))
    elif options.output is None:
        sys.stdout.write(text)
    return OK


def describe(found: Publication, options: argparse.Namespace, text: str) -> dict[str, object]:
    """Return what was published, for programs: the text, or the file that has it."""
    where = {"text": text} if options.output is None else {"file": str(options.output)}
    said = {"run": found.run.id, "tag": found.run.tag, "page": found.page, "as": options.form}
    return {**said, "scores": found.run.scores, "proof": found.proof, **where}
