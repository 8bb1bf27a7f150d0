"""The runs of a command as its options have them judged."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from evaluation.commands import files
from evaluation.commands.score import check_ties, read_judgments
from evaluation.comparison import Records, build_records
from evaluation.problems import Refused
from evaluation.reading import paths
from evaluation.reading.groups import read_groups


def read_records(run_paths: Sequence[str], options: argparse.Namespace) -> Records | None:
    """Every run, judged; None where a file is refused, and why has been said."""
    check_ties(options)
    path = options.qrels
    try:
        judgments = read_judgments(options)
        grouping = read_grouping(getattr(options, "groups", None))
        runs = []
        for place, path in enumerate(run_paths, 1):
            files.show_current_file(place, run_paths)
            runs.append(files.read_scored_run(path, judgments, options))
    except (Refused, OSError) as reason:
        files.report_refusal(path, reason)
        return None
    return build_records(runs, judgments, files.rules_of(options), grouping)


def read_grouping(path: str | None) -> dict[bytes, bytes] | None:
    """The group of each topic, None without a file; raises `RefusedOption`, OSError."""
    if path is None:
        return None
    try:
        with paths.open_input(path) as file:
            return read_groups(file)
    except Refused as refusal:
        raise files.RefusedOption(path, refusal.problems) from None


def check_groups(records: Records, parser: argparse.ArgumentParser) -> None:
    """End with a message where a topic has no group."""
    try:
        _ = records.groups
    except ValueError as error:
        parser.error(str(error))


def add_groups_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--groups",
        metavar="FILE",
        help="lines `topic group`, such as conversations: whole groups are flipped, since their"
        " topics are not independent",
    )
