"""What the strict checks cost: one run read leniently, strictly, and against its collection.

    python -m benchmarks.checks L 3

prints the seconds of each as JSON; every repetition does all three and judges what it read.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

from benchmarks.inputs import INPUTS, Input
from evaluation import (
    Judgments,
    Run,
    RunRules,
    judge,
    prepare,
    read_qrels,
    read_run,
    read_run_leniently,
)
from evaluation.judging import Judging
from evaluation.reading.docnos import Docnos

Reading = Callable[[BinaryIO], Run]
ANY = RunRules()


def readings_of(asked: Input, judgments: Judgments) -> dict[str, Reading]:
    store = partial(Judging, judgments, keep=False)
    topics = frozenset(str(asked.first_topic + n).encode() for n in range(asked.topics))
    known = RunRules(topics=topics, docnos=Docnos.open(asked.known_docnos))
    return {
        "leniently": lambda file: read_run_leniently(file, store=store),
        "strictly: duplicates, finite scores, one tag": lambda file: read_run(file, ANY, store),
        "and topics and 8.8 million docnos known": lambda file: read_run(file, known, store),
    }


def timed(reading: Reading, asked: Input, judgments: Judgments) -> float:
    start = time.perf_counter()
    with open(asked.run, "rb") as file:
        judge(reading(file), judgments)
    return time.perf_counter() - start


def main(name: str, times: int) -> None:
    asked = INPUTS[name]
    with open(asked.qrels, "rb") as file:
        judgments = prepare(read_qrels(file))
    readings = readings_of(asked, judgments)
    rounds = [
        {how: timed(reading, asked, judgments) for how, reading in readings.items()}
        for _ in range(times)
    ]
    print(json.dumps(rounds))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
