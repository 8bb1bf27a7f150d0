"""What looks wrong with an accepted run as a whole: its ranks against its scores, and ties."""

from __future__ import annotations

import numpy as np

from evaluation.problems import Problems
from evaluation.reading.run_lines import TopicLines

FEW = 5
MOST = 0.9

Topics = dict[bytes, TopicLines]


def check_ranks(by_topic: Topics, problems: Problems) -> None:
    """W_UPSIDE_DOWN, W_RANK and the note W_RANK_FROM_0; ranks change no score."""
    from_zero = sum(min(rows.ranks) == 0 for rows in by_topic.values())
    if from_zero >= MOST * len(by_topic):
        message = f"the ranks start at 0 in {from_zero:,} of {len(by_topic):,} topics"
        problems.note("W_RANK_FROM_0", None, message, hint="Ranks decide nothing; scores do.")
    differing = [rows for rows in by_topic.values() if not _ranks_follow_scores(rows)]
    if not differing:
        return
    long = [rows for rows in by_topic.values() if len(rows.ranks) >= FEW] or by_topic.values()
    upside_down = sum(_scores_rise_with_rank(rows) for rows in long)
    if upside_down >= MOST * len(long):
        problems.warn(
            "W_UPSIDE_DOWN",
            differing[0].lines[0],
            f"in {upside_down:,} of {len(long):,} topics the scores rise with the rank;"
            " the highest score is the first all the same",
            hint="If the scores are distances, negate them.",
        )
        return
    problems.warn(
        "W_RANK",
        differing[0].lines[0],
        f"in {len(differing):,} of {len(by_topic):,} topics the ranks disagree with the scores;"
        " the scores decide",
    )


def _ranks_follow_scores(rows: TopicLines) -> bool:
    ranks, scores = np.array(rows.ranks), np.array(rows.scores)
    by_score = np.lexsort((ranks, -scores))
    return bool(np.all(np.diff(ranks[by_score]) > 0))


def _scores_rise_with_rank(rows: TopicLines) -> bool:
    """Whether Spearman's correlation of rank and score is positive (ties in order of the file)."""
    if len(set(rows.ranks)) == 1:
        return False
    by_rank, by_score = (
        np.argsort(rows.ranks, kind="stable"),
        np.argsort(rows.scores, kind="stable"),
    )
    places = np.empty((2, len(by_rank)))
    places[0, by_rank] = places[1, by_score] = np.arange(len(by_rank)) - (len(by_rank) - 1) / 2
    return bool(places[0] @ places[1] > 0)


def check_ties(by_topic: Topics, cutoff: int | None, problems: Problems) -> None:
    """W_TIES and, where the cutoff of the track's measure is known, the note W_TIES_AT_CUTOFF."""
    equal = [topic for topic, rows in by_topic.items() if _all_tied(rows)]
    tied = [topic for topic, rows in by_topic.items() if _mostly_tied(rows)]
    if equal:
        rows = by_topic[equal[0]]
        message = f"all {len(rows.docnos):,} scores of topic {equal[0].decode()} are equal"
        message += f" ({len(equal):,} of {len(by_topic):,} topics)"
    elif tied:
        message = f"in {len(tied):,} of {len(by_topic):,} topics (first: {tied[0].decode()}) most"
        message += " documents share their score with another"
    if tied:
        line = by_topic[(equal or tied)[0]].lines[0]
        hint = "Documents with equal scores are ordered by docno descending, not by your ranks."
        problems.warn("W_TIES", line, message, hint=hint)
    if cutoff is not None:
        _check_cutoff(by_topic, cutoff, problems)


def _check_cutoff(by_topic: Topics, cutoff: int, problems: Problems) -> None:
    open_topics = [topic for topic, rows in by_topic.items() if _ties_across(rows, cutoff)]
    if open_topics:
        topic = open_topics[0].decode()
        message = f"ties go across rank {cutoff:,} in {len(open_topics):,} topics (first: {topic})"
        hint = "Which of these documents count is decided by docno descending."
        problems.note("W_TIES_AT_CUTOFF", None, message, hint=hint)


def _ties_across(rows: TopicLines, cutoff: int) -> bool:
    if len(rows.scores) <= cutoff:
        return False
    scores = np.sort(rows.scores)[::-1]
    return bool(scores[cutoff - 1] == scores[cutoff])


def _all_tied(rows: TopicLines) -> bool:
    return len(rows.scores) > 1 and min(rows.scores) == max(rows.scores)


def _mostly_tied(rows: TopicLines) -> bool:
    _, counts = np.unique(rows.scores, return_counts=True)
    return 2 * int(counts[counts > 1].sum()) > len(rows.scores)
