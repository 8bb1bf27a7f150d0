"""The frame of a sample that checks a machine: every document in the first k of the runs.

Without a frame no mean is corrected: samples of earlier versions of the site have none, and say
how far people agree with a machine, but nothing of levels.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence

import numpy as np

from evaluation.answers.any_measure import parse_measure
from evaluation.correction import SampledStratum, draw_sample
from evaluation.measures import Measure
from evaluation.pooling import Pool, depth_pool
from evaluation.problems import Problems
from evaluation.reading.runs.rankings import Ranking
from evaluation.reading.runs.reader import Run as ReadRun
from leaderboard.models import JudgmentSet, Run, Track
from leaderboard.runs.rankings import load_tops
from leaderboard.runs.topic_files import TOP

# How many documents of a ranking the frame has where the primary measure has no cutoff.
DEPTH = 10

Grades = Mapping[bytes, Mapping[bytes, int]]


def choose_depth(track: Track) -> int:
    """Return how deep the frame goes: as far as the primary measure, at most 20."""
    measure = parse_measure(track.primary_measure)
    cutoff = measure.parameters.get("k") if isinstance(measure, Measure) else None
    return cutoff if isinstance(cutoff, int) and 1 <= cutoff <= TOP else DEPTH


def draw_framed(
    runs: Sequence[Run], machine: Grades, depth: int, size: int, seed: int
) -> tuple[Pool, tuple[SampledStratum, ...]]:
    """Draw a sample from the first documents of the runs, on the topics of the machine."""
    return draw_sample(gather_frame(runs, depth, sorted(machine)), machine, size, seed)


def gather_frame(runs: Sequence[Run], depth: int, topics: Sequence[bytes]) -> Pool:
    """Return the first documents of the runs as a pool."""
    tops = [read_first(run, depth) for run in runs]
    return depth_pool(tops, depth, topics)


def read_first(run: Run, depth: int) -> ReadRun:
    """Return the first documents of every topic of a run; scores fall by one a rank."""
    rankings = {
        number.encode("utf-8", "surrogateescape"): Ranking(
            [docno.encode("utf-8", "surrogateescape") for docno in docnos[:depth]],
            -np.arange(min(len(docnos), depth), dtype=np.float64),
        )
        for number, docnos in load_tops(run).items()
    }
    return ReadRun(run.tag or run.pk, rankings, 0, Problems())


def find_seed(by_machine: JudgmentSet) -> int:
    """Return the seed of the first sample with a frame, so that a larger one contains it."""
    framed = by_machine.samples.exclude(frame_file="").order_by("pk").first()
    return secrets.randbelow(2**31) if framed is None else int(framed.summary["seed"])
