"""submit: check runs, submit them to a track or a benchmark, wait, and print how they compare."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evaluation.commands.arguments import parse_positive, whole_number
from evaluation.commands.files import add_fix_option
from evaluation.tables import Table
from rankfield.answers import GateAnswer, PreviousBest, Run, Track
from rankfield.checkout import Checkout, find_checkout
from rankfield.checks import EVERY_FIX, Repairs, check_file
from rankfield.commands.arguments import site_of, site_parser
from rankfield.commands.numbers import number_text, signed_text
from rankfield.commands.outcomes import CANNOT_TELL, EXIT_STATUS, OK, REJECTED, WORSE
from rankfield.commands.reports import Report
from rankfield.commands.systems import find_benchmark, submit_system
from rankfield.errors import RejectedError, SiteError, UnreachableError, describe_error
from rankfield.facts import read_facts_file
from rankfield.site import Site, read_run_file, rejection_of

EPILOG = f"""
Every file is checked first by the rules and the topics of the track, a run of answers by the
preset and the limit of a track of answers. If one would be rejected, none is submitted. Only the
site can check whether the docnos exist.
A connection that fails is tried again, and a run that arrives twice counts once.

On a track with a main branch, runs state the commit and the branch that the CI or git names.

--fail-if-worse compares each run with the best one that your team had on the board before, also
on a track with a main branch.

--margin M is a gate instead: each run is held against a fixed reference, --reference ID or the
newest run of the main branch before it, else the baseline. It passes if a loss of M or more is
ruled out, is worse if a loss is shown, and else the gate cannot tell and reports how many topics
are needed. --builds N is how many runs are held against one reference in total.

Of a benchmark, DIR or a zip has the runs of one system, each named by its track (bread.run.gz or
bread/my.run) or recognised by its topics. They become a version, which is compared with the newest
one of the main branch before it, on the benchmark and on each track. --fail-if-worse then means
worse on the benchmark or on one of its tracks.

In CI, --summary and --outputs add to files such as GITHUB_STEP_SUMMARY and GITHUB_OUTPUT. The
verdict is better, worse, not significant, rejected or none, with --margin pass, worse, cannot tell,
rejected or none, for several runs the worst of them.
{EXIT_STATUS}"""


def parser() -> argparse.ArgumentParser:
    parser = site_parser(
        "submit",
        "Submit runs to a track, or a system to a benchmark, and wait for the scores.",
        EPILOG,
    )
    parser.add_argument("track", metavar="TRACK|BENCHMARK")
    parser.add_argument(
        "runs", metavar="RUN|DIR", nargs="+", help="a file, also .gz or .zip; or a folder of runs"
    )
    parser.add_argument("--name", default="", help="the system; default: the name of DIR")
    parser.add_argument("--version", default="", help="of the system; default: the short commit")
    parser.add_argument("--tag", default="", help="expected run tag; with --fix tag the tag to use")
    parser.add_argument("--description", metavar="TEXT", default="")
    parser.add_argument("--team", default="", help="as an organiser: the team to submit for")
    parser.add_argument("--replaces", metavar="ID", default="", help="the run that it replaces")
    add_fix_option(parser, EVERY_FIX)
    for name in ("commit", "branch", "configuration"):
        parser.add_argument(f"--{name}", default="", help=f"the {name} that made the run")
    parser.add_argument(
        "--fact", metavar="NAME=VALUE", action="append", default=[], type=parse_fact, help="a fact"
    )
    parser.add_argument("--facts", metavar="FILE", type=Path, help="facts, as JSON or YAML")
    parser.add_argument("--mlflow", metavar="RUN", default="", help="facts: its parameters")
    parser.add_argument("--no-check", action="store_true", help="leave the checks to the site")
    parser.add_argument("--no-wait", action="store_true", help="end once the site has the runs")
    parser.add_argument(
        "--timeout", metavar="S", type=parse_positive, help="wait for up to S seconds"
    )
    parser.add_argument("--fail-if-worse", action="store_true", help="exit 1 if a run is worse")
    parser.add_argument("--margin", metavar="M", type=parse_positive, help="the gate, see below")
    parser.add_argument("--reference", metavar="ID", default="", help="the run of the gate")
    parser.add_argument("--builds", metavar="N", type=whole_number(1), default=50)
    parser.add_argument("--require-pass", action="store_true", help="exit 4 if it cannot tell")
    parser.add_argument("--check-only", action="store_true", help="check, and submit nothing")
    parser.add_argument("--summary", metavar="FILE", help="add scores and verdict as Markdown")
    parser.add_argument("--outputs", metavar="FILE", help="add verdict, runs and pages as x=y")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    return parser


def parse_fact(text: str) -> tuple[str, Any]:
    """Return the name and the value of a fact; a value that is JSON is read as such.

    >>> parse_fact("llm=true"), parse_fact("models=BM25 of Lucene 10")
    (('llm', True), ('models', 'BM25 of Lucene 10'))
    """
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise argparse.ArgumentTypeError(f"{text}: expected NAME=VALUE")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value


def stated_facts(options: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters in MLflow, over them the facts of the file, then of the command."""
    facts = read_params(options.mlflow) if options.mlflow else {}
    facts |= read_facts_file(options.facts) if options.facts else {}
    return facts | dict(options.fact)


