"""Which pair of runs a voter sees next, and the votes as the evaluation takes them."""

from __future__ import annotations

import secrets
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from random import SystemRandom
from typing import cast

import numpy as np
from django.db.models import Count
from django.utils import timezone

from evaluation.answers.lengths import count_words
from evaluation.battles import KINDS, Choice, Kind, Vote, draw_pair, weigh_by_information
from evaluation.problems import Problems
from evaluation.ragged import FloatArray
from evaluation.reading.judging.votes import VoteFile
from leaderboard.models import Battles, BattleVote, Run, Topic, User
from leaderboard.runs.answers import load_answer
from leaderboard.sight.battles import runs_for_voter
from leaderboard.sight.tracks import TrackSight

# More runs than this are too many pairs for one page; the latest take part.
MOST_RUNS = 300
# How often a pair without a word on either side is drawn again.
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
    left = np.array([len(topics) - len(seen[pair]) for pair in pairs], dtype=np.int64)
    for _ in range(MOST_EMPTY):
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
        left[drawn.place] -= 1
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


@dataclass(frozen=True)
class VoteNames:
    """The topics, the runs by tag and by id, and the votes under names that a track has."""

    topics: Mapping[str, int]
    runs: Mapping[str, list[str]]
    votes: Collection[tuple[str, str, int, str, str]]

    @classmethod
    def of(cls, battles: Battles) -> VoteNames:
        runs: dict[str, list[str]] = {}
        known = battles.track.runs.accepted().not_removed()
        for pk, tag in known.values_list("pk", "tag"):
            runs.setdefault(tag, []).append(pk)
            runs[pk] = [pk]
        topics = battles.track.collection.topics.values_list("number", "pk")
        named = battles.votes.filter(user=None)
        votes = named.values_list("kind", "name", "topic", "first", "second")
        return cls(dict(topics), runs, set(votes))

    def build_all(self, battles: Battles, read: VoteFile) -> list[BattleVote]:
        """Return the rows of votes; raises Refused with what of them is not known."""
        problems = Problems()
        pairs = zip(read.lines, read.votes, strict=True)
        rows = [self._build(battles, line, vote, problems) for line, vote in pairs]
        problems.fold(max(read.lines, default=0))
        problems.raise_if_refused()
        return [row for row in rows if row is not None]

    def _build(
        self, battles: Battles, line: int, vote: Vote, problems: Problems
    ) -> BattleVote | None:
        """Return the row of a vote; None where something of it is not known."""
        before = problems.errors
        if not vote.voter:
            problems.error("E_FIELD", line, 'the field "voter" is missing')
        topic = self.topics.get(vote.topic)
        if topic is None:
            message = "the collection has no such topic"
            problems.error("E_UNKNOWN_TOPIC", line, message, vote.topic)
        left, right = (self._run(line, tag, problems) for tag in (vote.left, vote.right))
        first, second = min(left, right), max(left, right)
        if topic is not None and (vote.kind, vote.voter, topic, first, second) in self.votes:
            message = f"{vote.voter} has voted on this pair already"
            problems.error("E_DUP_VOTE", line, message, vote.topic)
        if problems.errors > before:
            return None
        return BattleVote(
            battles=battles,
            topic_id=topic,
            first_id=first,
            second_id=second,
            is_turned=left != first,
            kind=vote.kind,
            name=vote.voter[:128],
            choice=vote.choice,
            reason=vote.reason[:1000],
            probability=vote.probability,
            left_words=vote.left_words,
            right_words=vote.right_words,
            left_citations=vote.left_citations,
            right_citations=vote.right_citations,
            voted_at=vote.at or timezone.now(),
        )

    def _run(self, line: int, tag: str, problems: Problems) -> str:
        """Return the id of the run that a vote names; report another name."""
        found = self.runs.get(tag, [])
        if len(found) == 1:
            return found[0]
        if found:
            hint = "Name the run by its id, which is in its address."
            problems.error("E_TAG", line, "several runs have this tag", tag, hint)
        else:
            problems.error("E_UNKNOWN_RUN", line, "the track has no such run", tag)
        return ""
