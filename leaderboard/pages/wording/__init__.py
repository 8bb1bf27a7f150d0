"""Sentences of the pages of a track."""

from leaderboard.pages.wording.analyses import (
    cost_verdict,
    count_runs_with_cost,
    describe_adjustment,
    describe_pair_test,
    describe_test,
    describe_tied_range,
    gain_verdict,
    holes_verdict,
    impact_verdict,
    name_of_withdrawer,
    pair_verdict,
    topic_verdict,
    warn_of_few_judged,
)
from leaderboard.pages.wording.boards import (
    board_verdict,
    describe_exclusion,
    describe_missing_measures,
    describe_power,
    describe_provisional_state,
    describe_selection,
    describe_strips,
    describe_trust,
    warn_of_unjudged,
)
from leaderboard.pages.wording.phrases import Phrase, Sentence
from leaderboard.pages.wording.statistics import STATISTICS, Statistic

__all__ = [
    "STATISTICS",
    "Phrase",
    "Sentence",
    "Statistic",
    "board_verdict",
    "cost_verdict",
    "count_runs_with_cost",
    "describe_adjustment",
    "describe_exclusion",
    "describe_missing_measures",
    "describe_pair_test",
    "describe_power",
    "describe_provisional_state",
    "describe_selection",
    "describe_strips",
    "describe_test",
    "describe_tied_range",
    "describe_trust",
    "gain_verdict",
    "holes_verdict",
    "impact_verdict",
    "name_of_withdrawer",
    "pair_verdict",
    "topic_verdict",
    "warn_of_few_judged",
    "warn_of_unjudged",
]
