"""What one comparison of two runs says."""

from __future__ import annotations

from evaluation.measures import parse_measure
from evaluation.significance import minimum_detectable
from leaderboard.analysis import Pair
from leaderboard.boards.standings import FEWEST_TOPICS
from leaderboard.display.numbers import count, counted, interval, p_in_words, score
from leaderboard.wording.phrases import Phrase, Sentence, named, say, strong
from leaderboard.wording.significance import describe_test

# Two runs that differ by so much on a topic do different things there.
FAR_APART = 0.2


def pair_verdict(pair: Pair) -> Sentence:
    """Run `b` against run `a`: what the test says, how large, how sure, on how many topics."""
    against = pair.against
    if against.difference is None or against.low is None or against.high is None:
        return say("No topic has scores for both ", named(pair.a), " and ", named(pair.b), ".")
    how = {
        "better": " is significantly better than ",
        "worse": " is significantly worse than ",
    }.get(pair.verdict, " cannot be told apart from ")
    return say(
        named(pair.b),
        how,
        named(pair.a),
        ": ",
        Phrase(difference=against.difference, verdict=pair.verdict),
        f" {pair.measure}, 95 % interval {interval(against.low, against.high)}, ",
        f"{p_in_words(against.p)}. It wins {counted(against.wins, 'topic')},"
        f" loses {count(against.losses)} and ties {count(against.ties)}.",
        _far_apart(pair),
    )


def _far_apart(pair: Pair) -> str:
    """Two runs that are as good as each other need not be good on the same topics."""
    far = sum(abs(line.difference) > FAR_APART for line in pair.topics)
    if pair.verdict != "not significant" or not far or parse_measure(pair.measure).range != (0, 1):
        return ""
    return f" On {counted(far, 'topic')} the two differ by more than\N{NO-BREAK SPACE}.2."


def pair_test(pair: Pair) -> Sentence:
    """Which test, what was not corrected, and what it could have seen."""
    topics = len(pair.topics)
    name = describe_test(pair.test, topics)
    sentence = say(
        f"{name[0].upper()}{name[1:]}, not corrected: this is a single comparison. Effect size ",
        strong(f"d = {score(pair.against.effect_size, 2)}"),
        ". ",
    )
    if topics < FEWEST_TOPICS:
        return [*sentence, Phrase(f"With {counted(topics, 'topic')} nothing can be significant.")]
    effect = strong(f"d = {score(minimum_detectable(topics), 2)}")
    with_topics = f"With {counted(topics, 'topic')} an effect of "
    return say(sentence, with_topics, effect, " is detected with 80 % power.")
