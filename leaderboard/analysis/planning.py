"""How many topics and how deep a pool the next collection needs, from a board."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evaluation.answers.any_measure import is_of_rankings, parse_measure
from evaluation.pooling import PoolDepth, compare_depths
from evaluation.significance import (
    Variances,
    anova_topics,
    critical_before,
    detectable_effect,
    interval_topics,
    pair_deviations,
    topics_in_family,
    variances_of,
)
from evaluation.significance.across import Family
from evaluation.significance.units import FEWEST_TOPICS
from leaderboard.analysis.rescoring import is_too_large, load_rescoring
from leaderboard.boards.disclosure import Sight, sights_of
from leaderboard.boards.standings import Board, BoardChoice, find_untested_board
from leaderboard.display.csv_tables import CsvTable, tabulate
from leaderboard.models import Track
from leaderboard.scoring.judgments import tested_groups
from leaderboard.scoring.scores import score_matrix, tested_scores

# What a run named in advance is tested against.
DESIGNS: dict[Family, str] = {"baseline": "against the baseline", "all": "all pairs"}
DEPTHS = (5, 10, 20, 50, 100)
# Below this effect size the topics would be millions.
SMALLEST_EFFECT = 0.001
# Less is the rounding of runs that differ by the same on each topic.
SMALLEST_VARIANCE = 1e-9
# The numbers of topics in the table of costs, beside those that the plan needs.
USUAL_TOPICS = (25, 40, 50, 60, 80, 100)
MOST_PLANNED = 10_000
# The line of detectable differences: its first topics, its last at least and at most, its points.
FIRST_DRAWN, MOST_DRAWN, LAST_TOPIC, DRAWN = 10, 200, 2_000, 32
# Boards of the site to choose from, the newest.
MOST_SOURCES = 100
# Beyond this, two topics always suffice.
LARGEST_EFFECT = 100.0


@dataclass(frozen=True)
class PlanRequest:
    """What a reader wants to detect; `variance`, within runs, is None for that of the board."""

    difference: float
    width: float
    runs: int
    alpha: float
    power: float
    seconds: float
    variance: float | None = None
    # The hours that assessors have, and the share of documents that two of them judge.
    hours: float | None = None
    twice: float = 0.0

    def hours_of(self, documents: float) -> float:
        """Return the hours it takes to judge this many documents."""
        return documents * (1 + self.twice / 100) * self.seconds / 3600

    def is_over(self, hours: float) -> bool:
        """Whether these are more hours than assessors have."""
        return self.hours is not None and hours > self.hours


@dataclass(frozen=True)
class DesignLine:
    """A design of an experiment with the topics it needs; None where they are millions."""

    design: str
    runs: int
    detects: str
    size: float
    topics: int | None


@dataclass(frozen=True)
class DepthLine:
    """The board of a pool of one depth, with the hours to judge it."""

    pool: PoolDepth
    hours: float


@dataclass(frozen=True)
class JudgingCost:
    """The hours that topics and a depth of pool take."""

    hours: float
    is_over: bool
    is_planned: bool


@dataclass(frozen=True)
class JudgingCostLine:
    """A depth of pool with the documents of a topic, and the cost of each number of topics.

    `found` is the share of the relevant documents that the pool has.
    """

    pool: PoolDepth
    documents: float
    found: float
    costs: list[JudgingCost]


@dataclass(frozen=True)
class CostTable:
    """What numbers of topics cost by the depth of the pool, and which difference they detect.

    `planned` is the cost of the topics that the plan needs, in the deepest pool within the hours.
    """

    topics: list[int]
    detectable: list[float]
    lines: list[JudgingCostLine]

    @property
    def planned(self) -> tuple[JudgingCostLine, JudgingCost] | None:
        every = ((line, cost) for line in self.lines for cost in line.costs)
        return next((each for each in every if each[1].is_planned), None)


def find_sources(sight: Sight) -> list[Sight]:
    """Return the other tracks whose boards, with all scores, this viewer may see."""
    tracks = Track.objects.visible_to(sight.viewer).exclude(pk=sight.track.pk)
    tracks = tracks.select_related(
        "collection", "judgment_set", "edition__judgment_set", "public_edition__judgment_set"
    )
    sights = sights_of(list(tracks.order_by("-created_at")[:MOST_SOURCES]), sight.viewer)
    return [each for each in sights if each.can_see_scores and each.edition is not None]


def find_source_board(sources: Sequence[Sight], slug: str, measure: str) -> Board | None:
    """Return the board of one of these tracks, by this measure if it has it."""
    sight = next((each for each in sources if each.track.slug == slug), None)
    return find_untested_board(sight, BoardChoice(measure=measure)) if sight is not None else None


def find_variances(board: Board) -> Variances | None:
    """Estimate the variances of a board's measure; None where it has none to plan with.

    Designs are for means, so sums and geometric means have none.
    """
    if parse_measure(board.measure).definition.aggregate != "mean":
        return None
    try:
        found = variances_of(*_scores_in_groups(board))
    except ValueError:
        return None
    return found if min(found.residual, found.paired) >= SMALLEST_VARIANCE else None


def _scores_in_groups(board: Board) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    """Return the scores of the ranked runs, and the group of each topic if there are groups."""
    edition, groups = board.edition, tested_groups(board.edition)
    if groups is None:
        return score_matrix(edition, board.measure, board.ranked_ids), None
    return tested_scores(edition, board.measure, board.ranked_ids), groups


def typed_variances(variance: float) -> Variances:
    """Return the variances for one within runs: the variance of differences is twice as large."""
    return Variances(variance, 2 * variance)


def plan_topics(request: PlanRequest, variances: Variances) -> list[DesignLine]:
    """Return the topics that each design needs."""
    effect = request.difference / variances.paired**0.5
    return [
        *(
            DesignLine(
                DESIGNS[family],
                request.runs,
                "difference",
                request.difference,
                _in_topics(variances, _in_family(request, effect, family)),
            )
            for family in DESIGNS
        ),
        DesignLine(
            *("ANOVA", request.runs, "difference", request.difference),
            _in_topics(variances, _anova(request, variances.residual)),
        ),
        DesignLine(
            *("interval", 2, "width", request.width),
            _in_topics(variances, _interval(request, variances.paired)),
        ),
    ]


def _in_topics(variances: Variances, units: int | None) -> int | None:
    return None if units is None else variances.topics_of(units)


def tabulate_topics(lines: Iterable[DesignLine]) -> CsvTable:
    names = ("design", "runs", "detects", "size", "topics")
    return tabulate(lines, [(name, name) for name in names])


def tabulate_depths(lines: Iterable[DepthLine]) -> CsvTable:
    counts = ("depth", "documents", "judged", "relevant")
    columns = [
        *((name, f"pool.{name}") for name in counts),
        *(("hours", "hours"), ("tau_b", "pool.tau"), ("tau_ap", "pool.tau_ap")),
    ]
    return tabulate(lines, columns)


def find_detectable(board: Board, request: PlanRequest, variances: Variances) -> float | None:
    """Return the smallest difference that the topics of this board show of a run."""
    if board.num_units < FEWEST_TOPICS:
        return None
    return _detectable(board.num_units, request) * float(variances.paired**0.5)


@dataclass(frozen=True)
class DetectableCurves:
    """The difference that each number of topics detects, and that of quiet and of noisy pairs.

    float64[n] each; `low` and `high` bound the middle half of all pairs, None without a board.
    """

    topics: NDArray[np.float64]
    difference: NDArray[np.float64]
    low: NDArray[np.float64] | None
    high: NDArray[np.float64] | None


def compute_detectable(
    request: PlanRequest, variances: Variances, needed: int, board: Board | None
) -> DetectableCurves:
    """Compute the curve up to 200 topics, or to twice those that the plan needs."""
    last = min(max(MOST_DRAWN, 2 * variances.units_of(needed)), LAST_TOPIC)
    units = np.unique(np.geomspace(FIRST_DRAWN, last, DRAWN).round())
    effects = np.array([_detectable(int(n), request) for n in units.tolist()])
    units, effects = units[np.isfinite(effects)], effects[np.isfinite(effects)]
    topics = units if variances.per_group == 1 else (units * variances.per_group).round()
    low = high = None
    if board is not None and request.variance is None:
        pairs = pair_deviations(*_scores_in_groups(board))
        low, high = (effects * quartile for quartile in np.percentile(pairs, [25, 75]))
    return DetectableCurves(topics, effects * variances.paired**0.5, low, high)


def plan_costs(
    request: PlanRequest,
    variances: Variances,
    needed: int | None,
    depths: Sequence[DepthLine],
    board: Board,
) -> CostTable | None:
    """Return the hours for each depth of pool and number of topics; None without pools."""
    judged = board.edition.num_evaluated
    if not depths or not judged:
        return None
    has_room = needed is not None and needed <= MOST_PLANNED
    topics = sorted({*USUAL_TOPICS, *([needed] if needed is not None and has_room else [])})
    per_topic = [line.pool.documents / judged for line in depths]
    fitting = [
        place
        for place, documents in enumerate(per_topic)
        if needed is not None and not request.is_over(request.hours_of(documents * needed))
    ]
    deepest = max(fitting, default=None)
    deviation = variances.paired**0.5
    relevant = max(depths[-1].pool.relevant, 1)
    return CostTable(
        topics=topics,
        detectable=[_detectable(variances.units_of(n), request) * deviation for n in topics],
        lines=[
            JudgingCostLine(
                pool=line.pool,
                documents=documents,
                found=line.pool.relevant / relevant,
                costs=[
                    _cost(request, documents * n, place == deepest and n == needed) for n in topics
                ],
            )
            for place, (line, documents) in enumerate(zip(depths, per_topic, strict=True))
        ],
    )


def _cost(request: PlanRequest, documents: float, is_planned: bool) -> JudgingCost:
    hours = request.hours_of(documents)
    return JudgingCost(hours, request.is_over(hours), is_planned)


def plan_depths(board: Board, seconds: float) -> list[DepthLine]:
    """Return the boards of pools of each depth; none where the runs are too many to read.

    Nor are there any by marks of answers, which no pool has.
    """
    if not is_of_rankings(board.measure):
        return []
    if len(board.ranked) < 2 or is_too_large([standing.run for standing in board.ranked]):
        return []
    found = compute_depths(board.edition.pk, board.measure, tuple(board.ranked_ids))
    return [DepthLine(pool, pool.hours(seconds)) for pool in found]


# Neither the judgments of an edition nor an accepted run ever change.
@lru_cache(maxsize=64)
def compute_depths(edition_id: int, measure: str, family: tuple[str, ...]) -> tuple[PoolDepth, ...]:
    read = load_rescoring(edition_id, measure, family)
    direction = read.measure.direction
    return tuple(compare_depths(read.qrels, read.runs, DEPTHS, read.means, read.rel, direction))


def _detectable(units: int, request: PlanRequest) -> float:
    """Return the effect that a run named in advance shows on so many topics or groups.

    It is that against the baseline; NaN below six, where there is no verdict.
    """
    if units < FEWEST_TOPICS:
        return math.nan
    critical = critical_before(units, request.runs, "baseline", request.alpha)
    return detectable_effect(units, critical, request.power) or math.inf


def _in_family(request: PlanRequest, effect: float, family: Family) -> int | None:
    if effect < SMALLEST_EFFECT:
        return None
    effect = min(effect, LARGEST_EFFECT)
    try:
        return topics_in_family(effect, request.runs, family, request.power, request.alpha)
    except ValueError:
        return None


def _anova(request: PlanRequest, variance: float) -> int | None:
    try:
        return anova_topics(
            request.difference, variance, request.runs, request.power, request.alpha
        )
    except ValueError:
        return None


def _interval(request: PlanRequest, variance: float) -> int | None:
    try:
        return interval_topics(request.width, variance, 1 - request.alpha)
    except ValueError:
        return None
