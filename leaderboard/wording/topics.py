"""What a topic says: how the reader's run did on it, or else which runs did best and worst."""

from __future__ import annotations

from leaderboard.analysis.topics import TOP, Answer, TopicBreakdown
from leaderboard.display.numbers import count, nth, score
from leaderboard.wording.phrases import Phrase, Sentence, in_words, named, say

# So many documents are told one by one.
TOLD = 2


def topic_verdict(breakdown: TopicBreakdown) -> Sentence:
    """The sentence over a topic's runs; empty where no run has a score."""
    scored = [each for each in breakdown.answers if each.rank is not None]
    if not scored:
        return []
    own = next((each for each in scored if each.is_own), None)
    if own is None or len(scored) == 1:
        return _best_and_last(breakdown.measure, scored)
    return [
        *_own_place(breakdown.measure, scored, own),
        *_found_late(breakdown, own),
        *_unjudged(own),
    ]


def _best_and_last(measure: str, scored: list[Answer]) -> Sentence:
    best, last = scored[0], scored[-1]
    if best.score == last.score and len(scored) > 1:
        return say(f"All {count(len(scored))} runs have {measure} {score(best.score)}.")
    sentence = say(named(best.run), f" is best with {measure} {score(best.score)}")
    if len(scored) > 1:
        sentence += say(", ", named(last.run), f" last with {score(last.score)}")
    return [*sentence, Phrase(".")]


def _own_place(measure: str, scored: list[Answer], own: Answer) -> Sentence:
    best = scored[0]
    place = "best" if own.rank == 1 else nth(own.rank or 0)
    words = f" is {place} of {in_words(len(scored))} with {measure} {score(own.score)}"
    if own.rank == 1:
        return say(named(own.run), words, ".")
    return say(named(own.run), words, "; ", named(best.run), f" has {score(best.score)}.")


def _found_late(breakdown: TopicBreakdown, own: Answer) -> Sentence:
    """Relevant documents that a better baseline has in its first ten and this run has not."""
    baseline = next((each for each in breakdown.answers if each.is_baseline), None)
    if baseline is None or (own.rank or 0) <= (baseline.rank or 0):
        return []
    mine, theirs = own.run.pk, baseline.run.pk
    late = [
        document
        for document in breakdown.relevant
        if document.ranks.get(mine, TOP + 1) > TOP >= document.ranks.get(theirs, TOP + 1)
    ][:TOLD]
    if not late:
        return []
    sentence = say(" It has ")
    for place, document in enumerate(late):
        rank = document.ranks.get(mine)
        where = f" at {count(rank)}" if rank is not None else " nowhere"
        sentence += say(" and " if place else "", Phrase(code=document.docno), where)
    ranks = " and ".join(str(document.ranks[theirs]) for document in late)
    them = "it" if len(late) == 1 else "them"
    return [*sentence, *say("; ", named(baseline.run), f" has {them} at {ranks}.")]


def _unjudged(own: Answer) -> Sentence:
    unjudged = own.unjudged_in_top
    if not unjudged:
        return []
    number = in_words(unjudged).capitalize()
    verb = "is" if unjudged == 1 else "are"
    return say(f" {number} of its first {in_words(len(own.top_grades))} {verb} unjudged.")
