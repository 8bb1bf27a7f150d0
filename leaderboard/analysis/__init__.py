"""The analyses behind a board: a run by topics, a topic by runs, a ranking, a pair of runs."""

from leaderboard.analysis.origins import Origin, find_origin
from leaderboard.analysis.pairs import RunPair, compare_runs
from leaderboard.analysis.rankings import RankingPage, build_ranking_page, topic_or_404
from leaderboard.analysis.runs import RunBreakdown, build_run_breakdown
from leaderboard.analysis.scores import Scores, read_scores
from leaderboard.analysis.summaries import (
    TopicSummary,
    build_topic_summaries,
    count_judgments,
    load_judged_topics,
)
from leaderboard.analysis.topics import RunOnTopic, TopicBreakdown, build_topic_breakdown
from leaderboard.analysis.waiting import WaitingRuns, find_waiting_runs

__all__ = [
    "Origin",
    "RankingPage",
    "RunBreakdown",
    "RunOnTopic",
    "RunPair",
    "Scores",
    "TopicBreakdown",
    "TopicSummary",
    "WaitingRuns",
    "build_ranking_page",
    "build_run_breakdown",
    "build_topic_breakdown",
    "build_topic_summaries",
    "compare_runs",
    "count_judgments",
    "find_origin",
    "find_waiting_runs",
    "load_judged_topics",
    "read_scores",
    "topic_or_404",
]
