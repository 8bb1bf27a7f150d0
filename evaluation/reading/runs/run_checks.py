"""Checks of an accepted run as a whole: its ranks compared with its scores, and ties.

The checks need a few values of every topic: its `Traits`. `traits_of_lines` computes them topic by
topic and defines them; `traits_of_block` computes them for many topics at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from evaluation.phrases import counted
from evaluation.problems import Problems
from evaluation.reading.runs.rankings import Block
from evaluation.reading.runs.run_lines import TopicLines

FEW = 5
MOST = 0.9
# Up to this size, cubes of sizes are far below 2^63.
LONGEST_SUM = 1 << 20

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
Places = npt.NDArray[np.intp]
Topics = dict[bytes, TopicLines]


@dataclass(frozen=True, slots=True)
class Traits:
    """Traits of the topics of a run: one value per topic, in the order of the file.

    sizes: how many documents it has.
    from_zero: the lowest rank is 0.
    follow: the ranks agree with the scores, where ties may have any order.
    rise: the scores rise with the rank (Spearman, ties in the order of the file).
    all_tied, mostly_tied: all documents, or more than half, share their score with another.
    across: ties cross the cutoff of the track.
    """

    sizes: IntArray
    from_zero: BoolArray
    follow: BoolArray
    rise: BoolArray
    all_tied: BoolArray
    mostly_tied: BoolArray
    across: BoolArray

    @classmethod
    def join_traits(cls, parts: Sequence[Traits]) -> Traits:
        """Join the traits of successive parts of a run."""
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def traits_of_lines(by_topic: Topics, cutoff: int | None) -> Traits:
    every = list(by_topic.values())
    return Traits(
        sizes=np.array([len(rows.ranks) for rows in every]),
        from_zero=np.array([min(rows.ranks) == 0 for rows in every]),
        follow=np.array([_ranks_follow_scores(rows) for rows in every]),
        rise=np.array([_scores_rise_with_rank(rows) for rows in every]),
        all_tied=np.array([_all_tied(rows) for rows in every]),
        mostly_tied=np.array([_mostly_tied(rows) for rows in every]),
        across=np.array([_ties_across(rows, cutoff) for rows in every]),
    )


def _ranks_follow_scores(rows: TopicLines) -> bool:
    ranks, scores = np.array(rows.ranks), np.array(rows.scores)
    by_score = np.lexsort((ranks, -scores))
    return bool(np.all(np.diff(ranks[by_score]) > 0))


def _scores_rise_with_rank(rows: TopicLines) -> bool:
    if len(set(rows.ranks)) == 1:
        return False
    by_rank, by_score = (
        np.argsort(rows.ranks, kind="stable"),
        np.argsort(rows.scores, kind="stable"),
    )
    places = np.empty((2, len(by_rank)))
    places[0, by_rank] = places[1, by_score] = np.arange(len(by_rank)) - (len(by_rank) - 1) / 2
    return bool(places[0] @ places[1] > 0)


def _ties_across(rows: TopicLines, cutoff: int | None) -> bool:
    if cutoff is None or len(rows.scores) <= cutoff:
        return False
    scores = np.sort(rows.scores)[::-1]
    return bool(scores[cutoff - 1] == scores[cutoff])


def _all_tied(rows: TopicLines) -> bool:
    return len(rows.scores) > 1 and min(rows.scores) == max(rows.scores)


def _mostly_tied(rows: TopicLines) -> bool:
    _, counts = np.unique(rows.scores, return_counts=True)
    return 2 * int(counts[counts > 1].sum()) > len(rows.scores)


def traits_of_block(
    block: Block, ranks: IntArray, order: Places | None, falling: Block, cutoff: int | None
) -> Traits:
    """Return the traits of a block, in the order of its file, with its ranks.

    `falling` is the block in an `order` in which no score rises; None is the order of the file.
    """
    starts, ends = block.starts[:-1], block.starts[1:]
    sizes = np.diff(block.starts)
    scores = falling.scores
    # Rows ascend, so the few starts are searched among them and not each of them among the starts.
    tied = np.diff(np.searchsorted(falling.in_ties, block.starts))
    mostly_tied = 2 * tied > sizes
    all_tied = (sizes > 1) & (scores[starts] == scores[ends - 1])
    across = np.zeros(len(sizes), bool)
    if cutoff is not None:
        deep = np.flatnonzero(sizes > cutoff)
        across[deep] = np.isin(starts[deep] + cutoff - 1, falling.ties)
    counting = ranks if order is None else ranks[order]
    return Traits(
        sizes,
        np.minimum.reduceat(ranks, starts) == 0,
        *_ranks_beside_scores(block, ranks, counting, mostly_tied, order is None),
        all_tied,
        mostly_tied,
        across,
    )


def _ranks_beside_scores(
    block: Block,
    ranks: IntArray,
    by_score: IntArray,
    mostly_tied: BoolArray,
    in_order: bool,
) -> tuple[BoolArray, BoolArray]:
    """Return `follow` and `rise`; `by_score` has the ranks in an order in which no score rises.

    Only topics whose ranks do not count up need to be sorted. If n ranks count up, scores can
    rise with the rank only by ties: Spearman's sum is -(n^3 - n) / 12, to which k tied documents
    add (k^3 - k) / 6, which is too little if no more than half of them are tied. They add less
    if ties have another order in the file, so mostly tied topics are sorted unless `in_order`.
    """
    counting = by_score[1:] > by_score[:-1]
    counting[block.starts[1:-1] - 1] = True
    sizes = np.diff(block.starts)
    odd = mostly_tied & (not in_order or sizes.max() > LONGEST_SUM)
    odd[block.topics_of(np.flatnonzero(~counting))] = True
    follow, rise = ~odd, np.zeros(len(odd), bool)
    if (mostly_tied & ~odd).any():
        rise = ~odd & (2 * _cubes_of_ties(block) > sizes**3 - sizes)
    if odd.any():
        rows = odd[block.topic]
        follow[odd], rise[odd] = _by_sorting(
            np.diff(block.starts)[odd], block.scores[rows], ranks[rows]
        )
    return follow, rise


def _cubes_of_ties(block: Block) -> IntArray:
    """Return the sum of k^3 - k over the groups of k tied documents of each topic: int64[T]."""
    ties = block.ties
    first = np.flatnonzero(np.diff(ties, prepend=-2) != 1)
    sizes = np.diff(first, append=len(ties)) + 1
    before = np.concatenate(([0], np.cumsum(sizes**3 - sizes)))
    sums: IntArray = np.diff(before[np.searchsorted(ties[first], block.starts)])
    return sums


def _by_sorting(
    sizes: IntArray, scores: npt.NDArray[np.float64], ranks: IntArray
) -> tuple[BoolArray, BoolArray]:
    starts = np.cumsum(sizes) - sizes
    topic = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(topic)) - starts[topic] - (sizes[topic] - 1) / 2
    best_first = np.lexsort((ranks, -scores, topic))
    grows = np.diff(ranks[best_first], prepend=0) > 0
    grows[starts] = True
    by_rank, by_score = np.empty(len(topic)), np.empty(len(topic))
    by_rank[np.lexsort((ranks, topic))] = place
    by_score[np.lexsort((scores, topic))] = place
    # Sums of far fewer than 2^53 quarters are exact in any order.
    rise = np.add.reduceat(by_rank * by_score, starts) > 0
    one_rank = np.minimum.reduceat(ranks, starts) == np.maximum.reduceat(ranks, starts)
    return np.logical_and.reduceat(grows, starts), rise & ~one_rank


LineOf = Callable[[int], int]


def check_ranks(traits: Traits, first_line: LineOf, problems: Problems) -> None:
    """Report W_UPSIDE_DOWN, W_RANK and the note W_RANK_FROM_0; ranks have no effect on scores."""
    topics, from_zero = len(traits.sizes), int(traits.from_zero.sum())
    if from_zero >= MOST * topics:
        message = f"the ranks start at 0 in {from_zero:,} of {counted(topics, 'topic')}"
        problems.note("W_RANK_FROM_0", None, message, hint="Only scores set the order.")
    differing = np.flatnonzero(~traits.follow)
    if not len(differing):
        return
    line = first_line(int(differing[0]))
    rise = traits.rise[traits.sizes >= FEW] if (traits.sizes >= FEW).any() else traits.rise
    upside_down = int(rise.sum())
    if upside_down >= MOST * len(rise):
        problems.warn(
            "W_UPSIDE_DOWN",
            line,
            f"in {upside_down:,} of {counted(len(rise), 'topic')} the scores rise with the rank;"
            " the highest score still ranks first",
            hint="If the scores are distances, negate them.",
        )
        return
    problems.warn(
        "W_RANK",
        line,
        f"in {len(differing):,} of {counted(topics, 'topic')} ranks disagree with scores;"
        " scores are used",
    )


def check_scores(by_topic: Topics, problems: Problems) -> None:
    """Report W_MAYBE_RANKS where the scores of a file without ranks may be ranks.

    In most topics they are 1 to n, or 0 to n - 1, each once, and do not fall from line to line.
    """
    lists = [rows.scores for rows in by_topic.values() if len(rows.scores) > 1]
    alike = [scores for scores in lists if _may_be_ranks(scores)]
    falling = sum(all(one > other for one, other in pairwise(scores)) for scores in alike)
    if not alike or len(alike) < MOST * len(lists) or falling >= MOST * len(lists):
        return
    problems.warn(
        "W_MAYBE_RANKS",
        None,
        f"in {len(alike):,} of {counted(len(lists), 'topic')} the scores are 1 to n, each once, as"
        " ranks are; the highest score ranks first",
        hint="If they are ranks, submit topic, docno and rank as in MS MARCO, or negate them.",
    )


def _may_be_ranks(scores: Sequence[float]) -> bool:
    low = min(scores)
    return low in (0, 1) and sorted(scores) == [*range(int(low), int(low) + len(scores))]


def check_ties(
    traits: Traits,
    topics: Sequence[bytes],
    first_line: LineOf,
    cutoff: int | None,
    problems: Problems,
) -> None:
    """Report W_TIES and, if the cutoff of the measure is known, the note W_TIES_AT_CUTOFF."""
    equal, tied = np.flatnonzero(traits.all_tied), np.flatnonzero(traits.mostly_tied)
    if len(tied):
        first = int(equal[0] if len(equal) else tied[0])
        name = topics[first].decode()
        if len(equal):
            message = f"all {traits.sizes[first]:,} scores for topic {name} are tied"
            message += f" ({len(equal):,} of {counted(len(topics), 'topic')})"
        else:
            message = f"in {len(tied):,} of {counted(len(topics), 'topic')} (first: {name}) most"
            message += " documents have tied scores"
        hint = "Tied documents are ordered by docno, descending, not by your ranks."
        problems.warn("W_TIES", first_line(first), message, hint=hint)
    across = np.flatnonzero(traits.across)
    if len(across):
        name = topics[int(across[0])].decode()
        message = f"ties span rank {cutoff:,} in {counted(len(across), 'topic')} (first: {name})"
        hint = "Docno order, descending, decides which of them count."
        problems.note("W_TIES_AT_CUTOFF", None, message, hint=hint)
