"""submit, for a task: a version of a system, with its runs on all tracks at once."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from evaluation.commands import tables
from evaluation.commands.tables import Table
from evaluation.reading.run_names import find_named
from rankfield.answers import Task, TaskVerdict, Version
from rankfield.checkout import Checkout, find_checkout
from rankfield.checks import Repairs, check_file
from rankfield.commands.numbers import number_text, p_text, signed_text
from rankfield.commands.outcomes import OK, REJECTED, WORSE
from rankfield.errors import RejectedError, SiteError, describe_problem
from rankfield.forms import FormFile
from rankfield.site import Site, read_run_files, rejection_of

# What only a run of a track has.
OF_TRACKS = ("tag", "team", "replaces", "fix")
NOT_FOUND = 404


def find_task(site: Site, options: argparse.Namespace) -> Task | None:
    """Return the task that is meant, or None if it is a track.

    Where a task and a track have one slug, a folder or the name of a system means the task.
    """
    if not options.name and not any(Path(path).is_dir() for path in options.runs):
        try:
            site.track(options.track)
            return None
        except RejectedError as error:
            if error.status != NOT_FOUND:
                raise
    return site.task(options.track)


def submit_system(site: Site, task: Task, options: argparse.Namespace) -> int:
    """Submit a version, wait, print how it compares, and return the exit status."""
    refuse_options_of_tracks(options)
    files = [file for path in options.runs for file in read_run_files(path, task.tracks)]
    if not options.no_check and not are_acceptable(site, task, files):
        return REJECTED
    made_by = find_checkout() if task.main_branch else Checkout("", "")
    receipt = site.submit_system(
        task.slug,
        files,
        options.name or name_of(options.runs),
        version=options.version,
        description=options.description,
        commit=options.commit or made_by.commit,
        branch=options.branch or made_by.branch,
        configuration=options.configuration,
    )
    for problem in receipt.problems:
        print(describe_problem(problem), file=sys.stderr)
    if options.no_wait:
        found = site.version(receipt)
    else:
        found = site.wait_for_version(receipt, timeout=options.timeout)
    if options.format == "json":
        print(json.dumps(asdict(found), indent=2))
    else:
        print_version(site, found)
    if found.is_rejected:
        return REJECTED
    worse = found.verdict is not None and found.verdict.is_worse
    return WORSE if options.fail_if_worse and worse else OK


def refuse_options_of_tracks(options: argparse.Namespace) -> None:
    for name in OF_TRACKS:
        if getattr(options, name):
            raise SiteError(f"--{name} is for runs of a track, and {options.track} is a task.")


def name_of(paths: Iterable[str]) -> str:
    """Return the name of the folder or zip, which names the system if nothing else does."""
    first, *others = paths
    if others:
        raise SiteError("Name the system of these files with --name.")
    path = Path(first).resolve()
    return path.name if path.is_dir() else path.name.partition(".")[0]


def are_acceptable(site: Site, task: Task, files: Iterable[FormFile]) -> bool:
    """Check the runs that are named by a track; the site finds the track of the others."""
    rejected = False
    for file in files:
        track = find_named(file.name, task.tracks)
        if not track:
            continue
        try:
            check_file(file.name, file.content, site.rules(track), Repairs())
        except RejectedError as error:
            print(error, file=sys.stderr)
            rejected = True
    return not rejected


def print_version(site: Site, found: Version) -> None:
    """Print a line for each track and one for the task, the verdict in words, and what is wrong."""
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
        rows.append(["task", "", *describe_verdict(verdict.task), "", *numbers_of(verdict.task)])
    header = ["track", "state", "verdict", "mean", "difference", "p"]
    tables.print_table(Table(header, rows, texts=3), "text")
    if verdict is not None:
        print(verdict.sentence)
    for run in found.runs:
        if run.is_rejected:
            print(f"{run.track}: {rejection_of(site.run(run.run))}", file=sys.stderr)


def describe_verdict(verdict: TaskVerdict | None) -> list[str]:
    if verdict is None:
        return [""]
    words = {"better": "better", "worse": "worse", "not significant": "not to be told apart"}
    return [words.get(verdict.verdict, "not tested")]


def numbers_of(verdict: TaskVerdict | None) -> list[str]:
    if verdict is None:
        return ["", ""]
    return [signed_text(verdict.difference), p_text(verdict.p)]
