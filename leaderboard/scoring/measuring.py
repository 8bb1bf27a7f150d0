"""Runs become scores: read and check the file, judge it, measure it, publish.

Each function here is the work of a job.  It reads what cannot change, and returns the function
that writes the result; `jobs` calls that one only while the job is still its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from django.core.files.storage import default_storage
from numpy.typing import NDArray

from evaluation.conventions import CONVENTIONS
from evaluation.judging import JudgedRun, judge
from evaluation.measures import parse_measure
from evaluation.reading import runs as reading
from evaluation.ties import tie_interval, turned
from leaderboard.models import Edition, Run, Score, ScoreSet
from leaderboard.runs.rankings import Rankings
from leaderboard.scoring.judgments import mask_of, prepared, resolved

JUDGED_AT_10 = parse_measure("Judged@10")
TIES = "W_TIES_AT_CUTOFF"
# A difference that four decimals show.
VISIBLE = 0.00005


@dataclass(frozen=True)
class Measured:
    """A run in one edition, ready to be written."""

    edition: Edition
    score_set: ScoreSet
    scores: list[Score]


def measure_run(read: reading.Run, edition: Edition, tied: bool = False) -> Measured:
    """Judge and measure a run; where equal scores are `tied` across a cutoff, both ways round."""
    judged = judge(
        read,
        prepared(edition.pk),
        depth=edition.track.depth,
        convention=CONVENTIONS[edition.convention],
    )
    relevant = parse_measure("NumRel").resolved(edition.track.relevance_threshold)
    found = parse_measure("NumRelRet").resolved(edition.track.relevance_threshold)
    score_set = ScoreSet(
        edition=edition,
        record=judged.pack(),
        num_relevant=int(relevant.scores(judged).sum()),
        num_relevant_retrieved=int(found.scores(judged).sum()),
        judged_at_10=JUDGED_AT_10.aggregate(JUDGED_AT_10.scores(judged)),
        ties=left_open_by_ties(read, edition) if tied else {},
    )
    return Measured(edition, score_set, measure_all(judged, edition, edition.track.measures))


def left_open_by_ties(read: reading.Run, edition: Edition) -> dict[str, tuple[float, float]]:
    """The means between which the order of equal scores decides, where they differ visibly."""
    judgments, depth = prepared(edition.pk), edition.track.depth
    lowest, highest = (judge(turned(read, judgments, way), judgments, depth) for way in (-1, 1))
    measures = {text: resolved(edition.track, text) for text in edition.track.measures}
    found = {text: tie_interval(each, lowest, highest) for text, each in measures.items()}
    return {text: (low, high) for text, (low, high) in found.items() if high - low > VISIBLE}


def measure_all(judged: JudgedRun, edition: Edition, measures: Iterable[str]) -> list[Score]:
    return [measure_one(judged, edition, text) for text in measures]


def measure_one(judged: JudgedRun, edition: Edition, text: str) -> Score:
    measure = resolved(edition.track, text)
    values = measure.scores(judged)
    undefined = int(np.isnan(values).sum())
    mean = measure.aggregate(values) if undefined < len(values) else None
    return Score(
        measure=text,
        resolved=str(measure),
        mean=mean,
        num_undefined=undefined,
        by_topic=by_position(values, edition).tobytes(),
    )


def by_position(values: NDArray[np.float64], edition: Edition) -> NDArray[np.float64]:
    """One value a topic of the collection, NaN where the edition does not evaluate it."""
    array = np.full(len(edition.mask), np.nan, dtype="<f8")
    array[mask_of(edition)] = values
    return array


def measured_by_rankings(run: Run, edition: Edition) -> Measured:
    with default_storage.open(run.ranking_file.name) as file:
        tied = TIES in run.problem_totals
        return measure_run(Rankings(file).run(run.tag), edition, tied)
