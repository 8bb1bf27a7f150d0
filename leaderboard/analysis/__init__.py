"""The analyses behind a board: a run by topics, a topic by runs, a ranking, a pair of runs."""

from leaderboard.analysis.origins import Origin, origin_of
from leaderboard.analysis.pairs import Pair, compare_runs
from leaderboard.analysis.rankings import RankingPage, ranking_page, topic_or_404
from leaderboard.analysis.runs import RunBreakdown, run_breakdown
from leaderboard.analysis.scores import Scores, read_scores
from leaderboard.analysis.summaries import (
    TopicSummary,
    judged_topics,
    judgment_counts,
    topic_summaries,
)
from leaderboard.analysis.topics import Answer, TopicBreakdown, topic_breakdown
from leaderboard.analysis.waiting import WaitingRuns, waiting_runs

__all__ = [
    "Answer",
    "Origin",
    "Pair",
    "RankingPage",
    "RunBreakdown",
    "Scores",
    "TopicBreakdown",
    "TopicSummary",
    "WaitingRuns",
    "compare_runs",
    "judged_topics",
    "judgment_counts",
    "origin_of",
    "ranking_page",
    "read_scores",
    "run_breakdown",
    "topic_breakdown",
    "topic_or_404",
    "topic_summaries",
    "waiting_runs",
]
