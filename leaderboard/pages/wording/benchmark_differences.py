"""Sentences about where the systems of a benchmark differ."""

from __future__ import annotations

from leaderboard.analysis.benchmark_differences import BenchmarkDifferences
from leaderboard.analysis.benchmark_pairs import SystemPair, Together
from leaderboard.boards.benchmark_boards import SystemRow
from leaderboard.display.numbers import (
    count,
    counted,
    difference_text,
    interval,
    p_in_words,
    score,
)
from leaderboard.pages.wording.benchmark_boards import describe_lead_of
from leaderboard.pages.wording.phrases import Phrase, Sentence, join_phrases, spell_number
from leaderboard.scoring.verdicts import LEVEL

WITHOUT_MARKS = "The mean of systems is no system, so nothing is tested against it."


def describe_turns(found: BenchmarkDifferences) -> Sentence:
    """Say on how many tracks the order of the first systems turns; empty without an order."""
    if not found.orders:
        return []
    turned = [order for order in found.orders if order.pairs]
    number, tracks = len(found.board.columns), counted(len(found.board.columns), "track")
    first = min(found.first, len(found.board.rows))
    among = "both systems" if first == 2 else f"the first {spell_number(first)} systems"
    if not turned:
        return join_phrases(f"On all {tracks} {among} are in the order of the benchmark.")
    how = f"The order of {among} turns on {len(turned)} of {tracks}"
    furthest = found.orders[0]
    if number < 2 or furthest.tau is None:
        return join_phrases(f"{how}.")
    name = Phrase(name=furthest.column.name)
    return join_phrases(f"{how}, most on ", name, f" (tau {score(furthest.tau, 2)}).")


def describe_colours(found: BenchmarkDifferences) -> str:
    """Say what the colours and the signs of the heat map mean."""
    share = "over all tracks" if found.shares_colours else "on its own track"
    words = (
        "Each cell is a difference from the first row: blue is better, orange worse, full colour"
        f" from the largest twentieth {share}."
    )
    if found.baseline is None:
        return f"{words} {WITHOUT_MARKS}"
    if not found.has_marks:
        return words
    return (
        f"{words} ▲ and ▼ mark significant ones: each track's own tests of all systems against"
        " the baseline, adjusted over the tracks too (Holm); under Mean the test of the benchmark,"
        " adjusted over all systems."
    )


def describe_pair(pair: SystemPair) -> Sentence:
    """Say which of two systems has the better mean, how sure that is, and what makes its lead."""
    if not pair.columns:
        return join_phrases(
            _name_of(pair.b), " and ", _name_of(pair.a), " have no track in common."
        )
    if pair.together is None:
        return _count_tracks(pair)
    tracks = counted(len(pair.columns), "track")
    if pair.lead is None or pair.leader is None:
        return join_phrases("The means are equal over ", f"{tracks}. ", _count_tracks(pair))
    opening = join_phrases(
        _name_of(pair.leader), _decide(pair.together), _name_of(pair.other), f" over {tracks}: "
    )
    numbers = difference_text(pair.lead.difference, pair.lead.unit)
    if pair.together.p is not None:
        numbers += f", {p_in_words(pair.together.p)}"
    broad: Sentence = []
    if len(pair.columns) > 1:
        broad = describe_lead_of(pair.columns, pair.lead, pair.leader, pair.other)
    return join_phrases(opening, f"{numbers}. ", broad)


def _decide(together: Together) -> str:
    if together.p is None:
        return " has a better mean than "
    if together.p <= LEVEL:
        return " is significantly better than "
    return " is ahead of, but cannot be told apart from "


def _name_of(row: SystemRow) -> Phrase:
    return Phrase(name=f"{row.name} {row.version.label}")


def _count_tracks(pair: SystemPair) -> Sentence:
    better, worse, equal = pair.counts
    tracks = counted(better + worse + equal, "track")
    words = f" is ahead on {better} of {tracks}, "
    end = f" on {worse}." if not equal else f" on {worse}; they are equal on {equal}."
    return join_phrases(_name_of(pair.b), words, _name_of(pair.a), end)


def describe_pair_test(pair: SystemPair) -> str:
    """Say how the two means and the tracks were tested; empty without a test."""
    together = pair.together
    if together is None:
        return ""
    if together.num_family is None:
        family = "adjusted for all comparisons with the baseline"
    elif together.num_family > 2:
        family = f"adjusted for all pairs of {together.num_family} systems"
    else:
        family = "of this pair alone"
    span = ""
    if together.low is not None and together.high is not None:
        ends = interval(together.low, together.high, unit=together.unit)
        changed, topics = (
            sum(getattr(line.own, name) for line in pair.lines if line.own is not None)
            for name in ("changed", "topics")
        )
        apart = f"the two differ on {count(changed)} of {counted(topics, 'topic')}"
        span = f" 95 % interval of the difference of means {ends}; {apart}."
    return (
        f"p of the means is {family}.{span} On each track, intervals hold for it alone and p is"
        " adjusted over the tracks (Holm)."
    )
