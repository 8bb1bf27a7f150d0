"""submit, for a benchmark: a version of a system, with its runs on all tracks at once."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from evaluation.reading.run_names import find_named
from evaluation.tables import Table
from rankfield.answers import Benchmark, BenchmarkVerdict, Version
from rankfield.checkout import Checkout, find_checkout
from rankfield.checks import Repairs, check_file
from rankfield.commands.numbers import number_text, p_text, signed_text
from rankfield.commands.outcomes import OK, REJECTED, WORSE
from rankfield.commands.reports import Report
from rankfield.errors import RejectedError, SiteError, describe_problem
from rankfield.forms import FormFile
from rankfield.site import Site, read_run_files, rejection_of

# What only a run of a track has.
OF_TRACKS = ("tag", "team", "replaces", "fix", "margin")
NOT_FOUND = 404


def find_benchmark(site: Site, options: argparse.Namespace) -> Benchmark | None:
    """Return the benchmark that is meant, or None if it is a track.

    Where both have one slug, a folder or the name of a system means the benchmark.
    """
    if not options.name and not any(Path(path).is_dir() for path in options.runs):
        try:
            site.track(options.track)
            return None
        except RejectedError as error:
            if error.status != NOT_FOUND:
                raise
    return site.benchmark(options.track)


def submit_system(
    site: Site, benchmark: Benchmark, report: Report, options: argparse.Namespace
) -> int:
    """Submit a version, wait, report how it compares, and return the exit status."""
    refuse_options_of_tracks(options)
    files = [file for path in options.runs for file in read_run_files(path, benchmark.tracks)]
    if not options.no_check and not are_acceptable(site, benchmark, files, report):
        return REJECTED
    if options.check_only:
        report.print_passed_check()
        return OK
    made_by = find_checkout() if benchmark.main_branch else Checkout("", "")
    receipt = site.submit_system(
        benchmark.slug,
        files,
        options.name or name_of(options.runs),
        version=options.version,
        description=options.description,
        commit=options.commit or made_by.commit,
        branch=options.branch or made_by.branch,
        configuration=options.configuration,
        facts=options.fact,
    )
    for problem in receipt.problems:
        print(describe_problem(problem), file=sys.stderr)
    if options.no_wait:
        found = site.version(receipt)
    else:
        found = site.wait_for_version(receipt, timeout=options.timeout)
    report_version(site, found, report)
    if options.format == "json":
        print(json.dumps(asdict(found), indent=2))
    else:
        report.print_text()
    if found.is_rejected:
        return REJECTED
    worse = found.verdict is not None and found.verdict.is_worse
    return WORSE if options.fail_if_worse and worse else OK


def refuse_options_of_tracks(options: argparse.Namespace) -> None:
    for name in OF_TRACKS:
        if getattr(options, name):
            raise SiteError(f"--{name} is for runs of a track, and {options.track} is a benchmark.")


def name_of(paths: Iterable[str]) -> str:
    """Return the name of the folder or zip, which names the system if nothing else does."""
    first, *others = paths
    if others:
        raise SiteError("Name the system of these files with --name.")
    path = Path(first).resolve()
    return path.name if path.is_dir() else path.name.partition(".")[0]


def are_acceptable(
    site: Site, benchmark: Benchmark, files: Iterable[FormFile], report: Report
) -> bool:
    """Check the runs that are named by a track; the site finds the track of the others."""
    rejected = False
    for file in files:
        track = find_named(file.name, benchmark.tracks)
        if not track:
            continue
        try:
            check_file(file.name, file.content, site.rules(track), Repairs())
        except RejectedError as error:
            report.add_problem(str(error))
            rejected = True
    return not rejected


def report_version(site: Site, found: Version, report: Report) -> None:
    """Report a line per track and one for all, the verdict in words, and what is wrong."""
    verdict = found.verdict
    of_tracks = {one.track: one for one in verdict.tracks} if verdict else {}
    rows = [
        [
            run.track,
            "rejected" if run.state == "refused" else run.state,
            *describe_verdict(of_tracks.get(run.track)),
            number_text(run.mean),
            *numbers_of(of_tracks.get(run.track)),
        ]
        for run in found.runs
    ]
    rows += [[track, "missing", "", "", "", ""] for track in found.missing]
    if verdict is not None:
        rows.append(
            [
                "benchmark",
                "",
                *describe_verdict(verdict.benchmark),
                "",
                *numbers_of(verdict.benchmark),
            ]
        )
    header = ["track", "state", "verdict", "mean", "difference", "p"]
    report.table = Table(header, rows, texts=3)
    report.runs = [run.run for run in found.runs]
    report.pages = [site.page_of(run.run) for run in found.runs]
    if verdict is not None:
        report.sentences.append(verdict.sentence)
        report.verdicts += [
            one.verdict for one in (verdict.benchmark, *verdict.tracks) if one.verdict
        ]
    for run in found.runs:
        if run.is_rejected:
            report.add_problem(f"{run.track}: {rejection_of(site.run(run.run))}")


def describe_verdict(verdict: BenchmarkVerdict | None) -> list[str]:
    if verdict is None:
        return [""]
    words = {"better": "better", "worse": "worse", "not significant": "not to be told apart"}
    return [words.get(verdict.verdict, "not tested")]


def numbers_of(verdict: BenchmarkVerdict | None) -> list[str]:
    if verdict is None:
        return ["", ""]
    return [signed_text(verdict.difference), p_text(verdict.p)]
