"""The scores of one run in one edition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.conventions import CONVENTIONS
from evaluation.judging import JudgedRun, judge
from evaluation.measures import DIVERSITY, SAMPLED, parse_measure
from evaluation.reading.runs import reader
from evaluation.ties import tie_interval, turned
from leaderboard.models import Edition, Run, Score, ScoreSet
from leaderboard.scoring.files import open_run
from leaderboard.scoring.judgments import (
    explain_missing_judgments,
    load_judgments,
    resolve_measure,
    topic_mask,
)

JUDGED_AT_10 = parse_measure("Judged@10")
TIES_CODE = "W_TIES_AT_CUTOFF"
# The smallest difference that four decimals show.
VISIBLE_DIFFERENCE = 0.00005


@dataclass(frozen=True)
class EditionScores:
    """The scores of a run in one edition, ready to be stored."""

    edition: Edition
    score_set: ScoreSet
    scores: list[Score]


def measure_run(read: reader.Run, edition: Edition, tied: bool = False) -> EditionScores:
    """Judge and measure a run; if scores are `tied` at a cutoff, measure both orders too."""
    judged = judge(
        read,
        load_judgments(edition.pk),
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
        ties=find_tie_intervals(read, edition) if tied else {},
    )
    return EditionScores(
        edition, score_set, compute_scores(judged, edition, edition.track.measures)
    )


def find_tie_intervals(read: reader.Run, edition: Edition) -> dict[str, tuple[float, float]]:
    """Return the lowest and highest mean that tied scores allow, if they differ visibly.

    The order of grades does not bound measures of diversity, nor estimates from a sample.
    """
    judgments, depth = load_judgments(edition.pk), edition.track.depth
    lowest, highest = (judge(turned(read, judgments, way), judgments, depth) for way in (-1, 1))
    measures = {text: resolve_measure(edition.track, text) for text in edition.track.measures}
    found = {
        text: tie_interval(measure, lowest, highest)
        for text, measure in measures.items()
        if measure.name not in (*DIVERSITY, *SAMPLED)
    }
    return {
        text: (low, high) for text, (low, high) in found.items() if high - low > VISIBLE_DIFFERENCE
    }


def compute_scores(judged: JudgedRun, edition: Edition, measures: Iterable[str]) -> list[Score]:
    """Compute the scores of a judged run on these measures."""
    return [compute_score(judged, edition, text) for text in measures]


def compute_score(judged: JudgedRun, edition: Edition, text: str) -> Score:
    """Compute the score of a judged run on one measure.

    It is undefined on every topic if the judgments cannot give the measure, as those of an
    earlier version may not.
    """
    measure = resolve_measure(edition.track, text)
    if explain_missing_judgments(measure, edition.judgment_set):
        values = np.full(len(judged.judgments.topics), np.nan)
    else:
        values = measure.scores(judged)
    undefined = int(np.isnan(values).sum())
    mean = measure.aggregate(values) if undefined < len(values) else None
    return Score(
        measure=text,
        resolved=str(measure),
        mean=mean,
        num_undefined=undefined,
        by_topic=align_by_position(values, edition).tobytes(),
    )


def align_by_position(values: NDArray[np.float64], edition: Edition) -> NDArray[np.float64]:
    """Return one value per topic of the collection, NaN if the edition does not evaluate it."""
    array = np.full(len(edition.mask), np.nan, dtype="<f8")
    array[topic_mask(edition)] = values
    return array


def measure_stored_run(run: Run, edition: Edition) -> EditionScores:
    """Judge and measure a run from its stored rankings."""
    return measure_run(open_run(run), edition, tied=TIES_CODE in run.problem_totals)
