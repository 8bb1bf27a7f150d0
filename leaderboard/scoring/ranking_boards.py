"""The board of rankings of systems beside the board of their scores, computed by a job."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluation.agreement.system_rankings import (
    RankedSystems,
    RankingsBoard,
    Truth,
    compare_rankings,
)
from evaluation.reading.system_rankings import FEWEST_SYSTEMS
from evaluation.significance import scale_of
from leaderboard.models import Edition, Run, Track
from leaderboard.scoring.editions import start_edition
from leaderboard.scoring.judgments import (
    load_topic_numbers,
    resolve_measure,
    tested_groups,
    tested_topics,
)
from leaderboard.scoring.system_runs import align_systems
from leaderboard.scoring.truths import SystemScores, load_truth


def follow_systems(track: Track) -> None:
    """Have rankings of the systems of a track scored by its board, where that changed."""
    beside = Track.objects.filter(benchmark=track.benchmark_id, collection=track.collection_id)
    for follower in beside.filter(systems=track.slug).select_related("judgment_set"):
        if follower.truth is not None:
            start_edition(follower)


def compute_rankings_board(edition: Edition, rankings: list[Run], statistic: str) -> dict[str, Any]:
    """Compare the rankings on the board of an edition with its systems; return that as JSON."""
    scores = load_truth(edition)
    topics = tested_topics(edition)
    if len(scores.systems) < FEWEST_SYSTEMS or not topics:
        return {"topics": len(topics), "systems": [], "judges": []}
    given = {run.pk: align_systems(run, scores.systems) for run in rankings}
    entrants = {
        run.pk: RankedSystems(given[run.pk], has_levels=run.format == "scores") for run in rankings
    }
    board = compare_rankings(build_truth(edition, scores, topics), entrants, statistic)
    return {
        "topics": len(topics),
        "systems": [
            {"id": system, "mean": mean}
            for system, mean in zip(scores.systems, scores.means.tolist(), strict=True)
        ],
        "judges": [_pack_entrant(board, place, given) for place in board.order],
    }


def build_truth(edition: Edition, scores: SystemScores, topics: list[bytes]) -> Truth:
    """Return the scores of the systems on these topics, on the scale that their board ranks by."""
    numbers = load_topic_numbers(edition.track.collection_id)
    place = {number: at for at, number in enumerate(numbers)}
    by_topic = scores.by_topic[:, [place[topic] for topic in topics]]
    measure = resolve_measure(edition.track, scores.measure)
    return Truth(
        scale_of(measure).tested(by_topic),
        scores.means,
        scores.direction,
        tested_groups(edition),
    )


def _pack_entrant(
    board: RankingsBoard, place: int, given: dict[str, np.ndarray[Any, Any]]
) -> dict[str, Any]:
    each, pairs = board.standings[place], board.pairs
    scores = given[each.name]
    return {
        "id": each.name,
        "named": each.named,
        "error": each.error,
        "bias": each.bias,
        "letters": pairs.letters[place],
        "ranks": [int(pairs.rank_low[place]), int(pairs.rank_high[place])],
        "has_rank": pairs.critical is not None and bool(pairs.members[place]),
        "statistics": {
            name: [found.value, found.low, found.high] for name, found in each.statistics.items()
        },
        "scores": [None if np.isnan(score) else float(score) for score in scores],
    }
