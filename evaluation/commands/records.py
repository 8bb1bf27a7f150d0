"""The runs of a command as its options have them judged."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from evaluation.commands import files
from evaluation.commands.score import check_ties, read_judgments
from evaluation.comparison import Records, build_records
from evaluation.problems import Refused


def read_records(paths: Sequence[str], options: argparse.Namespace) -> Records | None:
    """Every run, judged; None where a file is refused, and why has been said."""
    check_ties(options)
    path = options.qrels
    try:
        judgments = read_judgments(options)
        runs = []
        for place, path in enumerate(paths, 1):
            files.show_current_file(place, paths)
            runs.append(files.read_scored_run(path, judgments, options))
    except (Refused, OSError) as reason:
        files.report_refusal(path, reason)
        return None
    return build_records(runs, judgments, files.rules_of(options))
