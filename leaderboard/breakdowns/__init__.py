"""Behind a number: a run by topics, a topic by runs, one ranking, two runs beside each other."""

from leaderboard.breakdowns.pairs import Pair, compare_runs
from leaderboard.breakdowns.rankings import RankingPage, ranking_page, topic_or_404
from leaderboard.breakdowns.runs import RunBreakdown, run_breakdown
from leaderboard.breakdowns.scores import Scores, read_scores
from leaderboard.breakdowns.topics import TopicBreakdown, topic_breakdown, topic_summaries

__all__ = [
    "Pair",
    "RankingPage",
    "RunBreakdown",
    "Scores",
    "TopicBreakdown",
    "compare_runs",
    "ranking_page",
    "read_scores",
    "run_breakdown",
    "topic_breakdown",
    "topic_or_404",
    "topic_summaries",
]
