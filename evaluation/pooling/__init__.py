"""Pools to judge, unjudged documents, and their effect on results."""

from evaluation.pooling.budgets import Stratum, rbp_pool, rrf_pool, stratified_pool, take_pool
from evaluation.pooling.depths import PoolDepth, compare_depths
from evaluation.pooling.holes import (
    ADDITIVE,
    Holes,
    PairBounds,
    Swing,
    compare_with_holes,
    holes,
    worth,
)
from evaluation.pooling.pools import (
    Place,
    Pool,
    Pooled,
    PoolSummary,
    depth_pool,
    depth_table,
    order_for_judging,
)
from evaluation.pooling.reusability import (
    Reusability,
    TeamLeftOut,
    TeamRuns,
    leave_one_team_out,
    without_judgments,
)

__all__ = [
    "ADDITIVE",
    "Holes",
    "PairBounds",
    "Place",
    "Pool",
    "PoolDepth",
    "PoolSummary",
    "Pooled",
    "Reusability",
    "Stratum",
    "Swing",
    "TeamLeftOut",
    "TeamRuns",
    "compare_depths",
    "compare_with_holes",
    "depth_pool",
    "depth_table",
    "holes",
    "leave_one_team_out",
    "order_for_judging",
    "rbp_pool",
    "rrf_pool",
    "stratified_pool",
    "take_pool",
    "without_judgments",
    "worth",
]
