"""Timings inside one process, printed as JSON: what a worker does whose judgments are prepared.

    python -m benchmarks.inside L 3

Each of the repetitions reads the run, judges and measures it, and measures it again from its
compact record.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from benchmarks.inputs import INPUTS, Input
from benchmarks.peers.measures import MEASURES
from evaluation import (
    JudgedRun,
    Judgments,
    RunRules,
    judge,
    parse_measures,
    prepare,
    read_qrels,
    read_run,
)
from evaluation.judging import Judging
from evaluation.ragged import FloatArray

ASKED = [asked.measure for text in MEASURES for asked in parse_measures(text)]


@dataclass
class Watch:
    """Seconds by what was done in them."""

    laps: dict[str, float] = field(default_factory=dict)
    last: float = field(default_factory=time.perf_counter)

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name], self.last = now - self.last, now


def measured(judged: JudgedRun) -> list[FloatArray]:
    return [measure.scores(judged) for measure in ASKED]


def repeated(asked: Input, judgments: Judgments) -> dict[str, float]:
    watch = Watch()
    with open(asked.run, "rb") as file:
        run = read_run(file, RunRules(), partial(Judging, judgments, keep=False))
    watch.lap("read")
    judged = judge(run, judgments)
    watch.lap("judge")
    values = measured(judged)
    watch.lap("measure")
    packed = judged.pack()
    watch.lap("pack")
    again = measured(JudgedRun.unpack(packed, judgments))
    watch.lap("record")
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(values, again, strict=True))
    return {**watch.laps, "record_bytes": len(packed)}


def main(name: str, times: int) -> None:
    asked = INPUTS[name]
    with open(asked.qrels, "rb") as file:
        judgments = prepare(read_qrels(file))
    print(json.dumps([repeated(asked, judgments) for _ in range(times)]))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
