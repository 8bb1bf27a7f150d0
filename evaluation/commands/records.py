"""The runs of a command as its options have them judged."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.commands import files
from evaluation.commands.score import (
    build_record,
    check_ties,
    read_judgments,
    values_by_topic,
)
from evaluation.judging import JudgedRun
from evaluation.measures import Measure
from evaluation.problems import Refused
from evaluation.ragged import FloatArray
from evaluation.significance import topic_order


@dataclass(frozen=True)
class Records:
    """The runs in the order of the command line, with what computes the scores of each."""

    tags: list[str]
    judged: list[JudgedRun]
    values: list[Callable[[Measure], FloatArray]]

    @property
    def topics(self) -> list[bytes]:
        """The topics of the columns of `scores`."""
        topics = self.judged[0].judgments.topics
        return [topics[place] for place in topic_order(topics).tolist()]

    def scores(self, measure: Measure) -> FloatArray:
        """float64[runs, topics] in the order of draws, NaN where the measure is undefined."""
        scores = np.stack([values(measure) for values in self.values])
        return scores[:, topic_order(self.judged[0].judgments.topics)]

    def of(self, runs: Sequence[int]) -> Records:
        """The same for some of the runs, by their places."""
        return Records(
            [self.tags[run] for run in runs],
            [self.judged[run] for run in runs],
            [self.values[run] for run in runs],
        )


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
    if options.intersection:
        answered = [t for t in judgments.topics if all(t in each.rankings for each in runs)]
        judgments = judgments.of(answered)
    judged = [build_record(run, judgments, options) for run in runs]
    pairs = zip(runs, judged, strict=True)
    values = [values_by_topic(run, record, options) for run, record in pairs]
    return Records([run.tag for run in runs], judged, values)
