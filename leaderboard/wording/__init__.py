"""What the pages of a track say in whole sentences; templates print them piece by piece."""

from leaderboard.wording.boards import (
    board_verdict,
    left_out,
    made_without,
    much_unjudged,
    power,
    provisional,
    selection_rule,
)
from leaderboard.wording.costs import cost_verdict, stating
from leaderboard.wording.holes import holes_verdict
from leaderboard.wording.impact import impact_verdict
from leaderboard.wording.pairs import pair_test, pair_verdict
from leaderboard.wording.phrases import Phrase, Sentence
from leaderboard.wording.rankings import gain_verdict
from leaderboard.wording.runs import left_open, little_judged, withdrawn_by
from leaderboard.wording.significance import describe_test
from leaderboard.wording.statistics import STATISTICS, Statistic
from leaderboard.wording.topics import topic_verdict

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
