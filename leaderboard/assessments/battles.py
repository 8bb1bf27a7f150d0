"""Which pair of runs a voter sees next, and the votes as the evaluation takes them."""

from __future__ import annotations

import secrets
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from random import SystemRandom
from typing import cast

import numpy as np
from django.db.models import Count

from evaluation.answers.lengths import count_words
from evaluation.battles import KINDS, Choice, Kind, Vote, draw_pair, weigh_by_information
from evaluation.ragged import FloatArray
from leaderboard.models import Battles, BattleVote, Run, Topic, User
from leaderboard.runs.answers import load_answer
from leaderboard.sight.battles import runs_for_voter
from leaderboard.sight.tracks import TrackSight

# More runs than this are too many pairs for one page; the latest take part.
MOST_RUNS = 300
# Pairs without a word on either side are drawn again so often.
MOST_EMPTY = 50
Pair = tuple[str, str]


@dataclass(frozen=True)
class SideLength:
    """How much stands at a side; None for a ranking."""

    words: int | None
    citations: int | None


@dataclass(frozen=True)
class VotingProgress:
    """How many pairs a voter decided, of all that there are."""

    done: int
    all: int


def measure_voting(sight: TrackSight, battles: Battles) -> VotingProgress:
    runs = min(runs_for_voter(sight).count(), MOST_RUNS)
    topics = sight.track.collection.num_topics
    done = battles.votes.cast().filter(user=sight.viewer).count()
    return VotingProgress(done, runs * (runs - 1) // 2 * topics)


def find_open_pair(battles: Battles, user: User) -> BattleVote | None:
    """Return the pair that a voter was shown and has not decided."""
    waiting = battles.votes.waiting().filter(user=user)
    return waiting.select_related("topic", "first__track", "second__track").first()


def draw_battle(sight: TrackSight, battles: Battles) -> BattleVote | None:
    """Build the next pair of a voter, with its sides at random; None where none is left.

    Removed runs and those of the voter's team are in no pair, and no pair is empty on both sides.
    """
    known = runs_for_voter(sight).order_by("-received_at", "pk")[:MOST_RUNS]
    runs = {run.pk: run for run in sorted(known, key=lambda run: run.pk)}
    topics = list(sight.track.collection.topics.order_by("position"))
    pairs = list(combinations(runs, 2))
    weights, seen = weigh_pairs(battles, pairs), find_seen(sight, battles)
    for _ in range(MOST_EMPTY):
        left = np.array([len(topics) - len(seen[pair]) for pair in pairs], dtype=np.int64)
        drawn = draw_pair(weights, left, SystemRandom().random())
        if drawn is None:
            return None
        first, second = pair = pairs[drawn.place]
        vote = BattleVote(
            battles=battles,
            user=sight.viewer,
            topic=secrets.choice([topic for topic in topics if topic.pk not in seen[pair]]),
            first=runs[first],
            second=runs[second],
            is_turned=bool(secrets.randbelow(2)),
            probability=drawn.probability,
        )
        left_side, right_side = (measure_side(run, vote.topic) for run in (vote.left, vote.right))
        vote.left_words, vote.left_citations = left_side.words, left_side.citations
        vote.right_words, vote.right_citations = right_side.words, right_side.citations
        if (vote.left_words, vote.right_words) != (0, 0):
            return vote
        seen[pair].add(vote.topic_id)
    return None


def find_seen(sight: TrackSight, battles: Battles) -> defaultdict[Pair, set[int]]:
    """Return by pair of runs the topics on which the voter has seen it."""
    seen: defaultdict[Pair, set[int]] = defaultdict(set)
    shown = battles.votes.filter(user=sight.viewer).values_list("first", "second", "topic")
    for first, second, topic in shown:
        seen[first, second].add(topic)
    return seen


def weigh_pairs(battles: Battles, pairs: list[Pair]) -> FloatArray:
    """float64[pairs]: how much rather each is drawn than others."""
    if battles.drawing == Battles.Drawing.RANDOM:
        return np.ones(len(pairs))
    points, played = count_points(battles)
    return weigh_by_information(
        np.array([points[pair] for pair in pairs], dtype=np.float64),
        np.array([played[pair] for pair in pairs], dtype=np.float64),
    )


def count_points(battles: Battles) -> tuple[Counter[Pair], Counter[Pair]]:
    """Return by pair the votes of people for its first run, ties half, and all of them."""
    points: Counter[Pair] = Counter()
    played: Counter[Pair] = Counter()
    cast = battles.votes.cast().filter(kind=BattleVote.Kind.PERSON)
    rows = cast.values_list("first", "second", "choice", "is_turned").annotate(Count("pk"))
    for first, second, choice, is_turned, times in rows.order_by():
        decided = choice in ("left", "right")
        won = (choice == "left") != is_turned if decided else 0.5
        points[first, second] += won * times
        played[first, second] += times
    return points, played


def measure_side(run: Run, topic: Topic) -> SideLength:
    """Return how much a run says on a topic."""
    if not run.answer_file:
        return SideLength(None, None)
    answer = load_answer(run, topic.number)
    if answer is None:
        return SideLength(0, 0)
    citations = sum(len(sentence.citations) for sentence in answer.sentences)
    return SideLength(count_words(answer.texts), citations)


def load_all_votes(battles: Battles, by_id: bool = False) -> Iterator[Vote]:
    """Yield the votes of people, then those of machines."""
    for kind in KINDS:
        yield from load_votes(battles, kind, by_id)


def load_votes(battles: Battles, kind: Kind, by_id: bool = False) -> list[Vote]:
    """Return the votes of people or of machines on runs in place, users under pseudonyms.

    Runs go by their tags, or by their ids.
    """
    cast_votes = battles.votes.cast().of_runs_in_place().filter(kind=kind)
    rows = cast_votes.select_related("topic", "first", "second").order_by("pk")
    voters: dict[int | None, str] = {}
    return [
        Vote(
            topic=row.topic.number,
            left=row.left.pk if by_id else str(row.left),
            right=row.right.pk if by_id else str(row.right),
            choice=cast(Choice, row.choice),
            voter=row.name or voters.setdefault(row.user_id, f"V{len(voters) + 1}"),
            kind=kind,
            reason=row.reason,
            left_words=row.left_words,
            right_words=row.right_words,
            left_citations=row.left_citations,
            right_citations=row.right_citations,
            probability=row.probability,
            at=row.voted_at,
        )
        for row in rows
    ]
