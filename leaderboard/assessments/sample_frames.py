"""The frame of a sample: every document in the first k of the runs, drawn or not, kept for good.

Each has the machine's grade, the number of runs that brought it, its stratum and the probability
with which it was drawn. Without these no mean is corrected: samples of earlier versions of the
site have no frame, and say how far people agree with a machine, but nothing of levels.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from evaluation.answers.any_measure import parse_measure
from evaluation.conventions import POOLED
from evaluation.correction import FrameRow, SampledStratum, draw_sample
from evaluation.measures import Measure
from evaluation.pooling import Pool, depth_pool
from evaluation.problems import Problems
from evaluation.reading.runs.rankings import Ranking
from evaluation.reading.runs.reader import Run as ReadRun
from leaderboard import models
from leaderboard.models import JudgmentSet, Run, Track
from leaderboard.runs.rankings import load_tops
from leaderboard.runs.topic_files import TOP

COLUMNS = ("topic", "docno", "grade", "runs", "stratum", "inclusion", "drawn")
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


def store_frame(
    row: models.Pool, sample: Pool, strata: Sequence[SampledStratum], machine: Grades, depth: int
) -> dict[str, Any]:
    """Store the frame with its pool; return what the summary of the pool says of it.

    The runs are those of the pool.
    """
    content = b"".join(render_frame(sample, machine))
    name = f"pools/{row.pk}/frame-{secrets.token_hex(4)}"
    row.frame_file.name = default_storage.save(name, ContentFile(content))
    return {
        "depth": depth,
        "machine": row.checks.version if row.checks is not None else "",
        "documents": len(sample) + sum(map(len, sample.undrawn.values())),
        "drawn": len(sample),
        "strata": [asdict(stratum) for stratum in strata],
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def render_frame(sample: Pool, machine: Grades) -> Iterator[bytes]:
    """Yield the lines of the file, by topic and docno."""
    yield "\t".join(COLUMNS).encode() + b"\n"
    for topic in sample.topics:
        graded = machine.get(topic, {})
        both = ((False, sample.undrawn[topic]), (True, sample.topics[topic]))
        rows = [(found, is_drawn) for is_drawn, of in both for found in of]
        for found, is_drawn in sorted(rows, key=lambda row: row[0].docno):
            numbers = (found.stratum, found.inclusion, int(is_drawn))
            grade, runs = graded.get(found.docno, POOLED), len(found.places)
            cells = "\t".join(map(str, (grade, runs, *numbers)))
            yield b"%b\t%b\t%b\n" % (topic, found.docno, cells.encode())


def read_frame(row: models.Pool) -> tuple[list[FrameRow], dict[bytes, dict[bytes, int]]]:
    """Return the documents of a frame, and the machine's grades of them."""
    with default_storage.open(row.frame_file.name) as file:
        lines = file.read().splitlines()[1:]
    rows: list[FrameRow] = []
    grades: dict[bytes, dict[bytes, int]] = {}
    for line in lines:
        topic, docno, grade, runs, stratum, _, drawn = line.split(b"\t")
        grades.setdefault(topic, {})[docno] = int(grade)
        rows.append(FrameRow(topic, docno, int(runs), int(stratum), drawn == b"1"))
    return rows, grades


def find_seed(by_machine: JudgmentSet) -> int:
    """Return the seed of the first sample with a frame, so that a larger one contains it."""
    framed = by_machine.samples.exclude(frame_file="").order_by("pk").first()
    return secrets.randbelow(2**31) if framed is None else int(framed.summary["seed"])