def read_params(run: str) -> dict[str, Any]:
    """Return the parameters of a run of MLflow; raises SiteError where it is not installed."""
    from rankfield.libraries.tracking import facts_from_mlflow

    try:
        return facts_from_mlflow(run)
    except ModuleNotFoundError:
        raise SiteError("--mlflow needs MLflow: pip install mlflow-skinny") from None


def run(options: argparse.Namespace) -> int:
    """Submit, and write the files for CI however it ends."""
    report = Report(options.track)
    try:
        options.fact = stated_facts(options)
        return submit(site_of(options), report, options)
    except (SiteError, OSError) as error:
        report.problems.append(describe_error(error))
        report.is_rejected = not isinstance(error, UnreachableError)
        raise
    finally:
        report.write(options)


def submit(site: Site, report: Report, options: argparse.Namespace) -> int:
    benchmark = find_benchmark(site, options)
    if benchmark is not None:
        return submit_system(site, benchmark, report, options)
    track = site.track(options.track)
    if not options.no_check and not are_acceptable(site, report, options):
        return REJECTED
    if options.check_only:
        report.print_passed_check()
        return OK
    runs = submit_runs(site, track, report, options)
    # Also for a job that ends before they are scored.
    report.runs = [found.id for found in runs]
    report.pages = [site.page_of(found) for found in runs]
    if not options.no_wait:
        runs = site.wait_for_all(runs, timeout=options.timeout)
    if runs:
        report_runs(site, track, runs, report)
        if options.margin is not None and not options.no_wait:
            report_gate(site, track, runs, report, options)
    if options.format == "json":
        print(json.dumps([asdict(found) for found in runs], indent=2))
    else:
        report.print_text()
    if len(runs) < len(options.runs) or any(found.is_rejected for found in runs):
        return REJECTED
    if options.margin is not None:
        return status_of_gate(report.verdicts, options.require_pass)
    worse = any(found.verdict and found.verdict.verdict == "worse" for found in runs)
    return WORSE if options.fail_if_worse and worse else OK


def status_of_gate(answers: Sequence[str], require_pass: bool) -> int:
    if "worse" in answers:
        return WORSE
    return CANNOT_TELL if require_pass and "cannot tell" in answers else OK


def are_acceptable(site: Site, report: Report, options: argparse.Namespace) -> bool:
    """Check every file and print what is wrong; return whether nothing is."""
    rules = site.rules(options.track)
    repairs = Repairs(tuple(options.fix), options.tag)
    rejected = False
    for path in options.runs:
        try:
            file = read_run_file(path)
            check_file(path, file.content, rules, repairs)
        except RejectedError as error:
            report.add_problem(str(error))
            rejected = True
    return not rejected


