"""How many topics and how deep a pool the next collection needs, from a board."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from evaluation.measures import parse_measure
from evaluation.pooling import PoolDepth, compare_depths
from evaluation.significance import (
    Variances,
    anova_topics,
    interval_topics,
    minimum_detectable,
    topics_needed,
    variances_of,
)
from leaderboard.analysis.rescoring import is_too_large, load_rescoring
from leaderboard.boards.columns import Cell
from leaderboard.boards.standings import Board
from leaderboard.scoring.comparisons import score_matrix

DEPTHS = (5, 10, 20, 50, 100)
# Below this effect size the topics would be millions.
SMALLEST_EFFECT = 0.001
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


@dataclass(frozen=True)
class TopicLine:
    """A design of an experiment with the topics it needs; None where they are millions."""

    design: str
    runs: int
    detects: str
    size: float
    topics: int | None

    COLUMNS = ("design", "runs", "detects", "size", "topics")

    @property
    def cells(self) -> list[Cell]:
        """The values of `COLUMNS`."""
        return [self.design, self.runs, self.detects, self.size, self.topics]


@dataclass(frozen=True)
class DepthLine:
    """The board of a pool of one depth, with the hours to judge it."""

    pool: PoolDepth
    hours: float

    COLUMNS = ("depth", "documents", "judged", "relevant", "hours", "tau_b", "tau_ap")

    @property
    def cells(self) -> list[Cell]:
        """The values of `COLUMNS`."""
        pool = self.pool
        counts = (pool.depth, pool.documents, pool.judged, pool.relevant)
        return [*counts, self.hours, pool.tau, pool.tau_ap]


def find_variances(board: Board) -> Variances | None:
    """Estimate the variances of a board's measure; None where it has none to plan with.

    Designs are for means, so sums and geometric means have none.
    """
    if parse_measure(board.measure).definition.aggregate != "mean":
        return None
    try:
        found = variances_of(score_matrix(board.edition, board.measure, board.ranked_ids))
    except ValueError:
        return None
    return found if found.residual > 0 and found.paired > 0 else None


def typed_variances(variance: float) -> Variances:
    """Return the variances that one within runs stands for: differences vary twice as much."""
    return Variances(variance, 2 * variance)


def plan_topics(request: PlanRequest, variances: Variances) -> list[TopicLine]:
    """Return the topics that each design needs."""
    effect = request.difference / variances.paired**0.5
    return [
        TopicLine("paired t", 2, "difference", request.difference, _paired(request, effect)),
        TopicLine(
            *("ANOVA", request.runs, "difference", request.difference),
            _anova(request, variances.residual),
        ),
        TopicLine(*("interval", 2, "width", request.width), _interval(request, variances.paired)),
    ]


def find_detectable(board: Board, request: PlanRequest, variances: Variances) -> float | None:
    """Return the smallest difference that two runs on the topics of this board show."""
    topics = board.edition.num_evaluated
    if topics < 2:
        return None
    return minimum_detectable(topics, request.power, request.alpha) * float(variances.paired**0.5)


def plan_depths(board: Board, seconds: float) -> list[DepthLine]:
    """Return the boards of pools of each depth; none where the runs are too many to read."""
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


def _paired(request: PlanRequest, effect: float) -> int | None:
    if effect < SMALLEST_EFFECT:
        return None
    return topics_needed(min(effect, LARGEST_EFFECT), request.power, request.alpha)


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
