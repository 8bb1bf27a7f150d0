"""Scoring the runs of a command again with other judgments."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.commands import files
from evaluation.commands.score import read_judgments
from evaluation.judging import Judgments, prepare
from evaluation.measures import Measure
from evaluation.problems import Refused
from evaluation.ragged import FloatArray
from evaluation.reading.judging.qrels import Qrels
from evaluation.reading.runs.reader import Run
from evaluation.scoring import build_record


@dataclass(frozen=True)
class RescoredRuns:
    """Runs with their judgments; topics and top grade stay those of the whole judgments."""

    judgments: Judgments
    runs: list[Run]
    options: argparse.Namespace

    @property
    def qrels(self) -> Qrels:
        """The judgments of the topics that count."""
        return self.judgments.qrels

    def scores(self, measure: Measure, qrels: Qrels, runs: Sequence[int]) -> FloatArray:
        """float64[runs, topics] with these judgments."""
        judgments = prepare(qrels, self.judgments.topics, self.judgments.top_grade)
        rules = files.rules_of(self.options)
        records = [build_record(self.runs[run], judgments, rules) for run in runs]
        return np.stack([measure.scores(record) for record in records])

    def means(self, measure: Measure, qrels: Qrels, runs: Sequence[int]) -> FloatArray:
        """float64[runs], the values on a board with these judgments."""
        rows = self.scores(measure, qrels, runs)
        return np.array([measure.aggregate(row) for row in rows])


def read_rescoring(options: argparse.Namespace) -> RescoredRuns | None:
    """Read judgments and runs; None where a file is rejected, which has been reported."""
    path = options.qrels
    try:
        judgments = read_judgments(options)
        runs = []
        for place, path in enumerate(options.runs, 1):
            files.show_current_file(place, options.runs)
            run = files.read_whole_run(path, judgments.topics, options)
            runs.append(files.check_run(path, run, judgments, options))
    except (Refused, OSError) as reason:
        files.report_refusal(path, reason)
        return None
    return RescoredRuns(judgments, runs, options)
