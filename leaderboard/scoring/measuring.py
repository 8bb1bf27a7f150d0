"""The scores of one run in one edition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.answers.any_measure import is_of_rankings, parse_measure
from evaluation.conventions import CONVENTIONS
from evaluation.judging import JudgedRun, judge
from evaluation.measures import DIVERSITY, SAMPLED
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
from leaderboard.scoring.kinds import kind_of

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


def measure_run(run: Run, read: reader.Run, edition: Edition, tied: bool = False) -> EditionScores:
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
    scores = compute_scores(run, judged, score_set, edition.track.measures)
    return EditionScores(edition, score_set, scores)


def find_tie_intervals(read: reader.Run, edition: Edition) -> dict[str, tuple[float, float]]:
    """Return the lowest and highest mean that tied scores allow, if they differ visibly.

    The order of grades does not bound measures of diversity, nor estimates from a sample.
    """
    judgments, depth = load_judgments(edition.pk), edition.track.depth
    lowest, highest = (judge(turned(read, judgments, way), judgments, depth) for way in (-1, 1))
    ranked = filter(is_of_rankings, edition.track.measures)
    measures = {text: resolve_measure(edition.track, text) for text in ranked}
    found = {
        text: tie_interval(measure, lowest, highest)
        for text, measure in measures.items()
        if measure.name not in (*DIVERSITY, *SAMPLED)
    }
    return {
        text: (low, high) for text, (low, high) in found.items() if high - low > VISIBLE_DIFFERENCE
    }


def compute_scores(
    run: Run, judged: JudgedRun, score_set: ScoreSet, measures: Iterable[str]
) -> list[Score]:
    """Compute the scores of a judged run on these measures; its set keeps their bounds.

    A measure that is not of rankings is computed as the kind of the run says. One is undefined on
    every topic if judgments or marks cannot give it, as those of an earlier version may not.
    """
    edition, texts = score_set.edition, list(measures)
    of_kind = [text for text in texts if not is_of_rankings(text)]
    marked = kind_of(edition.track).score(run, edition, of_kind)
    score_set.bounds |= {
        text: each.pack()
        for text, each in marked.items()
        if each.judged < 1 and np.isfinite([each.low, each.high]).all()
    }
    nothing = np.full(len(judged.judgments.topics), np.nan)
    found = {text: nothing for text in of_kind} | {t: each.values for t, each in marked.items()}
    ranked = (text for text in texts if text not in found)
    found |= {text: score_ranking(judged, edition, text) for text in ranked}
    return [build_score(edition, text, found[text]) for text in texts]


def score_ranking(judged: JudgedRun, edition: Edition, text: str) -> NDArray[np.float64]:
    """Return the scores of a judged run on a measure of rankings, by evaluated topic."""
    measure = resolve_measure(edition.track, text)
    is_of_documents = edition.track.reads_judgments
    if is_of_documents and explain_missing_judgments(measure, edition.judgment_set):
        return np.full(len(judged.judgments.topics), np.nan)
    values: NDArray[np.float64] = measure.scores(judged)
    return values


def build_score(edition: Edition, text: str, values: NDArray[np.float64]) -> Score:
    measure, undefined = resolve_measure(edition.track, text), int(np.isnan(values).sum())
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
    return measure_run(run, open_run(run), edition, tied=TIES_CODE in run.problem_totals)
