"""The documents of a pool that could still change a verdict against the baseline first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evaluation.answers.any_measure import parse_measure
from evaluation.measures import Measure
from evaluation.pooling import compare_with_holes
from evaluation.pooling.pools import chance_of
from leaderboard.analysis.unjudged import (
    MOST_SCORES,
    bound_verdicts,
    choose_measure,
    is_sum_over_tops,
    load_top,
)
from leaderboard.models import Assessment, Run, Topic, Track
from leaderboard.scoring.judge_boards import family_by_judge
from leaderboard.scoring.judgments import load_judgments, resolve_measure

# Where no measure of the track is a sum over the first documents.
USUAL_MEASURE = "DCG@10"
# How much each unjudged document could change differences, by topic number and docno.
Swings = Mapping[tuple[str, str], float]


def has_verdicts(track: Track) -> bool:
    """Whether the board of a track compares runs with a baseline."""
    family = family_by_judge(track)
    return track.edition_id is not None and track.baseline_id in family and len(family) > 1


def find_swings(track: Track) -> Swings:
    """Return how much each document could change differences from the baseline.

    Only runs whose verdict could change count; a document counts for each of them.
    """
    assert track.edition_id is not None and track.baseline_id is not None
    measure, family = _choose(track), tuple(sorted(family_by_judge(track)))
    runs, judgments = Run.objects.in_bulk(family), load_judgments(track.edition_id)
    baseline = load_top(runs[track.baseline_id])
    cutoff = int(measure.parameters["k"])  # type: ignore[call-overload]
    swings: dict[tuple[str, str], float] = {}
    for run_id in _find_doubtful(track, measure, family, len(judgments.topics)):
        pair = compare_with_holes(measure, load_top(runs[run_id]), baseline, judgments, cutoff)
        for document in pair.swings:
            key = document.topic.decode(), document.docno.decode()
            swings[key] = swings.get(key, 0.0) + abs(document.swing)
    return swings


def _choose(track: Track) -> Measure:
    """Return the ranking measure if documents add up in it, or another such measure."""
    text = choose_measure(track.primary_measure, track.measures)
    if text and is_sum_over_tops(parse_measure(text)):
        return resolve_measure(track, text)
    return parse_measure(USUAL_MEASURE)


def _find_doubtful(
    track: Track, measure: Measure, family: tuple[str, ...], num_topics: int
) -> list[str]:
    """Return the runs whose verdict could change; all where there is none or it takes too long."""
    assert track.edition_id is not None and track.baseline_id is not None
    others = [run_id for run_id in family if run_id != track.baseline_id]
    if len(family) * num_topics > MOST_SCORES:
        return others
    bounds = bound_verdicts(track.edition_id, measure, track.baseline_id, family)
    return [run_id for run_id, verdict in bounds if not verdict.stands] or others


def sort_by_swing(
    assessment: Assessment, topic: Topic, docnos: Iterable[str], swings: Swings
) -> list[str]:
    """Put the documents that could change most first; those that change nothing by chance."""
    number = topic.number

    def decides(docno: str) -> tuple[float, bytes]:
        chance = chance_of(assessment.seed, number.encode(), docno.encode())
        return -swings.get((number, docno), 0.0), chance

    return sorted(docnos, key=decides)
