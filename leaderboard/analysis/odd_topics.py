"""Topics whose judgments may have errors, and how many of them chance alone would give."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy  # type: ignore[import-untyped]

from leaderboard.analysis.summaries import JudgedTopic, load_judged_topics
from leaderboard.analysis.topic_map import build_topic_map
from leaderboard.boards.standings import Board
from leaderboard.display.numbers import count, counted, signed
from leaderboard.models import Topic

# A topic with a larger share of relevant documents cannot distinguish runs.
MOSTLY_RELEVANT = 0.6


@dataclass(frozen=True)
class OddTopics:
    """Odd topics, each with what is odd about it.

    `share` is that of relevant documents among all judged ones; `chance_empty` and `chance_full`
    are how many topics without, or mostly with, relevant documents one would expect if every
    judged document were relevant with this probability.
    """

    rows: list[tuple[Topic, str]]
    num_empty: int = 0
    num_full: int = 0
    num_inverted: int = 0
    share: float = 0.0
    chance_empty: float = 0.0
    chance_full: float = 0.0

    def __len__(self) -> int:
        return len(self.rows)


def find_odd_topics(board: Board | None) -> OddTopics:
    """Return the topics of a board whose judgments may have errors; none without a board."""
    if board is None:
        return OddTopics([])
    topics = load_judged_topics(board.edition, list(board.edition.track.collection.topics.all()))
    judged = [each for each in topics if each.judged]
    empty = [each for each in judged if not each.relevant]
    full = [each for each in judged if each.relevant > MOSTLY_RELEVANT * each.judged]
    inverted = build_topic_map(board).inverted
    total = sum(each.judged for each in judged)
    share = sum(each.relevant for each in judged) / total if total else 0.0
    sizes = [each.judged for each in judged]
    return OddTopics(
        [
            *((each.topic, f"none of {_documents(each)} is relevant") for each in empty),
            *(
                (each.topic, f"{count(each.relevant)} of {_documents(each)} are relevant")
                for each in full
            ),
            *(
                (each.topic, f"inverts the order of runs, r = {signed(each.correlation, 2)}")
                for each in inverted
            ),
        ],
        len(empty),
        len(full),
        len(inverted),
        share,
        *expect_by_chance(sizes, share),
    )


def _documents(topic: JudgedTopic) -> str:
    return counted(topic.judged, "judged document")


def expect_by_chance(sizes: list[int], share: float) -> tuple[float, float]:
    """Return how many topics chance leaves without relevant documents, and how many mostly with.

    `sizes` are the judged documents of each topic, each relevant with the probability `share`.

    >>> expect_by_chance([1, 2], 0.5)
    (0.75, 0.75)
    """
    judged = np.array(sizes, dtype=float)
    empty = float(np.power(1 - share, judged).sum())
    # At most this many relevant documents are not mostly relevant.
    most = np.array([math.floor(MOSTLY_RELEVANT * size) for size in sizes], dtype=float)
    full = float((1 - scipy.special.bdtr(most, judged.astype(int), share)).sum())
    return round(empty, 6), round(full, 6)
