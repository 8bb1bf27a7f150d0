"""Sentences of the pages of a track."""

from leaderboard.pages.wording.analyses import (
    cost_verdict,
    describe_test,
    gain_verdict,
    holes_verdict,
    impact_verdict,
    left_open,
    little_judged,
    pair_test,
    pair_verdict,
    stating,
    topic_verdict,
    withdrawn_by,
)
from leaderboard.pages.wording.boards import (
    board_verdict,
    left_out,
    made_without,
    much_unjudged,
    power,
    provisional,
    selection_rule,
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
    "describe_test",
    "gain_verdict",
    "holes_verdict",
    "impact_verdict",
    "left_open",
    "left_out",
    "little_judged",
    "made_without",
    "much_unjudged",
    "pair_test",
    "pair_verdict",
    "power",
    "provisional",
    "selection_rule",
    "stating",
    "topic_verdict",
    "withdrawn_by",
]