def submit_runs(site: Site, track: Track, report: Report, options: argparse.Namespace) -> list[Run]:
    """Submit one after the other; a run that is rejected does not stop the others."""
    made_by = find_checkout() if track.main_branch else Checkout("", "")
    runs = []
    for path in options.runs:
        try:
            submitted = site.submit(
                track.slug,
                path,
                tag=options.tag,
                description=options.description,
                fix=options.fix,
                team=options.team,
                replaces=options.replaces,
                commit=options.commit or made_by.commit,
                branch=options.branch or made_by.branch,
                configuration=options.configuration,
                facts=options.fact,
            )
        except RejectedError as error:
            report.add_problem(f"{path}: {error}")
            continue
        if submitted.message:
            print(f"{path}: {submitted.message}", file=sys.stderr)
        report.files[submitted.id] = path
        runs.append(submitted)
    return runs


def report_runs(site: Site, track: Track, runs: list[Run], report: Report) -> None:
    """Report a line of scores per run, how it compares, and the problems of those rejected."""
    measures = [name for name in track.measures if any(name in found.scores for found in runs)]
    header = ["run", "state", *measures, "page"]
    rows = [
        [
            found.tag or report.files[found.id],
            "rejected" if found.state == "refused" else found.state,
            *(number_text(found.scores.get(name)) for name in measures),
            site.page_of(found),
        ]
        for found in runs
    ]
    report.table = Table(header, rows, texts=2)
    for found in runs:
        if found.is_rejected:
            report.add_problem(str(rejection_of(found, report.files[found.id])))
        report.sentences += describe_comparisons(found)
        if found.verdict is not None and found.verdict.verdict is not None:
            report.verdicts.append(found.verdict.verdict)


def report_gate(
    site: Site, track: Track, runs: list[Run], report: Report, options: argparse.Namespace
) -> None:
    """Report what the gate says of each run, in place of the verdict about the best before."""
    report.verdicts = []
    for found in runs:
        if found.is_rejected:
            continue
        gate = site.gate(
            track.slug,
            found,
            options.margin,
            reference=options.reference,
            builds=options.builds,
        )
        report.verdicts.append(gate.answer)
        report.sentences += describe_gate(found.tag, gate)


def describe_gate(tag: str, gate: GateAnswer) -> Iterator[str]:
    """Yield the answer with its numbers, the topics that moved most, and what is not judged."""
    ends = f" [{signed_text(gate.low)}, {signed_text(gate.high)}]" if gate.low is not None else ""
    change = "" if gate.difference is None else f" {signed_text(gate.difference)}{ends}"
    yield (
        f"{tag}: {gate.answer}. {gate.measure}{change} against {gate.reference}, margin"
        f" {gate.margin:g}. {' '.join(gate.sentences)}"
    )
    if gate.moved:
        moves = (f"{move.topic} {signed_text(move.difference)}" for move in gate.moved)
        yield f"Moved most: {', '.join(moves)}."
    yield (
        f"Unjudged in the first ten: {gate.unjudged:.1f} documents, of the reference"
        f" {gate.unjudged_reference:.1f}."
    )


def describe_comparisons(found: Run) -> Iterator[str]:
    """Yield how a run compares with main, and with its team's previous best."""
    if found.main is not None:
        yield found.main.sentence
    if found.verdict is not None:
        yield describe_verdict(found.tag, found.verdict)


def describe_verdict(tag: str, pair: PreviousBest) -> str:
    words = {"better": "is better than", "worse": "is worse than"}
    how = words.get(pair.verdict or "", "cannot be told apart from")
    change = "" if pair.difference is None else f": {pair.measure} {signed_text(pair.difference)}"
    p = "" if pair.p_adjusted is None else f", p {pair.p_adjusted:.3g}"
    return f"{tag} {how} {pair.previous_tag}, your previous best{change}{p}."
