"""The runs of a command as its options have them judged."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.commands import files
from evaluation.commands.score import build_record, read_judgments
from evaluation.judging import JudgedRun
from evaluation.measures import Measure
from evaluation.problems import Refused
from evaluation.ragged import FloatArray
from evaluation.significance import topic_order


@dataclass(frozen=True)
class Records:
    """The runs in the order of the command line."""

    tags: list[str]
    judged: list[JudgedRun]

    def scores(self, measure: Measure) -> FloatArray:
        """float64[runs, topics] in the order of draws, NaN where the measure is undefined."""
        scores = np.stack([measure.scores(run) for run in self.judged])
        return scores[:, topic_order(self.judged[0].judgments.topics)]


def read_records(paths: Sequence[str], options: argparse.Namespace) -> Records | None:
    """Every run, judged; None where a file is refused, and why has been said."""
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
    if options.intersection:
        answered = [t for t in judgments.topics if all(t in each.rankings for each in runs)]
        judgments = judgments.of(answered)
    return Records(
        [run.tag for run in runs], [build_record(run, judgments, options) for run in runs]
    )
